"""Heterogeneous graph transformer: attention with matrices by node type and by relation."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from trueedge.training.typed.features import FeatureInput
from trueedge.training.typed.inputs import TypedInputs
from trueedge.training.typed.relation_rows import RelationRows, by_type


@dataclass(frozen=True)
class LayerShape:
    """What the layers have in common.

    Attributes:
        dim: the size of the states, a multiple of ``heads``.
        heads: the number of attention heads.
        norm: whether a layer ends with a layer norm for each node type.
        gelu: whether GELU is applied to what a node receives.
        drops: what dropout applies to: what a node receives (``messages``), or its new ``states``.
        dropout: the rate.
        published: draw first weights as the published code does: those of relations within Glorot's bound for
            all relations and heads as one convolution, those of the input as PyTorch does for a linear layer.
    """

    dim: int
    heads: int
    norm: bool = True
    gelu: bool = True
    drops: str = "messages"
    dropout: float = 0.2
    published: bool = False


class HGTModel(nn.Module):
    """Features of each type, HGT layers, and for classes a linear layer.

    Args:
        inputs: the graph.
        features: which node types keep their features.
        out: the number of classes; vectors of nodes have the size of the states.
        layers: the number of attention layers.
        shape: what the layers have in common.
        reverses: whether messages also go backwards along relations without a reverse relation.
        softmax: over all edges that a node receives (``node``), or over those of each relation, whose means
            are then averaged (``relation``).
    """

    def __init__(
        self,
        inputs: TypedInputs,
        features: str,
        out: int,
        layers: int,
        shape: LayerShape,
        reverses: bool,
        softmax: str,
    ) -> None:
        super().__init__()
        dim = shape.dim
        self.out_dim = dim if inputs.target is None else out
        self.input = FeatureInput(inputs, features, dim)
        if shape.published:
            self.input.start_as_linear()
        self.rows = RelationRows(inputs, reverses=reverses)
        self.attention = Attention(self.rows, softmax)
        counts = inputs.num_types, self.rows.num_relations
        self.layers = nn.ModuleList(HGTLayer(*counts, shape) for _ in range(layers))
        self.output = nn.Identity() if inputs.target is None else nn.Linear(dim, out)

    def forward(self, inputs: TypedInputs) -> torch.Tensor:
        """Return the logits of the target type, or the vectors of all nodes."""
        states = torch.tanh(self.input(inputs))
        for layer in self.layers:
            states = layer(states, inputs, self.rows, self.attention)
        if inputs.target is not None:
            states = states[inputs.rows(inputs.target)]
        result: torch.Tensor = self.output(states)
        return result


class Attention(nn.Module):
    """The weights of edges: a softmax over all edges of a node, or over those of each relation."""

    shares: torch.Tensor | None

    def __init__(self, rows: RelationRows, softmax: str) -> None:
        super().__init__()
        each = softmax == "relation"
        self.edges = rows.by_relation() if each else rows.edges
        self.register_buffer("shares", rows.relation_shares() if each else None, persistent=False)

    def forward(self, logits: torch.Tensor) -> torch.Tensor:
        """Return the weights, float (edges, heads)."""
        weights = self.edges.softmax(logits)
        return weights if self.shares is None else weights * self.shares


class HGTLayer(nn.Module):
    """A layer of HGT.

    Keys, queries, messages and outputs have a matrix for each node type; each relation has a matrix for keys,
    one for messages and a prior for each head.
    """

    def __init__(self, types: int, relations: int, shape: LayerShape) -> None:
        super().__init__()
        dim, heads = shape.dim, shape.heads
        size = dim // heads
        self.gelu, self.drops_states = shape.gelu, shape.drops == "states"
        self.heads, self.size = heads, size
        # The last row of each matrix is its bias.
        self.keys, self.values = (_uniform(dim, types, dim + 1, heads, size) for _ in range(2))
        self.queries, self.outputs = (_uniform(dim, types, dim, dim) for _ in range(2))
        self.query_bias, self.output_bias = (_uniform(dim, types, dim) for _ in range(2))
        # A convolution of relations by heads with kernels of size by size has these inputs and outputs.
        fan = (heads + relations) * size**2 / 6 if shape.published else size / 3
        self.attention, self.message = (_uniform(fan, relations, heads, size, size) for _ in range(2))
        self.prior = nn.Parameter(torch.ones(relations, heads))
        self.skip = nn.Parameter(torch.ones(types))
        self.norms = nn.ModuleList(nn.LayerNorm(dim) for _ in range(types if shape.norm else 0))
        self.dropout = nn.Dropout(shape.dropout)

    def forward(
        self, states: torch.Tensor, inputs: TypedInputs, rows: RelationRows, attention: Attention
    ) -> torch.Tensor:
        """Return the new states, float (n, dim)."""
        shape = (-1, self.heads, self.size)
        queries = by_type(inputs, states, self.queries, self.query_bias).view(shape)
        scaled = self.attention * (self.prior / self.size**0.5).unsqueeze(-1).unsqueeze(-1)
        keys = _send(states, rows, self.keys, scaled).view(shape)
        values = _send(states, rows, self.values, self.message).view(shape)
        weights = attention(rows.edges.dot(queries, keys))
        received = rows.edges.sum(weights, values).flatten(1)
        if self.gelu:
            received = F.gelu(received)
        shares = torch.sigmoid(self.skip)
        found = []
        for kind in range(inputs.num_types):
            nodes = inputs.rows(kind)
            new = torch.addmm(self.output_bias[kind], received[nodes], self.outputs[kind])
            if not self.drops_states:
                new = self.dropout(new)
            new = torch.lerp(states[nodes], new, shares[kind])
            found.append(self.norms[kind](new) if self.norms else new)
        together = torch.cat(found)
        return self.dropout(together) if self.drops_states else together


def _send(
    states: torch.Tensor, rows: RelationRows, by_node: torch.Tensor, by_relation: torch.Tensor
) -> torch.Tensor:
    """Return the states times the matrix of their type times that of a relation, float (rows, dim).

    The two matrices are multiplied first: there are fewer of them than nodes.
    """
    own = by_node.index_select(0, rows.source_type)
    both = torch.einsum("rdhi,rhij->rdhj", own, by_relation).flatten(2)
    return rows.send(states, both[:, :-1], both[:, -1])


def _uniform(fan: float, *shape: int) -> nn.Parameter:
    """Return uniform numbers for matrices with so many inputs."""
    return nn.Parameter(torch.empty(shape).uniform_(-(fan**-0.5), fan**-0.5))
