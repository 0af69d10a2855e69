"""Similar items against a dense matrix."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from trueedge.graph.interactions import lists_of
from trueedge.kernels.arrays.keyed_draws import draw_key
from trueedge.kernels.recommend.item_similarity import Lists, similar_items, summed_similarities

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")

USERS, ITEMS = 25, 14


@pytest.fixture
def table():
    table = np.random.default_rng(3).random((USERS, ITEMS)) < 0.25
    table[4], table[:, 5] = False, False
    return table


def lists(table) -> tuple[Lists, Lists]:
    pairs = np.argwhere(table).astype(np.int32)
    backwards = np.ascontiguousarray(pairs[:, ::-1])
    return Lists(*lists_of(pairs, USERS)), Lists(*lists_of(backwards, ITEMS))


def dense(table, most: int, alpha: float, shrinkage: float, key: int) -> np.ndarray:
    """The brute-force twin: similarities of all items (rows: the user's item), the largest of each row."""
    counts = table.astype(float)
    shared, sizes = counts.T @ counts, np.maximum(counts.sum(axis=0), 1)
    similar = shared / (sizes[:, None] ** alpha * sizes[None, :] ** (1 - alpha) + shrinkage)
    np.fill_diagonal(similar, 0)
    for item, row in enumerate(similar):
        chances = [int(draw_key(np.uint64(key), item, near)) for near in range(ITEMS)]
        order = sorted(range(ITEMS), key=lambda near, row=row, chances=chances: (row[near], chances[near]))
        row[order[: ITEMS - most]] = 0
    return similar


@pytest.mark.parametrize(("most", "alpha", "shrinkage"), [(4, 0.5, 0.0), (100, 0.5, 3.0), (1, 0.3, 0.0)])
def test_scores_are_those_of_a_dense_matrix(table, most, alpha, shrinkage):
    by_user, by_item = lists(table)
    similar = similar_items(by_user, by_item, most, alpha, shrinkage, 9)
    expected = dense(table, min(most, ITEMS), alpha, shrinkage, 9)
    found = np.zeros((ITEMS, ITEMS))
    for item in range(ITEMS):
        kept = similar.items[item, : similar.counts[item]]
        assert len(set(kept.tolist())) == len(kept) <= most
        found[item, kept] = similar.values[item, : similar.counts[item]]
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    users = np.array([3, 0, 4, 24, 3])
    scores = summed_similarities(users, by_user, similar)
    np.testing.assert_allclose(scores, table[users] @ expected, rtol=1e-5, atol=1e-7)
    assert scores.dtype == np.float32


def test_of_equally_similar_items_the_key_chooses():
    # One user has everything: all items are equally similar.
    by_user, by_item = lists(np.repeat(np.eye(USERS, 1, dtype=bool), ITEMS, axis=1))
    chosen = [similar_items(by_user, by_item, 3, 0.5, 0.0, key).items for key in range(30)]
    assert {len(set(one[0].tolist())) for one in chosen} == {3}
    assert set(np.concatenate([one[0] for one in chosen]).tolist()) == set(range(1, ITEMS))


def test_threads_change_no_bit(table):
    threads, found = numba.get_num_threads(), []
    by_user, by_item = lists(table)
    try:
        for count in (threads, 1):
            numba.set_num_threads(count)
            similar = similar_items(by_user, by_item, 4, 0.5, 1.0, 2)
            scores = summed_similarities(np.arange(USERS), by_user, similar)
            found.append((similar.items.tobytes(), similar.values.tobytes(), scores.tobytes()))
    finally:
        numba.set_num_threads(threads)
    assert found[0] == found[1]


def test_no_user_gives_no_row(table):
    by_user, by_item = lists(table)
    similar = similar_items(by_user, by_item, 4, 0.5, 1.0, 2)
    assert summed_similarities(np.arange(0), by_user, similar).shape == (0, ITEMS)
