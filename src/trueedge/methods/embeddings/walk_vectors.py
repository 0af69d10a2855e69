"""Node vectors from random walks: skip-gram for node2vec, and the methods DeepWalk and LINE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.methods.embeddings.embedding import Embedding
from trueedge.methods.method import setting
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


@dataclass(frozen=True)
class DeepWalk(Embedding):
    """Skip-gram on uniform random walks, with hierarchical softmax on a Huffman tree.

    As in the published runs, there are noise nodes in addition to the tree; the paper has none (``noise=0``).
    """

    name: ClassVar[str] = "deepwalk"
    title: ClassVar[str] = "DeepWalk"
    citation: ClassVar[str] = (
        "Perozzi, Al-Rfou and Skiena, DeepWalk: Online Learning of Social Representations, 2014"
    )

    walks: int = setting(10, "walks per node", low=1, high=10**6)
    walk_length: int = setting(80, "nodes per walk", low=1, high=10**6)
    window: int = setting(10, "window size of skip-gram", low=1, high=10**4)
    passes: int = setting(1, "passes over all nodes, each with new walks", low=1, high=10**6)
    noise: int = setting(5, "noise nodes per pair, in addition to the tree", low=0, high=1000)
    noise_power: float = setting(0.75, "noise nodes are drawn by frequency to this power", low=-2.0, high=2.0)
    subsample: float = setting(
        0.0, "downsample nodes more frequent than this share; 0: none", low=0.0, high=1.0
    )

    def vectors(self, graph: Graph, seed: int = 0) -> NDArray[np.float32]:
        """Return a vector for each node, float32 (n, dim)."""
        return WalkVectors(
            dim=self.dim,
            walks=self.walks,
            length=self.walk_length,
            window=self.window,
            negatives=self.noise,
            epochs=self.passes,
            hierarchical=True,
            exponent=self.noise_power,
            sample=self.subsample,
        ).of(graph, seed)


@dataclass(frozen=True)
class LINE(Embedding):
    """Second-order proximity: nodes with the same neighbours get the same vectors.

    Edges are sampled as steps of uniform walks, which use every edge equally often. Where a frequent node is
    downsampled, its neighbours on the walk are treated as an edge.
    """

    name: ClassVar[str] = "line"
    title: ClassVar[str] = "LINE"
    citation: ClassVar[str] = "Tang et al., LINE: Large-scale Information Network Embedding, 2015"

    walks: int = setting(40, "walks per node", low=1, high=10**6)
    walk_length: int = setting(80, "nodes per walk", low=1, high=10**6)
    noise: int = setting(5, "noise nodes per edge", low=1, high=1000)
    noise_power: float = setting(0.75, "noise nodes are drawn by degree to this power", low=-2.0, high=2.0)
    subsample: float = setting(
        0.001, "downsample nodes more frequent than this share; 0: none", low=0.0, high=1.0
    )

    def vectors(self, graph: Graph, seed: int = 0) -> NDArray[np.float32]:
        """Return a vector for each node, float32 (n, dim)."""
        return WalkVectors(
            dim=self.dim,
            walks=self.walks,
            length=self.walk_length,
            window=1,
            negatives=self.noise,
            exponent=self.noise_power,
            sample=self.subsample,
        ).of(graph, seed)
