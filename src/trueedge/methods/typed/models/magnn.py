"""MAGNN's encoder: the nodes along instances of meta-paths, then attention over instances and meta-paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from trueedge.graph.metapaths import MetaPath, step_matrix
from trueedge.kernels.walks.typed_walks import path_instances
from trueedge.methods.typed.models.han import PathAttention
from trueedge.training.typed.features import GAIN, FeatureInput
from trueedge.training.typed.inputs import TypedInputs


@dataclass(frozen=True, eq=False)
class Instances:
    """Paths along a meta-path, for every node of its first type.

    Attributes:
        path: the meta-path.
        places: int64 (nodes, width, steps + 1), the nodes of each path, counted within the tables of the
            path's types that are laid one behind the other.
        there: bool (nodes, width), which places hold a path.
    """

    path: MetaPath
    places: torch.Tensor
    there: torch.Tensor

    @classmethod
    def of(cls, inputs: TypedInputs, path: MetaPath, most: int, key: int) -> Instances:
        """Return the instances of a meta-path, at most ``most`` of each node."""
        steps = [step_matrix(inputs.graph, path, step) for step in range(path.length)]
        starts = [one.indptr.astype(np.int64) for one in steps]
        counts = np.array([inputs.count(kind) for kind in path.types])
        found, number = path_instances(starts, [one.indices for one in steps], counts, most, key)
        offsets = np.concatenate([[0], np.cumsum(counts[:-1])])
        places = torch.from_numpy(np.maximum(found, 0) + offsets).to(inputs.device)
        there = torch.from_numpy(np.arange(found.shape[1]) < number[:, None]).to(inputs.device)
        return cls(path, places, there)


class MagnnModel(nn.Module):
    """Logits of the nodes of one type, or vectors of all nodes.

    Args:
        inputs: the typed graph.
        instances: those of each node type that has meta-paths.
        features: which types keep their features.
        dim: the size of the states, an even number.
        heads: attention heads.
        layers: layers; the last one gives the logits or vectors.
        attention_dim: the size of the hidden layer that weighs meta-paths.
        dropout: of the input and of attention weights.
        out: the size of what the last layer gives.
        center: whether attention over instances also reads the node itself.
    """

    def __init__(
        self,
        inputs: TypedInputs,
        instances: Mapping[int, Sequence[Instances]],
        features: str,
        dim: int,
        heads: int,
        layers: int,
        attention_dim: int,
        dropout: float,
        out: int,
        center: bool = True,
    ) -> None:
        super().__init__()
        self.dropout, self.out_dim = dropout, out
        self.rows = None if inputs.target is None else inputs.rows(inputs.target)
        self.input = FeatureInput(inputs, features, dim)
        every = dict(instances)
        # The last layer computes nothing that is not asked for.
        last = every if inputs.target is None else {inputs.target: every[inputs.target]}
        self.layers = nn.ModuleList(
            MagnnLayer(
                every if number < layers - 1 else last, dim, heads, attention_dim, dropout, size, center
            )
            for number, size in enumerate([dim] * (layers - 1) + [out])
        )

    def forward(self, inputs: TypedInputs) -> torch.Tensor:
        """Return logits of the target type's nodes, or vectors of all nodes."""
        states = F.dropout(self.input(inputs), self.dropout, self.training)
        for layer in self.layers[:-1]:
            states = F.elu(layer(states, inputs))
        found: torch.Tensor = self.layers[-1](states, inputs)
        return found if self.rows is None else found[self.rows]


class MagnnLayer(nn.Module):
    """New states of the types that have meta-paths; those of other types pass a linear layer."""

    def __init__(
        self,
        instances: Mapping[int, Sequence[Instances]],
        dim: int,
        heads: int,
        attention_dim: int,
        dropout: float,
        out: int,
        center: bool = True,
    ) -> None:
        super().__init__()
        self.instances, self.out = instances, out
        every = [path.path for paths in instances.values() for path in paths]
        self.turns = Rotations(every, dim)
        self.by_path = nn.ModuleDict(
            {
                str(kind): nn.ModuleList(InstanceAttention(dim, heads, dropout, center) for _ in paths)
                for kind, paths in instances.items()
            }
        )
        self.over_paths = nn.ModuleDict(
            {str(kind): PathAttention(dim * heads, attention_dim) for kind in instances}
        )
        self.output = nn.ModuleDict({str(kind): nn.Linear(dim * heads, out) for kind in instances})
        self.others = nn.Linear(dim, out)

    def forward(self, states: torch.Tensor, inputs: TypedInputs) -> torch.Tensor:
        """Return the new states of all nodes, float (n, out)."""
        found = []
        for kind in range(inputs.num_types):
            own = states[inputs.rows(kind)]
            if kind not in self.instances:
                found.append(self.others(own))
                continue
            name = str(kind)
            sides = []
            for one, attention in zip(self.instances[kind], self.by_path[name], strict=True):
                table = torch.cat(
                    [
                        turned(states[inputs.rows(at)], turn)
                        for at, turn in zip(one.path.types, self.turns(one.path), strict=True)
                    ]
                )
                sides.append(F.elu(attention(own, table, one)))
            found.append(self.output[name](self.over_paths[name](sides)))
        return torch.cat(found)


class InstanceAttention(nn.Module):
    """Attention of a node over the encoded instances of one meta-path: Equations 5 and 6 of MAGNN.

    Args:
        dim, heads: the size of the states, and the number of heads.
        dropout: of the weights.
        center: whether the node itself adds to the logits of its instances.
    """

    def __init__(self, dim: int, heads: int, dropout: float, center: bool = True) -> None:
        super().__init__()
        self.dropout = dropout
        self.of_node = nn.Parameter(torch.empty(dim, heads)) if center else None
        self.of_instance = nn.Parameter(torch.empty(dim, heads))
        for weight in (self.of_node, self.of_instance):
            if weight is not None:
                nn.init.xavier_normal_(weight, gain=GAIN)

    def forward(self, own: torch.Tensor, table: torch.Tensor, instances: Instances) -> torch.Tensor:
        """Return the mixture of instances, float (n, heads * dim); zeros for a node without any.

        An instance is the mean of its nodes' rows of the table, in which they are rotated already.
        """
        count, width, length = instances.places.shape
        encoded = F.embedding_bag(instances.places.view(-1, length), table, mode="mean").view(
            count, width, -1
        )
        return self.mixed(own, encoded, instances.there)

    def mixed(self, own: torch.Tensor, encoded: torch.Tensor, there: torch.Tensor) -> torch.Tensor:
        """Return the mixture of encoded instances, float (n, heads * dim).

        Args:
            own: float (n, dim), the states of the nodes.
            encoded: float (n, width, dim).
            there: bool (n, width), which places hold an instance.
        """
        logits = encoded @ self.of_instance
        if self.of_node is not None:
            logits = (own @ self.of_node).unsqueeze(1) + logits
        logits = F.leaky_relu(logits, 0.01).masked_fill(~there.unsqueeze(-1), -1e9)
        weights = logits.softmax(1) * there.unsqueeze(-1)
        weights = F.dropout(weights, self.dropout, self.training)
        return (weights.transpose(1, 2) @ encoded).flatten(1)


class Rotations(nn.Module):
    """A rotation of the states for each kind of step; walking it backwards rotates back."""

    def __init__(self, paths: Sequence[MetaPath], dim: int) -> None:
        super().__init__()
        kinds = {step_kind(path, step)[0] for path in paths for step in range(path.length)}
        self.number = {kind: number for number, kind in enumerate(sorted(kinds))}
        self.turns = nn.Parameter(torch.empty(len(kinds), dim // 2, 2))
        nn.init.xavier_normal_(self.turns, gain=GAIN)

    def forward(self, path: MetaPath) -> list[torch.Tensor]:
        """Return the rotation of each node of a path, complex (dim / 2,): that of all steps before it.

        Sun, Deng, Nie and Tang, RotatE, 2019; Equation 4 of MAGNN.
        """
        units = torch.view_as_complex(F.normalize(self.turns, dim=-1))
        found = [torch.ones_like(units[0])]
        for step in range(path.length):
            kind, backwards = step_kind(path, step)
            turn = units[self.number[kind]]
            found.append(found[-1] * (turn.conj() if backwards else turn))
        return found


def step_kind(path: MetaPath, step: int) -> tuple[tuple[int, int, int], bool]:
    """Return the two types and the relation of a step, and whether it is walked backwards."""
    first, last, relation = path.types[step], path.types[step + 1], path.relations[step]
    named = -1 if relation is None else relation
    return (min(first, last), max(first, last), named), first > last


def turned(states: torch.Tensor, turn: torch.Tensor) -> torch.Tensor:
    """Return states whose pairs of numbers are rotated, float (n, dim)."""
    pairs = torch.view_as_complex(states.reshape(len(states), -1, 2).contiguous())
    return torch.view_as_real(pairs * turn).flatten(1)
