"""Distances from many sources, against scipy and level by level."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import shortest_path

from trueedge.training.paths.edges import Edges, level_distances


def random_edges(seed: int, entities: int = 30, triples: int = 40, relations: int = 3) -> tuple:
    rng = np.random.default_rng(seed)
    drawn = np.stack(
        [
            rng.integers(0, entities, triples),
            rng.integers(0, relations, triples),
            rng.integers(0, entities, triples),
        ],
        axis=1,
    )
    drawn = np.unique(drawn, axis=0).astype(np.int32)
    return drawn, Edges.of_triples(drawn, entities, relations)


def scipy_distances(triples: np.ndarray, entities: int, limit: int) -> np.ndarray:
    ones = np.ones(len(triples))
    matrix = coo_matrix((ones, (triples[:, 0], triples[:, 2])), shape=(entities, entities))
    found = shortest_path(matrix.tocsr(), directed=False, unweighted=True)
    return np.minimum(found, limit + 1).astype(np.uint8)


@pytest.mark.parametrize("limit", [1, 2, 6])
@pytest.mark.parametrize("seed", range(5))
def test_both_searches_equal_scipy(seed: int, limit: int) -> None:
    triples, edges = random_edges(seed)
    expected = scipy_distances(triples, 30, limit)
    sources = torch.arange(30)
    assert np.array_equal(edges.distances(sources, limit), expected)
    assert np.array_equal(level_distances(edges, sources, limit), expected)


@pytest.mark.parametrize("every", [False, True])
def test_removed_edges_are_not_walked(every: bool) -> None:
    triples, edges = random_edges(1)
    gone = triples[::3]
    if every:
        pairs = {frozenset((h, t)) for h, _, t in gone.tolist()}
        left = np.array([row for row in triples.tolist() if frozenset((row[0], row[2])) not in pairs])
    else:
        left = np.array([row for row in triples.tolist() if row not in gone.tolist()])
    without = edges.without(torch.from_numpy(gone.astype(np.int64)), every)
    sources = torch.arange(30)
    expected = scipy_distances(left, 30, 6)
    assert without.kept is not None
    assert int(without.kept.sum()) == 2 * len(left)
    assert np.array_equal(without.distances(sources, 6), expected)
    assert np.array_equal(level_distances(without, sources, 6), expected)
    assert np.array_equal(without.compact().distances(sources, 6), expected)


def test_a_triple_that_is_no_edge_removes_nothing() -> None:
    triples, edges = random_edges(2)
    known = set(map(tuple, triples.tolist()))
    strange = [(h, r, t) for h in range(30) for r in range(3) for t in range(30) if (h, r, t) not in known]
    without = edges.without(torch.tensor(strange))
    assert without.kept is not None
    assert bool(without.kept.all())
    # Asked for together, the one that is an edge is still removed.
    mixed = torch.tensor([*strange[:50], triples[0].tolist(), *strange[50:]])
    kept = edges.without(mixed).kept
    assert kept is not None
    assert int((~kept).sum()) == 2


def test_a_source_without_edges_reaches_only_itself() -> None:
    edges = Edges.of_triples(np.array([[0, 0, 1]], dtype=np.int32), 3, 1)
    assert edges.distances(torch.tensor([2]), 4).tolist() == [[5, 5, 0]]
    assert level_distances(edges, torch.tensor([2]), 4).tolist() == [[5, 5, 0]]
