"""Vectors of nodes from random walks: what node2vec, DeepWalk and LINE share."""

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


@dataclass(frozen=True)
class DeepWalk(Embedding):
    """Skip-gram on uniform walks, in which a node is predicted by its way down a Huffman tree.

    Noise nodes are drawn for each pair in addition to the tree, as in the published runs; the paper has the
    tree alone (a noise of 0).
    """

    name: ClassVar[str] = "deepwalk"
    title: ClassVar[str] = "DeepWalk"
    citation: ClassVar[str] = (
        "Perozzi, Al-Rfou and Skiena, DeepWalk: Online Learning of Social Representations, 2014"
    )

    walks: int = setting(10, "walks that start at each node", low=1, high=10**6)
    walk_length: int = setting(80, "nodes in a walk", low=1, high=10**6)
    window: int = setting(10, "how far apart in a walk two nodes may be", low=1, high=10**4)
    passes: int = setting(1, "how often all walks are made and learned from", low=1, high=10**6)
    noise: int = setting(5, "noise nodes drawn for each pair, in addition to the tree", low=0, high=1000)
    noise_power: float = setting(
        0.75, "power of a node's frequency by which noise is drawn", low=-2.0, high=2.0
    )
    subsample: float = setting(
        0.0, "leave out occurrences of nodes more frequent than this share; 0: none", low=0.0, high=1.0
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

    Edges are drawn as the steps of uniform walks, which take every edge equally often; the nodes of a window
    of one step are the ends of an edge. Where occurrences of frequent nodes are left out, their neighbours on
    the walk become ends of an edge in their stead.
    """

    name: ClassVar[str] = "line"
    title: ClassVar[str] = "LINE"
    citation: ClassVar[str] = "Tang et al., LINE: Large-scale Information Network Embedding, 2015"

    walks: int = setting(40, "walks that start at each node", low=1, high=10**6)
    walk_length: int = setting(80, "nodes in a walk", low=1, high=10**6)
    noise: int = setting(5, "nodes drawn against each edge", low=1, high=1000)
    noise_power: float = setting(0.75, "power of a node's degree by which noise is drawn", low=-2.0, high=2.0)
    subsample: float = setting(
        0.001, "leave out occurrences of nodes more frequent than this share; 0: none", low=0.0, high=1.0
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
