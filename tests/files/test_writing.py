"""Files are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import trueedge as te
from full_disks import files_of_at_most
from trueedge import InputError
from trueedge.files.writing import check_target, new_folder, replacing, write_text


def test_a_text_is_written_and_replaces_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.txt"
    assert write_text(path, "one", "it") == path
    write_text(path, "zwei – ü", "it")
    assert path.read_text(encoding="utf-8") == "zwei – ü"
    assert os.listdir(path.parent) == ["a.txt"]


def test_what_was_there_stays_where_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    write_text(path, "before", "it")

    def full(self: Path, *_: object, **__: object) -> None:
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(InputError, match=r"the page cannot be written to .*a\.txt: No space left on device"):
        write_text(path, "after", "the page")
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_text_that_cannot_be_encoded_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write_text(tmp_path / "a.txt", "\ud800", "it")
    assert os.listdir(tmp_path) == []


def test_a_link_stays_a_link_to_the_new_text(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("before")
    (tmp_path / "link.txt").symlink_to(tmp_path / "real.txt")
    write_text(tmp_path / "link.txt", "after", "it")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "after"


def test_a_folder_a_pipe_another_ending_and_a_file_on_the_way_are_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.txt").mkdir()
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "file").write_text("")
    for name, reason in (
        ("folder.txt", "it is a folder"),
        ("pipe.txt", "it is not a regular file"),
        ("file/a.txt", "file is not a folder"),
    ):
        with pytest.raises(InputError, match=f"the page cannot be written to .*{name}: .*{reason}"):
            check_target(tmp_path / name, "the page")
    with pytest.raises(InputError, match=r"a\.png: write a page to a \.html or \.json file"):
        check_target("a.png", "a page", (".html", ".json"))
    check_target(tmp_path / "not" / "yet" / "there.html", "a page", (".html",))


def half_written(draft: Path) -> None:
    draft.write_bytes(b"half")
    raise KeyError("stop")


def test_an_error_in_the_block_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    path.write_bytes(b"before")
    with pytest.raises(KeyError), replacing(path) as draft:
        half_written(draft)
    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["a.npy"]


def test_errors_of_the_system_become_a_sentence_only_where_one_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    place = tmp_path / "file" / "a"
    with pytest.raises(FileExistsError), replacing(place) as draft:
        draft.write_text("")
    said = r"the scores cannot be written to .*: File exists"
    with pytest.raises(InputError, match=said), replacing(place, "the scores") as draft:
        draft.write_text("")


def test_a_folder_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    folder = tmp_path / "not" / "there"
    with pytest.raises(KeyError), new_folder(folder, "the task") as draft:
        half_written(draft / "half")
    assert not any((tmp_path / "not").iterdir())
    folder.mkdir()
    with new_folder(folder, "the task") as draft:
        (draft / "all").write_text("of it")
        assert not any(folder.iterdir())
    assert (folder / "all").read_text() == "of it"
    assert os.listdir(tmp_path / "not") == ["there"]


def test_a_folder_that_holds_something_and_a_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place, reason in (
        (tmp_path, "is not empty: the task"),
        (tmp_path / "file", "is a file"),
        (tmp_path / "file" / "folder", r"the task cannot be written to .*: Not a directory"),
    ):
        with pytest.raises(InputError, match=reason), new_folder(place, "the task"):
            raise AssertionError


def test_a_name_that_is_too_long_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the page cannot be written to .*too long"):
        check_target(tmp_path / ("x" * 300 + ".json"), "the page")


def test_a_full_disk_is_named_with_the_folder_that_was_asked_for(tmp_path: Path) -> None:
    with files_of_at_most(1000), pytest.raises(InputError) as caught:
        te.task("cora", "existing").save(tmp_path / "task")
    assert str(caught.value).startswith(
        f"{tmp_path}/task/graph cannot be written: there is no space left, or"
    )
    assert not list(tmp_path.iterdir())
