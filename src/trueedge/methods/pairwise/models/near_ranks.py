"""Personalised PageRank around pairs, on the device, with exact removal of a hidden edge."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray

from trueedge.training.links.messages import Messages

# Taking an edge away from a node of degree 2 or more at most doubles the odds of each of its other steps, and
# a walk comes back to the node at most 1 / (1 - (1 - alpha)^2) times before it starts anew: at alpha = 0.15 a
# value may grow to 7.2 times what it was. So far below the thresholds values are kept.
SLACK = 8.0
# The share of neighbours without PageRank above which they are handled separately.
UNREACHED = 0.2


@dataclass(frozen=True, eq=False)
class NearRanks:
    """The PageRank of a graph at each node's neighbours, and wherever it is near a threshold or above.

    It takes 4 bytes per arc, 8 per node, and 12 per entry.

    Attributes:
        whole: the graph.
        alpha: the teleport probability.
        own: float32 (n,), of each node at itself.
        at_arcs: float32 (arcs,), of each arc's row at its column.
        starts: int64 (n + 1,), where each node's entries begin.
        keys: int64 (entries,), row * n + column, ascending; no node is an entry of its own.
        values: float32 (entries,).
    """

    whole: Messages
    alpha: float
    own: torch.Tensor
    at_arcs: torch.Tensor
    starts: torch.Tensor
    keys: torch.Tensor
    values: torch.Tensor

    @classmethod
    def of(cls, whole: Messages, alpha: float, eps: float, threshold: float) -> NearRanks:
        """Compute the PageRank of a graph.

        Args:
            eps: the error bound per unit of degree.
            threshold: the smallest value that matters at nodes that are not neighbours; 1 or more: none.
        """
        from trueedge.kernels.walks.near_ranks import near_ranks

        device, nodes = whole.indices.device, whole.num_nodes
        indptr, indices = whole.indptr.cpu().numpy(), whole.indices.to(torch.int32).cpu().numpy()
        floor = threshold / SLACK if threshold < 1 else 2.0
        found = near_ranks(indptr, indices, alpha, eps, floor)
        rows = np.repeat(np.arange(nodes, dtype=np.int64), np.diff(found.starts))

        def put(array: NDArray[np.generic]) -> torch.Tensor:
            return torch.from_numpy(array).to(device)

        return cls(
            whole,
            alpha,
            put(found.own.astype(np.float32)),
            put(found.at_arcs.astype(np.float32)),
            put(found.starts),
            put(rows * nodes + found.nodes),
            put(found.scores.astype(np.float32)),
        )

    @cached_property
    def unreached(self) -> bool:
        """Whether PageRank is zero at many neighbours, as in graphs of high degrees."""
        return bool((self.at_arcs == 0).float().mean() > UNREACHED) if len(self.at_arcs) else False

    def along(self, messages: Messages) -> torch.Tensor:
        """Return the whole graph's PageRank of each arc's row at its column, float32 (arcs of messages,)."""
        if messages is self.whole:
            return self.at_arcs
        return self.at_arcs[torch.searchsorted(self.whole.arc_keys, messages.arc_keys)]

    def entry(self, sources: torch.Tensor, nodes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return whether a node is kept in a source's row, bool (k,), and its value there, float32 (k,)."""
        if len(self.keys) == 0:
            return torch.zeros_like(sources, dtype=torch.bool), self.own.new_zeros(len(sources))
        keys = sources * self.whole.num_nodes + nodes
        places = torch.searchsorted(self.keys, keys).clamp_(max=len(self.keys) - 1)
        return self.keys[places] == keys, self.values[places]

    def hidden(self, pairs: torch.Tensor, messages: Messages) -> tuple[torch.Tensor, torch.Tensor]:
        """Return which pairs are hidden edges, and the factors that remove them.

        Args:
            pairs: int64 (m, 2).
            messages: the graph with some edges taken out.

        Returns:
            bool (m,), and float32 (m, 2, 2): the matrix that multiplies the values (π_a(u), π_b(u)) of a
            pair's ends at any other node u; the identity for pairs that are not hidden.
        """
        left, right = pairs[:, 0], pairs[:, 1]
        there, place = _find(self.whole, left, right)
        hidden = there & ~_find(messages, left, right)[0] if messages is not self.whole else there & False
        back = _find(self.whole, right, left)[1]
        if len(self.at_arcs) == 0:
            across = self.own.new_zeros(len(pairs), 2)
        else:
            across = torch.stack([self.at_arcs[place], self.at_arcs[back]], dim=1)
        # For a pair that is not an edge, degrees do not matter.
        degrees = self.whole.degrees[pairs].clamp(min=1.0)
        factors = without_edge(self.own[pairs], across, degrees, self.alpha).float()
        one = torch.eye(2, device=pairs.device).expand(len(pairs), 2, 2)
        return hidden, torch.where(hidden[:, None, None], factors, one)


def without_edge(
    own: torch.Tensor, across: torch.Tensor, degrees: torch.Tensor, alpha: float
) -> torch.Tensor:
    """Return the factors that remove an edge (a, b) from the PageRank of its ends, float64 (m, 2, 2).

    With c = 1 - alpha, P the walk's steps and M = (I - c P)^-1, so that π = alpha M, taking the edge out
    changes two rows of P: by δ_a = (P_a - e_b) / (k_a - 1), or -e_b where a has no other neighbour and the
    walk ends there. So M changes by a matrix of rank two. Since c P_a M = M_a - e_a, c δ_a M is at every node
    other than the ends a combination of the rows M_a and M_b, which are therefore combinations of what they
    were: π'_S(u) = B π_S(u) with B = I + M_SS (I - G)^-1 T, where S is the ends, T holds the combinations and
    G = T M_SS - diag(1 / (k - 1)) is what c δ M is at the ends themselves.

    Args:
        own: float (m, 2), π_a(a) and π_b(b).
        across: float (m, 2), π_a(b) and π_b(a).
        degrees: float (m, 2), the degrees with the edge, 1 or more.
        alpha: the teleport probability.
    """
    own, across, degrees = own.double(), across.double(), degrees.double()
    last = degrees <= 1.0
    inverse = torch.where(last, 0.0, 1.0 / (degrees - 1.0).clamp(min=1.0))
    step = torch.where(last, -(1.0 - alpha), -(1.0 - alpha) * inverse)
    turn = _matrices(inverse[:, 0], step[:, 0], step[:, 1], inverse[:, 1])
    ends = _matrices(own[:, 0], across[:, 0], across[:, 1], own[:, 1]) / alpha
    change = turn @ ends - torch.diag_embed(inverse)
    rest = torch.eye(2, dtype=torch.float64, device=own.device) - change
    return torch.eye(2, dtype=torch.float64, device=own.device) + ends @ _inverse(rest) @ turn


def _matrices(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, d: torch.Tensor) -> torch.Tensor:
    return torch.stack([a, b, c, d], dim=1).reshape(-1, 2, 2)


def _inverse(matrices: torch.Tensor) -> torch.Tensor:
    """Return the inverses of 2 x 2 matrices, in closed form."""
    a, b, c, d = matrices.reshape(-1, 4).unbind(1)
    return _matrices(d, -b, -c, a) / (a * d - b * c)[:, None, None]


def _find(messages: Messages, left: torch.Tensor, right: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return whether two nodes each are linked, bool (m,), and the place of that arc, int64 (m,)."""
    if len(messages.indices) == 0:
        return torch.zeros_like(left, dtype=torch.bool), torch.zeros_like(left)
    keys = left * messages.num_nodes + right
    places = torch.searchsorted(messages.arc_keys, keys).clamp_(max=len(messages.indices) - 1)
    return messages.arc_keys[places] == keys, places
