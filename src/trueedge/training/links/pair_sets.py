"""Sets of nodes around pairs, such as common neighbours, for pairwise models.

They are computed on :class:`Messages`, without the edges removed from them: on the CPU by compiled loops,
elsewhere by searches in sorted lists.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812

from trueedge.training.links.messages import Messages, row_starts

# Neighbours looked up at a time; each takes about fifty bytes.
LOOKUPS = 1 << 25
# Numbers gathered at a time for the gradient of weights.
GATHERED = 1 << 24

# Whose neighbour a node is: of both ends of a pair, of the first or of the second alone.
BOTH, FIRST, SECOND = 0, 1, 2


@dataclass(frozen=True)
class NodeSets:
    """A set of nodes for each pair, concatenated.

    Attributes:
        rows: int64 (k,), ascending: the pair of each node.
        nodes: int64 (k,), ascending within a pair.
        count: the number of pairs.
        starts: int64 (count + 1,), the row starts, if known.
    """

    rows: torch.Tensor
    nodes: torch.Tensor
    count: int
    starts: torch.Tensor | None = None

    @classmethod
    def of_starts(cls, starts: torch.Tensor, nodes: torch.Tensor) -> NodeSets:
        """Return sets with given row starts, int64 (count + 1,)."""
        count = len(starts) - 1
        numbers = torch.arange(count, device=starts.device)
        rows = torch.repeat_interleave(numbers, starts.diff(), output_size=len(nodes))
        return cls(rows, nodes, count, starts)

    def sizes(self) -> torch.Tensor:
        """Return the number of nodes of each pair, int64 (count,)."""
        if self.starts is not None:
            return self.starts.diff()
        return torch.bincount(self.rows, minlength=self.count)

    def indptr(self) -> torch.Tensor:
        """Return the row starts, int64 (count + 1,)."""
        return row_starts(self.sizes()) if self.starts is None else self.starts

    def where(self, kept: torch.Tensor) -> NodeSets:
        """Return the nodes for which a mask (k,) holds."""
        # Computed once: indexing by a mask waits for the GPU each time.
        places = torch.nonzero(kept).squeeze(1)
        return NodeSets(self.rows[places], self.nodes[places], self.count)

    def sums(self, states: torch.Tensor, weights: torch.Tensor | None = None) -> torch.Tensor:
        """Return the sum of each pair's node states (n, d), weighted (k,) or not: float (count, d)."""
        factors = None if weights is None else weights.float()
        total: torch.Tensor = _Sums.apply(states.float(), factors, self)
        return total


def neighbors(messages: Messages, nodes: torch.Tensor) -> NodeSets:
    """Return the neighbours of some nodes, int64 (m,), which may repeat."""
    firsts, sizes = messages.indptr[nodes], messages.indptr.diff()[nodes]
    starts = row_starts(sizes)
    count = int(starts[-1])
    rows = torch.repeat_interleave(torch.arange(len(nodes), device=nodes.device), sizes, output_size=count)
    places = torch.arange(count, device=nodes.device) + (firsts - starts[:-1])[rows]
    return NodeSets(rows, messages.indices[places], len(nodes), starts)


def are_linked(messages: Messages, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Return whether there is an edge between each ``left`` and ``right``, bool (m,)."""
    if len(messages.indices) == 0:
        return torch.zeros(len(left), dtype=torch.bool, device=left.device)
    keys = left * messages.num_nodes + right
    places = torch.searchsorted(messages.arc_keys, keys).clamp_(max=len(messages.indices) - 1)
    return messages.arc_keys[places] == keys


def common_neighbors(messages: Messages, pairs: torch.Tensor) -> NodeSets:
    """Return the common neighbours of pairs of nodes, int64 (m, 2)."""
    if pairs.device.type == "cpu":
        from trueedge.kernels.neighbors.pair_sets import common_sets

        found = common_sets(*(part.numpy() for part in (messages.indptr, messages.indices, pairs)))
        return NodeSets.of_starts(*(torch.from_numpy(part) for part in found))
    return searched_common_neighbors(messages, pairs)


def searched_common_neighbors(messages: Messages, pairs: torch.Tensor) -> NodeSets:
    """Return :func:`common_neighbors` by searches, in bounded memory."""
    degrees = messages.indptr.diff()[pairs]
    # The neighbours of the end with fewer are looked up at the other end.
    fewer = degrees.argmin(dim=1, keepdim=True)
    few, many = pairs.gather(1, fewer).squeeze(1), pairs.gather(1, 1 - fewer).squeeze(1)
    parts = []
    for part in runs(degrees.amin(dim=1), LOOKUPS):
        found = neighbors(messages, few[part])
        kept = found.where(are_linked(messages, many[part][found.rows], found.nodes))
        parts.append((kept.rows + part.start, kept.nodes))
    if len(parts) == 1:
        return NodeSets(*parts[0], len(pairs))
    rows, nodes = (torch.cat(column) for column in zip(*parts, strict=True))
    return NodeSets(rows, nodes, len(pairs))


def joint_neighbors(messages: Messages, pairs: torch.Tensor) -> tuple[NodeSets, torch.Tensor]:
    """Return all neighbours of pairs without the ends, and whose each is: BOTH, FIRST or SECOND, (k,)."""
    if pairs.device.type == "cpu":
        from trueedge.kernels.neighbors.pair_sets import joint_sets

        found = joint_sets(*(part.numpy() for part in (messages.indptr, messages.indices, pairs)))
        starts, nodes, sides = (torch.from_numpy(part) for part in found)
        return NodeSets.of_starts(starts, nodes), sides
    return searched_joint_neighbors(messages, pairs)


def searched_joint_neighbors(messages: Messages, pairs: torch.Tensor) -> tuple[NodeSets, torch.Tensor]:
    """Return :func:`joint_neighbors` by searches."""
    both, lone = searched_common_neighbors(messages, pairs), lone_neighbors(messages, pairs)
    rows = torch.cat([sets.rows for sets in (both, *lone)])
    nodes = torch.cat([sets.nodes for sets in (both, *lone)])
    kinds = torch.tensor([BOTH, FIRST, SECOND], dtype=torch.int8, device=nodes.device)
    sizes = torch.tensor([len(sets.nodes) for sets in (both, *lone)], device=nodes.device)
    sides = torch.repeat_interleave(kinds, sizes, output_size=len(nodes))
    # A node is in a pair's neighbourhood once, so keys are distinct.
    order = torch.argsort(rows * messages.num_nodes + nodes)
    return NodeSets(rows[order], nodes[order], len(pairs)), sides[order]


def lone_neighbors(messages: Messages, pairs: torch.Tensor) -> tuple[NodeSets, NodeSets]:
    """Return the neighbours of the first and of the second end alone, without the ends themselves."""
    sets = []
    for side in (0, 1):
        found = neighbors(messages, pairs[:, side])
        others = pairs[found.rows, 1 - side]
        sets.append(found.where((found.nodes != others) & ~are_linked(messages, others, found.nodes)))
    return sets[0], sets[1]


def runs(sizes: torch.Tensor, limit: int) -> Iterator[slice]:
    """Yield consecutive slices of items whose sizes (m,) sum to at most a limit, or of a single item."""
    total = torch.cumsum(sizes, 0)
    if len(sizes) == 0 or int(total[-1]) <= limit:
        yield slice(0, len(sizes))
        return
    ends, first, before = total.cpu(), 0, 0
    while first < len(ends):
        last = max(first + 1, int(torch.searchsorted(ends, before + limit, right=True)))
        yield slice(first, last)
        first, before = last, int(ends[last - 1])


class _Sums(torch.autograd.Function):
    """A product with the sparse matrix whose rows are the sets; its gradient uses the transpose.

    On the CPU, ``embedding_bag`` is twice as fast as a CSR product, but its own gradient is five times slower
    than a bag over the transposed sets.
    """

    @staticmethod
    def forward(ctx: Any, states: torch.Tensor, weights: torch.Tensor | None, sets: NodeSets) -> torch.Tensor:
        ctx.sets = sets
        ctx.save_for_backward(states, weights)
        return _bags(sets.nodes, sets.indptr(), states, weights)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor | None, torch.Tensor | None, None]:
        (states, weights), sets, gradient = ctx.saved_tensors, ctx.sets, gradients[0].contiguous()
        of_states = of_weights = None
        if ctx.needs_input_grad[0]:
            starts, rows, places = _turned(sets, len(states))
            of_states = _bags(rows, starts, gradient, None if weights is None else weights[places])
        if weights is not None and ctx.needs_input_grad[1]:
            of_weights = torch.empty_like(weights)
            step = max(1, GATHERED // max(1, states.shape[1]))
            for start in range(0, len(weights), step):
                part = slice(start, start + step)
                of_weights[part] = (gradient[sets.rows[part]] * states[sets.nodes[part]]).sum(dim=1)
        return of_states, of_weights, None


def _bags(
    nodes: torch.Tensor, starts: torch.Tensor, states: torch.Tensor, weights: torch.Tensor | None
) -> torch.Tensor:
    if len(nodes) == 0:
        return states.new_zeros(len(starts) - 1, states.shape[1])
    return F.embedding_bag(
        nodes, states, starts, mode="sum", include_last_offset=True, per_sample_weights=weights
    )


def _turned(sets: NodeSets, num_nodes: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the sets of each node: starts (n + 1,), sets ascending, and the positions of the entries."""
    if sets.nodes.device.type == "cpu":
        from trueedge.kernels.neighbors.pair_sets import turned_sets

        found = turned_sets(sets.indptr().numpy(), sets.nodes.numpy(), num_nodes)
        return torch.from_numpy(found[0]), torch.from_numpy(found[1]), torch.from_numpy(found[2])
    places = torch.argsort(sets.nodes, stable=True)
    return row_starts(torch.bincount(sets.nodes, minlength=num_nodes)), sets.rows[places], places
