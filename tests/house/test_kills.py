"""Commands that are killed at random moments lose nothing, and what is lost would be counted."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import killed_commands, kills  # noqa: E402

import trueedge as te  # noqa: E402


@pytest.mark.rotating(2, group="kills")
@pytest.mark.parametrize("command", killed_commands.COMMANDS)
def test_a_killed_command_ends_as_if_nothing_had_happened(command: str, tmp_path: Path) -> None:
    words = ["--moments", "2", "--command", command, "--output", str(tmp_path), "--seed", "7"]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.kills", *words], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = json.loads((tmp_path / "kills.json").read_text())["rows"]
    assert (row["command"], row["moments"]) == (command, 2)
    assert (row["lost"], row["other"], row["problems"]) == (0, 0, [])


def test_an_unknown_command_is_refused_with_those_there_are(capsys) -> None:
    with pytest.raises(SystemExit) as stop:
        kills.main(["--command", "run,walk"])
    assert stop.value.code == 2
    assert "no 'walk'; there are run, tune, reproduce, negatives" in capsys.readouterr().err


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What a run leaves: two records, with their scores."""
    store = te.Store(tmp_path / "runs")
    for name in ("cn", "ra"):
        te.run("karate", "existing", name, store=store, keep_scores=True)
    (tmp_path / "out").write_text("")
    return tmp_path


def test_what_is_lost_changed_or_computed_again_is_counted(folder: Path) -> None:
    before = killed_commands.finished("run", folder)
    assert len(before) == 2
    assert killed_commands.without_scores(folder) == set()
    assert killed_commands.computed_again("run", folder, before, set()) == 0
    store = te.Store(folder / "runs")
    store.append(store.records()[0])
    assert killed_commands.computed_again("run", folder, before, set()) == 1
    with sqlite3.connect(store.path) as connection:
        connection.execute("DROP TRIGGER records_stay")
        connection.execute("UPDATE records SET created = '' WHERE id = 2")
    after = killed_commands.finished("run", folder)
    assert [name for name in before if after[name] != before[name]] == ["2"]
    shutil.rmtree(folder / "runs" / "scores")
    assert len(killed_commands.without_scores(folder)) == 2


def test_times_do_not_count_as_a_difference_and_everything_else_does(folder: Path) -> None:
    first = killed_commands.content("run", folder)
    again = folder / "again"
    again.mkdir()
    (again / "out").write_text("")
    for name in ("cn", "ra"):
        te.run("karate", "existing", name, store=te.Store(again / "runs"), keep_scores=True)
    assert killed_commands.content("run", again) == first
    te.run("karate", "existing", "pa", store=te.Store(again / "runs"))
    assert killed_commands.content("run", again) != first


def test_a_forked_process_tells_its_status() -> None:
    assert killed_commands.end_of(os.posix_spawn("/bin/false", ["false"], {})) == 1
