"""Negatives whose sources are kept: what the published runs of the degree-corrected benchmark drew."""

from __future__ import annotations

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import InputError
from trueedge.graph import pair_keys

SAMPLERS = [te.negatives.uniform, te.negatives.degree_corrected]


@pytest.mark.parametrize("sampler", SAMPLERS, ids=lambda sampler: sampler.__name__)
def test_kept_sources_give_distinct_pairs_that_are_never_known(sampler, random_graph) -> None:
    for seed in range(20):
        graph = random_graph(seed, 25, 120)
        split = te.splits.ratio(graph, (0.7, 0.1, 0.2), seed=seed)
        pairs = sampler(split.train, split.test, ratio=3, known=split.valid, seed=seed, redraw="target")
        assert pairs.shape == (3 * len(split.test), 2)
        assert len(np.unique(pair_keys(pairs, 25))) == len(pairs)
        assert not graph.has_edges(pairs).any()
        assert (pairs[:, 0] != pairs[:, 1]).all()


def test_a_hub_stays_a_source_although_few_partners_are_free() -> None:
    # Node 0 is joined to all but ten of 400 nodes: free pairs rarely have it, kept sources do.
    star = [(0, node) for node in range(1, 390)]
    graph = te.Graph.from_edges(star, num_nodes=400)
    positives = np.array(star[:200])
    counts = {}
    for redraw in ("both", "target"):
        drawn = [te.negatives.uniform(graph, positives, seed=s, redraw=redraw) for s in range(30)]
        counts[redraw] = sum(int((pairs == 0).any(axis=1).sum()) for pairs in drawn)
    # 6,000 pairs: 10 of 79,410 free ones have node 0 against one source in 400, half of which find a target.
    assert counts["both"] <= 6
    assert counts["target"] >= 6


def test_sources_that_find_no_target_are_made_up_from_the_free_pairs() -> None:
    complete = [(u, v) for u in range(12) for v in range(u) if (u, v) not in ((1, 0), (3, 2), (5, 4))]
    graph = te.Graph.from_edges(complete, num_nodes=12)
    for sampler in SAMPLERS:
        pairs = sampler(graph, complete[:3], seed=1, redraw="target")
        assert sorted(map(tuple, np.sort(pairs, axis=1).tolist())) == [(0, 1), (2, 3), (4, 5)]


def test_another_word_is_refused(random_graph) -> None:
    for sampler in SAMPLERS:
        with pytest.raises(InputError, match="redraw must be 'both' or 'target'"):
            sampler(random_graph(0), [(0, 1)], redraw="source")
