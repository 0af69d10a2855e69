"""Pairs between the two sides of a bipartite graph."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.negatives.sampling import skip


@dataclass(frozen=True, eq=False)
class Sides:
    """The two sides of a bipartite graph, as samplers see them.

    Attributes:
        of: int8 (n,), the side of each node, 0 or 1; other nodes are in no pair.
    """

    of: NDArray[np.int8]

    @classmethod
    def check(cls, sides: ArrayLike | None, graph: Graph, owner: str) -> Sides | None:
        """Return the sides of a graph, or None if none are given; refuse edges within a side."""
        if sides is None:
            return None
        found = np.asarray(sides)
        if found.shape != (graph.num_nodes,) or found.dtype.kind not in "iu":
            raise InputError(f"{owner}: sides must hold 0 or 1 for each of {graph.num_nodes} nodes")
        made = cls(np.where((found == 0) | (found == 1), found, -1).astype(np.int8))
        made.refuse_within(graph.edges, f"{owner}: the edge")
        return made

    def refuse_within(self, pairs: NDArray[np.integer], noun: str) -> None:
        """Refuse pairs that do not join the two sides."""
        within = np.flatnonzero(~self.joined(pairs))
        if len(within):
            u, v = pairs[within[0]]
            raise InputError(f"{noun} ({u}, {v}) does not join the two sides")

    def joined(self, pairs: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Return which pairs (m, 2) join the two sides, bool (m,)."""
        ends = self.of[pairs]
        return np.asarray((ends >= 0).all(axis=1) & (ends[:, 0] != ends[:, 1]))

    @cached_property
    def nodes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The nodes of either side, ascending."""
        return np.flatnonzero(self.of == 0), np.flatnonzero(self.of == 1)

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """The place of each node on its side, int64 (n,)."""
        found = np.zeros(len(self.of), dtype=np.int64)
        for nodes in self.nodes:
            found[nodes] = np.arange(len(nodes))
        return found

    @cached_property
    def opposite(self) -> NDArray[np.int64]:
        """How many nodes are on the other side of each node, int64 (n,); 0 for a node on neither side."""
        sizes = np.array([len(self.nodes[1]), len(self.nodes[0]), 0])
        return np.asarray(sizes[self.of])

    @property
    def num_pairs(self) -> int:
        """How many pairs join the two sides."""
        return len(self.nodes[0]) * len(self.nodes[1])

    def across(self, sources: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the nodes at some places of the other side of each source, int64 of the places' shape."""
        both = np.concatenate([self.nodes[1], self.nodes[0]])
        starts = np.where(self.of[sources] == 0, 0, len(self.nodes[1]))
        return both[starts.reshape(-1, *[1] * (places.ndim - 1)) + places]

    def only(self, kept: NDArray[np.bool_]) -> Sides:
        """Return the same sides without some nodes."""
        return Sides(np.where(kept, self.of, np.int8(-1)))

    def taken(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sorted places of known pairs among all pairs that join the sides.

        Args:
            keys: int64, of known pairs; those within a side are left out.
        """
        pairs = np.column_stack(np.divmod(keys, len(self.of)))
        pairs = pairs[self.joined(pairs)]
        turned = self.of[pairs[:, 0]] == 1
        pairs[turned] = pairs[turned, ::-1]
        return np.sort(self.places[pairs[:, 0]] * len(self.nodes[1]) + self.places[pairs[:, 1]])

    def free_pairs(self, numbers: NDArray[np.int64], taken: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return free pairs that join the sides, by their number: int64 (n, 2) with ``u < v``.

        Args:
            numbers: int64 (n,), below the number of pairs that are not taken.
            taken: from :meth:`taken`.
        """
        first, second = np.divmod(skip(taken, numbers), max(len(self.nodes[1]), 1))
        return np.sort(np.column_stack([self.nodes[0][first], self.nodes[1][second]]), axis=1)
