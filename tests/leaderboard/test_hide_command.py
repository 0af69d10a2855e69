"""The command that hides labels: it checks everything first, and a refusal leaves nothing behind."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import InputError
from trueedge.leaderboard.board import Board
from trueedge.leaderboard.hidden.making import hide
from trueedge.leaderboard.hidden.secret_folder import Secret

HIDE = ("leaderboard", "hide", "cora", "-p", "uniform")


@pytest.fixture
def at(tmp_path: Path, trueedge) -> Path:
    """Return the current folder, which has an empty board."""
    assert trueedge("leaderboard", "create", "board")[0] == 0
    return tmp_path


def _files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def _refused(trueedge, at: Path, *words: str) -> str:
    """Return the sentence of a command that is refused and leaves everything as it was."""
    before = _files(at)
    status, out, err = trueedge(*words)
    assert (status, out) == (1, "")
    assert _files(at) == before
    return " ".join(err.split())


@pytest.mark.parametrize(
    ("public", "secret", "said"),
    [
        ("pu", "pu/sec", "SECRET must not be in PUBLIC: pu/sec is in pu, which participants get"),
        ("same", "same", "SECRET must not be in PUBLIC"),
        ("same/../a", "b/../a/c", "SECRET must not be in PUBLIC"),
        ("sec/pu", "sec", "PUBLIC must not be in SECRET"),
        ("pu", "board/sec", "hidden labels must not be in the folder of the board, which is published"),
        ("board/pu", "sec", "PUBLIC must not be in the folder of the board, which holds tasks and entries"),
    ],
)
def test_folders_in_each_other_are_refused(trueedge, at: Path, public: str, secret: str, said: str) -> None:
    words = ("-o", public, "--secret", secret, "--board", "board")
    assert said in _refused(trueedge, at, *HIDE, *words)


def test_a_folder_in_public_through_a_link_is_refused(trueedge, at: Path) -> None:
    os.symlink("pu", "link")
    assert "SECRET must not be in PUBLIC" in _refused(
        trueedge, at, *HIDE, "-o", "pu", "--secret", "link/sec", "--board", "board"
    )


def test_a_bad_name_and_a_taken_name_are_refused_before_anything_is_drawn(
    trueedge, at: Path, monkeypatch
) -> None:
    words = ("-o", "public", "--secret", "secrets/one", "--board", "board")
    assert trueedge(*HIDE, *words, "--name", "mine")[0] == 0
    monkeypatch.setattr("trueedge.leaderboard.hidden.making.judged", lambda *_: pytest.fail("it was drawn"))
    words = ("-o", "pub2", "--secret", "secrets/two", "--board", "board")
    assert "the name of a task must be a name of lower-case letters" in _refused(
        trueedge, at, *HIDE, *words, "--name", "cZ"
    )
    assert "the board has a task mine already: choose another name with --name" in _refused(
        trueedge, at, *HIDE, *words, "--name", "mine"
    )


def test_the_name_that_data_and_protocol_give_may_be_taken_too(trueedge, at: Path) -> None:
    words = ("-o", "public", "--secret", "secrets/one", "--board", "board")
    assert trueedge(*HIDE, *words)[0] == 0
    words = ("-o", "pub2", "--secret", "secrets/two", "--board", "board")
    assert "the board has a task cora-uniform-hidden already" in _refused(trueedge, at, *HIDE, *words)


def test_folders_that_are_taken_are_refused(trueedge, at: Path) -> None:
    (at / "full").mkdir()
    (at / "full" / "notes").write_text("")
    (at / "file").write_text("")
    for public, secret, said in (
        ("full", "sec", "the folder full is not empty"),
        ("file", "sec", "file is a file, not a folder"),
        ("public", "full", "full exists: labels are written into a new folder"),
        ("public", "file/sec", "the labels cannot be written to"),
        ("file/public", "sec", "the hidden task cannot be written to"),
    ):
        assert said in _refused(trueedge, at, *HIDE, "-o", public, "--secret", secret)


def test_labels_in_any_board_are_refused_though_none_is_named(trueedge, at: Path) -> None:
    assert "hidden labels must not be in the folder of the board" in _refused(
        trueedge, at, *HIDE, "-o", "public", "--secret", "board/secrets/one"
    )
    said = _refused(trueedge, at, *HIDE, "-o", "board/public", "--secret", "secrets/one")
    assert "PUBLIC must not be in the folder of the board" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--closes", "2020-01-01"), "the last day of the season, 2020-01-01, is over: nobody could submit"),
        (("--closes", "29991119"), "the last day of the season must be a day such as"),
        (("--closes", "2999-W48-1"), "the last day of the season must be a day such as"),
        (("--season", "a\nb"), "the name of the season has a control or direction character"),
        (("--season", "\u202e1"), "the name of the season has a control or direction character"),
        (("--season", "x" * 81), "the name of the season has 81 characters; 80 are allowed"),
    ],
)
def test_a_season_that_cannot_be_is_refused(trueedge, at: Path, monkeypatch, words, said: str) -> None:
    monkeypatch.setattr("trueedge.leaderboard.hidden.making.judged", lambda *_: pytest.fail("it was drawn"))
    assert said in _refused(trueedge, at, *HIDE, "-o", "public", "--secret", "secrets/one", *words)


def test_data_that_cannot_be_hidden_leaves_nothing(trueedge, at: Path) -> None:
    words = ("-o", "public", "--secret", "sec", "--board", "board")
    said = _refused(trueedge, at, "leaderboard", "hide", "umls", *words)
    assert "umls under filtered cannot be hidden: its test part is published with the data" in said
    assert trueedge("task", "cora", "-p", "uniform", "-o", "saved")[0] == 0
    said = _refused(trueedge, at, "leaderboard", "hide", "saved", *words)
    assert "a task that is made already cannot be hidden: its seed is known" in said


def test_a_write_that_fails_leaves_nothing(at: Path, monkeypatch) -> None:
    make, before = partial(te.task, "cora", "uniform"), _files(at)

    def fails(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    for where, what in ((Secret, "_write"), (Board, "add_task"), (Path, "rename")):
        with monkeypatch.context() as patched:
            patched.setattr(where, what, fails)
            with pytest.raises((InputError, OSError), match="No space left"):
                hide(make, at / "public", at / "secrets", board=Board.open(at / "board"))
        assert _files(at) == before, what


def test_hiding_says_what_it_prints(trueedge, at: Path) -> None:
    status, out, err = trueedge(*HIDE, "-o", "public", "--secret", "secrets/one", "--board", "board")
    told = " ".join(err.split())
    assert (status, len(out.strip())) == (0, 64)
    assert "the salted SHA-256 of the labels, which proves at the end of the season" in told
    assert "cora is a public data set: whoever has it can look up the labels" in told
    assert Board.open("board").check() == []
    assert np.load("public/candidates.npy").shape[1] == 2


def test_there_is_no_seed_to_choose(trueedge, at: Path) -> None:
    status, _, err = trueedge(*HIDE, "-o", "public", "--secret", "sec", "--seed", "1")
    assert status == 2
    assert "--seed" in err
