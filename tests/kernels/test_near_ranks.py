"""PageRank kept near each node, against whole rows of a plain twin."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from heart_twin import pushed_pagerank
from trueedge.kernels.walks.near_ranks import near_ranks


@pytest.mark.parametrize(("nodes", "edges"), [(20, 40), (20, 8), (1, 0), (5, 0), (40, 300)])
@pytest.mark.parametrize("floor", [0.0, 0.02, 2.0])
def test_what_is_kept_is_what_whole_rows_hold(random_graph, nodes, edges, floor):
    graph = random_graph(nodes, nodes=nodes, edges=edges)
    found = near_ranks(graph.indptr, graph.indices, 0.15, 1e-4, floor)
    for source in range(nodes):
        row = pushed_pagerank(graph, source, 0.15, 1e-4)
        assert found.own[source] == row[source]
        arcs = slice(graph.indptr[source], graph.indptr[source + 1])
        assert found.at_arcs[arcs].tolist() == [row.get(int(node), 0.0) for node in graph.indices[arcs]]
        part = slice(found.starts[source], found.starts[source + 1])
        kept = {node: value for node, value in sorted(row.items()) if value >= floor and node != source}
        assert found.nodes[part].tolist() == list(kept)
        assert found.scores[part].tolist() == list(kept.values())


def test_a_graph_without_nodes_has_no_ranks():
    found = near_ranks(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32), 0.15, 1e-5, 0.0)
    assert found.starts.tolist() == [0]
    assert len(found.own) == len(found.nodes) == len(found.scores) == 0


@pytest.mark.compiled
def test_threads_change_nothing(random_graph):
    graph = random_graph(3, nodes=60, edges=120)
    answers = []
    before = numba.get_num_threads()
    for threads in (1, before):
        numba.set_num_threads(threads)
        answers.append(near_ranks(graph.indptr, graph.indices, 0.15, 1e-4, 1e-3))
    numba.set_num_threads(before)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(*answers, strict=True))
