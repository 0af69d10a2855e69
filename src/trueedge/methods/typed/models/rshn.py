"""RSHN: vectors of relations from a graph of relations, and messages that combine nodes and relations."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import nn

from trueedge.randomness import generator
from trueedge.training.typed.edge_softmax import EdgeList
from trueedge.training.typed.features import FeatureInput
from trueedge.training.typed.inputs import TypedInputs


class RSHNModel(nn.Module):
    """Features of each type, layers over relations, layers over nodes, and a linear layer.

    Args:
        inputs: the graph.
        features: which node types keep their features.
        dim: the size of the hidden states.
        out: the size of the output: classes, or of the node vectors.
        layers: the number of layers over nodes.
        relation_layers: the number of layers over relations.
        walks: the number of random walks that count which relations follow each other.
        walk_length: the number of nodes of a walk.
        dropout: the rate for the output of each layer.
    """

    counts: torch.Tensor
    ones: torch.Tensor
    relation_graph: torch.Tensor

    def __init__(
        self,
        inputs: TypedInputs,
        features: str,
        dim: int,
        out: int,
        layers: int,
        relation_layers: int,
        walks: int,
        walk_length: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.out_dim = out
        self.input = FeatureInput(inputs, features, dim)
        relations = len(inputs.typed)
        self.edges, counts = _untyped(inputs)
        # Torch is seeded when a model is made, and so are the walks.
        seed = int(torch.randint(2**62, ()))
        graph = torch.from_numpy(relation_graph(inputs, walks, walk_length, seed)).to(inputs.device)
        buffers = {"counts": counts, "relation_graph": graph}
        buffers["ones"] = torch.ones(len(self.edges.source), 1, device=inputs.device)
        for name, array in buffers.items():
            self.register_buffer(name, array, persistent=False)
        self.scales = nn.Parameter(torch.ones(relation_layers))
        # The vectors of relations have one size in all layers: theirs have no matrix.
        self.of_relations = nn.Linear(relations, dim)
        self.layers = nn.ModuleList(nn.Linear(dim, dim, bias=False) for _ in range(layers))
        self.output = nn.Linear(dim, out)
        self.dropout = nn.Dropout(dropout)

    def forward(self, inputs: TypedInputs) -> torch.Tensor:
        """Return the logits of the target type, or the vectors of all nodes."""
        relations = self.of_relations(self.relation_vectors())
        states = self.input(inputs)
        for layer in self.layers:
            moved = layer(states)
            # The sum of differences is the difference of sums: no message has to be stored.
            received = self.edges.sum(self.ones, moved.unsqueeze(1)).squeeze(1) - self.counts @ relations
            states = self.dropout(torch.tanh(moved + received))
        if inputs.target is not None:
            states = states[inputs.rows(inputs.target)]
        result: torch.Tensor = self.output(states)
        return result

    def relation_vectors(self) -> torch.Tensor:
        """Return the vectors of relations after attention on the graph of relations, float (R, R)."""
        vectors = torch.eye(len(self.relation_graph), device=self.relation_graph.device)
        for scale in self.scales:
            vectors = F.normalize(vectors, dim=1)
            logits = torch.where(self.relation_graph > 0, scale * self.relation_graph, -torch.inf)
            vectors = self.dropout(torch.relu(vectors + torch.softmax(logits, dim=1) @ vectors))
        return vectors


def relation_graph(inputs: TypedInputs, walks: int, length: int, seed: int) -> NDArray[np.float32]:
    """Return how often two relations follow each other in random walks, float32 (R, R).

    Counts are symmetric; each row is scaled to length 1 without its diagonal, which is then set to 1.

    Args:
        inputs: the graph; walks follow its relations and reverses.
        walks: the number of walks.
        length: the number of nodes of each.
        seed: of the walks.
    """
    count = len(inputs.typed)
    source = np.concatenate([np.empty(0, np.int64), *(one.source.cpu().numpy() for one in inputs.typed)])
    target = np.concatenate([np.empty(0, np.int64), *(one.target.cpu().numpy() for one in inputs.typed)])
    kind = np.repeat(np.arange(count), [len(one.source) for one in inputs.typed])
    order = np.argsort(source, kind="stable")
    target, kind = target[order], kind[order]
    starts = np.searchsorted(source[order], np.arange(inputs.num_nodes + 1))
    degrees = np.diff(starts)
    rng = generator(seed, "relation graph")
    counts = np.zeros((count, count))
    if len(source):
        at, before = rng.choice(np.flatnonzero(degrees), walks), np.full(walks, -1)
        for _ in range(length - 1):
            edge = starts[at] + (rng.random(len(at)) * degrees[at]).astype(np.int64)
            seen = before >= 0
            np.add.at(counts, (before[seen], kind[edge[seen]]), 1)
            # A walk ends at a node that nothing leaves.
            goes_on = degrees[target[edge]] > 0
            at, before = target[edge][goes_on], kind[edge][goes_on]
    counts += counts.T
    np.fill_diagonal(counts, 0)
    lengths = np.linalg.norm(counts, axis=1, keepdims=True)
    counts /= np.maximum(lengths, 1)
    np.fill_diagonal(counts, 1)
    return counts.astype(np.float32)


def _untyped(inputs: TypedInputs) -> tuple[EdgeList, torch.Tensor]:
    """Return all typed edges as one list, and the number of edges of each relation that a node receives."""
    none = torch.empty(0, dtype=torch.int64, device=inputs.device)
    source = torch.cat([none, *(one.source for one in inputs.typed)])
    target = torch.cat([none, *(one.target for one in inputs.typed)])
    order = torch.argsort(target, stable=True)
    edges = EdgeList(source[order], target[order], inputs.num_nodes, inputs.num_nodes)
    columns = [torch.bincount(one.target, minlength=inputs.num_nodes) for one in inputs.typed]
    return edges, torch.stack(columns, dim=1).float()
