"""HetGNN's encoder, and its training on the context of random walks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import nn

from trueedge.kernels.walks.random_walks import random_walks
from trueedge.kernels.walks.typed_walks import frequent_neighbors
from trueedge.training.order import one_order
from trueedge.training.typed.features import FeatureInput
from trueedge.training.typed.inputs import TypedInputs

RESTART_STEPS = 100
NODES_AT_A_TIME = 4096
EXPONENT = 0.75
# Pairs that are drawn for each one that is kept, where all pairs of node types shall be as frequent.
POOL = 4


class HetGnnEncoder(nn.Module):
    """Vectors of nodes from the contents of their frequent neighbours of each type.

    Args:
        inputs: the typed graph.
        features: which types keep their features.
        dim: the size of the vectors, an even number.
        neighbors: int32 (n, types * count), the frequent neighbours; negative numbers are nobody.
        aggregate: how neighbours of a type are combined, ``lstm`` or ``mean``.
        dropout: of contents.
    """

    def __init__(
        self,
        inputs: TypedInputs,
        features: str,
        dim: int,
        neighbors: NDArray[np.int32],
        aggregate: str,
        dropout: float,
    ) -> None:
        super().__init__()
        self.dim, self.dropout = dim, dropout
        self.input = FeatureInput(inputs, features, dim)
        # A sequence of one attribute: HGB's nodes have a single feature vector.
        self.content = nn.ModuleList(_both_ways(dim) for _ in range(inputs.num_types))
        self.combine = nn.ModuleList(
            _both_ways(dim) if aggregate == "lstm" else nn.Linear(dim, dim) for _ in range(inputs.num_types)
        )
        self.score = nn.Parameter(torch.empty(inputs.num_types, 2 * dim))
        nn.init.xavier_normal_(self.score, gain=1.414)
        table = torch.from_numpy(neighbors.astype(np.int64)).to(inputs.device)
        self.neighbors = torch.where(table < 0, inputs.num_nodes, table)
        self.node_type, self.out_dim = inputs.node_type, dim

    def forward(self, inputs: TypedInputs) -> torch.Tensor:
        """Return the vectors of all nodes, float (n, dim)."""
        contents = self.contents(inputs)
        nodes = torch.arange(inputs.num_nodes, device=inputs.device)
        return torch.cat([self.encode(contents, part) for part in nodes.split(NODES_AT_A_TIME)])

    def contents(self, inputs: TypedInputs) -> torch.Tensor:
        """Return what each node says of itself, float (n + 1, dim); the last row is nobody's."""
        states = F.dropout(self.input(inputs), self.dropout, self.training)
        found = [one_step(one, states[inputs.rows(kind)]) for kind, one in enumerate(self.content)]
        return torch.cat([*found, states.new_zeros(1, self.dim)])

    def encode_some(self, inputs: TypedInputs, nodes: torch.Tensor) -> torch.Tensor:
        """Return the vectors of some nodes, float (b, dim), from the contents that they depend on alone."""
        near = self.neighbors[nodes]
        needed = torch.unique(torch.cat([nodes, near.flatten()]))
        bounds = torch.searchsorted(needed, torch.tensor(inputs.starts, device=needed.device)).tolist()
        # The last row, which is nobody's, may be needed too.
        states = F.pad(self.input(inputs), (0, 0, 0, 1))[needed]
        states = F.dropout(states, self.dropout, self.training)
        found = [one_step(one, states[bounds[k] : bounds[k + 1]]) for k, one in enumerate(self.content)]
        contents = torch.cat([*found, states.new_zeros(1, self.dim)])
        places = torch.searchsorted(needed, near).clamp_max(bounds[-1])
        return self._mixed(contents, nodes, torch.searchsorted(needed, nodes), places)

    def encode(self, contents: torch.Tensor, nodes: torch.Tensor) -> torch.Tensor:
        """Return the vectors of some nodes, float (b, dim)."""
        return self._mixed(contents, nodes, nodes, self.neighbors[nodes])

    def _mixed(
        self, contents: torch.Tensor, nodes: torch.Tensor, places: torch.Tensor, near: torch.Tensor
    ) -> torch.Tensor:
        """Combine the contents of nodes, in the rows ``places``, with those of their neighbours."""
        own = F.embedding(places, contents)
        table = near.view(len(nodes), len(self.combine), -1)
        found, there = [own], [torch.ones_like(nodes, dtype=torch.bool)]
        for kind, combine in enumerate(self.combine):
            said = F.embedding(table[:, kind], contents)
            mixed = combine(said)[0] if isinstance(combine, nn.LSTM) else combine(said)
            found.append(mixed.mean(1))
            there.append(table[:, kind, 0] < len(contents) - 1)
        sides = torch.stack(found, dim=1)
        weight = self.score[self.node_type[nodes]]
        logits = (sides * weight[:, None, : self.dim]).sum(-1) + (own * weight[:, self.dim :]).sum(-1, True)
        logits = F.leaky_relu(logits, 0.01).masked_fill(~torch.stack(there, dim=1), -torch.inf)
        return (logits.softmax(1).unsqueeze(-1) * sides).sum(1)


class FrozenVectors(nn.Module):
    """Vectors that are no longer trained, with a linear layer for classes, or a scale for links.

    Args:
        vectors: float (n, dim); each column is brought to mean 0 and variance 1.
        rows: the rows of the nodes that are classified; None for links.
        out: the number of classes.
    """

    def __init__(self, vectors: torch.Tensor, rows: slice | None, out: int) -> None:
        super().__init__()
        if rows is not None:
            vectors = vectors[rows]
            vectors = (vectors - vectors.mean(0)) / vectors.std(0).clamp_min(1e-6)
        self.register_buffer("vectors", vectors)
        self.out_dim = vectors.shape[1]
        self.output = None if rows is None else nn.Linear(self.out_dim, out)
        self.scale = None if rows is not None else nn.Parameter(torch.ones(self.out_dim))

    def forward(self, inputs: TypedInputs) -> torch.Tensor:
        """Return logits of the classified nodes, or the scaled vectors of all nodes."""
        del inputs
        found: torch.Tensor = self.vectors * self.scale if self.output is None else self.output(self.vectors)
        return found


class Classified(nn.Module):
    """An encoder and a linear layer, trained together for the classes of nodes of one type."""

    def __init__(self, encoder: HetGnnEncoder, rows: slice, out: int) -> None:
        super().__init__()
        self.encoder, self.rows = encoder, rows
        self.output = nn.Linear(encoder.out_dim, out)

    def forward(self, inputs: TypedInputs) -> torch.Tensor:
        """Return the logits, float (nodes of the target type, classes)."""
        nodes = torch.arange(self.rows.start, self.rows.stop, device=inputs.device)
        contents = self.encoder.contents(inputs)
        found = [self.encoder.encode(contents, part) for part in nodes.split(NODES_AT_A_TIME)]
        logits: torch.Tensor = self.output(torch.cat(found))
        return logits


def neighbors_by_type(inputs: TypedInputs, count: int, key: int) -> NDArray[np.int32]:
    """Return the nodes of each type that walks with restart from each node visit most."""
    indptr, indices = untyped(inputs)
    counts = np.full(inputs.num_types, count)
    return frequent_neighbors(indptr, indices, inputs.graph.types, counts, RESTART_STEPS, key)


def learn_context(
    encoder: HetGnnEncoder,
    inputs: TypedInputs,
    steps: int,
    batch_size: int,
    length: int,
    window: int,
    rate: float,
    key: int,
    rng: np.random.Generator,
    balanced: bool = False,
) -> torch.Tensor:
    """Train an encoder so that nodes near each other in walks have similar vectors; return the vectors.

    Each pair of nodes within a window is set against a node of the context's type that is drawn by its
    frequency in walks to the power of 3/4. If ``balanced``, all pairs of node types have as many pairs.
    """
    optimizer = torch.optim.Adam(encoder.parameters(), lr=rate)
    encoder.to(inputs.device).train()
    pairs = context_pairs(inputs, length, window, batch_size, key, rng, balanced)
    with one_order(inputs.device):
        for _ in range(steps):
            center, context, other = torch.from_numpy(next(pairs)).to(inputs.device)
            nodes, place = torch.unique(torch.cat([center, context, other]), return_inverse=True)
            vectors = encoder.encode_some(inputs, nodes)
            one, near, far = F.embedding(place, vectors).view(3, len(center), -1)
            loss = -F.logsigmoid((one * near).sum(1)).mean() - F.logsigmoid(-(one * far).sum(1)).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    encoder.eval()
    with torch.no_grad():
        return encoder(inputs)


def context_pairs(
    inputs: TypedInputs,
    length: int,
    window: int,
    size: int,
    key: int,
    rng: np.random.Generator,
    balanced: bool = False,
) -> Iterator[NDArray[np.int64]]:
    """Yield triples without end, int64 (3, size): a node, one near it in a walk, and one drawn for it."""
    indptr, indices = untyped(inputs)
    degrees = np.diff(indptr)
    weights = np.concatenate([[0.0], np.cumsum(degrees**EXPONENT)])
    starts, types = np.asarray(inputs.starts), inputs.graph.types
    linked = np.flatnonzero(degrees)
    first = 0
    while True:
        number = size * POOL if balanced else size
        roots = rng.choice(linked, number).astype(np.int32)
        walks = random_walks(indptr, indices, roots, length, key, 1.0, 1.0, first)
        first += number
        # One pair of each walk: pairs of one walk are alike.
        shift = rng.integers(1, window + 1, number)
        here = rng.integers(0, length - shift)
        center, context = walks[np.arange(number), here], walks[np.arange(number), here + shift]
        if balanced:
            kept = _balanced(types[center].astype(np.int64) * inputs.num_types + types[context], size, rng)
            center, context = center[kept], context[kept]
        kind = types[context]
        low, high = weights[starts[kind]], weights[starts[kind + 1]]
        drawn = np.searchsorted(weights, low + rng.random(size) * (high - low), side="right") - 1
        drawn = np.clip(drawn, starts[kind], starts[kind + 1] - 1)
        yield np.stack([center, context, drawn]).astype(np.int64)


def _balanced(kinds: NDArray[np.int64], size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return places, int64 (size,): as many of each kind that is there, up to one, drawn with replacement."""
    present = np.unique(kinds)
    wanted = np.full(len(present), size // len(present))
    wanted[rng.permutation(len(present))[: size % len(present)]] += 1
    return np.concatenate(
        [
            rng.choice(np.flatnonzero(kinds == kind), number)
            for kind, number in zip(present, wanted, strict=True)
        ]
    )


def untyped(inputs: TypedInputs) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the CSR adjacency of all edges in both directions, without loops."""
    arcs = inputs.arcs
    source, target = arcs.source.cpu().numpy(), arcs.target.cpu().numpy()
    kept = source != target
    indptr = np.searchsorted(target[kept], np.arange(inputs.num_nodes + 1))
    return indptr.astype(np.int64), source[kept].astype(np.int32)


def one_step(network: nn.LSTM, rows: torch.Tensor) -> torch.Tensor:
    """Return what a recurrent network in both directions makes of sequences of one row, float (n, dim).

    There is nothing to remember or to forget, so this is a linear layer and its gates.
    """
    found = []
    for side in ("", "_reverse"):
        weight, *biases = (
            getattr(network, f"{name}_l0{side}") for name in ("weight_ih", "bias_ih", "bias_hh")
        )
        admitted, _, new, shown = F.linear(rows, weight, biases[0] + biases[1]).chunk(4, dim=1)
        found.append(shown.sigmoid() * (admitted.sigmoid() * new.tanh()).tanh())
    return torch.cat(found, dim=1)


def _both_ways(dim: int) -> nn.LSTM:
    return nn.LSTM(dim, dim // 2, batch_first=True, bidirectional=True)
