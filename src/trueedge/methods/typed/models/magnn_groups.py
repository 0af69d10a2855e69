"""MAGNN on groups of links, as in the published code: a link's score depends on the links beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812

from trueedge.methods.typed.models.magnn import InstanceAttention, Instances, MagnnLayer, MagnnModel
from trueedge.training.typed.decoders import Decoder
from trueedge.training.typed.inputs import TypedInputs
from trueedge.training.typed.objectives import LinkObjective
from trueedge.training.typed.train import LinkModel

if TYPE_CHECKING:
    from trueedge.training.typed.train import TypedSchedule

LINKS_AT_A_TIME = 1024


@dataclass(frozen=True)
class GroupShape:
    """How links are grouped.

    Attributes:
        size: the links of a group.
        most: the largest number of instances of a meta-path that a node has in a step; others may be drawn in
            the next one.
        any_source: in training, negatives have a random source, too, instead of that of a link.
        captured: replay the steps on a GPU as a CUDA graph.
    """

    size: int = 8
    most: int = 100
    any_source: bool = False
    captured: bool = False


class GroupedLinks(LinkModel):
    """Scores links in groups of consecutive ones, by the dot product of vectors that belong to a group.

    In a group, meta-paths are weighed by a mean over its nodes. A node has no more instances of a meta-path
    than any node before it in the group, since the published code keeps the smallest number. In training, the
    instances that begin or end with a link of a positive group are left out. Groups are all positive or all
    negative in training and in the validation loss, so that the model can learn to tell them apart.

    Args:
        encoder: a model of one layer.
        decoder: its kind is ``dot``.
        inputs: the graph.
        ends: the types of sources and targets.
        shape: how links are grouped.
    """

    def __init__(
        self,
        encoder: MagnnModel,
        decoder: Decoder,
        inputs: TypedInputs,
        ends: tuple[int, int],
        shape: GroupShape | None = None,
    ) -> None:
        super().__init__(encoder, decoder)
        self.inputs, self.ends, self.shape = inputs, ends, shape or GroupShape()
        self.size = self.shape.size
        layer: MagnnLayer = encoder.layers[-1]
        self.nodes = {kind: [nodes_of(one, inputs) for one in layer.instances[kind]] for kind in set(ends)}

    def objective(
        self, inputs: TypedInputs, relations: tuple[int, ...], schedule: TypedSchedule
    ) -> LinkObjective:
        """Return what the model is trained for."""
        source = self.ends[0] if self.shape.any_source else None
        found = GroupObjective(inputs, relations, schedule.batch_size, schedule.epoch_steps, source)
        found.capturable = self.shape.captured  # type: ignore[misc]
        return found

    def forward(self, inputs: TypedInputs) -> torch.Tensor:
        """Return what the encoder's layer receives, float (n, dim)."""
        encoder: MagnnModel = self.encoder
        return F.dropout(encoder.input(inputs), encoder.dropout, self.training)

    def decode(self, vectors: torch.Tensor, links: torch.Tensor) -> torch.Tensor:
        """Return the logits of links, float (n,); consecutive ones are a group."""
        most = LINKS_AT_A_TIME // self.size * self.size
        generator = torch.Generator(vectors.device).manual_seed(0)
        found = [self._score(vectors, part, generator=generator) for part in links.split(most)]
        return torch.cat(found) if found else vectors.new_empty(0)

    def loss(self, vectors: torch.Tensor, links: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        """Return the loss of links that are there (1) or not (0), each kind in groups of its own."""
        return self.parted_loss(vectors, links[wanted == 1.0], links[wanted == 0.0])

    def parted_loss(self, vectors: torch.Tensor, near: torch.Tensor, far: torch.Tensor) -> torch.Tensor:
        """Return the loss of links that are there and of others, float ()."""
        if self.training and len(near) == len(far) and len(near) % self.size == 0:
            # Both at once takes half the time: no group has links of both.
            logits = self._score(vectors, torch.cat([near, far]), exclude=len(near))
            first, second = logits.chunk(2)
        elif self.training:
            first, second = self._score(vectors, near, exclude=len(near)), self._score(vectors, far)
        else:
            first, second = self.decode(vectors, near), self.decode(vectors, far)
        parts = [(first, torch.ones_like(first)), (second, torch.zeros_like(second))]
        return torch.stack([F.binary_cross_entropy_with_logits(*part) for part in parts]).sum()

    def _score(
        self,
        states: torch.Tensor,
        links: torch.Tensor,
        exclude: int = 0,
        generator: torch.Generator | None = None,
    ) -> torch.Tensor:
        """Return the logits of links; no instance contains one of the first ``exclude`` links."""
        source, target = (self._side(states, links, side, exclude, generator) for side in (0, 1))
        return (source * target).sum(1)

    def _side(
        self,
        states: torch.Tensor,
        links: torch.Tensor,
        side: int,
        exclude: int,
        generator: torch.Generator | None,
    ) -> torch.Tensor:
        """Return the vectors of the sources (side 0) or targets (side 1), float (n, out)."""
        layer: MagnnLayer = self.encoder.layers[-1]
        kind = self.ends[side]
        own = links[:, 2 * side]
        rows = own - self.inputs.starts[kind]
        found = []
        attentions: Any = layer.by_path[str(kind)]
        for number, attention in enumerate(attentions):
            instances = layer.instances[kind][number]
            nodes, kept = self.nodes[kind][number][rows], instances.there[rows]
            there = chosen_instances(kept, self.size, generator, self.shape.most)
            if there.shape[1] > self.shape.most:
                order = there.int().argsort(1, descending=True)[:, : self.shape.most]
                there = there.gather(1, order)
                nodes = nodes.gather(1, order.unsqueeze(2).expand(-1, -1, nodes.shape[2]))
            if exclude and instances.path.types[1] == self.ends[1 - side]:
                known = self._known(nodes[:exclude], links[:exclude], side)
                there = there & ~F.pad(known, (0, 0, 0, len(links) - exclude))
            # A node without instances stands for one itself.
            alone = ~kept.any(1)
            nodes = torch.where(alone[:, None, None], own[:, None, None], nodes)
            first = torch.arange(there.shape[1], device=there.device) == 0
            there = there | (alone[:, None] & first)
            encoded = encoded_instances(states, nodes, layer.turns(instances.path))
            assert isinstance(attention, InstanceAttention)
            found.append(F.elu(attention.mixed(states.index_select(0, own), encoded, there)))
        mixed = self._mixed(torch.stack(found), layer.over_paths[str(kind)])
        vectors: torch.Tensor = layer.output[str(kind)](mixed)
        return vectors

    def _mixed(self, found: torch.Tensor, over_paths: torch.nn.Module) -> torch.Tensor:
        """Return the mixture of meta-paths with the weights of each group, float (n, heads * dim)."""
        scores = over_paths.score(found).squeeze(2)
        count = scores.shape[1]
        short = -count % self.size
        sums = F.pad(scores, (0, short)).view(len(scores), -1, self.size).sum(2)
        sizes = torch.full_like(sums[0], self.size)
        sizes[-1:] -= short
        weights = _repeated((sums / sizes).softmax(0).t(), self.size)[:count].t()
        return (weights.unsqueeze(2) * found).sum(0)

    def _known(self, nodes: torch.Tensor, links: torch.Tensor, side: int) -> torch.Tensor:
        """Return which instances begin or end with a link of their group, bool (n, width).

        Args:
            nodes: int64 (n, width, steps + 1), those of each instance.
            links: int64 (n, 3); instances begin with their sources (side 0) or targets (side 1).
            side: 0 or 1.
        """
        width = self.inputs.num_nodes
        pairs = ((0, 1), (-1, -2)) if side == 0 else ((1, 0), (-2, -1))
        first, last = (nodes[..., one] * width + nodes[..., other] for one, other in pairs)
        keys = links[:, 0] * width + links[:, 2]
        groups = F.pad(keys, (0, -len(keys) % self.size), value=-1).view(-1, self.size)
        beside = _repeated(groups, self.size)[: len(keys)].unsqueeze(1)
        return ((first.unsqueeze(2) == beside) | (last.unsqueeze(2) == beside)).any(2)


class GroupObjective(LinkObjective):
    """Links against as many others, each kind in groups of its own.

    Args:
        inputs, relations, batch_size, steps: as for other models of links.
        source: the type of the random sources of negatives; None: they have the sources of links.
    """

    def __init__(
        self,
        inputs: TypedInputs,
        relations: tuple[int, ...],
        batch_size: int,
        steps: int = 0,
        source: int | None = None,
    ) -> None:
        super().__init__(inputs, relations, batch_size, steps)
        self.source = source

    def steps(self, rng: np.random.Generator) -> Iterator[Any]:
        """Yield batches of links and of their negatives, each int64 (b, 3)."""
        for near in super().steps(rng):
            yield near, self.negatives(near)

    def backward(self, model: Any, step: Any, rng: np.random.Generator) -> torch.Tensor:
        """Compute the loss of a batch and its gradients; return the loss, float ()."""
        del rng
        loss: torch.Tensor = model.parted_loss(model(self.inputs), *step)
        loss.backward()
        return loss.detach()

    def negatives(self, links: torch.Tensor) -> torch.Tensor:
        """Return links with other targets, and perhaps other sources, drawn at random, int64 (b, 3)."""
        far = super().negatives(links)
        if self.source is not None:
            first, last = self.inputs.starts[self.source : self.source + 2]
            far[:, 0] = torch.randint(first, last, (len(links),), device=links.device)
        return far


def nodes_of(instances: Instances, inputs: TypedInputs) -> torch.Tensor:
    """Return the nodes of instances with ids of the whole graph, int64 (nodes, width, steps + 1)."""
    types = instances.path.types
    before = np.cumsum([0, *(inputs.count(kind) for kind in types[:-1])])
    shift = [inputs.starts[kind] - int(first) for kind, first in zip(types, before, strict=True)]
    return instances.places + torch.tensor(shift, device=inputs.device)


def chosen_instances(
    there: torch.Tensor, size: int, generator: torch.Generator | None = None, most: int | None = None
) -> torch.Tensor:
    """Return which instances of each row are drawn, bool (n, width): as many as the fewest before it.

    Args:
        there: bool (n, width), which places hold an instance.
        size: rows of a group; rows without instances do not count.
        generator: draws them; None: torch's own.
        most: the largest number of a row; None: any.
    """
    count, width = there.shape
    limit = width if most is None else min(width, most)
    have = there.sum(1)
    have = have.clamp(max=limit).masked_fill(have == 0, limit)
    have = F.pad(have, (0, -count % size), value=limit)
    fewest = have.view(-1, size).cummin(1).values.flatten()[:count]
    drawn = torch.rand(there.shape, device=there.device, generator=generator)
    rank = drawn.masked_fill(~there, 2.0).argsort(1).argsort(1)
    return there & (rank < fewest.unsqueeze(1))


def encoded_instances(states: torch.Tensor, nodes: torch.Tensor, turns: list[torch.Tensor]) -> torch.Tensor:
    """Return the mean of the rotated states of each instance's nodes, float (n, width, dim)."""
    shape = (*nodes.shape, -1, 2)
    # Not by an index in brackets: its gradient is slower.
    pairs = torch.view_as_complex(states.index_select(0, nodes.flatten()).view(shape))
    return torch.view_as_real((pairs * torch.stack(turns)).mean(2)).flatten(2)


def _repeated(rows: torch.Tensor, times: int) -> torch.Tensor:
    """Return each row ``times`` times, without a number that a GPU would have to wait for."""
    return rows.unsqueeze(1).expand(-1, times, -1).reshape(-1, rows.shape[1])
