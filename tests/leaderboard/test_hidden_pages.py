"""The pages of a board with hidden labels: they show commands that work there, before and after the end."""

from __future__ import annotations

import html
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from tests.leaderboard.served_board import HIDDEN, Served, make_served

import trueedge as te
from trueedge.errors import InputError
from trueedge.leaderboard.board import Board, EntryCard
from trueedge.leaderboard.hidden.public_folder import HiddenTask
from trueedge.leaderboard.hidden.season import end_season
from trueedge.leaderboard.hidden.secret_folder import Secret
from trueedge.leaderboard.pages import build
from trueedge.leaderboard.server.closing import submitted_files
from trueedge.results import Store
from trueedge.results.certificate import certify


@pytest.fixture
def only_hidden(tmp_path: Path, prepared: Path) -> Board:
    """Return a board that has nothing but an open hidden task."""
    board = Board.create(tmp_path / "only", "Hidden")
    board.add_task(HiddenTask.open(prepared / "public").card.board_task())
    return board


@pytest.fixture
def ended(tmp_path: Path, prepared: Path) -> Served:
    """Return a board whose hidden season has ended, with its labels in ``labels``."""
    served = make_served(tmp_path, prepared)
    served.submit_scores(np.random.default_rng(0).random(served.hidden.card.shape))
    served.worker.work()
    secret = Secret.open(prepared / "secrets" / "one")
    files = submitted_files(served.folder / "board", HIDDEN)
    end_season(served.board, HIDDEN, secret, files, tmp_path / "labels")
    return served


def _commands(page: Path) -> list[list[str]]:
    found = re.findall(r"<pre><code>(.*?)</code></pre>", page.read_text(), re.DOTALL)
    return [shlex.split(html.unescape(re.sub("<[^>]*>", "", one))) for one in found]


def test_a_board_with_hidden_labels_alone_shows_how_to_answer_and_to_submit(
    only_hidden: Board, tmp_path: Path, prepared: Path, trueedge
) -> None:
    build(only_hidden, tmp_path / "site")
    for page in (tmp_path / "site" / "submit.html", tmp_path / "site" / HIDDEN / "card.html"):
        words = _commands(page)
        assert [one[:3] for one in words[1:]] == [
            ["trueedge", "leaderboard", "answer"],
            ["trueedge", "submit", "scores.npy"],
        ]
        assert words[2][words[2].index("--task") + 1] == HIDDEN
        assert "certify" not in page.read_text()
    answer = _commands(tmp_path / "site" / "submit.html")[1]
    given = {"PUBLIC": str(prepared / "public"), "mine.py:Mine": "ra"}
    status, _, err = trueedge(*(given.get(word, word) for word in answer[1:]))
    assert status == 0, err


def test_a_board_with_both_kinds_of_tasks_shows_both_ways(served: Served, tmp_path: Path) -> None:
    build(served.board, tmp_path / "site")
    words = _commands(tmp_path / "site" / "submit.html")
    assert ["trueedge", "certify"] in [one[:2] for one in words]
    assert ["trueedge", "submit"] in [one[:2] for one in words]


def test_the_page_of_an_ended_season_names_the_released_labels(
    ended: Served, tmp_path: Path, trueedge
) -> None:
    build(ended.board, tmp_path / "site")
    page = tmp_path / "site" / HIDDEN / "card.html"
    assert "labels/task" in page.read_text()
    assert "depend only on the seed" not in page.read_text()
    assert '<th scope="row">secret</th>' in page.read_text()
    verify, run = _commands(page)
    # The commands are run beside the folder of labels; the file of an entry is in that of the board.
    verify[2] = f"board/{verify[2]}"
    status, out, err = trueedge(*verify[1:])
    assert (status, "OK" in out) == (0, True), err
    status, out, err = trueedge(*(word.replace("METHOD", "ra") for word in run[1:]))
    assert (status, "ra" in out) == (0, True), err


def test_a_board_whose_seasons_have_ended_takes_no_submissions(ended: Served, tmp_path: Path) -> None:
    board = Board.create(tmp_path / "only", "Ended")
    board.add_task(ended.board.task(HIDDEN))
    build(board, tmp_path / "site")
    page = (tmp_path / "site" / "submit.html").read_text()
    assert "No task of this board takes submissions now." in page
    assert _commands(tmp_path / "site" / "submit.html") == []


def test_a_certificate_of_an_ordinary_seed_is_of_another_task_than_an_ended_one(
    ended: Served, tmp_path: Path
) -> None:
    store = Store(tmp_path / "runs")
    record = te.run("cora", "uniform", "ra", seed=0, store=store, keep_scores=True)
    path = certify(record, tmp_path / "ra-0.json", store)
    card = EntryCard(name="Ordinary", authors=("A. Person",), licence="MIT")
    with pytest.raises(InputError, match="no task of this board has the hash"):
        ended.board.add([path], card)
    with pytest.raises(InputError, match="it is of another task: its hash is"):
        ended.board.add([path], card, HIDDEN)
    assert [one.name for one in ended.board.entries(HIDDEN)] == ["mine"]
