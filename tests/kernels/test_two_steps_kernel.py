from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from trueedge.graph import Graph
from trueedge.kernels.neighbors.two_steps import two_step_nodes


@pytest.mark.parametrize("seed", range(8))
def test_two_steps_reach_what_a_search_reaches(seed: int) -> None:
    plain = nx.gnm_random_graph(20, 10 + 4 * seed, seed=seed)
    graph = Graph.from_edges(np.array(list(plain.edges)), 20)
    heads = np.arange(20)[::-1].copy()
    skips = [[head, (head + 1) % 20] for head in heads.tolist()]
    skip_starts = np.arange(0, 42, 2)
    room = np.arange(21) * 20
    found, counts = two_step_nodes(
        graph.indptr, graph.indices, heads, skip_starts, np.array(skips).ravel(), room
    )
    for q, head in enumerate(heads.tolist()):
        expected = {far for near in plain[head] for far in plain[near]} - set(skips[q])
        listed = found[room[q] : room[q] + counts[q]].tolist()
        assert len(listed) == len(expected)
        assert set(listed) == expected
