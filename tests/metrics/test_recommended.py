"""Metrics of recommended lists: coverage, novelty and recall of the long tail."""

from __future__ import annotations

import math

import numpy as np
import pytest

import trueedge.metrics as tm
from trueedge.errors import InputError
from trueedge.metrics.recommended import RecommendedScores, long_tail


def made(above, tied, relevant, answers, top, popularity, queries=10, candidates=20) -> RecommendedScores:
    relevant = np.array(relevant)
    return RecommendedScores(
        sizes=tm.ListSizes(np.full(len(relevant), candidates), relevant),
        starts=np.cumsum([0, *relevant]),
        above=np.array(above),
        tied=np.array(tied),
        left_out=0,
        answers=np.array(answers, dtype=np.int32),
        top=np.array(top, dtype=np.int32),
        popularity=np.array(popularity),
        queries=queries,
    )


@pytest.fixture
def scores() -> RecommendedScores:
    # Items 0 and 1 have 16 of 20 interactions: 2, 3 and 4 are the tail. The last user has no tail item.
    return made(
        above=[0, 1, 5, 2, 0],
        tied=[1, 1, 1, 2, 1],
        relevant=[3, 1, 1],
        answers=[0, 2, 3, 4, 1],
        top=[[0, 2, 1], [3, 1, -1], [1, 0, 2]],
        popularity=[8, 8, 2, 2, 0],
    )


def test_coverage_counts_the_items_of_all_lists(scores):
    assert tm.get("coverage@1").value(scores) == 3 / 5
    assert tm.get("coverage@2").value(scores) == 4 / 5
    assert tm.get("coverage@3").value(scores) == 4 / 5


def test_novelty_is_the_mean_self_information_and_places_without_an_item_do_not_count(scores):
    rare, common = -math.log2(2 / 10), -math.log2(8 / 10)
    expected = [(common + rare + common) / 3, (rare + common) / 2, (common + common + rare) / 3]
    assert tm.get("novelty@3").per_unit(scores) == pytest.approx(expected)
    assert tm.get("novelty@3").value(scores) == pytest.approx(np.mean(expected))


def test_an_item_without_users_counts_as_half_a_user():
    one = made([0], [1], [1], [4], [[4]], [8, 8, 2, 2, 0])
    assert tm.get("novelty@1").value(one) == pytest.approx(-math.log2(0.5 / 10))


def test_the_tail_is_what_the_most_popular_items_leave():
    assert long_tail(np.array([8, 8, 2, 2, 0])).tolist() == [False, False, True, True, True]
    # Those as popular as the last of the head are popular, whatever their place.
    assert not long_tail(np.array([1, 1, 1, 1])).any()
    assert long_tail(np.array([0, 0])).all()
    popularity = np.random.default_rng(0).geometric(0.05, 500)
    tail = long_tail(popularity)
    assert popularity[tail].max() < popularity[~tail].min()
    assert popularity[~tail].sum() >= 0.8 * popularity.sum()
    head = popularity > popularity[~tail].min()
    assert popularity[head].sum() < 0.8 * popularity.sum()


def test_tail_recall_is_a_mean_over_users_with_a_tail_item(scores):
    # The first user: items 2 (place 2) and 3 (place 6). The second: item 4 shares the places 3 and 4.
    assert tm.get("tail-recall@2").value(scores) == pytest.approx((1 / 2 + 0) / 2)
    assert tm.get("tail-recall@3").value(scores) == pytest.approx((1 / 2 + 1 / 2) / 2)
    assert tm.get("tail-recall@6").value(scores) == pytest.approx(1.0)
    values = tm.get("tail-recall@2").per_unit(scores)
    assert values == pytest.approx([0.25 + 0.25 * 3 / 2, 0.25 - 0.25 * 3 / 2, 0.25])


def test_tail_recall_of_nothing_is_refused():
    popular = made([0], [1], [1], [0], [[0]], [8, 8, 2, 2])
    with pytest.raises(InputError, match="no user has a relevant item outside the most popular ones"):
        tm.get("tail-recall@1").value(popular)


def test_a_longer_list_than_known_is_refused(scores):
    with pytest.raises(InputError, match="only the first 3 candidates are known, not 4"):
        tm.get("coverage@4").value(scores)


@pytest.fixture
def listed() -> RecommendedScores:
    """Lists that agree with the ranks; the second user has two candidates."""
    return made(
        above=[0, 1, 3, 1, 0],
        tied=[1, 1, 1, 1, 1],
        relevant=[3, 1, 1],
        answers=[0, 2, 3, 4, 1],
        top=[[0, 2, 1], [3, 4, -1], [1, 0, 2]],
        popularity=[8, 8, 2, 2, 0],
        candidates=[5, 2, 5],
    )


def test_arrays_give_the_scores_back(listed):
    scores = listed
    again = RecommendedScores.from_arrays(scores.arrays())
    assert again.hash == scores.hash
    assert tm.get("tail-recall@3").value(again) == tm.get("tail-recall@3").value(scores)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("top", np.full((3, 2), 5)),
        ("top", np.full((3, 2), -2)),
        ("top", np.zeros((2, 2), dtype=int)),
        ("top", np.zeros((3, 2))),
        ("answers", np.full(5, 5)),
        ("answers", np.full(5, -1)),
        ("answers", np.zeros(4, dtype=int)),
        ("popularity", np.array([11, 0, 0, 0, 0])),
        ("popularity", np.array([-1, 0, 0, 0, 0])),
        ("queries", np.array([1, 2])),
    ],
)
def test_arrays_that_do_not_fit_are_refused(listed, name, value):
    with pytest.raises(InputError, match="arrays of recommended lists"):
        RecommendedScores.from_arrays({**listed.arrays(), name: value})


@pytest.mark.parametrize(
    "top",
    [
        [[2, 0, 1], [3, 4, -1], [1, 0, 2]],  # a relevant item in another place than its rank says
        [[0, 4, 1], [3, 4, -1], [1, 0, 2]],  # one that is missing
        [[0, 2, 2], [3, 4, -1], [1, 0, 2]],  # an item twice
        [[0, 2, 1], [3, -1, 4], [1, 0, 2]],  # a gap
        [[0, 2, 1], [3, 4, 0], [1, 0, 2]],  # more than there are candidates
        [[0, 2, -1], [3, 4, -1], [1, 0, 2]],  # fewer than there are
    ],
)
def test_lists_that_contradict_the_ranks_are_refused(listed, top):
    with pytest.raises(InputError, match="not those that its ranks put first"):
        RecommendedScores.from_arrays({**listed.arrays(), "top": np.array(top)})


def test_facts_list_the_answers_by_number_not_by_rank(listed):
    turned = {**listed.arrays(), "above": np.array([0, 1, 3, 1, 0]), "answers": np.array([2, 0, 3, 4, 1])}
    turned["top"] = np.array([[2, 0, 1], [3, 4, -1], [1, 0, 2]])
    other = RecommendedScores.from_arrays(turned)
    assert other.hash != listed.hash
    assert other.facts()["answers"].tolist() == listed.facts()["answers"].tolist() == [0, 2, 3, 4, 1]


# Two users, K = 3, by the formulas of RecBole's documentation: the first finds two of three, at places 1 and
# 3, the second none of one.
DISCOUNTED = (1 + 1 / math.log2(4)) / (1 + 1 / math.log2(3) + 1 / math.log2(4))
BY_HAND = {
    "recall@3": (2 / 3 + 0) / 2,
    "ndcg@3": (DISCOUNTED + 0) / 2,
    "hitrate@3": (1 + 0) / 2,
    "list-mrr@3": (1 + 0) / 2,
    "list-precision@3": (2 / 3 + 0) / 2,
    "list-mrr": (1 + 1 / 8) / 2,
}


@pytest.mark.parametrize("name", BY_HAND)
def test_metrics_of_lists_follow_the_usual_formulas(name):
    two = made([0, 2, 9, 7], [1, 1, 1, 1], [3, 1], [4, 3, 1, 2], [[4, 0, 3], [0, 1, 3]], [2, 2, 2, 2, 2])
    assert tm.get(name).value(two) == pytest.approx(BY_HAND[name], rel=1e-15)
