"""Edges in their order, by counting, against plain loops over the pairs."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from trueedge.kernels.text import tidying
from trueedge.kernels.text.tidying import edge_order, first_rows, sorted_edges


def slow(pairs: np.ndarray) -> tuple[list[tuple[int, int]], int, int]:
    edges, loops, repeats = set(), 0, 0
    for u, v in pairs.tolist():
        edge = (min(u, v), max(u, v))
        loops += u == v
        repeats += edge in edges
        edges |= {edge} if u != v else set()
    return sorted(edges), loops, repeats


def some_pairs(seed: int, nodes: int, count: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, nodes, size=(count, 2))


@pytest.mark.parametrize("nodes", [1, 2, 3, 30, 5_000, 2**31 - 1])
@pytest.mark.parametrize("pairs_per_range", [1, 7, 16_384])
def test_edges_are_sorted_and_each_is_there_once(nodes: int, pairs_per_range: int, monkeypatch) -> None:
    monkeypatch.setattr(tidying, "PAIRS_PER_RANGE", pairs_per_range)
    monkeypatch.setattr(tidying, "LEAST_PAIRS_PER_BLOCK", 20)
    for seed, count in enumerate((0, 1, 2, 150)):
        pairs = some_pairs(seed, nodes, count)
        pairs = np.concatenate([pairs, pairs[: count // 3, ::-1]])
        edges, loops, repeats = sorted_edges(pairs, nodes)
        assert edges.dtype == np.int32
        assert (list(map(tuple, edges.tolist())), loops, repeats) == slow(pairs)


def test_edges_do_not_depend_on_the_number_of_threads(monkeypatch) -> None:
    monkeypatch.setattr(tidying, "LEAST_PAIRS_PER_BLOCK", 10)
    monkeypatch.setattr(tidying, "PAIRS_PER_RANGE", 5)
    pairs = some_pairs(1, 60, 300)
    threads = numba.get_num_threads()
    alone = sorted_edges(pairs, 60)
    try:
        numba.set_num_threads(1)
        again = sorted_edges(pairs, 60)
    finally:
        numba.set_num_threads(threads)
    assert np.array_equal(alone[0], again[0])
    assert alone[1:] == again[1:]


def test_pairs_that_may_not_be_written_to_are_sorted_too() -> None:
    pairs = np.array([[3, 1], [0, 2], [1, 3]])
    pairs.flags.writeable = False
    edges, loops, repeats = sorted_edges(pairs, 4)
    assert (edges.tolist(), loops, repeats) == ([[0, 2], [1, 3]], 0, 1)


def test_rows_are_ordered_by_edge_and_equal_ones_stay_in_their_order() -> None:
    for seed, nodes in enumerate((1, 2, 9, 40)):
        pairs = some_pairs(seed, nodes, 120)
        keys = [(min(pair), max(pair)) for pair in pairs.tolist()]
        assert edge_order(pairs, nodes).tolist() == sorted(range(120), key=lambda row: (keys[row], row))
        assert first_rows(pairs, nodes).tolist() == [keys.index(key) for key in keys]
