"""Whole files: pipes and folders are not read, and nothing is written over."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from trueedge.files.whole import read_whole, write_new


def test_a_file_is_read_up_to_its_bound(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    assert read_whole(path, 5)[1] == b"12345"
    about, content = read_whole(path, 4)
    assert (about.st_size, content) == (5, None)


def test_a_pipe_and_a_folder_are_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert read_whole(tmp_path / "pipe", 100)[1] is None
    assert read_whole(tmp_path, 1 << 20)[1] is None
    with pytest.raises(FileNotFoundError):
        read_whole(tmp_path / "none", 1)


def test_a_file_that_exists_is_not_written_over(tmp_path: Path) -> None:
    write_new(tmp_path / "new", b"first")
    with pytest.raises(FileExistsError):
        write_new(tmp_path / "new", b"second")
    assert (tmp_path / "new").read_bytes() == b"first"
