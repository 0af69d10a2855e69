"""Enclosing subgraphs of blocks of pairs as tensors, with a cache."""

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

# Larger labels, of long distances, are set to this one.
LARGEST_LABEL = 1000
# Edges whose subgraphs are used to estimate the memory of all.
SAMPLE = 256


@dataclass(frozen=True)
class SubgraphBlock:
    """The subgraphs of a block of pairs on a device, side by side.

    Attributes:
        starts: int64 (p + 1,), where each pair's nodes start; the two ends come first.
        ends: int64 (p, 2), the positions of the two ends.
        nodes: int32 (k,), the nodes of the graph. Those after the last start are padding.
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
        """Return the block of some subgraphs, padded with isolated nodes to a multiple of ``rows``."""
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
        """The memory it takes."""
        return sum(part.nbytes for part in vars(self).values())

    def messages(self) -> Messages:
        """Return the messages along all arcs; their weights are not cached."""
        return SpreadMessages(self.indptr, self.indices)


class SpreadMessages(Messages):
    """Messages on a graph with loops, weighted by 1 over the root of both degrees, as in a GCN."""

    @cached_property
    def adjacency(self) -> torch.Tensor:
        """The weighted adjacency, which is symmetric."""
        root = self.degrees.clamp(min=1.0).rsqrt()
        weights = root[self.targets] * root[self.indices]
        return csr(self.indptr, self.indices, weights, self.num_nodes)


@dataclass
class _Kept:
    """The cache of one graph."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int64]
    seen: set[bytes] = field(default_factory=set)
    blocks: dict[bytes, SubgraphBlock] = field(default_factory=dict)
    used: int = 0
    edges: tuple[NDArray[np.int64], Subgraphs] | None = None


class SubgraphSource:
    """Extracts the subgraphs of pairs, with a cache per :class:`Messages` of blocks by their pairs."""

    def __init__(self, hops: int, most: int, share: float, key: int, memory: int) -> None:
        """Set the radius, the largest number and share of nodes per distance, and the bytes of cache."""
        self.options: tuple[Any, ...] = (hops, most, share, key)
        self.memory = memory
        self._kept: WeakKeyDictionary[Messages, _Kept] = WeakKeyDictionary()

    def extract(self, messages: Messages, pairs: Pairs) -> Subgraphs:
        """Return the subgraphs of pairs, int64 (m, 2)."""
        kept = self._of(messages)
        if len(pairs) and not (pairs.min() >= 0 and pairs.max() < messages.num_nodes):
            # Compiled code would read beyond the arrays.
            wrong = pairs[(pairs < 0) | (pairs >= messages.num_nodes)][0]
            raise InputError(f"pairs: there is no node {wrong} in a graph of {messages.num_nodes} nodes")
        return enclosing_subgraphs(kept.indptr, kept.indices, pairs, *self.options)

    def block(self, messages: Messages, pairs: torch.Tensor, rows: int) -> SubgraphBlock:
        """Return the subgraphs of a block, padded to a multiple of ``rows``; cached at its second use."""
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
        """Return the subgraphs of a training batch in some order, and the position of each pair, int64 (m,).

        The subgraphs of edges, which recur in every epoch, are extracted once.
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
        """Return the keys of the edges with cached subgraphs, ascending, and these: all or none."""
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
            # On the CPU these share the tensors' memory; from a GPU they are copied once.
            indptr, indices = messages.indptr.cpu().numpy(), messages.indices.cpu().numpy()
            indptr.flags.writeable = indices.flags.writeable = False
            kept = self._kept[messages] = _Kept(indptr, indices)
        return kept
