"""Full ranking in blocks, and the checks of what a scorer answers."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from trueedge.errors import InputError
from trueedge.tasks.full_ranking import CandidateLists, ask_for_all, rank_all


def lists(rows: list[list[int]]) -> CandidateLists:
    return CandidateLists(
        np.cumsum([0, *map(len, rows)]), np.array([one for row in rows for one in row], dtype=np.int32)
    )


KNOWN = lists([[0], [], [3, 4], [2]])
RELEVANT = lists([[1, 2], [4], [0], [1, 0, 3]])


def ask(answer, users=2):
    return ask_for_all(SimpleNamespace(name="mine", score=answer), np.arange(users), 5, ("users", "items"))


@pytest.mark.parametrize("in_a_block", [1, 5, 11, 1000])
def test_blocks_do_not_change_ranks_or_lists(in_a_block):
    table = np.random.default_rng(0).integers(0, 4, (40, 5)).astype(np.float32)
    queries = np.array([3, 10, 20, 39])
    sizes = []

    def scores(asked):
        sizes.append(len(asked))
        return table[asked]

    found = rank_all(scores, queries, 5, KNOWN, RELEVANT, top=3, key=1, in_a_block=in_a_block)
    whole = rank_all(lambda asked: table[asked], queries, 5, KNOWN, RELEVANT, top=3, key=1)
    assert sizes == {1: [1] * 4, 5: [1] * 4, 11: [2, 2], 1000: [4]}[in_a_block]
    for name in ("answers", "scores", "top"):
        assert np.array_equal(getattr(found, name), getattr(whole, name))
    assert np.array_equal(found.ranks.above, whole.ranks.above)
    assert np.array_equal(found.ranks.tied, whole.ranks.tied)
    assert found.ranks.sizes.candidates.tolist() == [4, 5, 3, 4]


def test_answers_and_scores_are_in_the_order_of_the_ranks():
    table = np.arange(20.0).reshape(4, 5)
    found = rank_all(lambda asked: table[asked], np.arange(4), 5, KNOWN, RELEVANT)
    assert found.answers.tolist() == [2, 1, 4, 0, 3, 1, 0]
    assert found.scores.tolist() == [2, 1, 9, 10, 18, 16, 15]
    assert found.ranks.above.tolist() == [2, 3, 0, 2, 1, 2, 3]
    assert found.top.shape == (4, 0)


@pytest.mark.parametrize(("table", "expected"), [(np.full((4, 5), 2.5), 2.5), (np.eye(5)[:4], None)])
def test_equal_scores_are_noticed(table, expected):
    found = rank_all(lambda asked: table[asked], np.arange(4), 5, KNOWN, RELEVANT)
    assert found.constant == expected


def test_scores_that_are_equal_for_each_query_alone_are_not_constant():
    table = np.repeat(np.arange(4.0), 5).reshape(4, 5)
    assert rank_all(lambda asked: table[asked], np.arange(4), 5, KNOWN, RELEVANT).constant is None


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (np.nan, "1 of 20 scores of mine is NaN"),
        (np.inf, "1 of 20 scores of mine is infinite"),
        (-np.inf, "1 of 20 scores of mine is infinite"),
    ],
)
@pytest.mark.parametrize("place", [(0, 0), (3, 4)])
def test_scores_that_are_not_finite_are_named_even_of_known_candidates(wrong, message, place):
    table = np.zeros((4, 5), dtype=np.float32)
    table[place] = wrong
    with pytest.raises(InputError, match=message):
        rank_all(lambda asked: table[asked], np.arange(4), 5, KNOWN, RELEVANT, name="mine")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            np.zeros((2, 4)),
            r"mine must score 5 items for each of 2 users, as shape \(2, 5\), but .* \(2, 4\)",
        ),
        (np.zeros(10), r"answered with shape \(10,\)"),
        (None, "answered with None"),
        (np.zeros((2, 5), dtype=complex), "must be real numbers"),
        (np.full((2, 5), "a"), "must be real numbers"),
        (np.full((2, 5), 2**53 + 1), "do not fit into a float64"),
        ([[2**53 + 1, 0.5, 0, 0, 0]] * 2, "do not fit into a float64"),
        ([[1, 2, 3, 4, 5], [1]], "cannot be read as an array"),
    ],
)
def test_answers_of_another_shape_or_kind_are_named(answer, message):
    with pytest.raises(InputError, match=message):
        ask(lambda users: answer)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.int8, np.int64, np.bool_])
def test_every_kind_of_real_number_is_ranked(kind):
    table = (np.arange(20).reshape(4, 5) % 2).astype(kind)
    found = rank_all(
        lambda asked: ask(lambda users: table[users], len(asked)), np.arange(4), 5, KNOWN, RELEVANT
    )
    assert found.scores.tolist() == table[[0, 0, 1, 2, 3, 3, 3], found.answers].astype(float).tolist()


def test_a_scorer_that_writes_into_its_input_or_reuses_its_answer_does_no_harm():
    table = np.random.default_rng(1).random((4, 5))
    buffer = np.empty((1, 5))

    def score(users):
        buffer[:] = table[users]
        users[:] = 0
        return buffer

    scorer = SimpleNamespace(name="mine", score=score)
    found = rank_all(
        lambda asked: ask_for_all(scorer, asked, 5, ("users", "items")),
        np.arange(4),
        5,
        KNOWN,
        RELEVANT,
        top=2,
        in_a_block=5,
    )
    whole = rank_all(lambda asked: table[asked], np.arange(4), 5, KNOWN, RELEVANT, top=2)
    assert np.array_equal(found.ranks.above, whole.ranks.above)
    assert np.array_equal(found.top, whole.top)
