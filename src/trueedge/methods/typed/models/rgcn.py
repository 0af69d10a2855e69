"""R-GCN on typed graphs: a matrix for each relation, and means over its edges."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import nn

from trueedge.training.typed.features import FeatureInput
from trueedge.training.typed.inputs import TypedInputs
from trueedge.training.typed.relation_rows import RelationRows


class RGCNModel(nn.Module):
    """Features of each type, then R-GCN layers; the last one gives logits or node vectors.

    Args:
        inputs: the graph.
        features: which node types keep their features.
        dim: the size of the hidden states.
        out: the size of the output: classes, or of the node vectors.
        layers: the number of layers.
        bases: matrices that those of all relations are made of; 0: each relation has a matrix of its own.
        blocks: blocks along the diagonal of a relation's matrix, which is zero elsewhere; 0: it is full.
        self_loop: whether a layer adds a product of a node's own state.
        mean: what messages are averaged over: the edges of each ``relation``, or all edges of a ``node``
            and a loop, as the published code for links does.
        dropout: the rate for the output of each hidden layer.
        output_dropout: whether it also applies to the output of the last layer.
        single_edges: whether two nodes have one edge in each direction; with the mean of a ``node``, loops of
            all types then share a matrix.
    """

    def __init__(
        self,
        inputs: TypedInputs,
        features: str,
        dim: int,
        out: int,
        layers: int,
        bases: int,
        blocks: int,
        self_loop: bool,
        mean: str,
        dropout: float,
        output_dropout: bool = False,
        single_edges: bool = False,
    ) -> None:
        super().__init__()
        self.out_dim = out
        self.input = FeatureInput(inputs, features, dim)
        by_node = mean == "node"
        self.rows = RelationRows(inputs, loops=by_node, single=single_edges)
        sizes = [*[dim] * layers, out]
        self.layers = nn.ModuleList(
            RGCNLayer(self.rows.num_matrices, size, following, bases, blocks, self_loop)
            for size, following in pairwise(sizes)
        )
        self.dropout = nn.Dropout(dropout)
        self.output_dropout = self.dropout if output_dropout else nn.Identity()
        self.weights: torch.Tensor
        self.register_buffer("weights", self.rows.mean_weights(by_node), persistent=False)

    def forward(self, inputs: TypedInputs) -> torch.Tensor:
        """Return the logits of the target type, or the vectors of all nodes."""
        states = self.input(inputs)
        for number, layer in enumerate(self.layers):
            if number:
                states = self.dropout(torch.relu(states))
            states = layer(states, self.rows, self.weights)
        states = self.output_dropout(states)
        return states if inputs.target is None else states[inputs.rows(inputs.target)]


class RGCNLayer(nn.Module):
    """A layer of R-GCN: the sum over relations of mean messages, and a product of the own state."""

    def __init__(self, relations: int, size: int, out: int, bases: int, blocks: int, self_loop: bool) -> None:
        super().__init__()
        self.shape, self.blocks = (relations, size, out), blocks
        # Glorot's bound for a convolution with all matrices, as in the published code. With the bound for
        # each matrix, four layers on ACM need about twice the epochs; scores of three seeds do not differ.
        # Blocks are one row of a matrix there.
        shape = (relations, size * out // blocks) if blocks else (bases or relations, size, out)
        self.matrices = nn.Parameter(_glorot(*shape))
        self.shares = nn.Parameter(_glorot(relations, bases)) if bases else None
        self.own = nn.Parameter(_glorot(size, out)) if self_loop else None
        self.bias = nn.Parameter(torch.zeros(out))

    def forward(self, states: torch.Tensor, rows: RelationRows, weights: torch.Tensor) -> torch.Tensor:
        """Return the new states, float (n, out)."""
        matrices = self.full()
        if len(matrices) < rows.num_relations:
            matrices = matrices[rows.matrix]
        sent = rows.send(states, matrices)
        total = rows.edges.sum(weights, sent.unsqueeze(1)).squeeze(1)
        if self.own is None:
            return total + self.bias
        return total + torch.addmm(self.bias, states, self.own)

    def full(self) -> torch.Tensor:
        """Return the matrix of each relation, float (relations, size, out)."""
        if self.blocks:
            relations, size, out = self.shape
            parts = self.matrices.view(relations, self.blocks, size // self.blocks, out // self.blocks)
            own = torch.eye(self.blocks, device=parts.device)
            return torch.einsum("rbio,bc->rbico", parts, own).reshape(self.shape)
        if self.shares is None:
            return self.matrices
        return (self.shares @ self.matrices.flatten(1)).view(self.shape)


def _glorot(*shape: int) -> torch.Tensor:
    """Return uniform numbers for layers followed by ReLU."""
    return nn.init.xavier_uniform_(torch.empty(shape), gain=nn.init.calculate_gain("relu"))
