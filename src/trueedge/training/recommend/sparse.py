"""Weighted sums over the arcs of a graph, with weights that are given, not learned."""

from __future__ import annotations

from typing import Any

import torch

from trueedge.training.links.messages import csr


class Propagation:
    """Sums of the states at the ends of arcs, for the node that each arc belongs to.

    Args:
        rows: int64 (a,), the node that receives.
        columns: int64 (a,), the node that sends.
        count: the number of nodes.
    """

    def __init__(self, rows: torch.Tensor, columns: torch.Tensor, count: int) -> None:
        self.count, self.rows = count, rows
        nodes = torch.arange(count + 1, device=rows.device)
        self._order = torch.argsort(rows, stable=True)
        self._starts = torch.searchsorted(rows[self._order], nodes)
        self._columns = columns[self._order]
        self._back = torch.argsort(columns, stable=True)
        self._back_starts = torch.searchsorted(columns[self._back], nodes)
        self._back_columns = rows[self._back]

    def __call__(self, weights: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
        """Return the weighted sum of each node, float (n, d); weights (a,) get no gradient."""
        total: torch.Tensor = _Product.apply(self, weights, states)
        return total

    def softmax(self, logits: torch.Tensor) -> torch.Tensor:
        """Return the softmax of logits (a,) over the arcs of each node, float (a,)."""
        top = torch.full((self.count,), -torch.inf, device=logits.device)
        top = top.scatter_reduce(0, self.rows, logits, "amax")
        powers = (logits - top[self.rows]).exp()
        total = torch.zeros(self.count, device=logits.device).index_add(0, self.rows, powers)
        return powers / total[self.rows]

    def matrix(self, weights: torch.Tensor) -> torch.Tensor:
        """Return the weights as a sparse matrix (n, n)."""
        return csr(self._starts, self._columns, weights[self._order], self.count)

    def transposed(self, weights: torch.Tensor) -> torch.Tensor:
        """Return the transposed matrix."""
        return csr(self._back_starts, self._back_columns, weights[self._back], self.count)


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, graph: Propagation, weights: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
        ctx.graph = graph
        ctx.save_for_backward(weights)
        return graph.matrix(weights) @ states

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[None, None, torch.Tensor]:
        (weights,) = ctx.saved_tensors
        return None, None, ctx.graph.transposed(weights) @ gradients[0]
