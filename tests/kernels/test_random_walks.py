"""Random walks: every step along an edge, with the probability that the formula gives it."""

from __future__ import annotations

from collections import Counter

import numba
import numpy as np
import pytest

from trueedge.graph import Graph
from trueedge.kernels.walks.random_walks import NOWHERE, random_walks

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")

# A triangle with a tail, and a node that nobody knows.
TAILED = Graph.from_edges(np.array([[0, 1], [0, 2], [1, 2], [2, 3], [3, 4]]), 6)


def walk(graph: Graph, starts, length: int, key: int = 1, p: float = 1.0, q: float = 1.0, first: int = 0):
    nodes = np.asarray(starts, dtype=np.int32)
    return random_walks(graph.indptr, graph.indices, nodes, length, key, p, q, first)


def expected(graph: Graph, before: int, at: int, p: float, q: float) -> dict[int, float]:
    """The slow twin: the weight of every neighbour, over their sum."""
    around = {
        node: set(graph.indices[graph.indptr[node] : graph.indptr[node + 1]].tolist())
        for node in (before, at)
    }
    weights = {x: 1 / p if x == before else 1.0 if x in around[before] else 1 / q for x in around[at]}
    total = sum(weights.values())
    return {x: weight / total for x, weight in weights.items()}


@pytest.mark.parametrize(("p", "q"), [(1.0, 1.0), (4.0, 0.25)])
@pytest.mark.parametrize("seed", range(3))
def test_every_step_follows_an_edge_and_every_walk_starts_where_it_should(seed, p, q, random_graph):
    graph = random_graph(seed, nodes=25, edges=40)
    starts = np.arange(25)
    walks = walk(graph, starts, 12, seed, p, q)
    assert walks.dtype == np.int32
    assert (walks[:, 0] == starts).all()
    adjacency = graph.adjacency().toarray()
    for path in walks:
        known = path[path != NOWHERE]
        assert (path[len(known) :] == NOWHERE).all()
        assert adjacency[known[:-1], known[1:]].all()
        assert len(known) == (12 if adjacency[path[0]].any() else 1)


@pytest.mark.compiled
@pytest.mark.parametrize(("p", "q"), [(1.0, 1.0), (0.25, 4.0), (4.0, 0.25), (2.0, 2.0)])
def test_steps_are_as_frequent_as_the_formula_says(p, q):
    walks = walk(TAILED, [0] * 150, 30, 3, p, q)
    seen: dict[tuple[int, int], Counter[int]] = {}
    for path in walks.tolist():
        for before, at, after in zip(path, path[1:], path[2:], strict=False):
            seen.setdefault((before, at), Counter())[after] += 1
    assert len(seen) == 10
    for (before, at), counts in seen.items():
        total = sum(counts.values())
        for after, share in expected(TAILED, before, at, p, q).items():
            error = 4.5 * np.sqrt(share * (1 - share) / total) + 1e-12
            assert abs(counts[after] / total - share) <= error, (before, at, after)


@pytest.mark.compiled
@pytest.mark.parametrize(("p", "q"), [(1.0, 1.0), (0.5, 2.0)])
def test_company_and_threads_change_no_walk(p, q, random_graph):
    graph = random_graph(5, nodes=30, edges=70)
    starts = np.random.default_rng(0).integers(0, 30, 2100)
    together = walk(graph, starts, 4, 7, p, q)
    apart = [walk(graph, starts[i : i + 700], 4, 7, p, q, i) for i in range(0, 2100, 700)]
    assert np.concatenate(apart).tobytes() == together.tobytes()
    threads = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        assert walk(graph, starts, 4, 7, p, q).tobytes() == together.tobytes()
    finally:
        numba.set_num_threads(threads)


def test_another_key_and_another_number_give_other_walks():
    walks = walk(TAILED, [2] * 20, 15)
    assert len({path.tobytes() for path in walks}) > 15
    assert walk(TAILED, [2] * 20, 15, key=2).tobytes() != walks.tobytes()


def test_no_walk_no_edge_and_a_walk_of_one_node_are_fine():
    assert walk(TAILED, [], 5).shape == (0, 5)
    assert walk(TAILED, [3, 5], 1).tolist() == [[3], [5]]
    assert walk(TAILED, [5], 3, p=2.0).tolist() == [[5, NOWHERE, NOWHERE]]
    alone = Graph.from_edges(np.empty((0, 2), dtype=np.int64), 1)
    assert walk(alone, [0], 2).tolist() == [[0, NOWHERE]]
