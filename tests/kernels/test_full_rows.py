"""Rows of scores: ranks of relevant candidates and the best candidates, compared with sorting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueedge.kernels.ranking import full_rows
from trueedge.kernels.ranking.full_rows import rank_and_list_rows, rank_rows, top_rows

Lists = tuple[np.ndarray, np.ndarray]


def lists_of(rows: list[np.ndarray]) -> Lists:
    starts = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    return starts, np.concatenate([np.zeros(0), *rows]).astype(np.int32)


def drawn(rng, rows: int, columns: int, levels: int, kind=np.float32):
    """Scores with ties, known candidates and relevant ones that are not known."""
    scores = rng.integers(0, levels, (rows, columns)).astype(kind) / 4 - 1
    known, relevant = [], []
    for _ in range(rows):
        order = rng.permutation(columns)
        first = int(rng.integers(0, columns))
        second = int(rng.integers(first, columns + 1))
        known.append(order[:first])
        relevant.append(order[first:second])
    return scores, known, relevant


def ranked(scores, known: Lists, relevant: Lists):
    count = len(relevant[1])
    above, tied, answers = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int32)
    bad = rank_rows(scores, known, relevant, above, tied, answers)
    return above, tied, answers, bad


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    columns=st.integers(1, 40),
    levels=st.integers(1, 30),
    kind=st.sampled_from([np.float32, np.float64]),
)
def test_ranks_equal_plain_counts(seed, columns, levels, kind):
    rng = np.random.default_rng(seed)
    scores, known, relevant = drawn(rng, 5, columns, levels, kind)
    above, tied, answers, bad = ranked(scores, lists_of(known), lists_of(relevant))
    starts = lists_of(relevant)[0]
    assert bad == 0
    for row in range(5):
        free = np.setdiff1d(np.arange(columns), known[row])
        own = slice(starts[row], starts[row + 1])
        assert sorted(answers[own]) == sorted(relevant[row])
        marks = scores[row][answers[own]]
        assert (np.diff(marks) <= 0).all()
        assert above[own].tolist() == [(scores[row][free] > mark).sum() for mark in marks]
        assert tied[own].tolist() == [(scores[row][free] == mark).sum() for mark in marks]


def test_many_relevant_candidates_are_ranked_like_few():
    rng = np.random.default_rng(0)
    columns = full_rows.FEW + 120
    scores = rng.integers(0, 90, (2, columns)).astype(np.float32)
    known = [np.arange(20), np.arange(0)]
    relevant = [np.arange(20, 60 + full_rows.FEW), np.arange(columns)]
    above, tied, answers, _ = ranked(scores, lists_of(known), lists_of(relevant))
    at = 0
    for row in range(2):
        free = np.setdiff1d(np.arange(columns), known[row])
        for _ in relevant[row]:
            mark = scores[row, answers[at]]
            assert above[at] == (scores[row][free] > mark).sum()
            assert tied[at] == (scores[row][free] == mark).sum()
            at += 1


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    columns=st.integers(1, 300),
    levels=st.integers(1, 400),
    k=st.integers(1, 30),
)
def test_the_best_candidates_are_those_of_a_sort(seed, columns, levels, k):
    rng = np.random.default_rng(seed)
    scores, known, _ = drawn(rng, 3, columns, levels)
    best = top_rows(scores, lists_of(known), np.arange(3), k, seed)
    for row in range(3):
        free = np.setdiff1d(np.arange(columns), known[row])
        listed = best[row][best[row] >= 0]
        assert len(listed) == min(k, len(free))
        assert (best[row][len(listed) :] == -1).all()
        assert len(set(listed)) == len(listed)
        assert np.isin(listed, free).all()
        assert scores[row][listed].tolist() == sorted(scores[row][free], reverse=True)[:k]


def test_one_pass_gives_what_two_give():
    rng = np.random.default_rng(1)
    scores, known, relevant = drawn(rng, 7, 50, 12)
    queries = np.arange(7) * 3
    alone = ranked(scores, lists_of(known), lists_of(relevant))
    best = np.full((7, 4), -1, dtype=np.int32)
    together = [np.empty_like(array) for array in alone[:3]]
    assert rank_and_list_rows(
        scores, lists_of(known), lists_of(relevant), queries, 9, *together, best
    ) == 0  # fmt: skip
    for one, other in zip(alone[:3], together, strict=True):
        assert np.array_equal(one, other)
    assert np.array_equal(best, top_rows(scores, lists_of(known), queries, 4, 9))


def test_ties_are_in_a_random_order_that_the_key_and_the_query_decide():
    scores = np.zeros((2000, 6), dtype=np.float32)
    nobody = lists_of([np.arange(0)] * 2000)
    first = top_rows(scores, nobody, np.arange(2000), 2, 5)
    assert np.array_equal(first, top_rows(scores, nobody, np.arange(2000), 2, 5))
    assert not np.array_equal(first, top_rows(scores, nobody, np.arange(2000), 2, 6))
    # A block of other queries does not change the order.
    assert np.array_equal(
        first[500:510], top_rows(scores[:10], lists_of([np.arange(0)] * 10), np.arange(500, 510), 2, 5)
    )
    counts = np.bincount(first[:, 0], minlength=6)
    # Each of six is first in a sixth of 2,000 rows, give or take five standard deviations.
    assert (np.abs(counts - 2000 / 6) < 5 * np.sqrt(2000 * 5 / 36)).all()


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_scores_that_are_not_finite_are_counted_wherever_they_are(wrong):
    rng = np.random.default_rng(2)
    scores, known, relevant = drawn(rng, 6, 30, 9)
    scores[1, 4] = scores[1, 5] = scores[4, 29] = wrong
    known[4] = np.array([29])
    assert ranked(scores, lists_of(known), lists_of(relevant))[3] == 3


def test_negative_zero_ties_with_zero():
    scores = np.array([[0.0, -0.0, 1.0]])
    nobody = lists_of([np.arange(0)])
    above, tied, _, _ = ranked(scores, nobody, lists_of([np.array([0])]))
    assert (above[0], tied[0]) == (1, 2)
