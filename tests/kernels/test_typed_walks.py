"""Walks that know the types of nodes, against plain loops."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from trueedge.kernels.walks.typed_walks import NOWHERE, frequent_neighbors, path_instances


def matrix(rng, rows: int, columns: int, share: float = 0.5):
    dense = rng.random((rows, columns)) < share
    starts = np.concatenate([[0], dense.sum(1).cumsum()]).astype(np.int64)
    return dense, starts, np.nonzero(dense)[1].astype(np.int32)


@pytest.mark.parametrize("seed", range(5))
def test_all_paths_are_listed_if_they_are_few(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = (4, 3, 5, 2)
    made = [matrix(rng, a, b) for a, b in pairwise(sizes)]
    starts, columns = [one[1] for one in made], [one[2] for one in made]
    found, counts = path_instances(starts, columns, np.array(sizes), 1000, 7)
    for row in range(4):
        wanted = [
            (row, a, b, c)
            for a, b, c in product(*map(range, sizes[1:]))
            if made[0][0][row, a] and made[1][0][a, b] and made[2][0][b, c]
        ]
        assert list(map(tuple, found[row, : counts[row]].tolist())) == wanted
        assert (found[row, counts[row] :] == NOWHERE).all()


def test_some_paths_are_drawn_if_there_are_many_and_they_differ() -> None:
    rng = np.random.default_rng(0)
    made = [matrix(rng, 6, 8, 0.8), matrix(rng, 8, 6, 0.8)]
    starts, columns = [one[1] for one in made], [one[2] for one in made]
    sizes = np.array([6, 8, 6])
    seen = np.zeros((8, 6))
    for key in range(200):
        found, counts = path_instances(starts, columns, sizes, 10, key)
        assert (counts <= 10).all()
        for row in range(6):
            paths = set(map(tuple, found[row, : counts[row]].tolist()))
            assert len(paths) == counts[row]
            assert all(made[0][0][row, a] and made[1][0][a, b] for _, a, b in paths)
        np.add.at(seen, (found[0, : counts[0], 1], found[0, : counts[0], 2]), 1)
    real = made[0][0][0][:, None] & made[1][0]
    expected = 200 * 10 / real.sum()
    assert (seen[~real] == 0).all()
    assert (np.abs(seen[real] - expected) < 5 * np.sqrt(expected)).all()


def test_the_same_key_gives_the_same_paths() -> None:
    rng = np.random.default_rng(0)
    made = [matrix(rng, 6, 8, 0.8), matrix(rng, 8, 6, 0.8)]
    given = [one[1] for one in made], [one[2] for one in made], np.array([6, 8, 6]), 5
    first, second, other = (path_instances(*given, key)[0] for key in (3, 3, 4))
    assert (first == second).all()
    assert (first != other).any()


def star() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Node 0 is linked to 1, 2 (type 1) and 3 (type 2); node 4 is alone."""
    indptr = np.array([0, 3, 4, 5, 6, 6])
    return indptr, np.array([1, 2, 3, 0, 0, 0], dtype=np.int32), np.array([0, 1, 1, 2, 0], dtype=np.int32)


def test_neighbors_are_grouped_by_type_and_repeated_if_too_few() -> None:
    found = frequent_neighbors(*star(), np.array([1, 2, 2]), 200, 5)
    assert found[0, 0] == NOWHERE
    assert set(found[0, 1:3].tolist()) == {1, 2}
    assert found[0, 3:].tolist() == [3, 3]
    assert found[1, 0] == 0
    assert found[1, 1:3].tolist() == [2, 2]
    assert (found[4] == NOWHERE).all()


def test_the_node_that_is_visited_most_comes_first() -> None:
    # Node 0 reaches node 1 directly, and node 2 only through node 1.
    indptr = np.array([0, 1, 3, 4])
    indices = np.array([1, 0, 2, 1], dtype=np.int32)
    found = frequent_neighbors(indptr, indices, np.zeros(3, dtype=np.int32), np.array([2]), 100, 1)
    assert found[0].tolist() == [1, 2]
    assert found[2].tolist() == [1, 0]
