"""Commands work, or say one sentence, whatever the variables of the environment and the terminal are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from trueedge.cli import check_threads, showing
from trueedge.errors import InputError
from trueedge.kernels.arrays import threads


def command(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "trueedge", *words],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        timeout=300,
        check=False,
    )


def test_strange_surroundings_change_nothing(tmp_path: Path) -> None:
    done = command(
        *(
            "run",
            "karate",
            "-p",
            "existing",
            "-m",
            "katz,shortest-path",
            "--seeds",
            "1",
            "--runs",
            str(tmp_path / "runs"),
        ),
        NUMBA_NUM_THREADS="1000",
        NUMBA_THREADING_LAYER="unheard-of",
        NUMBA_CACHE_DIR="/dev/null/nowhere",
        OMP_NUM_THREADS="0",
        HOME="/dev/null",
        XDG_CACHE_HOME="",
        TMPDIR="/nonexistent",
        PYTHONIOENCODING="ascii",
        LC_ALL="POSIX",
        COLUMNS="0",
    )
    assert done.returncode == 0, done.stderr
    assert "karate - existing" in done.stdout
    assert "2 records" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("chosen", ["0", "-3", "many", "", "1.5", "²", "1" * 5000])
def test_a_wrong_number_of_threads_is_one_sentence(chosen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_NUM_THREADS", chosen)
    with pytest.raises(InputError, match=r"^NUMBA_NUM_THREADS is .*: a whole number of threads is needed"):
        check_threads()


@pytest.mark.parametrize("chosen", ["1", "02", "1000"])
def test_a_number_of_threads_is_accepted(chosen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_NUM_THREADS", chosen)
    check_threads()


def test_the_command_tells_of_a_wrong_number_of_threads() -> None:
    done = command("run", "karate", "-m", "cn", NUMBA_NUM_THREADS="0")
    assert done.returncode == 1
    assert done.stderr == (
        "trueedge: NUMBA_NUM_THREADS is '0': a whole number of threads is needed, 1 or more\n"
    )


def test_there_are_never_absurdly_many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.config.NUMBA_NUM_THREADS", 10**8)
    monkeypatch.setattr("numba.get_num_threads", lambda: 10**8)
    assert threads.thread_count() == threads.MOST_THREADS


def test_a_window_of_one_column_still_shows_everything(monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "1")
    showing.card([("name", "karate"), ("nodes", "34")])
    out = capsys.readouterr().out
    assert "karate" in out
    assert "34" in out


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_without_unicode_keeps_the_signs_of_numbers(
    encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("judge", "karate", "pa", "-p", "existing", "--seeds", "3", "--runs", "runs")
    full, plain = command(*words, PYTHONUTF8="1"), command(*words, PYTHONIOENCODING=encoding)
    assert plain.returncode == 0
    assert "−" in full.stdout
    assert "?" not in plain.stdout
    same = full.stdout.replace("−", "-").replace("–", "-")
    assert plain.stdout == (same.replace("·", "-") if encoding == "ascii" else same.replace("·", "\ufffd"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_an_output_that_cannot_be_written_is_named() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "trueedge", "protocols"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert (done.returncode, done.stderr) == (
        1,
        "trueedge: the output cannot be written: No space left on device\n",
    )
