"""The message graph: sums over neighbours, as products with the adjacency matrix, sparse or dense.

The matrix is symmetric, so the gradient is the same product; if neighbours are sampled, it is the product
with the transpose.
"""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from trueedge.graph import Graph
from trueedge.training.links.dense import dense_enough, sums_by, table_of, turned_sums_by


class Messages:
    """The adjacency of an undirected graph on a device.

    Attributes:
        indptr: int64 tensor (n + 1,).
        indices: int64 tensor (arcs,), ascending within a row.
        edge_of: int64 tensor (arcs,), the edge number of each arc; None if no edges can be removed.
        dense: whether sums are products with a dense table; None: on a GPU, if the graph is dense enough.
            Messages without some edges or arcs follow the whole.

    Args:
        whole: the adjacency that edges were removed from, if any were.
    """

    dense: bool | None = None

    def __init__(
        self,
        indptr: torch.Tensor,
        indices: torch.Tensor,
        edge_of: torch.Tensor | None = None,
        whole: Messages | None = None,
    ) -> None:
        self.indptr = indptr
        self.indices = indices
        self.edge_of = edge_of
        self._whole = whole

    @classmethod
    def of(cls, graph: Graph, device: str | torch.device = "cpu") -> Messages:
        """Return the message graph of a graph."""
        made = cls(_tensor(graph.indptr, device), _tensor(graph.indices, device))
        ends = torch.stack([made.targets, made.indices])
        keys = ends.amin(dim=0) * graph.num_nodes + ends.amax(dim=0)
        # On the device: for a graph with millions of edges, a GPU takes a hundredth of the time.
        made.edge_of = torch.searchsorted(_tensor(graph.edge_keys, device), keys)
        return made

    @property
    def num_nodes(self) -> int:
        """The number of nodes."""
        return len(self.indptr) - 1

    @property
    def whole(self) -> Messages:
        """The graph before edges were removed."""
        return self if self._whole is None else self._whole

    @cached_property
    def degrees(self) -> torch.Tensor:
        """The degree of every node, float32 (n,)."""
        return self.indptr.diff().to(torch.float32)

    @cached_property
    def targets(self) -> torch.Tensor:
        """The row of every arc, int64 (arcs,): the node that receives the message."""
        nodes = torch.arange(self.num_nodes, device=self.indices.device)
        return torch.repeat_interleave(nodes, self.indptr.diff(), output_size=len(self.indices))

    @cached_property
    def arc_keys(self) -> torch.Tensor:
        """The key of every arc, row * n + column, int64 (arcs,), ascending."""
        return self.targets * self.num_nodes + self.indices

    @cached_property
    def reverse(self) -> torch.Tensor:
        """The position of the reverse of every arc, int64 (arcs,)."""
        # Arcs sorted by column, then row, are the reverses in the order of the arcs.
        place = torch.argsort(self.indices * self.num_nodes + self.targets)
        back = torch.empty_like(place)
        back[place] = torch.arange(len(place), device=place.device)
        return back

    @cached_property
    def adjacency(self) -> torch.Tensor:
        """The adjacency as a sparse CSR tensor of ones."""
        return csr(
            self.indptr, self.indices, torch.ones_like(self.indices, dtype=torch.float32), self.num_nodes
        )

    @property
    def is_dense(self) -> bool:
        """Whether sums are products with :attr:`table`."""
        if self.whole.dense is not None:
            return self.whole.dense
        return self.indices.device.type == "cuda" and dense_enough(self.num_nodes, len(self.indices))

    @cached_property
    def table(self) -> torch.Tensor:
        """The adjacency as a dense table of ones, bfloat16 (n, w), with padded rows."""
        return table_of(self.arc_keys, self.num_nodes)

    @property
    def transposed(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Row starts and columns of the transpose, and the arc of each of its entries."""
        return self.indptr, self.indices, self.reverse

    @property
    def transpose(self) -> torch.Tensor:
        """The transpose of the adjacency: itself."""
        return self.adjacency

    @cached_property
    def _most(self) -> int:
        return int(self.indptr.diff().max()) if self.num_nodes else 0

    def sample_neighbors(self, most: int) -> Messages:
        """Return messages in which each node receives from at most so many sampled neighbours.

        Hamilton, Ying, Leskovec: Inductive Representation Learning on Large Graphs, NeurIPS 2017.
        """
        if self._most <= most:
            return self
        # The arcs of each row are shuffled, and the first ones kept.
        keys = self.targets + torch.rand(len(self.indices), dtype=torch.float64, device=self.indices.device)
        shuffled = torch.argsort(keys)
        place = torch.arange(len(shuffled), device=shuffled.device) - self.indptr[self.targets]
        kept = torch.sort(shuffled[place < most]).values
        counts = self.indptr.diff().clamp(max=most)
        return SampledMessages(row_starts(counts), self.indices[kept], whole=self.whole)

    def without(self, edges: torch.Tensor) -> Messages:
        """Return the messages without some edges, given by distinct edge numbers, int64 (k,)."""
        assert self.edge_of is not None
        if len(edges) == 0:
            return self
        kept = torch.ones(len(self.indices) // 2, dtype=torch.bool, device=self.indices.device)
        kept[edges] = False
        arcs = kept[self.edge_of]
        before = torch.zeros(len(arcs) + 1, dtype=torch.int64, device=arcs.device)
        torch.cumsum(arcs, 0, out=before[1:])
        # The number that stays is known, which saves waiting for the GPU; removed arcs go to one last place.
        count = len(arcs) - 2 * len(edges)
        places = torch.where(arcs, before[:-1], count)
        indices = torch.empty(count + 1, dtype=torch.int64, device=arcs.device)
        left = indices.scatter_(0, places, self.indices)[:count]
        return Messages(before[self.indptr], left, whole=self.whole)

    @property
    def far(self) -> Messages:
        """The messages of all layers but the last."""
        return self

    def one_way(self) -> Messages:
        """Return the messages along arcs from the smaller to the larger id alone."""
        kept = self.indices > self.targets
        counts = torch.bincount(self.targets[kept], minlength=self.num_nodes)
        return SampledMessages(row_starts(counts), self.indices[kept], whole=self.whole)

    def sum(self, states: torch.Tensor) -> torch.Tensor:
        """Return the sum of the neighbours' states of every node, float (n, d)."""
        total: torch.Tensor = _Sum.apply(self, states)
        return total

    def weighted_sum(self, weights: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
        """Return the sum of the neighbours' states, weighted by arc (arcs,): float (n, d)."""
        total: torch.Tensor = _WeightedSum.apply(self, weights, states)
        return total


class SampledMessages(Messages):
    """Messages along arcs that need not go both ways."""

    @cached_property
    def transposed(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Row starts and columns of the transpose, and the arc of each of its entries."""
        places = torch.argsort(self.indices, stable=True)
        counts = torch.bincount(self.indices, minlength=self.num_nodes)
        return row_starts(counts), self.targets[places], places

    @cached_property
    def transpose(self) -> torch.Tensor:
        """Return the transpose of the adjacency."""
        indptr, indices, _ = self.transposed
        return csr(indptr, indices, torch.ones_like(indices, dtype=torch.float32), self.num_nodes)


class LayeredMessages(SampledMessages):
    """Messages of the last layer, which know those of the layers before it."""

    _far: Messages

    @classmethod
    def of_layers(cls, last: Messages, far: Messages) -> LayeredMessages:
        """Return the messages of the last layer, with those of the others as ``far``."""
        made = cls(last.indptr, last.indices, whole=last.whole)
        made._far = far
        return made

    @property
    def far(self) -> Messages:
        """The messages of all layers but the last."""
        return self._far


class _Sum(torch.autograd.Function):
    """A product with a constant matrix."""

    @staticmethod
    def forward(ctx: Any, messages: Messages, states: torch.Tensor) -> torch.Tensor:
        ctx.messages = messages
        if messages.is_dense:
            return sums_by(messages.table, states)
        return messages.adjacency @ states

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[None, torch.Tensor]:
        messages, gradient = ctx.messages, gradients[0]
        if messages.is_dense:
            return None, turned_sums_by(messages.table, gradient)
        return None, messages.transpose @ gradient


class _WeightedSum(torch.autograd.Function):
    """A product with a matrix of learned values on the adjacency's arcs."""

    # Numbers gathered at a time for the gradient of the weights.
    BLOCK = 1 << 24

    @staticmethod
    def forward(ctx: Any, messages: Messages, weights: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
        ctx.messages = messages
        ctx.save_for_backward(weights, states)
        return csr(messages.indptr, messages.indices, weights, messages.num_nodes) @ states

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[None, torch.Tensor, torch.Tensor]:
        messages, (weights, states), gradient = ctx.messages, ctx.saved_tensors, gradients[0]
        indptr, indices, places = messages.transposed
        turned = csr(indptr, indices, weights[places], messages.num_nodes)
        of_weights = torch.empty_like(weights)
        step = max(1, _WeightedSum.BLOCK // max(1, states.shape[1]))
        for start in range(0, len(weights), step):
            block = slice(start, start + step)
            received = gradient[messages.targets[block]]
            of_weights[block] = (received * states[messages.indices[block]]).sum(dim=1)
        return None, of_weights, turned @ gradient


def csr(
    indptr: torch.Tensor, indices: torch.Tensor, values: torch.Tensor, columns: int, rows: int | None = None
) -> torch.Tensor:
    """Return a sparse CSR tensor of valid arrays, without checks."""
    with warnings.catch_warnings():
        # torch warns that such tensors are new and unchecked.
        warnings.simplefilter("ignore", UserWarning)
        return torch.sparse_csr_tensor(
            indptr,
            indices,
            values,
            size=(len(indptr) - 1 if rows is None else rows, columns),
            check_invariants=False,
        )


def row_starts(counts: torch.Tensor) -> torch.Tensor:
    """Return the row starts of rows with so many entries: int64 (n + 1,)."""
    starts = torch.zeros(len(counts) + 1, dtype=torch.int64, device=counts.device)
    torch.cumsum(counts, 0, out=starts[1:])
    return starts


def _tensor(array: NDArray[Any], device: str | torch.device) -> torch.Tensor:
    # A copy: the graph's arrays are read-only.
    return torch.from_numpy(np.array(array, dtype=np.int64)).to(device)
