"""check_scorer on items: what is wrong with a scorer of users is named."""

from __future__ import annotations

import numpy as np
import pytest

import trueedge as te
from small_interactions import Neighbours, small_interactions
from trueedge.scorers import item_check

TASK = te.task(small_interactions())
TABLE = np.random.default_rng(0).normal(size=(TASK.num_users, TASK.num_items))
COUNTS = TASK.graph.item_counts.astype(float)


class Stateful:
    """Scores that depend on who was asked before."""

    def __init__(self) -> None:
        self.seen: set[int] = set()

    def score_candidates(self, users):
        self.seen.update(users.tolist())
        return TABLE[users] + len(self.seen) * TABLE[0]


def levels(scorer: object) -> dict[str, str]:
    report = te.check_scorer(scorer, TASK)
    assert report.ok == ("broken" not in {one.level for one in report.findings})
    return {one.name: one.level for one in report.findings}


def sentence(scorer: object, name: str) -> str:
    return next(one.sentence for one in te.check_scorer(scorer, TASK).findings if one.name == name)


def test_a_sound_scorer_passes_every_check() -> None:
    for scorer in (lambda users: TABLE[users], Neighbours().fit(TASK), te.methods.create("random").fit(TASK)):
        found = levels(scorer)
        assert set(found.values()) == {"ok"}
        assert {"order", "batch", "single", "user", "popularity", "ties"} <= set(found)


def test_popularity_is_called_what_it_is() -> None:
    popularity = te.methods.create("popularity").fit(TASK)
    found = levels(popularity)
    assert (found["user"], found["popularity"]) == ("look", "look")
    assert sentence(popularity, "user").startswith("looks only at the item: the user is ignored, 59 of 59")
    assert sentence(popularity, "popularity").startswith("only counts: items are ranked by their number")


def test_a_bias_of_the_user_does_not_hide_that_the_user_is_ignored() -> None:
    bias = np.random.default_rng(1).normal(size=(TASK.num_users, 1))
    found = levels(lambda users: TABLE[0] * np.exp(bias[users]) + bias[users])
    assert (found["user"], found["popularity"]) == ("look", "ok")


@pytest.mark.parametrize(
    ("scorer", "name"),
    [
        (lambda users: np.ones((len(users), TASK.num_items)), "constant"),
        (lambda users: TABLE[users] - TABLE[users].mean(axis=0), "batch"),
        (lambda users: TABLE[users] + np.arange(len(users))[:, None] * TABLE[0], "order"),
        (lambda users: np.where(users[:, None] == 7, np.nan, TABLE[users]), "finite"),
        (lambda users: TABLE[users][:, :5], "answer"),
        (lambda users: TABLE[users, 0], "answer"),
        (Stateful(), "state"),
    ],
)
def test_a_broken_scorer_is_named(scorer, name) -> None:
    found = te.check_scorer(scorer, TASK)
    assert not found.ok
    assert name in {one.name for one in found.findings if one.level == "broken"}


def test_rounded_scores_tie() -> None:
    found = levels(lambda users: np.rint(TABLE[users]))
    assert found["ties"] == "look"


def test_users_whose_items_all_tie_are_counted() -> None:
    said = sentence(lambda users: TABLE[users] * (users[:, None] >= 15), "constant")
    assert said == "15 of 60 users give all items the same score"


def test_few_users_are_checked_where_there_are_many_items(monkeypatch) -> None:
    monkeypatch.setattr(item_check, "CHECKED_SCORES", 55 * TASK.num_items)
    assert sentence(lambda users: TABLE[users], "answer") == "55 users got 55 answers"
