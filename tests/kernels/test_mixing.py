"""Positives mixed into their lists: nothing is lost, and no place is preferred."""

from __future__ import annotations

import numpy as np
import pytest

from trueedge.kernels.ranking.mixing import mix_lists, sort_out_lists

KEY = np.uint64(7)


def lists(positives: int, negatives: int, nodes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Half of the negatives share a positive's first node, the others its second one."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, nodes, positives)
    pairs = np.column_stack([first, (first + rng.integers(1, nodes, positives)) % nodes]).astype(np.int32)
    beside = np.repeat(pairs[:, None], negatives, axis=1)
    side = np.arange(negatives) % 2
    beside[:, np.arange(negatives), side] = rng.integers(0, nodes, (positives, negatives))
    return pairs, beside


def mix(positives: np.ndarray, negatives: np.ndarray, rows: np.ndarray, seed: int = 0, key: np.uint64 = KEY):
    length = negatives.shape[1] + 1
    orders = np.random.default_rng(seed).permuted(np.tile(np.arange(length, dtype=np.int32), (16, 1)), axis=1)
    asked = np.full((len(rows), length, 2), -1, dtype=np.int64)
    places = np.full((len(rows), length), -1, dtype=np.int32)
    mix_lists(positives, negatives, rows, orders, key, asked, places)
    return asked, places


@pytest.mark.parametrize("nodes", [3, 50])
@pytest.mark.parametrize("negatives", [1, 2, 9, 64])
def test_every_pair_comes_once_with_its_smaller_node_first(negatives: int, nodes: int) -> None:
    above, below = lists(30, negatives, nodes)
    rows = np.random.default_rng(1).permutation(30)
    asked, places = mix(above, below, rows)
    assert (np.sort(places, axis=1) == np.arange(negatives + 1)).all()
    whole = np.concatenate([above[:, None], below], axis=1)[rows]
    listed = np.take_along_axis(whole, places[..., None].astype(np.int64), axis=1)
    assert np.array_equal(asked, np.sort(listed, axis=-1))


@pytest.mark.parametrize("negatives", [1, 7, 40])
def test_answers_go_back_to_where_the_pairs_came_from(negatives: int) -> None:
    above, below = lists(20, negatives, 90)
    rows = np.random.default_rng(1).permutation(20)
    asked, places = mix(above, below, rows)
    score = lambda pairs: pairs.min(axis=-1) * 1000.0 + pairs.max(axis=-1)  # noqa: E731
    positive, negative = np.full(20, np.nan), np.full((20, negatives), np.nan)
    sort_out_lists(score(asked), rows, places, positive, negative)
    assert np.array_equal(positive, score(above))
    assert np.array_equal(negative, score(below))


@pytest.mark.compiled
def test_a_positive_is_anywhere_among_the_pairs_that_share_its_node_on_that_side() -> None:
    positives = np.tile(np.array([[500, 501]], np.int32), (4000, 1))
    negatives = np.tile(np.array([[500, 502 + i] for i in range(9)], np.int32), (4000, 1, 1))
    _, places = mix(positives, negatives, np.arange(4000))
    counts = np.bincount((places == 0).argmax(axis=1), minlength=10)
    # Sixteen orders: a place is taken by a few of them.
    assert counts.max() < 4000 * 5 / 16
    assert len(np.flatnonzero(counts)) >= 6


@pytest.mark.compiled
def test_pairs_that_share_a_node_on_the_same_side_stand_together() -> None:
    above, below = lists(50, 200, 1000)
    asked, _ = mix(above, below, np.arange(50))
    alike = (asked[:, 1:] == asked[:, :-1]).any(axis=2).mean()
    assert alike > 0.95


def test_another_key_gives_another_order() -> None:
    above, below = lists(10, 30, 100)
    one, other = (mix(above, below, np.arange(10), key=np.uint64(key))[1] for key in (1, 2))
    assert not np.array_equal(one, other)
