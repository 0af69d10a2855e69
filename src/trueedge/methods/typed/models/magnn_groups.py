"""MAGNN on groups of links, as in the published code: a link's score depends on the links beside it."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812

from trueedge.methods.typed.models.magnn import Instances, MagnnLayer, MagnnModel, turned
from trueedge.training.typed.decoders import Decoder
from trueedge.training.typed.inputs import TypedInputs
from trueedge.training.typed.train import LinkModel

LINKS_AT_A_TIME = 2048


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
        size: the links of a group.
    """

    def __init__(
        self, encoder: MagnnModel, decoder: Decoder, inputs: TypedInputs, ends: tuple[int, int], size: int = 8
    ) -> None:
        super().__init__(encoder, decoder)
        self.inputs, self.ends, self.size = inputs, ends, size

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
        parts = []
        for value in (1.0, 0.0):
            some = links[wanted == value]
            if not self.training:
                logits = self.decode(vectors, some)
            else:
                logits = self._score(vectors, some, exclude=value == 1.0)
            parts.append(F.binary_cross_entropy_with_logits(logits, torch.full_like(logits, value)))
        return torch.stack(parts).sum()

    def _score(
        self,
        states: torch.Tensor,
        links: torch.Tensor,
        exclude: bool = False,
        generator: torch.Generator | None = None,
    ) -> torch.Tensor:
        source, target = (self._side(states, links, side, exclude, generator) for side in (0, 1))
        return (source * target).sum(1)

    def _side(
        self,
        states: torch.Tensor,
        links: torch.Tensor,
        side: int,
        exclude: bool,
        generator: torch.Generator | None,
    ) -> torch.Tensor:
        """Return the vectors of the sources (side 0) or targets (side 1), float (n, out)."""
        layer: MagnnLayer = self.encoder.layers[-1]
        kind, inputs = self.ends[side], self.inputs
        rows = links[:, 2 * side] - inputs.starts[kind]
        own = states[links[:, 2 * side]]
        found = []
        for instances, attention in zip(layer.instances[kind], layer.by_path[str(kind)], strict=True):
            table = torch.cat(
                [
                    turned(states[inputs.rows(at)], turn)
                    for at, turn in zip(instances.path.types, layer.turns(instances.path), strict=True)
                ]
            )
            there = chosen_instances(instances.there[rows], self.size, generator)
            places = instances.places[rows]
            if exclude and instances.path.types[1] == self.ends[1 - side]:
                there &= ~self._known(places, instances, links, side)
            # A node without instances stands for one itself.
            alone = ~instances.there[rows].any(1)
            places = torch.where(alone[:, None, None], rows[:, None, None], places)
            there[:, 0] |= alone
            found.append(F.elu(attention(own, table, Instances(instances.path, places, there))))
        mixed = self._mixed(torch.stack(found), layer.over_paths[str(kind)])
        vectors: torch.Tensor = layer.output[str(kind)](mixed)
        return vectors

    def _mixed(self, found: torch.Tensor, over_paths: torch.nn.Module) -> torch.Tensor:
        """Return the mixture of meta-paths with the weights of each group, float (n, heads * dim)."""
        scores = over_paths.score(found).squeeze(2)
        group = torch.arange(found.shape[1], device=found.device) // self.size
        count = torch.bincount(group)
        means = scores.new_zeros(len(found), len(count)).index_add(1, group, scores) / count
        return (means.softmax(0)[:, group].unsqueeze(2) * found).sum(0)

    def _known(
        self, places: torch.Tensor, instances: Instances, links: torch.Tensor, side: int
    ) -> torch.Tensor:
        """Return which instances begin or end with a link of their group, bool (n, width)."""
        counts = [self.inputs.count(kind) for kind in instances.path.types]
        local = places - torch.tensor([sum(counts[:at]) for at in range(len(counts))], device=places.device)
        width = self.inputs.count(self.ends[1])
        pairs = ((0, 1), (-1, -2))
        first, last = (_keys(local[..., one], local[..., other], side, width) for one, other in pairs)
        ends = [links[:, 2 * one] - self.inputs.starts[self.ends[one]] for one in (0, 1)]
        keys = ends[0] * width + ends[1]
        short = -len(keys) % self.size
        groups = F.pad(keys, (0, short), value=-1).view(-1, self.size)
        beside = groups.repeat_interleave(self.size, dim=0)[: len(keys)].unsqueeze(1)
        return ((first.unsqueeze(2) == beside) | (last.unsqueeze(2) == beside)).any(2)


def chosen_instances(
    there: torch.Tensor, size: int, generator: torch.Generator | None = None
) -> torch.Tensor:
    """Return which instances of each row are drawn, bool (n, width): as many as the fewest before it.

    Args:
        there: bool (n, width), which places hold an instance.
        size: rows of a group; rows without instances do not count.
        generator: draws them; None: torch's own.
    """
    count, width = there.shape
    have = there.sum(1)
    have = F.pad(torch.where(have > 0, have, width), (0, -count % size), value=width)
    most = have.view(-1, size).cummin(1).values.flatten()[:count]
    drawn = torch.rand(there.shape, device=there.device, generator=generator)
    rank = drawn.masked_fill(~there, 2.0).argsort(1).argsort(1)
    return there & (rank < most.unsqueeze(1))


def _keys(own: torch.Tensor, other: torch.Tensor, side: int, width: int) -> torch.Tensor:
    return own * width + other if side == 0 else other * width + own
