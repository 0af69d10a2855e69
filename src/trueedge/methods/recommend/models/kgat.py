"""KGAT's model, and its two losses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from trueedge.methods.recommend.models.first_vectors import GraphModel, Pretrained
from trueedge.training.recommend.inputs import RecommendInputs
from trueedge.training.recommend.objective import RankingObjective
from trueedge.training.recommend.rows import rows_of
from trueedge.training.recommend.sparse import Propagation


class KGATModel(GraphModel):
    """Layers that combine a node with its neighbours in two ways, weighted by attention.

    As in the published code, attention is computed once an epoch, and no gradient passes through it: its
    parameters are learned from triples.

    Args:
        inputs: the training interactions.
        sizes: the size of the first vectors, and of each layer.
        relation_dim: the size of the vectors of relations.
        dropout: rate for the states of each layer.
        use: what pretrained vectors are for.
        pretrained: vectors of users and of items, or None.
    """

    def __init__(
        self,
        inputs: RecommendInputs,
        sizes: Sequence[int],
        relation_dim: int,
        dropout: float,
        use: str,
        pretrained: Pretrained,
    ) -> None:
        super().__init__(inputs, inputs.num_nodes, sizes[0], use, pretrained)
        count = 2 * inputs.num_relations
        self.relations = nn.Parameter(nn.init.xavier_uniform_(torch.empty(count, relation_dim)))
        maps = torch.empty(count, sizes[0], relation_dim)
        for one in maps:
            nn.init.xavier_uniform_(one)
        self.maps = nn.Parameter(maps)
        pairs = list(pairwise(sizes))
        self.sums = nn.ModuleList(_linear(given, size) for given, size in pairs)
        self.products = nn.ModuleList(_linear(given, size) for given, size in pairs)
        self.dropout = dropout
        self.register_buffer("weights", torch.zeros(len(inputs.triples)))
        self._bounds = torch.searchsorted(
            inputs.triples[:, 1].contiguous(), torch.arange(count + 1, device=inputs.device)
        ).tolist()
        self._propagation = Propagation(inputs.triples[:, 0], inputs.triples[:, 2], inputs.num_nodes)
        self._stale = True

    def vectors(self, inputs: RecommendInputs) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the vectors of all users and items."""
        if self._stale:
            self.refresh(inputs)
        states = self.first
        found = [states]
        for add, multiply in zip(self.sums, self.products, strict=True):
            near = self._propagation(self.weights, states)
            states = F.leaky_relu(add(states + near)) + F.leaky_relu(multiply(states * near))
            states = F.dropout(states, self.dropout, self.training)
            found.append(F.normalize(states))
        users, items = zip(*(self.divided(one) for one in found), strict=True)
        return torch.cat(users, 1), torch.cat(items, 1)

    def refresh(self, inputs: RecommendInputs) -> None:
        """Compute the attention of every triple anew: a softmax over the triples of each head."""
        with torch.no_grad():
            logits = torch.empty(len(inputs.triples), device=inputs.device)
            for relation, rows in self._by_relation():
                heads, _, tails = inputs.triples[rows].T
                mapped = self.first @ self.maps[relation]
                logits[rows] = (mapped[tails] * torch.tanh(mapped[heads] + self.relations[relation])).sum(1)
            self.weights.copy_(self._propagation.softmax(logits))
        self._stale = False

    def forget_attention(self) -> None:
        """Let attention be computed anew before it is used again."""
        self._stale = True

    def get_extra_state(self) -> torch.Tensor:
        """Return whether attention must be computed anew: weights and attention are saved together."""
        return torch.tensor(self._stale)

    def set_extra_state(self, state: torch.Tensor) -> None:
        """Take over whether the attention of a saved state must be computed anew."""
        self._stale = bool(state)

    def triple_loss(self, triples: torch.Tensor, others: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return TransR's ranking loss of triples against ones with other tails, and a penalty, float ().

        Args:
            triples: int64 (n, 3), sorted by relation.
            others: int64 (n,), the other tails.
        """
        relations, counts = torch.unique_consecutive(triples[:, 1], return_counts=True)
        sizes = counts.tolist()
        pieces = zip(relations.tolist(), triples.split(sizes), others.split(sizes), strict=True)
        losses, penalties = [], []
        for relation, rows, wrong in pieces:
            ends = rows_of(self.first, torch.stack([rows[:, 0], rows[:, 2], wrong])) @ self.maps[relation]
            head, tail, other = ends
            step = self.relations[relation]
            right = ((head + step - tail) ** 2).sum(1)
            losses.append(F.softplus(right - ((head + step - other) ** 2).sum(1)))
            penalties.append((ends**2).sum() + len(rows) * (step**2).sum())
        count = len(triples)
        return torch.cat(losses).mean(), torch.stack(penalties).sum() / (2 * count)

    def _by_relation(self) -> Iterator[tuple[int, slice]]:
        for relation, (first, last) in enumerate(pairwise(self._bounds)):
            if first < last:
                yield relation, slice(first, last)


class KGATObjective(RankingObjective):
    """First the ranking loss of interactions, then the loss of triples, in turn.

    Args:
        model: the model, whose attention is computed anew in each epoch.
        inputs: the training interactions.
        batch_size: interactions of a step.
        sampling: what an epoch goes through.
        regularization: what the penalties are multiplied by.
        triple_batch: triples of a step; 0 leaves their loss out.
    """

    def __init__(
        self,
        model: Any,
        inputs: RecommendInputs,
        batch_size: int,
        sampling: str,
        regularization: float,
        triple_batch: int,
    ) -> None:
        super().__init__(inputs, batch_size, sampling, regularization)
        self.model, self.triple_batch = model, triple_batch
        self._facts = _sorted_keys(inputs)

    def steps(self, rng: np.random.Generator) -> Iterator[Any]:
        """Yield batches of users, items and negatives, then batches of triples and other tails."""
        self.model.forget_attention()
        yield from super().steps(rng)
        if not self.triple_batch:
            return
        random = torch.Generator(self.inputs.device)
        random.manual_seed(int(rng.integers(2**62)))
        triples = self.inputs.triples
        order = torch.randperm(len(triples), generator=random, device=triples.device)
        for rows in order.split(self.triple_batch):
            # Sorted by relation, as the triples are.
            batch = triples[rows.sort().values]
            yield batch, self.other_tails(batch, random)
        self.model.forget_attention()

    def other_tails(self, triples: torch.Tensor, random: torch.Generator) -> torch.Tensor:
        """Return a random node for each triple that is not a tail of its head and relation, int64 (n,)."""
        count = self.inputs.num_nodes

        def drawn(size: int) -> torch.Tensor:
            return torch.randint(count, (size,), generator=random, device=triples.device)

        tails = drawn(len(triples))
        again = torch.nonzero(self._is_fact(triples, tails)).flatten()
        for _ in range(TRIES):
            if not len(again):
                break
            tails[again] = drawn(len(again))
            again = again[self._is_fact(triples[again], tails[again])]
        return tails

    def _is_fact(self, triples: torch.Tensor, tails: torch.Tensor) -> torch.Tensor:
        wanted = _keys(triples[:, 0], triples[:, 1], tails, self.inputs)
        place = torch.searchsorted(self._facts, wanted).clamp_(max=len(self._facts) - 1)
        return self._facts[place] == wanted

    def backward(self, model: Any, step: Any, rng: np.random.Generator) -> torch.Tensor:
        """Compute the loss of a batch and its gradients; return the loss, float ()."""
        if len(step) == 3:
            return super().backward(model, step, rng)
        loss, penalty = model.triple_loss(*step)
        total: torch.Tensor = loss + self.regularization * penalty
        total.backward()
        return total.detach()


# A head that is joined to almost every node keeps the last tail drawn.
TRIES = 20


def _sorted_keys(inputs: RecommendInputs) -> torch.Tensor:
    heads, relations, tails = inputs.triples.T
    return torch.sort(_keys(heads, relations, tails, inputs)).values


def _keys(
    heads: torch.Tensor, relations: torch.Tensor, tails: torch.Tensor, inputs: RecommendInputs
) -> torch.Tensor:
    return (heads * (2 * inputs.num_relations) + relations) * inputs.num_nodes + tails


def _linear(given: int, size: int) -> nn.Linear:
    made = nn.Linear(given, size)
    nn.init.xavier_uniform_(made.weight)
    nn.init.zeros_(made.bias)
    return made
