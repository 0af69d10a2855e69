"""DeepWalk: vectors from uniform walks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.methods.embeddings.embedding import Embedding
from trueedge.methods.method import setting

if TYPE_CHECKING:
    from trueedge.graph import Graph
from trueedge.methods.embeddings.walk_vectors import WalkVectors


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
