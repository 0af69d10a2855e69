"""Node vectors from random walks: skip-gram for node2vec, and the methods DeepWalk and LINE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trueedge.randomness import derive, generator

if TYPE_CHECKING:
    from trueedge.graph import Graph

# As in word2vec, the learning rate falls linearly to this value.
LAST_RATE = 0.0001
TOKENS_AT_A_TIME = 1 << 20


@dataclass(frozen=True)
class WalkVectors:
    """Skip-gram on random walks; the settings of :class:`DeepWalk` and node2vec explain most attributes.

    Attributes:
        length, epochs: nodes per walk, and passes over all nodes.
        negatives, exponent: noise nodes per pair, drawn by frequency to the power of ``exponent``.
        rate: the initial learning rate.
        hierarchical: also predict the path to a node in a Huffman tree.
        sample: nodes more frequent than this share are downsampled; 0: none.
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
        """Return the vectors of all nodes, float32 (n, dim); isolated nodes keep their initial vector."""
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
