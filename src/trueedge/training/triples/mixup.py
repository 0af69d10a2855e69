"""KG-Mixup: synthetic triples for tails that are rare with their relation.

Shomer et al., Toward Degree Bias in Embedding-Based Knowledge Graph Completion, WWW 2023.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

from trueedge.training.triples.index import TripleIndex
from trueedge.training.triples.losses import cross_entropy
from trueedge.training.triples.model import Tables, TripleModel
from trueedge.training.triples.objectives import AllTails, Step, TripleObjective

# A GPU is faster if steps have few shapes: it gets this many synthetic triples in a batch, or a multiple.
PADDING = 64


@dataclass(frozen=True)
class Mixing:
    """How triples are mixed.

    Attributes:
        threshold: triples whose tail-relation degree is below this are mixed (eta).
        samples: the most synthetic triples for each (k).
        alpha: the share of a triple in the mix has a Beta(alpha, alpha) distribution.
        weight: the weight of synthetic triples in the loss (beta).
        partners: what a triple is mixed with: ``any`` other triple with the same tail, or only those with
            another head and another relation (``distinct``).
        tail_bias: add the model's tail bias to the scores of synthetic triples.
    """

    threshold: int = 5
    samples: int = 5
    alpha: float = 1.0
    weight: float = 1.0
    partners: Literal["any", "distinct"] = "any"
    tail_bias: bool = True


class Partners:
    """The triples that each triple may be mixed with: those with the same tail, without some.

    They are listed by tail and relation. What is left out is one section of that list: the triple itself, or
    all triples with its relation and tail.

    Attributes:
        counts: the number of partners that are drawn for each triple, int64 (m,), on the CPU; 0 if it is not
            mixed.
        samples: the largest of these numbers, k.
    """

    def __init__(self, index: TripleIndex, mixing: Mixing) -> None:
        rows, device = index.rows, index.device
        order = np.lexsort((rows[:, 0], rows[:, 1], rows[:, 2]))
        listed = rows[order]
        place = np.empty(len(rows), dtype=np.int64)
        place[order] = np.arange(len(rows))
        first, size = _sections(listed[:, 2])
        left_out, width = place, np.ones(len(rows), dtype=np.int64)
        if mixing.partners == "distinct":
            starts, width = _sections(listed[:, 1], listed[:, 2])
            left_out, width = starts[place], width[place]
        candidates = size[place] - width
        mixed = index.degrees < mixing.threshold
        self.counts: NDArray[np.int64] = np.where(mixed, np.minimum(candidates, mixing.samples), 0)
        # No more columns than anybody needs.
        self.samples = max(1, int(self.counts.max(initial=0)))
        self._triples = np.flatnonzero(self.counts)

        def put(array: NDArray[np.int64]) -> torch.Tensor:
            return torch.from_numpy(array).to(device)

        self._order = put(order)
        # Of each triple that is mixed: where its tail's section begins, and what to leave out.
        self._first, self._left_out, self._width, self._candidates = (
            put(array[self._triples]) for array in (first[place], left_out, width, candidates)
        )
        # The place of each triple in the table of drawn partners.
        self.row = put(np.cumsum(self.counts > 0) - 1)

    def draw(self) -> torch.Tensor:
        """Draw partners for all triples that are mixed, without replacement, int64 (mixed, k).

        A triple with fewer than k candidates has its partners in the first columns.
        """
        candidates = self._candidates
        chosen: list[torch.Tensor] = []
        for drawn in range(self.samples):
            left = (candidates - drawn).clamp(min=1)
            rank = (torch.rand(len(left), device=left.device, dtype=torch.float64) * left).long()
            # The rank is among those that are left: step over the smaller ones that are taken.
            for taken in chosen:
                rank = rank + (rank >= taken)
            chosen = _sorted_with(chosen, rank)
        # Whoever has no more than k candidates is mixed with all of them.
        few = (candidates <= self.samples).unsqueeze(1)
        ranks = torch.where(few, torch.arange(self.samples, device=few.device), torch.stack(chosen, dim=1))
        place = self._first.unsqueeze(1) + ranks
        place = place + (place >= self._left_out.unsqueeze(1)) * self._width.unsqueeze(1)
        return self._order[place.clamp(max=len(self._order) - 1)]


class MixupObjective(TripleObjective):
    """Adds the loss of synthetic triples to that of another objective (Eq. 12).

    A synthetic triple mixes the head and relation vectors of two triples with the same tail, with the same
    share for both (Eq. 6 to 11); its label is that of an answer, and it counts as one more term of the loss.
    Synthetic triples pass through the model on their own, so that a batch norm sees queries without mixes.
    """

    def __init__(self, objective: TripleObjective, mixing: Mixing) -> None:
        super().__init__(objective.index, objective.schedule, None)
        self.objective, self.mixing = objective, mixing
        self.partners = Partners(objective.index, mixing)
        shape = (max(1, int((self.partners.counts > 0).sum())), self.partners.samples)
        device = self.index.device
        self.padding = 1 if device.type == "cpu" else PADDING
        # Filled in place for each epoch, since a captured step reads them where they are.
        self._drawn = torch.zeros(shape, dtype=torch.int64, device=device)
        self._shares = torch.ones(shape, device=device)

    def items(self) -> NDArray[np.int64]:
        """Return the items of the other objective."""
        return self.objective.items()

    def queries(self, batch: torch.Tensor) -> torch.Tensor:
        """Return the queries of the other objective."""
        return self.objective.queries(batch)

    def loss(
        self, model: TripleModel, query: torch.Tensor, tables: Tables, batch: torch.Tensor
    ) -> tuple[torch.Tensor, int]:
        """Return the loss of the other objective."""
        return self.objective.loss(model, query, tables, batch)

    def steps(self, rng: np.random.Generator) -> Iterator[Step]:
        """Yield each batch with its synthetic triples (see :meth:`mixed`)."""
        if self.partners.counts.any():
            self.draw()
        order = rng.permutation(self.items())
        mixed, sizes = self.mixed(order)
        batches = torch.from_numpy(order).to(self.index.device).split(self.batch_sizes(len(order)))
        yield from zip(
            batches, torch.from_numpy(mixed).to(self.index.device).split(sizes, dim=1), strict=True
        )

    def draw(self) -> None:
        """Draw the partners of all triples and their shares for an epoch."""
        self._drawn.copy_(self.partners.draw())
        alpha = torch.full_like(self._shares, self.mixing.alpha)
        self._shares.copy_(torch.distributions.Beta(alpha, alpha, validate_args=False).sample())

    def backward(self, model: Any, step: Step, rng: np.random.Generator) -> torch.Tensor:
        """Return the loss of a batch with its synthetic triples, after the gradients are computed."""
        del rng
        batch, mixed = step
        tables = model.encode()
        total, terms = self.loss(model, self.query_vectors(model, tables, step), tables, batch)
        if mixed.shape[1]:
            total = total + self.mixing.weight * self.synthetic_loss(model, tables, mixed)
        loss = total / terms
        loss.backward()
        return loss.detach()

    def synthetic_loss(self, model: TripleModel, tables: Tables, mixed: torch.Tensor) -> torch.Tensor:
        """Return the sum of the losses of synthetic triples, float ()."""
        with kept_statistics(model):
            query = model.combine(*self.mix(mixed[0], mixed[1], tables))
        tails = self.index.tails[mixed[0]].unsqueeze(1)
        logits = model.score_some(query, tails, tables, bias=self.mixing.tail_bias).squeeze(1)
        share = 0.0 if self.schedule.objective == "sampled" else self.schedule.label_smoothing
        return cross_entropy(logits, torch.full_like(logits, 1 - share), self.counted(mixed))

    def mix(self, triples: torch.Tensor, which: torch.Tensor, tables: Tables) -> list[torch.Tensor]:
        """Return the mixed head and relation vectors of some triples and their partners, int64 (n,) each."""
        other, share = self._look_up(triples, which)
        index = self.index
        both = ((tables.entities, index.heads), (tables.relations, index.relations))
        return [
            share * table.index_select(0, ids[triples]) + (1 - share) * table.index_select(0, ids[other])
            for table, ids in both
        ]

    def counted(self, mixed: torch.Tensor) -> torch.Tensor:
        """Return the weight of each synthetic triple, 0 or 1."""
        triples, which, weights = mixed
        if self.mixing.partners == "any":
            return weights
        # Partners have another relation; those with the same head are not left out when they are drawn.
        other, _ = self._look_up(triples, which)
        return weights * (self.index.heads[other] != self.index.heads[triples])

    def mixed(self, items: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[int]]:
        """Return the synthetic triples of all batches of some items, int64 (3, n), and their number in each.

        The rows are the triple that is mixed, the number of its partner, and the weight: 0 for what fills a
        batch up.
        """
        of_batches = self.batch_sizes(len(items))
        batch = np.repeat(np.arange(len(of_batches)), of_batches)
        triples = items
        if isinstance(self.objective, AllTails):
            counts = self.index.counts[items]
            triples = _ranges(self.index.starts[items], counts)
            batch = np.repeat(batch, counts)
        found = self.partners.counts[triples]
        listed = np.stack([np.repeat(triples, found), _ranges(np.zeros_like(found), found)])
        sizes = np.bincount(batch, weights=found, minlength=len(of_batches)).astype(np.int64)
        # A batch norm needs two.
        filled = np.where(sizes == 1, max(2, self.padding), sizes + -sizes % self.padding)
        # Filled up with the batch's own triples, which leave a batch norm's statistics much as they are.
        within = _ranges(np.zeros_like(filled), filled)
        own = np.repeat(sizes, filled)
        source = np.repeat(np.cumsum(sizes) - sizes, filled) + within % own
        return np.concatenate([listed[:, source], [within < own]]).astype(np.int64), filled.tolist()

    def _look_up(self, triples: torch.Tensor, which: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return partners by number, int64 (n,), and the shares of the triples themselves, float (n, 1)."""
        row = self.partners.row[triples]
        return self._drawn[row, which], self._shares[row, which].unsqueeze(1)


@contextmanager
def kept_statistics(model: nn.Module) -> Iterator[None]:
    """Leave the running statistics of batch norms as they are inside the block."""
    norms = [part for part in model.modules() if isinstance(part, _BatchNorm)]
    momenta = [norm.momentum for norm in norms]
    for norm in norms:
        norm.momentum = 0.0
    try:
        yield
    finally:
        for norm, momentum in zip(norms, momenta, strict=True):
            norm.momentum = momentum


def _ranges(starts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers from each start on, as many as its count, one range after another."""
    before = np.cumsum(counts) - counts
    found: NDArray[np.int64] = np.arange(counts.sum()) + np.repeat(starts - before, counts)
    return found


def _sections(*columns: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each row of sorted columns where the rows equal to it begin, and how many there are."""
    change = np.zeros(len(columns[0]), dtype=bool)
    change[:1] = True
    for column in columns:
        change[1:] |= column[1:] != column[:-1]
    starts = np.flatnonzero(change)
    sizes = np.diff(np.r_[starts, len(change)])
    return np.repeat(starts, sizes), np.repeat(sizes, sizes)


def _sorted_with(chosen: list[torch.Tensor], rank: torch.Tensor) -> list[torch.Tensor]:
    """Insert a tensor of ranks into a list of tensors that is sorted in every place."""
    result = []
    for taken in chosen:
        result.append(torch.minimum(taken, rank))
        rank = torch.maximum(taken, rank)
    return [*result, rank]
