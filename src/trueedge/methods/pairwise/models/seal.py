"""The model of SEAL: graph convolutions on the enclosing subgraph of a pair, and a readout."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from trueedge.methods.pairwise.models.subgraphs import LARGEST_LABEL, SubgraphBlock, SubgraphSource
from trueedge.training.links.inputs import Input, States
from trueedge.training.links.messages import Messages
from trueedge.training.links.model import LinkModel, MlpPredictor

# Rows of a matrix product after training; fixed, since rounding depends on the shape, so that a pair's score
# does not depend on its block and pairs of equal structure tie.
ROWS = {"cpu": 1 << 10, "cuda": 1 << 14}
# The number of parts of a block: small ones for the CPU's cache, large ones for a GPU.
PARTS = {"cpu": 8, "cuda": 1}


class SubgraphStates(States):
    """States of the nodes of subgraphs."""

    def project(self, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        """Return the linear map of every node's state; after training in products of one shape."""
        if torch.is_grad_enabled():
            return super().project(weight, bias)
        mapped = self.values.new_empty(len(self.values), len(weight))
        rows = ROWS[mapped.device.type]
        for part, out in zip(self.values.split(rows), mapped.split(rows), strict=True):
            torch.mm(part, weight.t(), out=out)
        return mapped if bias is None else mapped.add_(bias)


class LabelledNodes(Input):
    """A vector for each node's label, and its mapped features."""

    def __init__(self, vectors: torch.Tensor, mapped: torch.Tensor, block: SubgraphBlock) -> None:
        super().__init__()
        self.vectors = vectors
        self.mapped = mapped
        self.block = block
        self.dim = vectors.shape[1]

    def project(self, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        """Return the linear map of every node's input; labels are mapped once and looked up."""
        states = F.embedding(self.block.labels, F.linear(self.vectors, weight[:, : self.dim], bias))
        if self.mapped.shape[1]:
            states = states + F.embedding(self.block.nodes, self.mapped)
        return states


class SubgraphLayer(nn.Module):
    """A graph convolution on weighted messages.

    Kipf, Welling: Semi-Supervised Classification with Graph Convolutional Networks, ICLR 2017.
    """

    def __init__(self, size: int, out: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(out, size)))
        self.bias = nn.Parameter(torch.zeros(out))

    def forward(self, states: Input, messages: Messages) -> torch.Tensor:
        """Return the new states, float (k, out)."""
        return messages.sum(states.project(self.weight)).add_(self.bias)


class SubgraphEncoder(nn.Module):
    """Graph convolutions on subgraphs whose nodes are labelled."""

    def __init__(self, features: int, sizes: list[int], dropout: float | None) -> None:
        """Make the layers.

        Args:
            features: the number of features.
            sizes: of the label vectors, then of each layer.
            dropout: after each layer but the last, with ReLU; None: tanh after each layer.
        """
        super().__init__()
        self.labels = nn.Embedding(LARGEST_LABEL + 1, sizes[0])
        before = [sizes[0] + features, *sizes[1:-1]]
        self.layers = nn.ModuleList(SubgraphLayer(*pair) for pair in zip(before, sizes[1:], strict=True))
        self.dropout = dropout

    def map_features(self, inputs: Input) -> torch.Tensor:
        """Return the features' share of the first layer, once for all subgraphs, float (n, size)."""
        return inputs.project(self.layers[0].weight[:, self.labels.embedding_dim :])

    def forward(self, mapped: torch.Tensor, block: SubgraphBlock) -> list[torch.Tensor]:
        """Return the states after each layer, float (k, size) each."""
        states: Input = LabelledNodes(self.labels.weight, mapped, block)
        messages, found = block.messages(), []
        for layer in self.layers:
            values = layer(states, messages)
            if self.dropout is None:
                values = values.tanh_()
            elif layer is not self.layers[-1]:
                values = F.dropout(values.relu_(), self.dropout, self.training)
            found.append(values)
            states = SubgraphStates(values)
        return found


class CentreHead(nn.Module):
    """An MLP on the product of the two ends' states.

    Zhang, Li, Xia, Wang, Jin: Labeling Trick: A Theory of Using Graph Neural Networks for Multi-Node
    Representation Learning, NeurIPS 2021.
    """

    def __init__(self, dim: int, dropout: float) -> None:
        super().__init__()
        self.perceptron = MlpPredictor(dim, dim, 2, dropout)

    def forward(self, layers: list[torch.Tensor], block: SubgraphBlock) -> torch.Tensor:
        """Return a logit for each pair, float (p,)."""
        ends = F.embedding(block.ends, layers[-1])
        logits: torch.Tensor = self.perceptron(ends[:, 0], ends[:, 1])
        return logits


class SortHead(nn.Module):
    """Convolutions along the first nodes, sorted by their last state.

    Zhang, Cui, Neumann, Chen: An End-to-End Deep Learning Architecture for Graph Classification, AAAI 2018.
    """

    CHANNELS, WIDTH, HIDDEN = (16, 32), 5, 128

    def __init__(self, sizes: list[int], nodes: int, dropout: float) -> None:
        """Make the layers.

        Args:
            sizes: of the states that are read, the last of them 1.
            nodes: nodes kept of each subgraph, 10 or more; smaller ones are padded with zeros.
            dropout: before the last layer.
        """
        super().__init__()
        self.nodes = nodes
        # A convolution as wide as a node's states, in steps as wide, is a linear map of each node.
        self.each = nn.Linear(sum(sizes), self.CHANNELS[0])
        self.along = nn.Conv1d(*self.CHANNELS, self.WIDTH)
        places = nodes // 2 - self.WIDTH + 1
        self.hidden = nn.Linear(places * self.CHANNELS[1], self.HIDDEN)
        self.last = nn.Linear(self.HIDDEN, 1)
        self.dropout = dropout

    def forward(self, layers: list[torch.Tensor], block: SubgraphBlock) -> torch.Tensor:
        """Return a logit for each pair, float (p,)."""
        read = self._read(layers)
        places = self._places(layers, block)
        # An extra row of zeros is used as padding.
        kept = F.embedding(places, F.pad(read, (0, 0, 0, 1))) + self.each.bias
        kept = F.max_pool1d(F.relu(kept).transpose(1, 2), 2)
        hidden = F.relu(self.hidden(F.relu(self.along(kept)).flatten(1)))
        logits: torch.Tensor = self.last(F.dropout(hidden, self.dropout, self.training))
        return logits.squeeze(-1)

    def _read(self, layers: list[torch.Tensor]) -> torch.Tensor:
        """Return each node's channels, float (k, 16), before nodes are chosen, to save memory."""
        weights = self.each.weight.split([states.shape[1] for states in layers], dim=1)
        parts = zip(layers, weights, strict=True)
        return torch.stack([SubgraphStates(states).project(weight) for states, weight in parts]).sum(dim=0)

    def _places(self, layers: list[torch.Tensor], block: SubgraphBlock) -> torch.Tensor:
        """Return the positions of kept nodes, int64 (p, nodes); past the last node for padding."""
        starts, count = block.starts, len(block.nodes)
        with torch.no_grad():
            sizes = F.pad(starts, (0, 1), value=count).diff()
            pair = torch.repeat_interleave(sizes, output_size=count)
            # By the last state, ties by the one before, then by position in the subgraph.
            order = torch.sort(layers[-2][:, -1], descending=True, stable=True).indices
            order = order[torch.sort(layers[-1][order, 0], descending=True, stable=True).indices]
            order = order[torch.sort(pair[order], stable=True).indices]
            wanted = torch.arange(self.nodes, device=starts.device)
            places = order[(starts[:-1, None] + wanted).clamp(max=count - 1)]
            return torch.where(wanted < sizes[:-1, None], places, count)


class Seal(LinkModel):
    """Scores a pair by its enclosing subgraph, without the pair's own edge."""

    def __init__(
        self,
        inputs: Input,
        encoder: SubgraphEncoder,
        predictor: nn.Module,
        source: SubgraphSource,
        pairs_at_a_time: int,
    ) -> None:
        nn.Module.__init__(self)
        self.inputs = inputs
        self.encoder = encoder
        self.predictor = predictor
        self.source = source
        self.pairs_at_a_time = pairs_at_a_time

    def encode(self, messages: Messages) -> torch.Tensor:
        """Return the features' share of the first layer, float (n, size); empty without features."""
        if self.inputs.dim == 0:
            return torch.empty(messages.num_nodes, 0, device=messages.indices.device)
        mapped: torch.Tensor = self.encoder.map_features(self.inputs)
        return mapped

    def score(self, states: torch.Tensor, pairs: torch.Tensor, messages: Messages) -> torch.Tensor:
        """Return a logit for each pair."""
        if self.training:
            block, place = self.source.batch(messages, pairs)
            return self._score(states, block)[place]
        where = pairs.device.type
        parts = pairs.split(max(1, len(pairs) // PARTS[where]))
        blocks = (self.source.block(messages, part, ROWS[where]) for part in parts)
        return torch.cat([self._score(states, block) for block in blocks])

    def _score(self, states: torch.Tensor, block: SubgraphBlock) -> torch.Tensor:
        logits: torch.Tensor = self.predictor(self.encoder(states, block), block)
        return logits
