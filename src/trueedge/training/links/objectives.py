"""Training objectives: classify edges and negatives, or reconstruct the adjacency matrix."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, reduce

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.negatives.between import Sides
from trueedge.randomness import generator
from trueedge.training.links.barred_edges import BarredEdges
from trueedge.training.links.hard_negatives import HardPartners
from trueedge.training.links.messages import LayeredMessages, Messages
from trueedge.training.links.model import LinkModel
from trueedge.training.links.schedule import Schedule
from trueedge.training.loop import Objective

# Rounds of redrawing negatives that are edges; more are needed only if nearly all pairs are edges.
MOST_ROUNDS = 1000


class PairObjective(Objective):
    """Binary cross entropy: the mean over edges plus the mean over negatives.

    Args:
        graph: the training graph.
        messages: its adjacency on the device.
        schedule: the size of batches, and how negatives are drawn.
        seed: for negatives that are found before the training.
    """

    def __init__(self, graph: Graph, messages: Messages, schedule: Schedule, seed: int = 0) -> None:
        self.graph = graph
        self.messages = messages
        self.schedule = schedule
        self.seed = seed
        self.device = messages.indices.device
        self.sides = Sides.check(graph.sides, graph, "training")

    def steps(self, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        """Yield batches of the edges in a random order."""
        order = rng.permutation(self.graph.num_edges)
        for start in range(0, len(order), self.schedule.batch_size):
            yield order[start : start + self.schedule.batch_size]

    def backward(self, model: LinkModel, step: NDArray[np.int64], rng: np.random.Generator) -> torch.Tensor:
        """Score a batch on the graph without its edges, and compute gradients."""
        negatives = self.negatives_of(step, rng)
        pairs = self._pairs(step, negatives)
        messages = self.messages
        if self.schedule.hide_positives:
            messages = messages.without(sent(step, self.device))
        if self.schedule.neighbors:
            far = self.schedule.far_neighbors
            sampled = messages.sample_neighbors(self.schedule.neighbors)
            # The first layers reach the nodes that are further away.
            messages = LayeredMessages.of_layers(sampled, messages.sample_neighbors(far)) if far else sampled
        parts = model.learned(model.encode(messages), pairs, messages)
        loss = reduce(torch.add, (cross_entropy(logits, len(step)) for logits in parts))
        loss.backward()
        # Not read here, so that the GPU need not finish the step first.
        return loss.detach()

    def _pairs(self, step: NDArray[np.int64], negatives: NDArray[np.int64]) -> torch.Tensor:
        """Return the edges of a batch, then negatives, on the device, int64 (m, 2)."""
        if self.device.type == "cpu":
            return torch.from_numpy(np.concatenate([self.graph.edges[step], negatives]).astype(np.int64))
        return torch.cat([self._edges.index_select(0, sent(step, self.device)), sent(negatives, self.device)])

    @cached_property
    def _edges(self) -> torch.Tensor:
        """All edges on the device, int64 (edges, 2)."""
        return torch.from_numpy(self.graph.edges.astype(np.int64)).to(self.device)

    def negatives_of(self, step: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Return the negatives of a batch, int64 (m, 2)."""
        if self.schedule.fixed_negatives:
            return self._fixed[step].reshape(-1, 2)
        return self._drawn(step, rng, hidden=step if self.schedule.hide_positives else None)

    @cached_property
    def _fixed(self) -> NDArray[np.int64]:
        """The negatives of all edges, int64 (edges, negatives of each, 2)."""
        every = np.arange(self.graph.num_edges)
        drawn = self._drawn(every, generator(self.seed, "fixed negatives"))
        return drawn.reshape(len(every), -1, 2)

    def _drawn(
        self, step: NDArray[np.int64], rng: np.random.Generator, hidden: NDArray[np.int64] | None = None
    ) -> NDArray[np.int64]:
        """Return negatives for some edges; ``hidden`` ones are not in the messages."""
        if self.schedule.negatives == "heart":
            positives = np.repeat(step, self.schedule.negatives_per_positive)
            return self.hard_partners.draw(self.graph.edges[positives], rng)
        pairs = self.draw(len(step) * self.schedule.negatives_per_positive, rng)
        if self.schedule.reject_edges:
            return self._without_edges(pairs, rng)
        return self._without_edges(pairs, rng, hidden) if self.schedule.negatives == "unlinked" else pairs

    @cached_property
    def _ends_by_side(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The ends of all edges on either side of a bipartite graph, int32 (m,) each."""
        assert self.sides is not None
        ends, side = self.graph.edges, self.sides.of[self.graph.edges]
        return ends[side == 0], ends[side == 1]

    @cached_property
    def hard_partners(self) -> HardPartners:
        """The hard partners of all nodes, found at first use."""
        return HardPartners.of(self.graph, self.seed)

    def _without_edges(
        self, pairs: NDArray[np.int64], rng: np.random.Generator, allowed: NDArray[np.int64] | None = None
    ) -> NDArray[np.int64]:
        """Redraw both ends of pairs that are self-loops, or edges whose numbers are not ``allowed``."""
        barred = self._barred_edges
        barred.allow(allowed)
        bad = np.arange(len(pairs))
        for _ in range(MOST_ROUNDS):
            drawn = pairs[bad]
            bad = bad[(drawn[:, 0] == drawn[:, 1]) | barred.has(drawn)]
            if not len(bad):
                return pairs
            pairs[bad] = self.draw(len(bad), rng)
        raise InputError(f"{self.graph.name} has too few pairs without an edge to sample negatives from")

    @cached_property
    def _barred_edges(self) -> BarredEdges:
        """The edges that no negative may be."""
        return BarredEdges(self.graph)

    def draw(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return pairs with independently drawn ends, int64 (count, 2); in a bipartite graph across."""
        uniform = self.schedule.negatives in ("uniform", "unlinked")
        if self.sides is not None:
            nodes = self.sides.nodes if uniform else self._ends_by_side
            drawn = [side[rng.integers(0, len(side), size=count)] for side in nodes]
            return np.column_stack(drawn).astype(np.int64)
        if uniform:
            return rng.integers(0, self.graph.num_nodes, size=(count, 2))
        ends = self.graph.edges.reshape(-1)
        return ends[rng.integers(0, len(ends), size=(count, 2))].astype(np.int64)


def sent(array: NDArray[np.int64], device: torch.device) -> torch.Tensor:
    """Return an array as a tensor on a device, without waiting for the work that a GPU still has to do."""
    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)


def cross_entropy(logits: torch.Tensor, positives: int) -> torch.Tensor:
    """Return the mean cross entropy of the first logits, of edges, plus that of the others, of negatives."""
    return F.softplus(-logits[:positives]).mean() + F.softplus(logits[positives:]).mean()


class ReconstructionObjective(Objective):
    """Binary cross entropy of every pair of nodes under the dot product, a block of rows at a time.

    The whole matrix is never stored: each block adds its gradient to the states, and the encoder is
    backpropagated through once.

    Args:
        graph: the training graph.
        messages: its adjacency on the device.
        weighted: whether edges count as much as all other pairs together.
    """

    # Logits per block.
    BLOCK = 1 << 24

    def __init__(self, graph: Graph, messages: Messages, weighted: bool = False) -> None:
        self.messages = messages
        pairs, edges = graph.num_nodes**2, 2 * graph.num_edges
        # The usual weights: edges count as much as all other pairs together.
        self.weight = (pairs - edges) / max(1, edges) if weighted else 1.0
        self.scale = pairs / (2.0 * (pairs - edges)) if weighted else 1.0

    def steps(self, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        """Yield a single step."""
        del rng
        yield np.empty(0, dtype=np.int64)

    def backward(self, model: LinkModel, step: NDArray[np.int64], rng: np.random.Generator) -> torch.Tensor:
        """Compute the reconstruction loss and its gradients."""
        del step, rng
        states = model.encode(self.messages)
        leaf = states.detach().requires_grad_()
        nodes, total = len(leaf), torch.zeros((), device=leaf.device)
        rows = max(1, self.BLOCK // nodes)
        for first in range(0, nodes, rows):
            last = min(first + rows, nodes)
            logits = leaf[first:last] @ leaf.t()
            loss = self._loss(logits, first, last) * (self.scale / nodes**2)
            loss.backward()
            total += loss.detach()
        assert leaf.grad is not None
        states.backward(leaf.grad)
        return total

    def _loss(self, logits: torch.Tensor, first: int, last: int) -> torch.Tensor:
        """Return the summed cross entropy of some rows of the matrix.

        It is softplus(x) - x y; where edges weigh w, each adds (w - 1) softplus(-x) too.
        """
        loss = F.softplus(logits).sum()
        if self.messages.is_dense:
            edges = self.messages.table[first:last, : logits.shape[1]]
            loss = loss - (logits * edges).sum()
            if self.weight != 1.0:
                loss = loss + (self.weight - 1.0) * (F.softplus(-logits) * edges).sum()
            return loss
        indptr, indices = self.messages.indptr, self.messages.indices
        arcs = slice(int(indptr[first]), int(indptr[last]))
        at_edges = logits[self.messages.targets[arcs] - first, indices[arcs]]
        loss = loss - at_edges.sum()
        if self.weight != 1.0:
            loss = loss + (self.weight - 1.0) * F.softplus(-at_edges).sum()
        return loss
