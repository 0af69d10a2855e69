"""A pipe, a device, a socket or a folder in the place of a file is refused at once, with one sentence."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

IN_PLACE_OF_FILES = {
    "pipe.csv": "is a pipe or a device: a regular file is needed",
    "/dev/zero": "is a pipe or a device: a regular file is needed",
    "/dev/stdin": "is a pipe or a device: a regular file is needed",
    "socket.csv": "is a pipe or a device: a regular file is needed",
    "folder.csv": "is a folder, not a file",
}


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("pipe.csv", "pipe.npy", "pipe.npz", "pipe.py"):
        os.mkfifo(name)
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("socket.csv")
    Path("folder.csv").mkdir()
    # Standard input is a pipe that nobody writes to.
    reading, writing = os.pipe()
    before = os.dup(0)
    os.dup2(reading, 0)
    yield
    os.dup2(before, 0)
    for handle in (reading, writing, before):
        os.close(handle)


@pytest.mark.parametrize("name", IN_PLACE_OF_FILES)
@pytest.mark.parametrize(
    "words",
    [
        ("negatives", "karate", "-p", "existing", "-o", "out.npz", "--positives"),
        ("score", "karate", "-p", "existing"),
        ("audit", "karate", "--features"),
        ("audit", "karate", "--negatives"),
    ],
    ids=lambda words: f"{words[0]} {words[-1]}",
)
def test_what_is_no_file_is_refused(trueedge, words: tuple[str, ...], name: str) -> None:
    status, _, err = trueedge(*words, name)
    assert status == 1
    if "--negatives" not in words or name != "folder.csv":  # a folder is allowed there
        assert err.endswith(f"trueedge: {name} {IN_PLACE_OF_FILES[name]}\n")


@pytest.mark.parametrize("command", ["run", "audit", "tune", "negatives"])
@pytest.mark.parametrize("name", ["pipe.csv", "/dev/zero", "/dev/stdin", "socket.csv"])
def test_what_is_no_edge_list_is_refused(trueedge, command: str, name: str) -> None:
    more = ("-o", "out.npz") if command == "negatives" else ()
    assert trueedge(command, name, *more) == (1, "", f"trueedge: {name} {IN_PLACE_OF_FILES[name]}\n")


def test_a_pipe_is_no_python_file(trueedge) -> None:
    said = "trueedge: pipe.py is a pipe or a device: a regular file is needed\n"
    assert trueedge("run", "karate", "-m", "pipe.py:Mine") == (1, "", said)


@pytest.mark.parametrize(
    ("name", "kind"), [("pipe.npz", "not a regular file"), ("folder.csv/x.npz/y.npz", None)]
)
def test_negatives_are_not_written_where_they_cannot_be(trueedge, name: str, kind: str | None) -> None:
    if kind is None:
        Path("folder.csv/x.npz").write_text("")
    said = f"it is {kind}" if kind else f"{Path('folder.csv/x.npz').absolute()} is not a folder"
    status, _, err = trueedge("negatives", "karate", "-p", "existing", "-o", name)
    assert (status, err) == (1, f"trueedge: the file of negatives cannot be written to {name}: {said}\n")


def test_a_file_that_is_redirected_is_read(trueedge, tmp_path: Path) -> None:
    path = tmp_path / "graph.txt"
    path.write_text("".join(f"{i} {(i + j) % 30}\n" for i in range(30) for j in (1, 2)))
    with path.open("rb") as file:
        before = os.dup(0)
        os.dup2(file.fileno(), 0)
        try:
            status, _, err = trueedge("negatives", "/dev/stdin", "-p", "existing", "-o", "out.npz")
        finally:
            os.dup2(before, 0)
            os.close(before)
    assert status == 0, err
    assert Path("out.npz").is_file()
