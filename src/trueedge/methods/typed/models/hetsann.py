"""HetSANN: type-aware attention, with a transformation for each relation and head."""

from __future__ import annotations

from itertools import pairwise

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from trueedge.training.typed.features import FeatureInput
from trueedge.training.typed.inputs import TypedInputs
from trueedge.training.typed.relation_rows import RelationRows

SLOPE = 0.2


class HetSANNModel(nn.Module):
    """Features of each type, type-aware attention layers, and a linear layer.

    Args:
        inputs: the graph.
        features: which node types keep their features.
        dim: the size of each head.
        out: the size of the output: classes, or of the node vectors.
        layers: the number of attention layers.
        heads: the number of heads of each layer but the last, which has one.
        attention: ``voices`` or ``concat``, see :class:`HetSANNLayer`.
        dropout: the rate for the input of each layer.
    """

    def __init__(
        self,
        inputs: TypedInputs,
        features: str,
        dim: int,
        out: int,
        layers: int,
        heads: int,
        attention: str,
        dropout: float,
    ) -> None:
        super().__init__()
        self.out_dim = out
        # As published, the features of a node sum to one: attention is a product of states, and with counts
        # of words it has logits of a hundred.
        self.input = FeatureInput(inputs, features, dim, unit_rows=True)
        self.rows = RelationRows(inputs, loops=True)
        pairs = voices(self.rows)
        numbers = [1, *[heads] * (layers - 1), 1]
        self.layers = nn.ModuleList(
            HetSANNLayer(dim * before, dim, number, pairs, attention) for before, number in pairwise(numbers)
        )
        self.output = nn.Linear(dim, out)
        self.dropout = nn.Dropout(dropout)
        self.loops: torch.Tensor
        self.register_buffer("loops", _loop_rows(self.rows), persistent=False)

    def forward(self, inputs: TypedInputs) -> torch.Tensor:
        """Return the logits of the target type, or the vectors of all nodes."""
        states = self.input(inputs)
        for layer in self.layers:
            states = F.elu(layer(self.dropout(states), self.rows, self.loops))
        if inputs.target is not None:
            states = states[inputs.rows(inputs.target)]
        result: torch.Tensor = self.output(self.dropout(states))
        return result


class HetSANNLayer(nn.Module):
    """A type-aware attention layer.

    Each relation has a matrix, and so has the loop of each node type. With x the product of the source and y
    that of the target with its loop's matrix, the logit of an edge of relation r is LeakyReLU of

    - ``voices``: y · (x + a_r), where a reverse relation has -a_r, and a loop has none;
    - ``concat``: a_r · [x, y].

    Args:
        size: the size of the input.
        dim: the size of each head.
        heads: the number of heads.
        pairs: for each relation the number of its vector a, and its sign.
        attention: ``voices`` or ``concat``.
    """

    vector: torch.Tensor
    sign: torch.Tensor

    def __init__(
        self, size: int, dim: int, heads: int, pairs: list[tuple[int, float]], attention: str
    ) -> None:
        super().__init__()
        self.heads, self.dim, self.shared = heads, dim, attention == "voices"
        relations = len(pairs)
        bound = (6 / (size + dim)) ** 0.5
        self.matrices = nn.Parameter(torch.empty(relations, size, heads * dim).uniform_(-bound, bound))
        numbers, signs = zip(*pairs, strict=True)
        count = max(numbers) + 1 if self.shared else 2 * relations
        self.vectors = nn.Parameter(torch.randn(count, heads, dim) * dim**-0.5)
        self.bias = nn.Parameter(torch.zeros(heads * dim))
        self.register_buffer("vector", torch.tensor(numbers), persistent=False)
        self.register_buffer("sign", torch.tensor(signs).view(-1, 1, 1), persistent=False)

    def forward(self, states: torch.Tensor, rows: RelationRows, loops: torch.Tensor) -> torch.Tensor:
        """Return the new states, float (n, heads * dim)."""
        sent = rows.send(states, self.matrices)
        own = sent.index_select(0, loops).view(-1, self.heads, self.dim)
        edges = rows.edges
        if self.shared:
            by_target = self.vectors.index_select(0, self.vector) * self.sign
            logits = edges.dot(own, sent.view(-1, self.heads, self.dim))
        else:
            by_source, by_target = self.vectors.chunk(2)
            matrices = self.matrices.unflatten(2, (self.heads, self.dim))
            folded = torch.einsum("rshd,rhd->rsh", matrices, by_source)
            logits = rows.send(states, folded).index_select(0, edges.source)
        scores = torch.einsum("nhd,rhd->nrh", own, by_target).flatten(0, 1)
        place = edges.target * rows.num_relations + rows.relation
        logits = F.leaky_relu(logits + scores.index_select(0, place), SLOPE)
        values = sent.view(-1, self.heads, self.dim)
        return edges.sum(edges.softmax(logits), values).flatten(1) + self.bias


def voices(rows: RelationRows) -> list[tuple[int, float]]:
    """Return for each relation the number of its vector and its sign; loops have a sign of 0.

    A relation and its reverse share a vector, with opposite signs.
    """
    found: list[tuple[int, float] | None] = [None] * rows.num_relations
    edges = [torch.stack([one.source, one.target]) for one in rows.relations]
    count = 0
    for number, one in enumerate(rows.relations):
        if found[number] is not None:
            continue
        if one.relation < 0:
            found[number] = (0, 0.0)
            continue
        found[number] = (count, 1.0)
        for other in range(number + 1, rows.num_relations):
            ends = rows.relations[other].target_type, rows.relations[other].source_type
            fits = ends == (one.source_type, one.target_type) and rows.relations[other].relation >= 0
            if fits and found[other] is None and _are_reverses(edges[number], edges[other]):
                found[other] = (count, -1.0)
                break
        count += 1
    return [one for one in found if one is not None]


def _are_reverses(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.shape != other.shape:
        return False
    # Edges are sorted by target, then source: those of one relation are brought into the order of the other.
    return bool(torch.equal(one[:, torch.argsort(one[0], stable=True)], other.flip(0)))


def _loop_rows(rows: RelationRows) -> torch.Tensor:
    """Return the row of each node's loop, int64 (n,)."""
    loop = torch.tensor([one.relation < 0 for one in rows.relations], device=rows.relation.device)
    return rows.edges.source[loop[rows.relation]]
