"""What models of typed graphs are trained for: the classes of nodes, or links against random ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from trueedge.graph.typed import HeteroGraph
from trueedge.training.loop import Objective
from trueedge.training.typed.inputs import TypedInputs


def class_loss(logits: torch.Tensor, classes: torch.Tensor) -> torch.Tensor:
    """Return the cross-entropy of classes, int64 (n,), or of several classes a node, float (n, classes)."""
    if classes.ndim == 1:
        return F.cross_entropy(logits, classes)
    return F.binary_cross_entropy_with_logits(logits, classes)


class NodeObjective(Objective):
    """The cross-entropy of the training nodes, all in one step.

    Args:
        inputs: the graph.
        rows: int64 (n,), the training nodes, counted from the first node of their type.
        classes: int64 (n,), or float (n, classes).
    """

    def __init__(self, inputs: TypedInputs, rows: torch.Tensor, classes: torch.Tensor) -> None:
        self.inputs, self.rows, self.classes = inputs, rows, classes

    def steps(self, rng: np.random.Generator) -> Iterator[tuple[torch.Tensor, ...]]:
        """Yield the one step of an epoch."""
        del rng
        yield (self.rows, self.classes)

    def backward(
        self, model: nn.Module, step: tuple[torch.Tensor, ...], rng: np.random.Generator
    ) -> torch.Tensor:
        """Compute the loss and its gradients; return the loss, float ()."""
        del rng
        rows, classes = step
        loss = class_loss(model(self.inputs)[rows], classes)
        # What a model adds to the loss, from its last pass.
        penalty = getattr(model, "penalty", None)
        if penalty is not None:
            loss = loss + penalty
        loss.backward()
        return loss.detach()


class LinkObjective(Objective):
    """Links of the training graph against links with the same source and a random target.

    Args:
        inputs: the training graph.
        relations: the relations whose links are predicted.
        batch_size: links of a step; there are as many negatives.
        steps: the largest number of steps in an epoch, with links drawn at random; 0: one for each batch.
        fixed: draw the order of links and their negatives once. Steps then go through the links in this order
            again and again, from one epoch to the next, and ``steps`` is their exact number.
    """

    def __init__(
        self,
        inputs: TypedInputs,
        relations: tuple[int, ...],
        batch_size: int,
        steps: int = 0,
        fixed: bool = False,
    ) -> None:
        self.fixed, self.place = fixed, 0
        self.drawn: torch.Tensor | None = None
        self.inputs, self.batch_size, self.epoch_steps = inputs, batch_size, steps
        self.links = torch.from_numpy(relation_links(inputs.graph, relations)).to(inputs.device)
        starts = torch.tensor(inputs.starts, device=inputs.device)
        kinds = torch.tensor([one.target for one in inputs.graph.relations], device=inputs.device)
        self.first, self.count = starts[kinds], starts.diff()[kinds]

    def steps(self, rng: np.random.Generator) -> Iterator[torch.Tensor]:
        """Yield batches of links, int64 (b, 3), in random order.

        With fixed negatives, yield batches of links and their negatives, int64 (2, b, 3).
        """
        if self.fixed:
            yield from self._fixed_steps(rng)
            return
        order = torch.from_numpy(rng.permutation(len(self.links)))
        if self.epoch_steps:
            order = order[: self.epoch_steps * self.batch_size]
        yield from self.links[order.to(self.inputs.device)].split(self.batch_size)

    def backward(self, model: Any, step: torch.Tensor, rng: np.random.Generator) -> torch.Tensor:
        """Compute the loss of a batch and its gradients; return the loss, float ()."""
        del rng
        near, far = step if self.fixed else (step, self.negatives(step))
        links = torch.cat([near, far])
        wanted = torch.cat([torch.ones(len(near)), torch.zeros(len(far))]).to(links.device)
        loss: torch.Tensor = model.loss(model(self.inputs), links, wanted)
        loss.backward()
        return loss.detach()

    def saved(self) -> dict[str, Any]:
        """Return the links in their order with fixed negatives, and the next batch."""
        return {"drawn": self.drawn, "place": self.place}

    def load(self, saved: Mapping[str, Any]) -> None:
        """Load the links in their order with fixed negatives, and the next batch."""
        drawn = saved.get("drawn")
        self.drawn = None if drawn is None else drawn.to(self.inputs.device)
        self.place = saved.get("place", 0)

    def _fixed_steps(self, rng: np.random.Generator) -> Iterator[torch.Tensor]:
        if self.drawn is None:
            order = torch.from_numpy(rng.permutation(len(self.links))).to(self.inputs.device)
            self.drawn = torch.stack([self.links[order], self.negatives(self.links[order])])
        batches = self.drawn.split(self.batch_size, dim=1)
        for _ in range(self.epoch_steps or len(batches)):
            yield batches[self.place]
            self.place = (self.place + 1) % len(batches)

    def negatives(self, links: torch.Tensor) -> torch.Tensor:
        """Return links with other targets of the same type, drawn at random, int64 (b, 3)."""
        relation = links[:, 1]
        drawn = torch.rand(len(links), device=links.device) * self.count[relation]
        # Rounding up in float32 could give the number of nodes itself.
        place = torch.minimum(drawn.long(), self.count[relation] - 1)
        return torch.stack([links[:, 0], relation, self.first[relation] + place], dim=1)


def relation_links(graph: HeteroGraph, relations: tuple[int, ...]) -> np.ndarray:
    """Return the edges of some relations as rows (source, relation, target), int64 (m, 3)."""
    found = [
        np.column_stack([pairs[:, 0], np.full(len(pairs), relation), pairs[:, 1]])
        for relation in relations
        for pairs in (graph.edges[relation],)
    ]
    return np.concatenate(found).astype(np.int64)
