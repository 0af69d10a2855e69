"""Neo-GNN with edges read in one direction, as in the published runs of HeaRT."""

from __future__ import annotations

import weakref

import torch

from trueedge.methods.pairwise.models.neognn import OverlapModel, StructureEncoder
from trueedge.methods.pairwise.models.walk_overlap import WalkRows, walk_rows
from trueedge.training.links.inputs import Input
from trueedge.training.links.messages import Messages
from trueedge.training.links.model import Encoder


class DirectedRows:
    """The rows of ``A + beta A^2 + ...`` of all nodes, with edges from the smaller to the larger id.

    They are kept for the graph that they were last made for.
    """

    def __init__(self, hops: int, beta: float) -> None:
        self.weights = torch.tensor([beta**hop for hop in range(hops)], dtype=torch.float64)
        self._kept: tuple[weakref.ref[Messages], WalkRows] | None = None

    def __call__(self, messages: Messages) -> WalkRows:
        """Return the rows of a graph."""
        if self._kept is None or self._kept[0]() is not messages:
            nodes = torch.arange(messages.num_nodes, device=messages.indices.device)
            self._kept = (weakref.ref(messages), walk_rows(messages.one_way(), nodes, self.weights))
        return self._kept[1]


class DirectedEncoder(StructureEncoder):
    """Weighs a node by ``f_node(sum over its column of f_edge(entry))`` of ``A + beta A^2 + ...``."""

    def __init__(self, encoder: Encoder, edge_dim: int, node_dim: int, hops: int, beta: float) -> None:
        super().__init__(encoder, edge_dim, node_dim)
        self.rows = DirectedRows(hops, beta)

    def forward(self, inputs: Input, messages: Messages) -> torch.Tensor:
        """Return the states of all nodes and their weights, float (n, dim)."""
        states = self.encoder(inputs, messages)
        found = self.rows(messages)
        entries = self.of_edges(found.values.to(states.dtype).unsqueeze(1))
        sums = torch.zeros(messages.num_nodes, 1, device=states.device, dtype=states.dtype)
        sums = sums.index_add(0, found.rows.indices, entries)
        return torch.cat([states, self.of_nodes(sums)], dim=1)


class DirectedOverlapModel(OverlapModel):
    """Neo-GNN whose overlap is that of the one-way rows."""

    encoder: DirectedEncoder

    def overlap(self, weights: torch.Tensor, pairs: torch.Tensor, messages: Messages) -> torch.Tensor:
        """Return the overlaps of pairs under weights of nodes (n, 1), float (m, 1)."""
        sets, products = self.encoder.rows(messages).overlaps(pairs)
        return sets.sums(weights, products)
