from __future__ import annotations

import hashlib
import itertools

import numpy as np
import pytest
from scipy import stats

from trueedge.kernels.negatives.sampling import (
    below,
    distinct,
    distinct_in_rows,
    first_occurrences,
    shuffled_prefix,
    shuffled_prefixes,
    words,
)


def make(seed: int = 0) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def swapped(size: int, picks: list[int]) -> list[int]:
    items = list(range(size))
    for i, j in enumerate(picks):
        items[i], items[j] = items[j], items[i]
    return items[: len(picks)]


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 2**31 - 1, 2**32 - 1, 2**32, 2**40 + 3, 2**62])
def test_below_stays_below_its_bound_and_reaches_both_halves(bound: int) -> None:
    drawn = below(make(), bound, 400)
    assert drawn.dtype == np.int64
    assert drawn.min() >= 0
    assert drawn.max() < bound
    if bound > 1:
        assert 100 < np.count_nonzero(drawn < (bound + 1) // 2) < 400


def test_below_is_uniform() -> None:
    counts = np.bincount(below(make(), 10, 20_000), minlength=10)
    assert stats.chisquare(counts).pvalue > 0.001


def test_below_is_uniform_where_the_half_words_do_not_fit_the_bound() -> None:
    """Below 3 * 2^30 a plain scaling of 2^32 half words would favour every third number."""
    bound = 3 * 2**30
    drawn = below(make(), bound, 30_000)
    assert stats.chisquare(np.bincount(drawn % 3, minlength=3)).pvalue > 0.001
    assert stats.kstest(drawn / bound, "uniform").pvalue > 0.001


def test_below_takes_a_bound_for_each_number() -> None:
    bounds = np.arange(1, 2001)
    drawn = below(make(), bounds, 2000)
    assert (drawn < bounds).all()
    assert stats.kstest((drawn[500:] + 0.5) / bounds[500:], "uniform").pvalue > 0.001


def test_below_draws_nothing_when_nothing_is_asked() -> None:
    assert len(below(make(), 5, 0)) == 0
    assert len(below(make(), 2**40, 0)) == 0
    assert len(words(make(), 0)) == 0


@pytest.mark.parametrize(("size", "count"), [(0, 0), (1, 1), (5, 5), (40, 6), (1000, 3), (10**15, 50)])
def test_distinct_numbers_are_distinct_and_in_range(size: int, count: int) -> None:
    drawn = distinct(make(), size, count)
    assert len(drawn) == count
    assert len(set(drawn.tolist())) == count
    assert all(0 <= number < size for number in drawn)


@pytest.mark.parametrize("size", [4, 20])
def test_distinct_makes_every_ordered_choice_equally_likely(size: int) -> None:
    """Four numbers are shuffled, twenty are drawn again where they repeat."""
    rng = make()
    places = {choice: i for i, choice in enumerate(itertools.permutations(range(size), 2))}
    counts = np.zeros(len(places))
    for _ in range(20 * len(places)):
        first, second = distinct(rng, size, 2)
        counts[places[int(first), int(second)]] += 1
    assert stats.chisquare(counts).pvalue > 0.001


def test_first_occurrences_keep_their_order() -> None:
    values = np.array([5, 3, 5, 9, 3, 1])
    assert first_occurrences(values).tolist() == [5, 3, 9, 1]


def test_a_shuffled_prefix_is_what_swapping_gives() -> None:
    rng = np.random.default_rng(1)
    for size in range(1, 12):
        for count in range(size + 1):
            picks = np.array([rng.integers(i, size) for i in range(count)], dtype=np.int64)
            assert shuffled_prefix(size, picks).tolist() == swapped(size, picks.tolist())


def test_shuffled_prefixes_do_not_depend_on_the_rows_before() -> None:
    rng = np.random.default_rng(2)
    sizes, counts = [9, 3, 1, 9, 5], [4, 3, 0, 9, 1]
    rows = [
        [int(rng.integers(i, size)) for i in range(count)] for size, count in zip(sizes, counts, strict=True)
    ]
    indptr = np.cumsum([0, *counts])
    got = shuffled_prefixes(9, indptr, np.array(list(itertools.chain(*rows)), dtype=np.int64))
    expected = [swapped(size, row) for size, row in zip(sizes, rows, strict=True)]
    assert got.tolist() == list(itertools.chain(*expected))


def test_distinct_in_rows_is_distinct_in_each_row_and_uniform() -> None:
    rng = make()
    sizes, counts = np.array([3, 5, 2]), np.array([3, 2, 0])
    first = np.zeros(3)
    pairs = np.zeros((5, 5))
    for _ in range(400):
        row = distinct_in_rows(rng, sizes, counts)
        assert sorted(row[:3]) == [0, 1, 2]
        assert row[3] != row[4]
        first[row[0]] += 1
        pairs[row[3], row[4]] += 1
    assert stats.chisquare(first).pvalue > 0.001
    assert stats.chisquare(pairs[~np.eye(5, dtype=bool)]).pvalue > 0.001


def test_the_numbers_of_a_seed_never_change() -> None:
    rng = make(7)
    drawn = np.concatenate(
        [below(rng, 1000, 100), below(rng, 2**50, 100), distinct(rng, 50, 20), distinct(rng, 10**9, 20)]
    )
    assert hashlib.sha256(drawn.astype("<i8").tobytes()).hexdigest() == PINNED


PINNED = "439071d545021634e51b1feaf1dc7a9922d96c0eb524a1fe79818f18131143da"
