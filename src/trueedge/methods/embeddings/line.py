"""LINE: vectors from edges."""

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
