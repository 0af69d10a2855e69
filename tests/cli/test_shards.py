"""Negatives in shards from the command line: the protocol's own, whatever happens on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import trueedge as te
from trueedge.datasets import price
from trueedge.tasks import load
from trueedge.tasks.protocols import Shards

OPTIONS = ("--shards", "--shard-size", "4", "--option", "k=10")
COMMAND = ("negatives", "graph.csv", "-o", "big", *OPTIONS)


@pytest.fixture
def graph_file(tmp_path: Path) -> Path:
    path = tmp_path / "graph.csv"
    lines = [f"p{u},p{v}" for u, v in te.load("karate").edges.tolist()]
    path.write_text("\n".join(["source,target", *lines]))
    return path


def content(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file with when it was written."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def test_the_folder_is_the_protocols_task(trueedge, graph_file: Path) -> None:
    status, out, err = trueedge(*COMMAND)
    assert status == 0
    expected = te.task("graph.csv", "heart", k=10)
    assert out.split() == [expected.hash]
    assert "big: train (68, 2), negatives of valid (3, 10, 2), test (7, 10, 2)" in err
    assert "\r" not in err
    assert "making negatives" not in err
    assert len(list(Path("big/test_negatives").glob("shard-*.npy"))) > 1
    found = load("big")
    assert found.hash == expected.hash
    assert found.graph.labels == expected.graph.labels
    assert (found.metrics, found.settings["k"]) == (expected.metrics, 10)


def test_what_judges_reads_the_folder_as_one(trueedge, graph_file: Path) -> None:
    trueedge(*COMMAND)
    trueedge("task", "graph.csv", "-p", "heart", "-o", "small", "--option", "k=10")
    assert trueedge("pairs", "big", "-o", "big.csv")[0] == 0
    assert trueedge("pairs", "small", "-o", "small.csv")[0] == 0
    assert Path("big.csv").read_bytes() == Path("small.csv").read_bytes()
    count = len(Path("big.csv").read_text().splitlines()) - 1
    np.savetxt("scores.txt", np.random.default_rng(0).random(count))
    assert trueedge("score", "big", "scores.txt")[1] == trueedge("score", "small", "scores.txt")[1]
    assert trueedge("check", "big", "cn")[0] in (0, 1)


def test_the_same_command_again_changes_nothing(trueedge, graph_file: Path) -> None:
    _, first, _ = trueedge(*COMMAND)
    before = content(Path("big"))
    status, second, _ = trueedge(*COMMAND)
    assert (status, second) == (0, first)
    assert content(Path("big")) == before


def test_positives_of_ones_own(trueedge, graph_file: Path) -> None:
    Path("mine.csv").write_text("p0,p9\np33,p4\n")
    words = ("negatives", "graph.csv", "--positives", "mine.csv", "--option", "k=10")
    assert trueedge(*words, "-o", "m.npz")[0] == 0
    assert trueedge(*words, "-o", "m", "--shards")[0] == 0
    with np.load("m.npz", allow_pickle=False) as arrays:
        assert np.array_equal(arrays["test_negatives"], load("m").test.negatives)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ("--option", "k=20"),
            "holds the negatives of another request: it was begun with k 10, not 20",
        ),
        (("--seed", "1"), "holds the negatives of another request: it was begun for another graph"),
        (("--shard-size", "5"), "it was begun with ends_per_shard 4, not 5"),
        (("-p", "uniform", "--option", "ratio=1"), "uniform does not write negatives in shards, heart does"),
    ],
)
def test_a_folder_of_other_settings_is_refused(words, sentence: str, trueedge, graph_file: Path) -> None:
    trueedge(*COMMAND)
    before = content(Path("big"))
    given = {"--shard-size": "4", "--option": "k=10"} | dict(zip(words[::2], words[1::2], strict=True))
    flat = [word for pair in given.items() for word in pair]
    status, out, err = trueedge("negatives", "graph.csv", "-o", "big", "--shards", *flat)
    assert (status, out) == (1, "")
    assert sentence in err
    assert content(Path("big")) == before


def test_a_place_for_something_else_is_refused(trueedge, graph_file: Path) -> None:
    Path("mine").mkdir()
    Path("mine/thesis.tex").write_text("")
    Path("file").write_text("")
    for place, sentence in (
        ("mine", "mine is neither empty nor a task in shards: 'thesis.tex' is in it"),
        ("file", "file is a file, not a folder"),
        ("x.npz", "with --shards negatives are written to a folder, not to a file"),
    ):
        status, _, err = trueedge("negatives", "graph.csv", "-o", place, *OPTIONS)
        assert status == 1
        assert sentence in err
    assert os.listdir("mine") == ["thesis.tex"]
    status, _, err = trueedge("negatives", "graph.csv", "-o", "x")
    assert status == 1
    assert "or with --shards to a folder" in err


def test_a_folder_that_is_not_complete_says_so(trueedge, graph_file: Path) -> None:
    trueedge(*COMMAND)
    Path("big/task.json").unlink()
    status, _, err = trueedge("pairs", "big", "-o", "p.csv")
    assert status == 1
    assert "big is incomplete: run the command that started it again to resume" in err
    assert trueedge(*COMMAND)[0] == 0
    next(Path("big/test_negatives").glob("shard-*.npy")).unlink()
    status, _, err = trueedge("pairs", "big", "-o", "p.csv")
    assert status == 1
    assert "shards are missing" in err


def test_a_stop_says_that_the_command_goes_on(trueedge, graph_file: Path, monkeypatch) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("trueedge.cli.parsing.tasks.task", stop)
    status, _, err = trueedge(*COMMAND)
    assert status == 130
    assert "finished shards are in big; run the same command again to resume" in err


def start(folder: Path) -> subprocess.Popen[str]:
    words = ["negatives", "large.csv", "-o", "large", "--shards", "--shard-size", "8", "--option", "k=40"]
    command = [sys.executable, "-m", "trueedge", *words]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.rotating(2, group="kills")
def test_a_killed_command_goes_on_and_two_share_the_work(trueedge, tmp_path: Path) -> None:
    np.savetxt(tmp_path / "large.csv", price(1_500, 9_000).edges, fmt="%d", delimiter=",")
    expected = te.task(tmp_path / "large.csv", "heart", k=40).hash
    killed = start(tmp_path)
    place = tmp_path / "large" / "valid_negatives"
    while len(list(place.glob("shard-*.npy"))) < 3 and killed.poll() is None:
        time.sleep(0.001)
    killed.send_signal(signal.SIGKILL)
    assert killed.wait() == -signal.SIGKILL
    killed.communicate()
    assert not (tmp_path / "large" / "task.json").exists()
    made = {path: path.stat().st_mtime_ns for path in place.glob("shard-*.npy")}
    assert len(made) >= 3
    both = [start(tmp_path) for _ in range(2)]
    for process in both:
        out, err = process.communicate()
        assert process.returncode == 0, err
        assert out.split() == [expected]
    assert {path: path.stat().st_mtime_ns for path in made} == made
    assert load(tmp_path / "large").hash == expected
    assert not list((tmp_path / "large").rglob("*.part"))


def test_the_library_writes_shards_too(tmp_path: Path) -> None:
    graph = te.load("karate")
    made = te.task(graph, "heart", k=10, shards=Shards(tmp_path, 5))
    assert made.hash == te.task(graph, "heart", k=10).hash
    assert (tmp_path / "test_negatives" / "shard-00001.npy").exists()
