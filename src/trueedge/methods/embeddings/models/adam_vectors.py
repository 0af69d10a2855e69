"""Vectors from random walks, one for each node, learned by Adam."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from trueedge.graph import Graph
from trueedge.kernels.walks.random_walks import random_walks
from trueedge.randomness import derive, generator
from trueedge.training import seeded

# As in the published runs: nodes whose walks make a step of Adam, its rate, and what keeps logarithms finite.
NODES_PER_STEP = 256
RATE = 0.01
TINY = 1e-15


@dataclass(frozen=True)
class AdamVectors:
    """Skip-gram as PyTorch Geometric has it: a node is predicted by the vector that it predicts others with.

    Vectors begin at a standard normal distribution. A sequence is a walk, or as many uniform nodes after its
    first one. In each, a node meets those that follow it in a window; products are to be large in walks and
    small in the others.

    Attributes:
        dim: the dimension of the vectors.
        walks: walks per node in each pass.
        length: nodes per walk.
        window: nodes per window, with its first one; at most ``length`` are used.
        noise: sequences of uniform nodes for each walk.
        passes: passes over all nodes; 0 leaves the vectors as they begin.
        p, q: the parameters of the walks.
    """

    dim: int
    walks: int
    length: int
    window: int
    noise: int = 1
    passes: int = 1
    p: float = 1.0
    q: float = 1.0

    def of(self, graph: Graph, seed: int) -> NDArray[np.float32]:
        """Return the vectors of all nodes, float32 (n, dim)."""
        rng, key = generator(seed, "where walks start"), derive(seed, "walks")
        with seeded(seed):
            vectors = torch.nn.Embedding(graph.num_nodes, self.dim, sparse=True)
            optimizer = torch.optim.SparseAdam(list(vectors.parameters()), lr=RATE)
            begin, other = self._places()
            first = 0
            for _ in range(self.passes if len(begin) else 0):
                order = rng.permutation(graph.num_nodes).astype(np.int32)
                for start in range(0, len(order), NODES_PER_STEP):
                    starts = np.tile(order[start : start + NODES_PER_STEP], self.walks)
                    walks = self._walks(graph, starts, key, first)
                    first += len(starts)
                    optimizer.zero_grad()
                    loss = -torch.log(_chance(vectors, walks, begin, other) + TINY).mean()
                    noise = torch.randint(0, graph.num_nodes, (len(walks) * self.noise, self.length))
                    noise[:, 0] = walks[:, 0].repeat(self.noise)
                    loss = loss - torch.log(1 - _chance(vectors, noise, begin, other) + TINY).mean()
                    loss.backward()
                    optimizer.step()
        found: NDArray[np.float32] = vectors.weight.detach().numpy()
        return found

    def _walks(self, graph: Graph, starts: NDArray[np.int32], key: int, first: int) -> torch.Tensor:
        """Return a walk from each node, int64 (walks, length); without neighbours it stays where it is."""
        found = random_walks(graph.indptr, graph.indices, starts, self.length, key, self.p, self.q, first)
        return torch.from_numpy(np.where(found < 0, found[:, :1], found).astype(np.int64))

    def _places(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the places of a sequence that meet, int64 (pairs,) each: whole windows only."""
        window = min(self.window, self.length)
        meets = torch.ones(self.length, self.length).triu(1).tril(window - 1)
        meets[self.length - window + 1 :] = 0.0
        begin, other = meets.nonzero(as_tuple=True)
        return begin, other


def _chance(
    vectors: torch.nn.Embedding, sequences: torch.Tensor, begin: torch.Tensor, other: torch.Tensor
) -> torch.Tensor:
    """Return the sigmoid of the products of nodes that meet, float (sequences, pairs)."""
    found = vectors(sequences)
    return torch.sigmoid(torch.bmm(found, found.transpose(1, 2))[:, begin, other])
