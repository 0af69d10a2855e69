"""GATNE-T: vectors of nodes for each relation, trained by skip-gram on walks along that relation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import nn

from trueedge.kernels.walks.random_walks import random_walks
from trueedge.randomness import generator
from trueedge.training.loop import Objective
from trueedge.training.typed.inputs import TypedInputs

EXPONENT = 0.75


class GatneModel(nn.Module):
    """A vector of each node for each relation: its base vector plus what its neighbours add.

    Args:
        inputs: the typed graph.
        relations: the relations whose links are scored.
        dim, edge_dim, attention_dim: sizes of vectors, edge embeddings and the attention over relations.
        sampled: neighbours of each relation that a node is computed from.
        rng: draws them.
    """

    def __init__(
        self,
        inputs: TypedInputs,
        relations: tuple[int, ...],
        dim: int,
        edge_dim: int,
        attention_dim: int,
        sampled: int,
        rng: np.random.Generator,
    ) -> None:
        super().__init__()
        nodes, kinds = inputs.num_nodes, inputs.num_relations
        self.relations, self.out_dim = relations, dim
        self.base = nn.Parameter(torch.empty(nodes, dim).uniform_(-1.0, 1.0))
        # Row node * relations + relation.
        self.edge = nn.Parameter(torch.empty(nodes * kinds, edge_dim).uniform_(-1.0, 1.0))
        self.context = nn.Parameter(torch.randn(nodes, dim) / dim**0.5)
        self.spread = nn.Parameter(torch.randn(kinds, edge_dim, dim) / dim**0.5)
        self.hidden = nn.Parameter(torch.randn(kinds, edge_dim, attention_dim) / dim**0.5)
        self.score = nn.Parameter(torch.randn(kinds, attention_dim, 1) / dim**0.5)
        adjacencies = [undirected(inputs, relation) for relation in range(kinds)]
        table = np.stack([sampled_neighbors(*one, sampled, rng) for one in adjacencies], axis=1)
        rows = table * kinds + np.arange(kinds)[:, None]
        self.neighbors = torch.from_numpy(rows).to(inputs.device)

    def forward(self, inputs: TypedInputs) -> torch.Tensor:
        """Return the vectors of all nodes for each scored relation, float (n, relations * dim)."""
        nodes = torch.arange(inputs.num_nodes, device=self.base.device)
        found = [
            torch.cat([self.vectors(part, one) for one in self.relations], dim=1)
            for part in nodes.split(1 << 14)
        ]
        return torch.cat(found)

    def decode(self, vectors: torch.Tensor, links: torch.Tensor) -> torch.Tensor:
        """Return the scores of links, float (n,): the cosine of the two nodes' vectors for the relation."""
        place = torch.zeros(max(self.relations) + 1, dtype=torch.int64, device=links.device)
        for number, relation in enumerate(self.relations):
            place[relation] = number
        table = vectors.view(len(vectors), len(self.relations), -1)
        number = place[links[:, 1]]
        return (table[links[:, 0], number] * table[links[:, 2], number]).sum(1)

    def vectors(self, nodes: torch.Tensor, relation: int | torch.Tensor) -> torch.Tensor:
        """Return the vectors of nodes for a relation, a number or int64 (1,), float (b, dim), of length one.

        Equations 3 to 6 of GATNE: the edge embeddings of a node's neighbours by each relation are added up,
        weighed by attention, and mapped to what is added to the base vector.
        """
        near = self.neighbors[nodes]
        gathered = F.embedding_bag(near.flatten(0, 1), self.edge, mode="sum").view(*near.shape[:2], -1)
        hidden, score, spread = (_part(one, relation) for one in (self.hidden, self.score, self.spread))
        logits = torch.tanh(gathered @ hidden) @ score
        mixed = (logits.softmax(1) * gathered).sum(1)
        return F.normalize(F.embedding(nodes, self.base) + mixed @ spread, dim=1)


class SkipGramObjective(Objective):
    """Predicts the nodes near a node in walks along each relation, against nodes drawn by frequency.

    Args:
        inputs: the typed graph.
        relations: the relations that are walked along.
        walks: walks that begin at each node in an epoch.
        length: nodes in a walk.
        window: how far apart two nodes of a walk may be.
        negatives: nodes drawn against each pair, of the type of the node that is predicted.
        batch_size: pairs of a step.
        key: what the walks depend on.
        steps: the largest number of steps in an epoch; 0: one for each batch.
        noise: ``type`` draws against a pair as said; ``rank`` draws from all nodes, by the rank of their
            degree in the relations that are walked along.
        fixed: draw the walks once. Epochs then take the same batches in another order.
    """

    def __init__(
        self,
        inputs: TypedInputs,
        relations: tuple[int, ...],
        walks: int,
        length: int,
        window: int,
        negatives: int,
        batch_size: int,
        key: int,
        steps: int = 0,
        noise: str = "type",
        fixed: bool = False,
    ) -> None:
        self.epoch_steps, self.fixed = steps, fixed
        self.drawn: dict[int, NDArray[np.int32]] = {}
        self.inputs, self.walks, self.length, self.window = inputs, walks, length, window
        self.negatives, self.batch_size, self.key, self.first = negatives, batch_size, key, 0
        self.graphs = {one: undirected(inputs, one) for one in relations}
        self.graphs = {one: graph for one, graph in self.graphs.items() if len(graph[1])}
        degrees = sum(np.diff(indptr) for indptr, _ in self.graphs.values())
        self.weights = np.concatenate([[0.0], np.cumsum(degrees**EXPONENT)])
        frequent = np.argsort(-degrees, kind="stable")[: np.count_nonzero(degrees)]
        self.frequent = torch.from_numpy(frequent).to(inputs.device) if noise == "rank" else None

    def steps(self, rng: np.random.Generator) -> Iterator[tuple[torch.Tensor, ...]]:
        """Yield a relation, and nodes, context nodes and nodes drawn against these; relations are mixed."""
        found = self.drawn
        if not found:
            # Fixed pairs depend on the key alone, so that a resumed training has the same.
            order = generator(self.key, "pairs") if self.fixed else rng
            found = {relation: self.pairs(relation, order) for relation in self.graphs}
        if self.fixed:
            self.drawn = found
        batches = [
            (relation, first)
            for relation, pairs in found.items()
            for first in range(0, len(pairs), self.batch_size)
        ]
        for place in rng.permutation(len(batches))[: self.epoch_steps or None]:
            relation, first = batches[place]
            node, context = found[relation][first : first + self.batch_size].T.astype(np.int64)
            drawn = self.draw(context, rng) if self.frequent is None else self.draw_ranks(len(context))
            given = (torch.as_tensor(one) for one in (np.array([relation]), node, context, drawn))
            yield tuple(one.to(self.inputs.device) for one in given)

    def backward(
        self, model: GatneModel, step: tuple[torch.Tensor, ...], rng: np.random.Generator
    ) -> torch.Tensor:
        """Compute the loss and its gradients; return the loss, float ()."""
        del rng
        relation, nodes, context, drawn = step
        own = model.vectors(nodes, relation)
        near = (own * F.embedding(context, model.context)).sum(1)
        far = (F.embedding(drawn, model.context) * own.unsqueeze(1)).sum(2)
        loss = -(F.logsigmoid(near) + F.logsigmoid(-far).sum(1)).mean()
        loss.backward()
        return loss.detach()

    def saved(self) -> dict[str, Any]:
        """Return the number of the next walk; fixed walks are drawn again from the first."""
        return {"first": 0 if self.fixed else self.first}

    def load(self, saved: Mapping[str, Any]) -> None:
        """Load the number of the next walk."""
        self.first = saved.get("first", 0)

    def pairs(self, relation: int, rng: np.random.Generator) -> NDArray[np.int32]:
        """Return pairs of nodes that are near each other in walks, in random order, int32 (m, 2)."""
        indptr, indices = self.graphs[relation]
        roots = np.repeat(np.flatnonzero(np.diff(indptr)), self.walks).astype(np.int32)
        walks = random_walks(indptr, indices, roots, self.length, self.key, 1.0, 1.0, self.first)
        self.first += len(roots)
        found = []
        for shift in range(1, min(self.window, self.length - 1) + 1):
            ends = np.stack([walks[:, :-shift].ravel(), walks[:, shift:].ravel()], axis=1)
            found += [ends, ends[:, ::-1]]
        return rng.permutation(np.concatenate(found))

    def draw(self, context: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Return nodes of the same types, drawn by degree to the power of 3/4, int64 (b, negatives)."""
        starts = np.asarray(self.inputs.starts)
        kind = self.inputs.graph.types[context]
        first, last = starts[kind], starts[kind + 1]
        low, high = self.weights[first][:, None], self.weights[last][:, None]
        place = low + rng.random((len(context), self.negatives)) * (high - low)
        drawn = np.searchsorted(self.weights, place, side="right") - 1
        kept: NDArray[np.int64] = np.clip(drawn, first[:, None], last[:, None] - 1)
        return kept

    def draw_ranks(self, count: int) -> torch.Tensor:
        """Return nodes of any type, int64 (count, negatives), by the rank of their degree.

        Rank k has the weight log(1 + 1 / k), as in the published code, which takes it from word2vec.
        """
        assert self.frequent is not None
        most = len(self.frequent)
        drawn = torch.rand(count, self.negatives, device=self.inputs.device, dtype=torch.float64)
        return self.frequent[((most + 1.0) ** drawn).long().clamp(1, most) - 1]


def _part(table: torch.Tensor, relation: int | torch.Tensor) -> torch.Tensor:
    """Return the part of a table for a relation; a relation on the device is not read by the CPU."""
    return table[relation] if isinstance(relation, int) else table.index_select(0, relation).squeeze(0)


def undirected(inputs: TypedInputs, relation: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the CSR adjacency of a relation in both directions."""
    pairs = inputs.graph.edges[relation].astype(np.int64)
    keys = np.concatenate([pairs @ [inputs.num_nodes, 1], pairs @ [1, inputs.num_nodes]])
    source, target = np.divmod(np.unique(keys), inputs.num_nodes)
    indptr = np.searchsorted(source, np.arange(inputs.num_nodes + 1))
    return indptr.astype(np.int64), target.astype(np.int32)


def sampled_neighbors(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], count: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return neighbours of each node, int64 (n, count): all of them if they are few, repeated or drawn."""
    degrees = np.diff(indptr)
    if not len(indices):
        return np.tile(np.arange(len(degrees))[:, None], (1, count))
    place = np.where(
        degrees[:, None] > count,
        (rng.random((len(degrees), count)) * degrees[:, None]).astype(np.int64),
        np.arange(count) % np.maximum(degrees, 1)[:, None],
    )
    found = indices[np.minimum(indptr[:-1, None] + place, len(indices) - 1)].astype(np.int64)
    # A node without neighbours stands for them itself.
    return np.where(degrees[:, None] > 0, found, np.arange(len(degrees))[:, None])
