"""The ranking kernels against loops a child could read."""

from __future__ import annotations

from itertools import pairwise, permutations

import numba
import numpy as np
import pytest

from trueedge.kernels.ranking.ranking import (
    chance_of_hit,
    count_above,
    count_above_listed,
    rank_relevant,
    reciprocal_first,
)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_counts_above_equal_a_double_loop(dtype):
    rng = np.random.default_rng(1)
    positive = rng.integers(0, 6, 25).astype(np.float64)
    negative = rng.integers(0, 6, (25, 13)).astype(dtype)
    above, at_least = count_above(positive, negative)
    for i in range(25):
        assert above[i] == sum(1 for other in negative[i] if other > positive[i])
        assert at_least[i] == sum(1 for other in negative[i] if other >= positive[i])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_counts_above_by_place_are_those_of_the_scores_there(dtype):
    rng = np.random.default_rng(1)
    scores = rng.integers(0, 6, 9).astype(dtype)
    positive = rng.integers(0, 6, 25).astype(np.float64)
    places = rng.integers(0, 9, (25, 13)).astype(np.int32)
    found, expected = count_above_listed(positive, scores, places), count_above(positive, scores[places])
    assert [one.tolist() for one in found] == [one.tolist() for one in expected]


def test_a_float32_negative_is_compared_exactly_with_a_float64_positive():
    tenth = np.float32(0.1)
    above, at_least = count_above(np.array([0.1, float(tenth)]), np.array([[tenth], [tenth]]))
    assert above.tolist() == [1, 0]
    assert at_least.tolist() == [1, 1]


def test_relevant_candidates_are_ranked_as_by_a_double_loop():
    rng = np.random.default_rng(2)
    sizes = np.array([0, 1, 7, 30, 3, 12])
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    scores = rng.integers(0, 5, indptr[-1]).astype(np.float64)
    relevant = rng.random(indptr[-1]) < 0.4
    counts = np.array([relevant[a:b].sum() for a, b in pairwise(indptr)])
    starts = np.concatenate([[0], np.cumsum(counts)])
    above, tied = rank_relevant(indptr, scores, relevant, starts)
    for query in range(len(sizes)):
        own = scores[indptr[query] : indptr[query + 1]]
        right = own[relevant[indptr[query] : indptr[query + 1]]]
        expected = [(int((own > s).sum()), int((own == s).sum())) for s in sorted(right, reverse=True)]
        part = slice(starts[query], starts[query + 1])
        assert list(zip(above[part].tolist(), tied[part].tolist(), strict=True)) == expected


def test_the_number_of_threads_changes_nothing():
    rng = np.random.default_rng(3)
    positive, negative = rng.random(40), rng.random((40, 9))
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        one = count_above(positive, negative)
    finally:
        numba.set_num_threads(before)
    many = count_above(positive, negative)
    assert np.array_equal(one[0], many[0])
    assert np.array_equal(one[1], many[1])


@pytest.mark.parametrize(
    ("above", "tied", "relevant"), [(0, 1, 1), (0, 5, 2), (2, 4, 1), (3, 5, 5), (1, 6, 3)]
)
def test_chances_over_ties_equal_the_mean_over_all_orders(above, tied, relevant):
    orders = list(permutations([1] * relevant + [0] * (tied - relevant)))
    firsts = [above + 1 + order.index(1) for order in orders]
    ask = [np.array([number]) for number in (above, tied, relevant)]
    for k in range(1, above + tied + 2):
        assert chance_of_hit(*ask, k)[0] == pytest.approx(
            np.mean([first <= k for first in firsts]), abs=1e-14
        )
        assert reciprocal_first(*ask, k)[0] == pytest.approx(
            np.mean([1 / first if first <= k else 0.0 for first in firsts]), rel=1e-14
        )
