"""The objective of path-based models: true answers against sampled entities."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812

from trueedge.training.loop import Objective
from trueedge.training.paths.edges import Edges
from trueedge.training.paths.model import PathModel


class PathObjective(Objective):
    """Binary cross-entropy with negatives that weigh more the higher they score.

    Half of a batch asks for tails, the other half for heads. Negatives are never known answers. The triples
    of a batch are no edges while they are asked for.

    Args:
        triples: int (m, 3), the training triples.
        edges: their edges.
        batch_size: triples of a batch.
        negatives: negatives of a triple.
        temperature: of the softmax over the negatives' scores that weighs them; 0: all weigh the same.
        remove_all: remove every edge between head and tail of a triple, not only that of its own relation.
    """

    def __init__(
        self,
        triples: np.ndarray,
        edges: Edges,
        batch_size: int,
        negatives: int,
        temperature: float,
        remove_all: bool = False,
    ) -> None:
        self.triples = torch.from_numpy(np.asarray(triples, dtype=np.int64)).to(edges.device)
        self.edges = edges
        self.batch_size, self.negatives = batch_size, negatives
        self.temperature, self.remove_all = temperature, remove_all
        self.answers = KnownAnswers(edges)

    def steps(self, rng: np.random.Generator) -> Iterator[torch.Tensor]:
        """Yield batches of triples, int64 (b, 3), in random order."""
        order = torch.from_numpy(rng.permutation(len(self.triples))).to(self.edges.device)
        yield from self.triples[order].split(self.batch_size)

    def backward(self, model: PathModel, step: torch.Tensor, rng: np.random.Generator) -> torch.Tensor:
        """Compute the loss of a batch and its gradients; return the loss, float ()."""
        del rng
        loss = self.loss(model, step)
        loss.backward()
        return loss.detach()

    def loss(self, model: PathModel, triples: torch.Tensor) -> torch.Tensor:
        """Return the loss of a batch of triples, float ()."""
        edges = self.edges.without(triples, self.remove_all)
        heads, relations, answers = as_queries(triples, edges.num_relations // 2)
        negatives, exist = self.answers.sample_others(heads, relations, self.negatives)
        logits = model.score(edges, heads, relations, torch.cat([answers.unsqueeze(1), negatives], dim=1))
        true, false = logits[:, 0], logits[:, 1:]
        if self.temperature > 0:
            weights = torch.softmax(false.detach() / self.temperature, dim=1)
        else:
            weights = torch.full_like(false, 1 / self.negatives)
        # The weights of the negatives sum to 1, as that of the answer does. Without any, nothing counts.
        terms = F.softplus(-true) + (weights * F.softplus(false)).sum(1)
        return (terms * exist).mean() / 2


class SoftmaxObjective(Objective):
    """Cross-entropy of the true answer among all entities.

    Each triple of a batch asks for its tail and for its head, and is no edge meanwhile.

    Args:
        triples: int (m, 3), the training triples.
        edges: their edges.
        batch_size: triples of a batch.
        remove_all: remove every edge between head and tail of a triple, not only that of its own relation.
    """

    def __init__(self, triples: np.ndarray, edges: Edges, batch_size: int, remove_all: bool = False) -> None:
        self.triples = torch.from_numpy(np.asarray(triples, dtype=np.int64)).to(edges.device)
        self.edges, self.batch_size, self.remove_all = edges, batch_size, remove_all

    def steps(self, rng: np.random.Generator) -> Iterator[torch.Tensor]:
        """Yield batches of triples, int64 (b, 3), in random order."""
        order = torch.from_numpy(rng.permutation(len(self.triples))).to(self.edges.device)
        yield from self.triples[order].split(self.batch_size)

    def backward(self, model: PathModel, step: torch.Tensor, rng: np.random.Generator) -> torch.Tensor:
        """Compute the loss of a batch and its gradients; return the loss, float ()."""
        del rng
        loss = self.loss(model, step)
        loss.backward()
        return loss.detach()

    def loss(self, model: PathModel, triples: torch.Tensor) -> torch.Tensor:
        """Return the loss of a batch of triples, float ()."""
        edges = self.edges.without(triples, self.remove_all)
        head, relation, tail = triples.t()
        heads, answers = torch.cat([head, tail]), torch.cat([tail, head])
        relations = torch.cat([relation, relation + edges.num_relations // 2])
        logits = model.score(edges, heads, relations)
        return F.cross_entropy(logits, answers)


def as_queries(triples: torch.Tensor, num_relations: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return heads, relations and answers: the first half asks for tails, the second for heads.

    Args:
        triples: int64 (b, 3).
        num_relations: R; relation r + R asks for heads.
    """
    head, relation, tail = triples.t()
    asks_tail = torch.arange(len(triples), device=triples.device) < (len(triples) + 1) // 2
    return (
        torch.where(asks_tail, head, tail),
        torch.where(asks_tail, relation, relation + num_relations),
        torch.where(asks_tail, tail, head),
    )


class KnownAnswers:
    """The entities that are known to answer each query."""

    def __init__(self, edges: Edges) -> None:
        head, relation = edges.head.to(torch.int64), edges.relation.to(torch.int64)
        keys, order = torch.sort(head * edges.num_relations + relation, stable=True)
        self.num_entities, self.num_relations = edges.num_entities, edges.num_relations
        # One more, so that a place behind the last answer can be read.
        self.answers = F.pad(edges.tail.to(torch.int64)[order], (0, 1))
        # Searched rather than indexed, since most pairs of an entity and a relation are no query.
        self.keys = keys
        self.most = int(torch.unique_consecutive(keys, return_counts=True)[1].max()) if len(keys) else 0

    def mask(self, heads: torch.Tensor, relations: torch.Tensor) -> torch.Tensor:
        """Return which entities are known answers of each query, bool (queries, entities)."""
        key = (heads * self.num_relations + relations).unsqueeze(1)
        place = torch.searchsorted(self.keys, key) + torch.arange(self.most, device=key.device)
        known = place < torch.searchsorted(self.keys, key, right=True)
        answer = torch.where(known, self.answers[place.clamp(max=len(self.answers) - 1)], self.num_entities)
        mask = torch.zeros(len(heads), self.num_entities + 1, dtype=torch.bool, device=key.device)
        return mask.scatter_(1, answer, True)[:, :-1]

    def sample_others(
        self, heads: torch.Tensor, relations: torch.Tensor, count: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return entities that are no known answers, drawn with replacement, int64 (queries, count).

        Also return which queries have any, bool (queries,): where every entity is an answer, one is returned.
        """
        free = (~self.mask(heads, relations)).cumsum(1)
        drawn = torch.rand(len(heads), count, device=heads.device) * free[:, -1:]
        found = torch.searchsorted(free, drawn.long() + 1).clamp(max=self.num_entities - 1)
        return found, free[:, -1] > 0
