"""Tasks that are superseded, and names that a file of a board or of a site has."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.leaderboard.boards import card, certificates, frozen

import trueedge as te
from trueedge.errors import InputError
from trueedge.leaderboard.board import Board
from trueedge.leaderboard.board.task_card import TAKEN
from trueedge.leaderboard.pages import build

TASK = "karate-existing"


@pytest.fixture
def superseded(board: Board) -> Board:
    """Return a board whose task has a successor with one more seed."""
    board.add_task([*frozen(), te.task("karate", "existing", 3)], "karate-new", version=2)
    board.update_task(replace(board.task(TASK), superseded_by="karate-new"))
    return board


def test_certificates_go_to_the_successor_of_a_task_and_not_to_the_task(
    superseded: Board, tmp_path: Path
) -> None:
    paths = certificates(tmp_path / "made", "katz")
    assert superseded.add(paths, card(name="Katz")).task == "karate-new"
    assert superseded.check() == []


def test_a_superseded_task_takes_no_entries(superseded: Board, made: Path, tmp_path: Path) -> None:
    paths = certificates(tmp_path / "made", "katz")
    with pytest.raises(InputError, match=f"the task {TASK} is closed: karate-new is its successor"):
        superseded.add(paths, card(name="Katz"), TASK)
    assert [one.name for one in superseded.entries(TASK)] == ["cn", "ra"]


def test_successors_that_lead_back_are_found(superseded: Board) -> None:
    superseded.update_task(replace(superseded.task("karate-new"), superseded_by=TASK))
    assert [str(one) for one in superseded.check()] == [
        f"{TASK}: it is superseded by karate-new, which leads back to it",
        f"karate-new: it is superseded by {TASK}, which leads back to it",
    ]
    superseded.update_task(replace(superseded.task("karate-new"), superseded_by="karate-new"))
    assert [one.path for one in superseded.check()] == ["karate-new"]


def test_a_problem_with_another_task_ends_with_it(board: Board, tmp_path: Path) -> None:
    board.update_task(replace(board.task(TASK), superseded_by="karate-new"))
    said = f"{TASK}: it is superseded by karate-new, which is not on the board"
    assert build(board, tmp_path / "site").problems == (said,)
    assert build(board, tmp_path / "site").problems == (said,)
    board.add_task(list(frozen()), "karate-new")
    found = build(board, tmp_path / "site")
    assert (found.problems, found.reused) == ((), 1)


def test_no_task_has_the_name_of_a_file_of_the_site(board: Board, tmp_path: Path) -> None:
    build(board, tmp_path / "site")
    assert {one.name for one in (tmp_path / "site").iterdir()} - {TASK} <= set(TAKEN)
    for name in TAKEN:
        with pytest.raises(InputError, match=f"a task cannot be called {name}: a file of its site"):
            board.add_task(list(frozen()), name)


@pytest.mark.parametrize("name", ["standing.json", "task.toml", "audit.json"])
def test_no_entry_has_the_name_of_a_file_of_its_task(board: Board, tmp_path: Path, name: str) -> None:
    paths = certificates(tmp_path / "made", "katz")
    with pytest.raises(InputError, match=f"an entry's folder cannot be called {name}: a file of the task"):
        board.add(paths, card(name="Katz"), name=name)


@pytest.mark.parametrize("name", ["x" * 5000, "..", ".", "a/b", "a\0b", "RA"])
def test_names_that_no_folder_has_are_unknown_names(board: Board, name: str) -> None:
    with pytest.raises(InputError, match="no task of this board is called"):
        board.task(name)
    with pytest.raises(InputError, match="no entry of this task is called"):
        board.entry(TASK, name)
