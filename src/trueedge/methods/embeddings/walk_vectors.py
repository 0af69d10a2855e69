"""Vectors of nodes from random walks: what node2vec, DeepWalk and LINE share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trueedge.randomness import derive, generator

if TYPE_CHECKING:
    from trueedge.graph import Graph

# The learning rate falls from the first to the last, in even steps, as word2vec's does.
LAST_RATE = 0.0001
TOKENS_AT_A_TIME = 1 << 20


@dataclass(frozen=True)
class WalkVectors:
    """How walks are made, and what is learned from them.

    Attributes:
        dim: numbers in a vector.
        walks: walks that start at each node.
        length: nodes in a walk.
        window: how far apart in a walk two nodes may be.
        negatives: nodes drawn against each pair.
        epochs: how often it is all done; walks are walked anew.
        rate: the first learning rate.
        p: above 1, walks seldom turn back.
        q: above 1, walks stay near where they came from.
        hierarchical: predict the way to a node in a Huffman tree too.
        exponent: negatives are drawn in proportion to a node's frequency to this power.
        sample: occurrences of nodes that are more frequent than this share are left out at random; 0: none.
    """

    dim: int
    walks: int
    length: int
    window: int
    negatives: int = 5
    epochs: int = 1
    rate: float = 0.025
    p: float = 1.0
    q: float = 1.0
    hierarchical: bool = False
    exponent: float = 0.75
    sample: float = 0.0

    def of(self, graph: Graph, seed: int) -> NDArray[np.float32]:
        """The vectors of a graph's nodes, float32 (n, dim); nodes without neighbours keep their first one."""
        from trueedge.kernels.walks.random_walks import random_walks
        from trueedge.kernels.walks.skipgram import SkipGram

        key = derive(seed, "walks")
        rng = generator(seed, "where walks start")
        rounds = self.walks * self.epochs
        starts = [rng.permutation(graph.num_nodes).astype(np.int32) for _ in range(rounds)]
        step = max(1, TOKENS_AT_A_TIME // self.length)
        places = [
            (number, slice(begin, begin + step))
            for number in range(rounds)
            for begin in range(0, graph.num_nodes, step)
        ]

        def walk(number: int, part: slice) -> NDArray[np.int32]:
            first = number * graph.num_nodes + part.start
            begin = starts[number][part]
            return random_walks(graph.indptr, graph.indices, begin, self.length, key, self.p, self.q, first)

        counts = np.zeros(graph.num_nodes, dtype=np.int64)
        for place in places:
            seen = walk(*place).reshape(-1)
            counts += np.bincount(seen[seen >= 0], minlength=graph.num_nodes)
        learner = SkipGram(
            counts,
            self.dim,
            self.window,
            self.negatives,
            self.hierarchical,
            self.exponent,
            self.sample,
            derive(seed, "skip-gram"),
        )
        total = max(1, rounds * graph.num_nodes)
        for number, part in places:
            paths = walk(number, part)
            first = number * graph.num_nodes + part.start
            rate, last = (
                max(LAST_RATE, self.rate + (LAST_RATE - self.rate) * (done / total))
                for done in (first, first + len(paths))
            )
            learner.learn(paths, first, rate, last)
        return learner.vectors
