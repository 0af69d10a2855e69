"""Files behind a user's code are searched again if, and only if, one of the answers may have changed."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

from trueedge.files import digests
from trueedge.runs import closures, lookups
from trueedge.runs.closures import closure
from trueedge.runs.lookups import is_file, loaded_path, noted_lookups, searched


@pytest.fixture
def searches(monkeypatch) -> list[object]:
    """Every search that was made, and an empty memory."""
    made: list[object] = []
    followed = closures._followed
    monkeypatch.setattr(closures, "_KNOWN", {})

    def counted(left, names, folder):
        made.append(left)
        return followed(left, names, folder)

    monkeypatch.setattr(closures, "_followed", counted)
    return made


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text('import helper_of_mine\nNAME = "table.csv"\n')
    (tmp_path / "helper_of_mine.py").write_text("X = 1\n")
    return path


def test_unchanged_files_are_searched_once(mine: Path, searches: list[object]) -> None:
    first = closure([mine])
    assert {path.name for path in first.code} == {"mine.py", "helper_of_mine.py"}
    assert closure([mine]) is first
    assert len(searches) == 1


def test_an_edit_of_the_same_size_and_second_is_seen(mine: Path, searches: list[object]) -> None:
    helper = mine.with_name("helper_of_mine.py")
    before = closure([mine]).code[helper]
    times = helper.stat()
    helper.write_text("X = 2\n")
    os.utime(helper, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert closure([mine]).code[helper] != before


@pytest.mark.parametrize("settled", [False, True])
def test_a_data_file_that_appears_is_seen(mine: Path, searches, monkeypatch, settled: bool) -> None:
    if settled:
        # All folders count as old: their state alone answers for what is not in them.
        monkeypatch.setattr(lookups, "SETTLED", -(10**18))
    assert closure([mine]).data == closure([mine]).data == set()
    (mine.parent / "table.csv").write_text("1\n")
    assert closure([mine]).data == {mine.parent / "table.csv"}
    (mine.parent / "table.csv").unlink()
    assert closure([mine]).data == set()
    assert len(searches) == 3


def test_a_module_that_appears_is_seen(tmp_path: Path, searches: list[object]) -> None:
    path = tmp_path / "lonely.py"
    path.write_text("import comes_later\n")
    assert set(closure([path]).code) == {path}
    (tmp_path / "comes_later.py").write_text("")
    assert set(closure([path]).code) == {path, tmp_path / "comes_later.py"}


def test_a_module_that_is_loaded_from_elsewhere_is_seen(mine: Path, searches, monkeypatch) -> None:
    assert mine.with_name("helper_of_mine.py") in closure([mine]).code
    other = mine.parent / "other" / "helper_of_mine.py"
    other.parent.mkdir()
    other.write_text("X = 3\n")
    module = ModuleType("helper_of_mine")
    module.__file__ = str(other)
    monkeypatch.setitem(sys.modules, "helper_of_mine", module)
    assert set(closure([mine]).code) == {mine, other}


def test_a_link_that_leads_elsewhere_is_seen(tmp_path: Path, searches: list[object]) -> None:
    for name in ("one.py", "two.py"):
        (tmp_path / name).write_text("")
    link = tmp_path / "link.py"
    link.symlink_to("one.py")
    assert set(closure([link]).code) == {tmp_path / "one.py"}
    link.unlink()
    link.symlink_to("two.py")
    assert set(closure([link]).code) == {tmp_path / "two.py"}


def test_a_file_that_is_gone_is_an_error_again(mine: Path, searches: list[object]) -> None:
    closure([mine])
    mine.unlink()
    with pytest.raises(FileNotFoundError):
        closure([mine])


def test_a_link_whose_target_appears_is_seen(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(lookups, "SETTLED", -(10**18))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to("elsewhere/target")
    with noted_lookups() as asked:
        assert not is_file(tmp_path / "link")
    assert asked.still_hold()
    assert asked.still_hold()
    (tmp_path / "elsewhere" / "target").write_text("")
    assert not asked.still_hold()


def test_a_young_folder_is_not_trusted(tmp_path: Path) -> None:
    with noted_lookups() as asked:
        assert not is_file(tmp_path / "a")
    assert asked.still_hold()
    assert asked.absent[str(tmp_path)].state == ()
    old = time.time() - 2 * digests.SETTLED / 1e9
    os.utime(tmp_path, (old, old))
    # Its time of change cannot be set back.
    assert asked.still_hold()
    assert asked.absent[str(tmp_path)].state == ()


def test_other_searches_and_modules_are_asked_again(monkeypatch) -> None:
    answers = [Path("a"), Path("a"), Path("b")]

    def search(name: str) -> Path:
        assert name == "wanted"
        return answers.pop(0)

    with noted_lookups() as asked:
        assert searched(search, "wanted") == Path("a")
        assert loaded_path("no_such_module") is None
    assert asked.still_hold()
    assert not asked.still_hold()
    with noted_lookups() as asked:
        assert loaded_path("no_such_module") is None
    monkeypatch.setitem(sys.modules, "no_such_module", ModuleType("no_such_module"))
    assert not asked.still_hold()
    assert loaded_path("no_such_module") == ""
