"""Enclosing subgraphs of a block of pairs as tensors, and what is kept of them from one time to the next."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.kernels.neighbors.subgraphs import Subgraphs, enclosing_subgraphs, join
from trueedge.training.links.messages import Messages, csr

Pairs = NDArray[np.int64]

# Labels above this one are taken for it: of distances that long there are few.
LARGEST_LABEL = 1000
# Edges by whose subgraphs the size of all is estimated.
SAMPLE = 256


@dataclass(frozen=True)
class SubgraphBlock:
    """The subgraphs of a block of pairs on a device, side by side.

    Attributes:
        starts: int64 (p + 1,), where each pair's nodes begin; the two ends come first.
        ends: int64 (p, 2), where the two ends stand.
        nodes: int32 (k,), which node of the graph each is. Those behind the last start only fill up.
        labels: int32 (k,), by the distances from the two ends.
        indptr: int32 (k + 1,), the row starts of the arcs.
        indices: int32 (arcs,), with a loop at every node.
    """

    starts: torch.Tensor
    ends: torch.Tensor
    nodes: torch.Tensor
    labels: torch.Tensor
    indptr: torch.Tensor
    indices: torch.Tensor

    @classmethod
    def of(cls, pairs: Pairs, found: Subgraphs, device: torch.device, rows: int = 1) -> SubgraphBlock:
        """Return those of arrays, filled up by lone nodes to a multiple of so many rows."""
        filled = -len(found.nodes) % rows
        first = found.starts[:-1]
        arrays = (
            found.starts,
            np.stack([first, first + (pairs[:, 0] != pairs[:, 1])], axis=1),
            np.pad(found.nodes, (0, filled)),
            np.pad(np.minimum(found.labels, LARGEST_LABEL), (0, filled)),
            np.pad(found.indptr.astype(np.int32), (0, filled), mode="edge"),
            found.indices,
        )
        return cls(*(torch.from_numpy(array).to(device) for array in arrays))

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return sum(part.nbytes for part in vars(self).values())

    def messages(self) -> Messages:
        """Message passing along all arcs, as :class:`SpreadMessages`; its weights are not kept."""
        return SpreadMessages(self.indptr, self.indices)


class SpreadMessages(Messages):
    """Message passing of a graph with loops whose arcs weigh one over the root of both degrees.

    One product does then what a convolution needs three passes over its states for.
    """

    @cached_property
    def adjacency(self) -> torch.Tensor:
        """The weighted adjacency, as symmetric as the plain one."""
        root = self.degrees.clamp(min=1.0).rsqrt()
        weights = root[self.targets] * root[self.indices]
        return csr(self.indptr, self.indices, weights, self.num_nodes)


@dataclass
class _Kept:
    """What is kept of one graph."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int64]
    seen: set[bytes] = field(default_factory=set)
    blocks: dict[bytes, SubgraphBlock] = field(default_factory=dict)
    used: int = 0
    edges: tuple[NDArray[np.int64], Subgraphs] | None = None


class SubgraphSource:
    """Extracts the subgraphs of pairs, and keeps those that come back.

    What is kept belongs to one :class:`Messages` and goes with it. Blocks are known by what pairs they hold.
    """

    def __init__(self, hops: int, most: int, share: float, key: int, memory: int) -> None:
        """Return how to extract.

        Args:
            hops: how far nodes are taken from the nearer end.
            most: the most nodes at one distance; 0: all.
            share: the share of the nodes at one distance.
            key: what the draws of nodes depend on.
            memory: the most bytes that are kept of blocks that come back, and as many of edges.
        """
        self.options: tuple[Any, ...] = (hops, most, share, key)
        self.memory = memory
        self._kept: WeakKeyDictionary[Messages, _Kept] = WeakKeyDictionary()

    def extract(self, messages: Messages, pairs: Pairs) -> Subgraphs:
        """Return the subgraphs of pairs, int64 (m, 2)."""
        kept = self._of(messages)
        if len(pairs) and not (pairs.min() >= 0 and pairs.max() < messages.num_nodes):
            # Compiled code would read whatever lies there.
            wrong = pairs[(pairs < 0) | (pairs >= messages.num_nodes)][0]
            raise InputError(f"pairs: there is no node {wrong} in a graph of {messages.num_nodes} nodes")
        return enclosing_subgraphs(kept.indptr, kept.indices, pairs, *self.options)

    def block(self, messages: Messages, pairs: torch.Tensor, rows: int) -> SubgraphBlock:
        """Return the subgraphs of a block that may come back, filled up to a multiple of so many rows.

        A block is kept when it is asked for a second time: those of a test part are asked for once.
        """
        kept, asked = self._of(messages), np.ascontiguousarray(pairs.cpu().numpy())
        name = hashlib.blake2b(asked.tobytes(), digest_size=16).digest()
        if name in kept.blocks:
            return kept.blocks[name]
        block = SubgraphBlock.of(asked, self.extract(messages, asked), pairs.device, rows)
        if name in kept.seen and kept.used + block.nbytes <= self.memory:
            kept.blocks[name] = block
            kept.used += block.nbytes
        kept.seen.add(name)
        return block

    def batch(self, messages: Messages, pairs: torch.Tensor) -> tuple[SubgraphBlock, torch.Tensor]:
        """Return the subgraphs of a training batch in some order, and each pair's place in it, int64 (m,).

        Edges of the graph come back in every epoch, so theirs are extracted once. Drawn pairs do not.
        """
        asked = np.ascontiguousarray(pairs.cpu().numpy())
        keys, edges = self._edges(messages)
        wanted = asked.min(axis=1) * messages.num_nodes + asked.max(axis=1)
        at = np.searchsorted(keys, wanted)
        known = np.zeros(len(asked), dtype=bool)
        known[at < len(keys)] = keys[at[at < len(keys)]] == wanted[at < len(keys)]
        found = join([edges.take(at[known]), self.extract(messages, asked[~known])])
        order = np.concatenate([np.flatnonzero(known), np.flatnonzero(~known)])
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        block = SubgraphBlock.of(asked[order], found, pairs.device)
        return block, torch.from_numpy(place).to(pairs.device)

    def _edges(self, messages: Messages) -> tuple[NDArray[np.int64], Subgraphs]:
        """Return the keys of the edges whose subgraphs are kept, ascending, and these: all or none."""
        kept = self._of(messages)
        if kept.edges is None:
            nodes = messages.num_nodes
            rows = np.repeat(np.arange(nodes), np.diff(kept.indptr))
            upper = rows < kept.indices
            edges = np.stack([rows[upper], kept.indices[upper]], axis=1)
            step = max(1, len(edges) // SAMPLE)
            sample = self.extract(messages, edges[::step])
            if sample.nbytes * step > self.memory:
                edges = edges[:0]
            kept.edges = edges[:, 0] * nodes + edges[:, 1], self.extract(messages, edges)
        return kept.edges

    def _of(self, messages: Messages) -> _Kept:
        kept = self._kept.get(messages)
        if kept is None:
            # On the CPU these are the tensors' own numbers; from a GPU they are copied once.
            indptr, indices = messages.indptr.cpu().numpy(), messages.indices.cpu().numpy()
            indptr.flags.writeable = indices.flags.writeable = False
            kept = self._kept[messages] = _Kept(indptr, indices)
        return kept
