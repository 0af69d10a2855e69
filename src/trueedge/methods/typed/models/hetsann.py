"""HetSANN: type-aware attention, with a transformation for each relation and head."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from trueedge.methods.typed.models.hetsann_matrices import (
    CycleLoss,
    FeatureMatrices,
    StateMatrices,
    relation_groups,
)
from trueedge.training.typed.features import FeatureInput
from trueedge.training.typed.inputs import TypedInputs
from trueedge.training.typed.relation_rows import RelationRows

SLOPE = 0.2


@dataclass(frozen=True)
class HetSANNShape:
    """What the layers have in common.

    Attributes:
        dim: the size of each head.
        heads: the number of heads of each layer but the last, which has one.
        attention: ``voices`` or ``concat``, see :class:`HetSANNLayer`.
        dropout: the rate for the input of each layer.
        direct: whether the first layer reads the features themselves, without a linear layer before it.
        by_types: whether relations between the same types share a matrix. As in the published code, only
            relations between two types then have vectors, of variance one.
        inner_dropout: whether dropout also applies to the logits of edges, and to what nodes send.
        cycle: the weight of :class:`CycleLoss`; 0: none.
        row_sums: what the features of a node are divided by: ``absolute`` or ``signed`` sums.
        head_dropout: whether each head of a first layer that is ``direct`` drops features of its own.
        attention_gradient: whether gradients pass through the attention weights. If not, the vectors of
            relations have a gradient of zero, so that weight decay shrinks them as in the published code.
        glorot: whether the output layer starts with Glorot's weights and no bias.
    """

    dim: int
    heads: int
    attention: str = "voices"
    dropout: float = 0.6
    direct: bool = False
    by_types: bool = False
    inner_dropout: bool = False
    cycle: float = 0.0
    row_sums: str = "absolute"
    head_dropout: bool = False
    attention_gradient: bool = True
    glorot: bool = False


class HetSANNModel(nn.Module):
    """Features of each type, type-aware attention layers, and a linear layer.

    Args:
        inputs: the graph.
        features: which node types keep their features.
        out: the size of the output: classes, or of the node vectors.
        layers: the number of attention layers.
        shape: what the layers have in common.

    Attributes:
        penalty: what is added to the loss, from the last pass; None: nothing.
    """

    def __init__(
        self, inputs: TypedInputs, features: str, out: int, layers: int, shape: HetSANNShape
    ) -> None:
        super().__init__()
        self.out_dim, self.shape = out, shape
        dim, dropout = shape.dim, shape.dropout
        # As published, the features of a node sum to one: attention is a product of states, and with counts
        # of words it has logits of a hundred.
        self.input = None if shape.direct else FeatureInput(inputs, features, dim, shape.row_sums)
        self.rows = RelationRows(inputs, loops=True)
        groups = relation_groups(self.rows, shape.by_types)
        pairs = voices(self.rows, between_types=shape.by_types)
        made: list[HetSANNLayer] = []
        for before, heads in pairwise([1, *[shape.heads] * (layers - 1), 1]):
            matrices: StateMatrices | FeatureMatrices
            if shape.direct and not made:
                given = (inputs, features, self.rows, groups, heads, dim, dropout, shape.row_sums)
                matrices = FeatureMatrices(*given, by_head=shape.head_dropout)
            else:
                matrices = StateMatrices(dim * before, groups, heads, dim)
            made.append(HetSANNLayer(matrices, heads, pairs, shape, inputs.num_types))
        self.layers = nn.ModuleList(made)
        self.output = nn.Linear(dim, out)
        if shape.glorot:
            nn.init.xavier_uniform_(self.output.weight)
            nn.init.zeros_(self.output.bias)
        self.dropout = nn.Dropout(dropout)
        self.penalty: torch.Tensor | None = None
        self.loops: torch.Tensor
        self.register_buffer("loops", _loop_rows(self.rows), persistent=False)

    def forward(self, inputs: TypedInputs) -> torch.Tensor:
        """Return the logits of the target type, or the vectors of all nodes."""
        states = None if self.input is None else self.input(inputs)
        missed = []
        for layer in self.layers:
            given = None if states is None else self.dropout(states)
            states, loss = layer(given, self.rows, self.loops)
            states = F.elu(states)
            missed += [] if loss is None else [loss]
        self.penalty = self.shape.cycle * torch.stack(missed).sum() if missed else None
        assert states is not None
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
        matrices: make what each node sends along each relation.
        heads: the number of heads.
        pairs: for each relation the number of its vector a, and its sign.
        shape: what layers have in common.
        types: the number of node types.
    """

    vector: torch.Tensor
    sign: torch.Tensor

    def __init__(
        self,
        matrices: StateMatrices | FeatureMatrices,
        heads: int,
        pairs: list[tuple[int, float]],
        shape: HetSANNShape,
        types: int,
    ) -> None:
        super().__init__()
        dim = shape.dim
        self.heads, self.dim, self.shared = heads, dim, shape.attention == "voices"
        self.inner = shape.dropout if shape.inner_dropout else 0.0
        self.attention_gradient = shape.attention_gradient
        self.matrices = matrices
        numbers, signs = zip(*pairs, strict=True)
        count = max(numbers) + 1 if self.shared else 2 * len(pairs)
        scale = 1.0 if shape.by_types else dim**-0.5
        self.vectors = nn.Parameter(torch.randn(count, heads, dim) * scale)
        self.bias = nn.Parameter(torch.zeros(heads * dim))
        self.cycle = CycleLoss(_sizes(matrices, types), heads, dim) if shape.cycle else None
        self.register_buffer("vector", torch.tensor(numbers), persistent=False)
        self.register_buffer("sign", torch.tensor(signs).view(-1, 1, 1), persistent=False)

    def forward(
        self, states: torch.Tensor | None, rows: RelationRows, loops: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Return the new states, float (n, heads * dim), and in training the loss of cycles."""
        sent = self.matrices(states, rows)
        values = sent.view(-1, self.heads, self.dim)
        own = values.index_select(0, loops)
        edges = rows.edges
        if self.shared:
            by_target = self.vectors.index_select(0, self.vector) * self.sign
            logits = edges.dot(own, values)
        else:
            by_source, by_target = self.vectors.chunk(2)
            matrices = self.matrices.all().unflatten(2, (self.heads, self.dim))
            folded = torch.einsum("rshd,rhd->rsh", matrices, by_source)
            logits = rows.send(states, folded).index_select(0, edges.source)
        scores = torch.einsum("nhd,rhd->nrh", own, by_target).flatten(0, 1)
        place = edges.target * rows.num_relations + rows.relation
        logits = F.leaky_relu(logits + scores.index_select(0, place), SLOPE)
        if self.inner:
            logits, values = (F.dropout(one, self.inner, self.training) for one in (logits, values))
        weights = edges.softmax(logits)
        if not self.attention_gradient:
            weights = weights.detach() + 0.0 * self.vectors.sum()
        new = edges.sum(weights, values).flatten(1) + self.bias
        loss = self.cycle(sent, rows, self.matrices) if self.cycle is not None and self.training else None
        return new, loss


def _sizes(matrices: StateMatrices | FeatureMatrices, types: int) -> list[int]:
    """Return for each type the size of what its matrices are multiplied with."""
    if isinstance(matrices, StateMatrices):
        return [matrices.matrices.shape[1]] * types
    return [len(matrices.of(matrices.source.index(kind))) for kind in range(types)]


def voices(rows: RelationRows, between_types: bool = False) -> list[tuple[int, float]]:
    """Return for each relation the number of its vector and its sign; loops have a sign of 0.

    A relation and its reverse share a vector, with opposite signs.

    Args:
        rows: the relations.
        between_types: relations within one type have a sign of 0, too.
    """
    found: list[tuple[int, float] | None] = [None] * rows.num_relations
    edges = [torch.stack([one.source, one.target]) for one in rows.relations]
    count = 0
    for number, one in enumerate(rows.relations):
        if found[number] is not None:
            continue
        if one.relation < 0 or (between_types and one.source_type == one.target_type):
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
