"""Sets of nodes around pairs of nodes, ragged: what pairwise models read off the graph.

Everything is read off :class:`Messages`, so an edge that was taken out of them is in no set either.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from trueedge.training.messages import Messages


@dataclass(frozen=True)
class NodeSets:
    """A set of nodes for each of some pairs, one behind the other.

    Attributes:
        rows: int64 (k,), ascending: which pair a node belongs to.
        nodes: int64 (k,), ascending within a pair.
        count: how many pairs there are.
    """

    rows: torch.Tensor
    nodes: torch.Tensor
    count: int

    def sizes(self) -> torch.Tensor:
        """How many nodes each pair has, int64 (count,)."""
        return torch.bincount(self.rows, minlength=self.count)

    def indptr(self) -> torch.Tensor:
        """Where each pair's nodes begin and end, int64 (count + 1,)."""
        ends = torch.zeros(self.count + 1, dtype=torch.int64, device=self.rows.device)
        torch.cumsum(self.sizes(), 0, out=ends[1:])
        return ends

    def where(self, kept: torch.Tensor) -> NodeSets:
        """The nodes for which a mask (k,) holds."""
        return NodeSets(self.rows[kept], self.nodes[kept], self.count)


def neighbors(messages: Messages, nodes: torch.Tensor) -> NodeSets:
    """The neighbours of some nodes, int64 (m,); a node may be asked for more than once."""
    starts, sizes = messages.indptr[nodes], messages.indptr.diff()[nodes]
    ends = torch.cumsum(sizes, 0)
    rows = torch.repeat_interleave(torch.arange(len(nodes), device=nodes.device), sizes)
    places = torch.arange(len(rows), device=nodes.device) + (starts - ends + sizes)[rows]
    return NodeSets(rows, messages.indices[places], len(nodes))


def are_linked(messages: Messages, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Whether there is an edge between two nodes each, bool (m,)."""
    if len(messages.indices) == 0:
        return torch.zeros(len(left), dtype=torch.bool, device=left.device)
    keys = left * messages.num_nodes + right
    places = torch.searchsorted(messages.arc_keys, keys).clamp_(max=len(messages.indices) - 1)
    return messages.arc_keys[places] == keys


def common_neighbors(messages: Messages, pairs: torch.Tensor) -> NodeSets:
    """The common neighbours of pairs of nodes, int64 (m, 2)."""
    # The neighbours of the end that has fewer are looked up at the other.
    degrees = messages.indptr.diff()[pairs]
    fewer = degrees.argmin(dim=1, keepdim=True)
    found = neighbors(messages, pairs.gather(1, fewer).squeeze(1))
    others = pairs.gather(1, 1 - fewer).squeeze(1)
    return found.where(are_linked(messages, others[found.rows], found.nodes))


def lone_neighbors(messages: Messages, pairs: torch.Tensor) -> tuple[NodeSets, NodeSets]:
    """The neighbours of the first and of the second end alone, without the ends themselves."""
    sets = []
    for side in (0, 1):
        found = neighbors(messages, pairs[:, side])
        others = pairs[found.rows, 1 - side]
        sets.append(found.where((found.nodes != others) & ~are_linked(messages, others, found.nodes)))
    return sets[0], sets[1]
