"""Lists that are sorted where one looks, against lists that are sorted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueedge.kernels.ranking.score_lists import (
    ORDERED,
    SIZE,
    fill_list,
    move_highest,
    rank_of,
    score_lists,
    sort_descending,
)

# Ties by the dozen, and every magnitude a score has.
SCORES = st.one_of(
    st.sampled_from([0.0, 0.25, 0.5, 1.0, 1e-300, 1e300]),
    st.floats(1e-300, 1),
    st.integers(1, 9).map(lambda k: 1 / k),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(SCORES, max_size=90), st.integers(0, 40))
def test_ranks_and_the_best_are_those_of_the_sorted_list(scores, top):
    check(np.array(scores), top)


@pytest.mark.parametrize("kind", ["uniform", "power", "tied", "all equal", "ascending"])
def test_long_lists_are_in_order_too(kind):
    rng = np.random.default_rng(0)
    size = 3000
    check(
        {
            "uniform": rng.random(size),
            "power": rng.random(size) ** 20,
            "tied": 1.0 / rng.integers(1, 30, size),
            "all equal": np.full(size, 0.3),
            "ascending": np.arange(size) / size,
        }[kind],
        251,
        every=17,
    )


def test_scores_that_differ_by_rounding_errors_tie():
    row = np.array(
        [0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1, 1 / 3 + 1 / 7 + 1 / 11, 1 / 11 + 1 / 7 + 1 / 3, 0.6 + 1e-11]
    )
    assert row[0] != row[1]
    lists = score_lists(row[None])
    fill_list(lists, 0, np.arange(5, dtype=np.int32), 1)
    assert [rank_of(lists, 0, key) for key in row.view(np.int64)] == [2, 2, 4, 4, 1]


def test_sorting_moves_the_nodes_with_their_keys():
    for size in (0, 1, 17, 200):
        keys = np.random.default_rng(size).integers(-5, 5, size)
        nodes = np.arange(size, dtype=np.int32)
        moved = keys.copy()
        sort_descending(moved, nodes, 0, size)
        assert (moved == -np.sort(-keys)).all()
        assert (keys[nodes] == moved).all()
        assert len(set(nodes.tolist())) == size


def test_the_highest_are_moved_to_the_front():
    for seed, size in enumerate([1, 2, 3, 10, 100, 500] * 4):
        rng = np.random.default_rng(seed)
        keys = rng.permutation(3 * size)[:size] - size
        if seed % 3 == 0:
            keys.sort()
        wanted = int(rng.integers(1, size + 1))
        moved, nodes = keys.copy(), np.arange(size, dtype=np.int32)
        move_highest(moved, nodes, size, wanted)
        assert sorted(moved[:wanted].tolist()) == sorted(keys.tolist())[size - wanted :]
        assert (keys[nodes] == moved).all()


def check(scores: np.ndarray, top: int, every: int = 1) -> None:
    # The second of three lists, to see that the others are left alone.
    rows = np.zeros((3, len(scores)))
    rows[1] = scores
    row = rows[1]
    lists = score_lists(rows)
    listed = np.random.default_rng(1).permutation(len(row)).astype(np.int32)
    fill_list(lists, 1, listed, top)
    size = lists.shape[1, SIZE]
    assert np.allclose(row, scores, rtol=2.0**-40, atol=0)
    scored = np.flatnonzero(row > 0)
    assert size == len(scored) == lists.shape[1, SIZE]
    assert lists.shape[[0, 2]].sum() == 0
    nodes, best = lists.nodes[1], lists.shape[1, ORDERED]
    assert sorted(nodes[:size].tolist()) == sorted(listed[:size].tolist()) == scored.tolist()
    assert (lists.keys[1, :size] == row.view(np.int64)[nodes[:size]]).all()
    assert best >= min(top, size)
    in_order = row[nodes[:best]]
    assert (np.diff(in_order) <= 0).all()
    if best:
        assert (row >= in_order[-1]).sum() == best
    descending = -np.sort(-row)
    for node in scored[::every]:
        expected = 1 + np.searchsorted(-descending, -row[node], side="left")
        assert rank_of(lists, 1, row.view(np.int64)[node]) == expected
