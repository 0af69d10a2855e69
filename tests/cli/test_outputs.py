"""What a command writes: never over what it reads, and whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import trueedge as te
from full_disks import files_of_at_most
from trueedge.files.writing import refuse_inputs


@pytest.fixture
def files(trueedge) -> dict[str, bytes]:
    """An edge list, a saved task, pairs and records; their content."""
    Path("g.csv").write_text("".join(f"{u},{v}\n" for u, v in te.load("karate").edges.tolist()))
    Path("own.csv").write_text("0,9\n33,4\n")
    Path("split").mkdir()
    Path("split/test.txt").write_text("0 9\n1 30\n")
    te.task("karate", "existing").save("task")
    te.run("karate", "existing", "ra", store=te.Store("runs"), keep_scores=True)
    return content()


def content() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(Path().rglob("*")) if path.is_file()}


def spelt(kind: str, path: str, ending: str) -> str:
    """Another way to name a file, or a link to it."""
    if kind == "relative":
        return f"split/../{path}"
    if kind == "absolute":
        return str(Path(path).absolute())
    link = Path(f"{kind}{ending}")
    link.symlink_to(path) if kind == "symlink" else os.link(path, link)
    return str(link)


@pytest.mark.parametrize(
    ("words", "read", "ending"),
    [
        (("pairs", "g.csv", "-o"), "g.csv", ".csv"),
        (("pairs", "task", "-o"), "task/task.json", ".csv"),
        (("negatives", "g.csv", "--option", "k=8", "-o"), "g.csv", ".npz"),
        (("negatives", "g.csv", "--positives", "own.csv", "-o"), "own.csv", ".npz"),
        (("task", "g.csv", "-p", "existing", "-o"), "g.csv", ""),
        (("audit", "g.csv", "-o"), "g.csv", ".html"),
        (("audit", "task", "-o"), "task/task.json", ".json"),
        (("audit", "g.csv", "--split", "split", "-o"), "split/test.txt", ".json"),
        (("audit", "g.csv", "--split", "split/test.txt", "-o"), "split/test.txt", ".html"),
        (("export",), "runs/records.sqlite", ".csv"),
        (("export", "runs", "-o"), "runs/records.sqlite", ".json"),
        (("report", "runs", "-o"), "runs/records.sqlite", ".html"),
        (("certify", "-m", "ra", "-o"), "runs/records.sqlite", ".json"),
        (("reproduce", "heart/figure-4", "--page"), "runs/records.sqlite", ".html"),
    ],
    ids=lambda value: "-".join(value[:2]) if isinstance(value, tuple) else "",
)
@pytest.mark.parametrize("kind", ["symlink", "hardlink"])
def test_no_command_writes_over_a_file_that_it_reads(trueedge, files, words, read, ending, kind) -> None:
    name = spelt(kind, read, ending)
    status, out, err = trueedge(*words, name)
    assert (status, out) == (1, "")
    assert f"{name} is the same file as {read if read[0] != '/' else ''}" in err
    assert "which this command reads: write" in err
    assert {path: text for path, text in content().items() if path != name} == files


@pytest.mark.parametrize("kind", ["same", "relative", "absolute"])
def test_the_input_is_known_by_every_spelling(trueedge, files, kind: str) -> None:
    name = "g.csv" if kind == "same" else spelt(kind, "g.csv", "")
    status, _, err = trueedge("pairs", "g.csv", "-o", name)
    assert status == 1
    assert "this command reads: write the pairs to another file" in err
    assert content() == files


def test_a_data_sets_file_is_an_input_too(trueedge, data_folder) -> None:
    from trueedge.datasets.sources import local_files

    (first, *_) = local_files("planetoid-cora")
    Path("link.csv").symlink_to(first)
    before = first.read_bytes()
    status, _, err = trueedge("pairs", "planetoid-cora", "-p", "existing", "-o", "link.csv")
    assert status == 1
    assert "which this command reads" in err
    assert first.read_bytes() == before


def test_other_files_may_be_written_again(trueedge, files) -> None:
    for _ in range(2):
        assert trueedge("pairs", "task", "-o", "task/pairs.csv")[0] == 0
        assert trueedge("report", "runs", "-o", "runs/report.html", "--no-slices")[0] == 0
        assert trueedge("export", "runs/records.csv")[0] == 0
    refuse_inputs("not there.csv", ["g.csv", "neither"], "it")


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("pairs", "task", "-o", "old.csv"), "old.csv"),
        (("negatives", "g.csv", "--option", "k=8", "-o", "old.npz"), "old.npz"),
        (("export", "old.csv"), "old.csv"),
        (("export", "old.json"), "old.json"),
    ],
    ids=["pairs", "negatives", "export-csv", "export-json"],
)
def test_a_disk_that_is_full_leaves_the_old_file(trueedge, files, words, name) -> None:
    Path(name).write_text("before")
    before = content()
    with files_of_at_most(50):
        status, _, err = trueedge(*words)
    assert status == 1
    assert f"cannot be written to {name}: File too large" in err
    assert content() == before


def test_a_folder_that_cannot_be_written_is_named_before_the_work(trueedge, files, monkeypatch) -> None:
    monkeypatch.setattr(te.tasks, "task", lambda *_, **__: pytest.fail("there was work"))
    for words in (("pairs", "karate", "-o", "g.csv/a.csv"), ("negatives", "karate", "-o", "g.csv/a.npz")):
        status, _, err = trueedge(*words)
        assert status == 1
        assert "g.csv is not a folder" in err
