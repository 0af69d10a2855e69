"""The end of a season: where labels are released, what is certified, and who can be ranked afterwards."""

from __future__ import annotations

import html
import json
import shlex
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tests.leaderboard.boards import perfect
from tests.leaderboard.served_board import HIDDEN, TASK, Served, make_served, noise

import trueedge as te
from trueedge.errors import InputError
from trueedge.leaderboard.board import Board
from trueedge.leaderboard.board.standings import standing_of
from trueedge.leaderboard.hidden.making import hide
from trueedge.leaderboard.hidden.season import end_season
from trueedge.leaderboard.hidden.secret_folder import Secret
from trueedge.leaderboard.pages import build
from trueedge.leaderboard.server.closing import submitted_files


@pytest.fixture
def secret(prepared: Path) -> Secret:
    return Secret.open(prepared / "secrets" / "one")


@pytest.fixture
def judged(served: Served) -> Served:
    """Return a board with two judged entries, while the season is open."""
    for seed, team in enumerate(("one", "two")):
        served.submit_scores(noise(served, seed), team=team, name=team)
    served.worker.work()
    return served


def _end(served: Served, secret: Secret, labels: Path) -> None:
    end_season(served.board, HIDDEN, secret, submitted_files(served.folder / "board", HIDDEN), labels)


def test_labels_are_not_released_into_the_board_or_over_those_of_another_task(
    judged: Served, secret: Secret, tmp_path: Path, trueedge
) -> None:
    with pytest.raises(InputError, match="must not be released into the folder of the board"):
        _end(judged, secret, judged.folder / "board" / HIDDEN / "labels")
    with pytest.raises(InputError, match=f"{TASK} is no hidden task: its labels are public"):
        end_season(judged.board, TASK, secret, {}, tmp_path / "labels")
    (tmp_path / "labels").mkdir()
    (tmp_path / "labels" / "released.json").write_text('{"labels": "others"}')
    with pytest.raises(InputError, match="holds the released labels of another task"):
        _end(judged, secret, tmp_path / "labels")
    assert judged.board.task(HIDDEN).labels_hidden
    words = ("leaderboard", "end", str(judged.folder / "board"), TASK, "--release", str(tmp_path / "new"))
    status, _, err = trueedge(*words, "--secret", str(judged.folder / "secrets" / "one"))
    assert (status, "is no hidden task" in " ".join(err.split())) == (1, True)
    assert not (tmp_path / "new").exists()


def test_a_certificate_that_was_there_before_the_end_is_not_taken_for_a_submission(
    judged: Served, secret: Secret, tmp_path: Path
) -> None:
    _end(judged, secret, tmp_path / "labels")
    entry = judged.board.entry(HIDDEN, "one")
    perfect(entry.folder / "seed-0.json")
    with pytest.raises(InputError, match=r"seed-0\.json is no certificate of the scores that were submitted"):
        _end(judged, secret, tmp_path / "labels")


def test_positives_that_share_negatives_have_neither_intervals_nor_letters(
    judged: Served, secret: Secret, tmp_path: Path
) -> None:
    _end(judged, secret, tmp_path / "labels")
    shown = json.loads((judged.board.folder / HIDDEN / "standing.json").read_text())["entries"]
    assert {(one["low"], one["high"], one["letters"]) for one in shown.values()} == {(None, None, "")}
    scored = judged.board.entry(HIDDEN, "one").scored
    assert scored is not None
    assert (scored["interval"], scored["value"]) == (None, shown["one"]["value"])
    assert judged.board.check() == []


def test_units_with_negatives_of_their_own_have_intervals_and_letters(tmp_path: Path) -> None:
    board = Board.create(tmp_path / "board")
    hidden = hide(
        partial(te.task, "cora", "triplet"),
        *(tmp_path / "public", tmp_path / "secret"),
        board=board,
        name="hidden",
        least_units=100,
    )
    secret = Secret.open(tmp_path / "secret")
    from trueedge.leaderboard.board import EntryCard
    from trueedge.leaderboard.server.scored_entries import write_scored

    files = {}
    for name, values in (
        ("zero", np.zeros(hidden.card.shape)),
        ("noise", np.random.default_rng(0).random(hidden.card.shape)),
    ):
        files[name] = tmp_path / f"{name}.npy"
        np.save(files[name], values)
        write_scored(board, "hidden", name, EntryCard(name=name, authors=("A",), licence="MIT"), None, 1.7e9)
    end_season(board, "hidden", secret, files, tmp_path / "labels")
    shown = json.loads((board.folder / "hidden" / "standing.json").read_text())["entries"]
    assert all(one["low"] <= one["value"] <= one["high"] for one in shown.values())
    assert all(one["letters"] for one in shown.values())
    assert board.check() == []


def test_nobody_is_scored_after_the_end(judged: Served, secret: Secret, tmp_path: Path) -> None:
    _end(judged, secret, tmp_path / "labels")
    board = judged.board
    shutil.copytree(board.folder / HIDDEN / "one", board.folder / HIDDEN / "late")
    perfect(board.folder / HIDDEN / "late" / "seed-0.json")
    said = "late/scored.json: its value is not in standing.json, as those of all entries"
    assert any(said in str(one) for one in board.check())
    rows = {row.entry.name: row for row in standing_of(board.task(HIDDEN), board.entries(HIDDEN)).rows}
    assert (rows["late"].places, rows["late"].value, rows["one"].places) == (None, None, (1, 2))
    (board.folder / HIDDEN / "standing.json").unlink()
    assert len([one for one in board.check() if "it has no standing.json" in str(one)]) == 3


def test_an_entry_that_was_withdrawn_before_the_end_is_no_problem_after_it(
    judged: Served, secret: Secret, tmp_path: Path
) -> None:
    judged.board.withdraw(HIDDEN, "two", "a mistake")
    _end(judged, secret, tmp_path / "labels")
    assert judged.board.check() == []


def test_pages_of_an_ended_season_speak_of_public_labels_and_of_the_released_task(
    judged: Served, secret: Secret, tmp_path: Path, trueedge
) -> None:
    build(judged.board, tmp_path / "open")
    page = (tmp_path / "open" / HIDDEN / "index.html").read_text()
    assert "Shared letter: the same value." in page
    assert "no significant difference" not in page
    assert (
        "so none are listed before the season ends"
        in (tmp_path / "open" / HIDDEN / "compare.html").read_text()
    )
    _end(judged, secret, tmp_path / "labels")
    build(judged.board, tmp_path / "site")
    first = html.unescape((tmp_path / "site" / "index.html").read_text())
    assert "Every number here can be recomputed from the scores in the board's folder." in html.unescape(
        first
    )
    assert "<td>hidden</td>" not in first
    assert ("one test part allows no test" in first, "one seed" in first) == (True, False)
    page = (tmp_path / "site" / HIDDEN / "entries" / "one.html").read_text()
    assert "--rerun" not in page
    assert (
        "so all entries share one range of ranks" in (tmp_path / "site" / HIDDEN / "compare.html").read_text()
    )
    command = f"trueedge verify {HIDDEN}/one/seed-0.json --task labels/task"
    assert command in page.replace('<span class="word">', "").replace("</span>", "")
    words = shlex.split(command.replace(HIDDEN, f"board/{HIDDEN}"))
    assert trueedge(*words[1:])[0] == 0


def test_an_entry_without_certificates_is_not_reproduced(judged: Served, trueedge) -> None:
    board = str(judged.folder / "board")
    status, _, err = trueedge("leaderboard", "reproduce", board, HIDDEN, "one", "--by", "C. Person")
    assert status == 1
    assert f"{HIDDEN}/one has no certificate that could be reproduced" in " ".join(err.split())


def test_the_end_asks_the_database_that_the_server_used(
    judged: Served, tmp_path: Path, monkeypatch, trueedge
) -> None:
    moved = tmp_path / "elsewhere.db"
    judged.service.engine.dispose()
    shutil.move(judged.service.places.own / "server.db", moved)
    monkeypatch.setenv("TRUEEDGE_DATABASE", f"sqlite:///{moved}")
    words = ("leaderboard", "end", str(judged.folder / "board"), HIDDEN, "--release", str(tmp_path / "new"))
    status, out, err = trueedge(*words, "--secret", str(judged.folder / "secrets" / "one"))
    assert (status, "on the private units" in out) == (0, True), err


def test_entries_that_were_withdrawn_need_not_be_beaten(tmp_path: Path, prepared: Path) -> None:
    served = make_served(tmp_path, prepared, per_week=5)
    best = served.hidden.scores(te.methods.get("ppr")().fit(served.hidden.task))
    good = served.hidden.scores(te.methods.get("cn")().fit(served.hidden.task))
    served.submit_scores(best, name="cheat")
    served.worker.work()
    hopeless = served.submit_scores(good, name="first", team="two")
    served.worker.work()
    assert served.status(hopeless.json()["id"], "two")["value"] is None
    served.board.withdraw(HIDDEN, "cheat", "it knew the labels")
    honest = served.submit_scores(good * 2, name="second", team="two")
    served.worker.work()
    assert served.status(honest.json()["id"], "two")["value"] is not None
    with pytest.raises(InputError, match="withdrawn already"):
        served.board.withdraw(HIDDEN, "cheat", "again")
