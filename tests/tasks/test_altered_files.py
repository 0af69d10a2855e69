"""Files that are not the published ones: every way to a task says so, and so do tables."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import trueedge as te
from trueedge import datasets
from trueedge.audit import audit
from trueedge.cli.app import main

SENTENCE = "heart_test_samples.npy is not the published file"
pytestmark = pytest.mark.data("heart/citeseer", "planetoid/citeseer")


@pytest.fixture
def altered(tmp_path: Path, data_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Citeseer with easier negatives: the free ends of the test part are drawn at random."""
    for part in ("heart/citeseer", "planetoid/citeseer"):
        (tmp_path / part).mkdir(parents=True)
        for file in (data_folder / part).iterdir():
            (tmp_path / part / file.name).symlink_to(file)
    path = tmp_path / "heart/citeseer/heart_test_samples.npy"
    samples = np.load(path)
    half, rng = samples.shape[1] // 2, np.random.default_rng(0)
    for free, kept, lists in ((1, 0, slice(half)), (0, 1, slice(half, None))):
        ends = samples[:, lists, kept]
        samples[:, lists, free] = (ends + rng.integers(1, 3327, ends.shape)) % 3327
    path.unlink()
    np.save(path, samples)
    monkeypatch.setenv("TRUEEDGE_DATA", str(tmp_path))
    return tmp_path


def test_a_task_of_altered_files_warns_and_says_so_in_its_settings(altered: Path) -> None:
    with pytest.warns(te.DataWarning, match=SENTENCE) as caught:
        task = te.task("citeseer", "heart-released")
    assert len([one for one in caught if issubclass(one.category, te.DataWarning)]) == 1
    assert any(SENTENCE in note for note in task.settings["notes"])
    record = te.run(task, method="ra")
    assert sum(SENTENCE in sentence for sentence in record.warnings) == 1
    again = te.load_task(task.save(altered / "task"))
    assert tuple(again.settings["notes"]) == task.settings["notes"]


def test_the_record_of_altered_files_says_so_once(altered: Path) -> None:
    record = te.run("citeseer", "heart-released", "cn")
    assert sum(SENTENCE in sentence for sentence in record.warnings) == 1


WAYS: dict[str, Callable[[], te.Task]] = {
    "a split of its own": lambda: te.LinkTask.from_split(
        te.splits.released("citeseer", "heart").split, "existing"
    ),
    "a graph": lambda: te.task(te.splits.released("citeseer", "heart").split.train, "existing"),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_warning_follows_the_graph(way: str, altered: Path) -> None:
    with pytest.warns(te.DataWarning, match=SENTENCE):
        task = WAYS[way]()
    assert any(SENTENCE in note for note in task.settings["notes"])


def test_an_altered_data_set_warns_when_it_is_loaded(altered: Path) -> None:
    path = altered / "planetoid/citeseer/ind.citeseer.test.index"
    lines = path.read_text().splitlines()
    path.unlink()
    path.write_text("\n".join(reversed(lines)) + "\n")
    with pytest.warns(te.DataWarning, match=r"test\.index is not the published file"):
        graph = te.load("citeseer")
    with pytest.warns(te.DataWarning, match=r"test\.index is not the published file"):
        task = te.task(graph, "existing")
    assert "not the published file" in task.settings["notes"][0]


def test_an_audit_of_altered_files_says_so(altered: Path) -> None:
    with pytest.warns(te.DataWarning, match=SENTENCE):
        found = audit("citeseer", "heart-released", sample=50)
    assert any(SENTENCE in note for note in found.notes)


@pytest.mark.parametrize(
    "command",
    [
        "task citeseer -p heart-released -o made",
        "pairs citeseer -p heart-released -o pairs.csv",
        "check citeseer ra -p heart-released --sample 10",
        "audit citeseer -p heart-released --sample 50",
    ],
)
def test_every_command_that_makes_the_task_says_so_once(
    command: str, altered: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(altered)
    monkeypatch.setattr(sys, "argv", ["trueedge", *command.split()])
    with pytest.raises(SystemExit) as stop:
        main()
    assert not stop.value.code
    said = " ".join(capsys.readouterr().err.split())
    assert said.count(SENTENCE) == 1


def test_published_files_give_no_warning(data_folder: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", te.DataWarning)
        task = te.task("citeseer", "heart-released")
    assert "notes" not in task.settings
    assert "files_without_checksum" not in task.settings


def test_a_file_that_is_set_back_in_time_is_still_noticed(altered: Path, data_folder: Path) -> None:
    path = altered / "heart/citeseer/test_pos.txt"
    path.unlink()
    shutil.copy2(data_folder / "heart/citeseer/test_pos.txt", path)
    assert datasets.altered("citeseer", "shared") == []
    before = path.stat()
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[1:], lines[0]]) + "\n")
    assert path.stat().st_size == before.st_size
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert datasets.altered("citeseer", "shared") == [str(path)]


def test_a_published_table_on_altered_files_says_so(altered: Path) -> None:
    with pytest.warns(te.DataWarning, match=SENTENCE):
        datasets.available("citeseer", released="heart")
