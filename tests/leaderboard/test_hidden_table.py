"""The table of a hidden task's card: what is wrong in it is said where the card is read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.leaderboard.served_board import HIDDEN, Served, noise

from trueedge.errors import InputError
from trueedge.leaderboard.board.hidden_table import checked_hidden
from trueedge.leaderboard.board.task_card import BoardTask
from trueedge.leaderboard.server import accepting

TABLE = {
    "season": "1",
    "opens": "2026-01-01",
    "candidates": "0" * 64,
    "labels": "1" * 64,
    "public_share": 0.3,
    "shape": [2534],
}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"shape": "x"}, "shape of a hidden task must be a list of whole numbers, 1 or more"),
        ({"shape": [-5]}, "shape of a hidden task must be a list of whole numbers, 1 or more"),
        ({"shape": [[5]]}, "shape of a hidden task must be a list of whole numbers, 1 or more"),
        ({"shape": []}, "shape of a hidden task must be a list of whole numbers, 1 or more"),
        ({"closes": "20261119"}, "closes of a hidden task must be a day"),
        ({"closes": 3}, "closes of a hidden task must be a text"),
        ({"opens": "soon"}, "opens of a hidden task must be a day"),
        ({"quotas": "x"}, "quotas of a hidden task are per_week, per_season, per_task"),
        ({"quotas": {"weekly": 1}}, "quotas of a hidden task are per_week, per_season, per_task"),
        ({"quotas": {"per_week": 0}}, "per_week must be a whole number, 1 or more"),
        ({"quotas": {"per_week": True}}, "per_week must be a whole number, 1 or more"),
        ({"ladder": "mine"}, "ladder of a hidden task must be task or team, got 'mine'"),
        ({"phase": ["final"]}, "phase of a hidden task must be public or final"),
        ({"labels": 3}, "labels of a hidden task must be 64 digits"),
        ({"salt": "x"}, "salt of a hidden task must be 64 digits"),
        ({"public_share": 7}, "public_share of a hidden task must lie between 0 and 1"),
        ({"public_share": True}, "public_share of a hidden task must lie between 0 and 1"),
        ({"season": "a\nb"}, "season of a hidden task has a control or direction character"),
        ({"shap": [1]}, "no field of the table hidden is called 'shap'; did you mean 'shape'?"),
    ],
)
def test_a_wrong_field_is_refused_by_its_name(change, said: str) -> None:
    assert checked_hidden(TABLE) == TABLE
    with pytest.raises(InputError, match=said.replace("[", r"\[").replace("?", r"\?")):
        checked_hidden({**TABLE, **change})


@pytest.mark.parametrize("name", ["labels", "shape"])
def test_a_table_without_what_judging_needs_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} is missing in the table hidden"):
        checked_hidden({key: value for key, value in TABLE.items() if key != name})


@pytest.mark.parametrize("table", ["x", [1], True])
def test_what_is_no_table_is_refused(served: Served, table) -> None:
    with pytest.raises(InputError, match="hidden must be a table, got"):
        replace(served.board.task(HIDDEN), hidden=table)


def test_a_date_of_toml_is_a_day_and_can_be_served(served: Served) -> None:
    path = served.folder / "board" / HIDDEN / "task.toml"
    path.write_text(path.read_text().replace("[hidden]", "[hidden]\ncloses = 2999-01-01"))
    assert BoardTask.from_toml(path).hidden["closes"] == "2999-01-01"
    served.worker._stale, served.worker._next_build = {HIDDEN}, 0.0
    served.worker.work()
    listed = served.ask("GET", "/api/v1/boards").json()["boards"]
    assert listed[0]["hidden"]["closes"] == "2999-01-01"


def test_a_damaged_table_of_a_served_task_is_one_sentence(served: Served) -> None:
    path = served.folder / "board" / HIDDEN / "task.toml"
    path.write_text(path.read_text().replace("shape = [", 'shape = "x" # '))
    answer = served.submit_scores(noise(served, 0))
    assert answer.status_code == 404
    assert "shape of a hidden task must be a list" in answer.json()["error"]
    assert str(served.folder) not in answer.text
    (problem,) = map(str, served.board.check())
    assert problem.startswith(f"{HIDDEN}/task.toml: shape of a hidden task must be a list")


def test_a_season_takes_nothing_before_it_opens(served: Served) -> None:
    card = served.board.task(HIDDEN)
    served.board.update_task(replace(card, hidden={**card.hidden, "opens": "2999-01-01"}))
    # Quotas count from that day on: what came before would count for nothing.
    for seed in range(3):
        answer = served.submit_scores(noise(served, seed), name=f"Try {seed}")
        assert (answer.status_code, answer.json()["error"]) == (
            409,
            f"the season of {HIDDEN} opens on 2999-01-01",
        )


def test_a_clock_that_was_turned_back_lets_nobody_past_the_quota(served: Served, monkeypatch) -> None:
    real = accepting.now
    monkeypatch.setattr(accepting, "now", lambda: real() - 3 * 86400)
    found = [served.submit_scores(noise(served, seed), name=f"Try {seed}").status_code for seed in range(3)]
    assert found == [409] * 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f'options = "x"\n[seeds.0]\ntask = "{"0" * 64}"', "options must be a table, got str"),
        ('seeds = "x"', "seeds must be a table, got str"),
        ('[seeds.0]\ntask = "x"\ntruth = "x"', "truth of seed 0 must be a table, got str"),
        ('[seeds]\n0 = "x"', "seed 0 must be a table, got str"),
        (f'[seeds.0]\ntask = "{"0" * 64}"\n[seeds.0.shapes]\na = [-7]', "whole numbers, 0 or more"),
    ],
)
def test_a_card_whose_tables_are_none_is_refused_by_name(tmp_path: Path, text: str, said: str) -> None:
    given = {"title": "T", "dataset": "d", "protocol": "p", "kind": "link", "headline": "mrr", "name": "t"}
    path = tmp_path / "t" / "task.toml"
    path.parent.mkdir()
    head = "".join(f"{name} = {json.dumps(value)}\n" for name, value in given.items())
    path.write_text(head + text + "\n")
    with pytest.raises(InputError, match=said) as found:
        BoardTask.from_toml(path)
    assert str(found.value).startswith(f"{path}: ")
    path.write_text(head.replace('headline = "mrr"\n', ""))
    with pytest.raises(InputError, match=r"task\.toml: headline is missing"):
        BoardTask.from_toml(path)
