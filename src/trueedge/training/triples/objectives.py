"""Training objectives for triples; batches are made on the device."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from itertools import islice
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.modules.batchnorm import _BatchNorm

from trueedge.training.loop import Objective
from trueedge.training.triples.index import TripleIndex
from trueedge.training.triples.losses import cross_entropy, self_adversarial, smooth
from trueedge.training.triples.model import Tables, TripleModel
from trueedge.training.triples.schedule import TripleSchedule

Step = tuple[torch.Tensor, ...]
# Batches from which statistics are recomputed after weights are averaged.
STATISTICS_BATCHES = 100


def make_objective(
    index: TripleIndex,
    schedule: TripleSchedule,
    weights: NDArray[np.float32] | None = None,
    repeats: NDArray[np.int64] | None = None,
) -> TripleObjective:
    """Return the objective that a schedule names.

    Args:
        index: the training triples.
        weights: the weight of each triple of the index in the loss; None: all 1.
        repeats: how often each triple occurs in an epoch; None: once. With ``1-n``, a query occurs once with
            all its answers, so weights take their place.
    """
    if schedule.objective == "1-n":
        return AllTails(index, schedule, weights)
    return SampledTails(index, schedule, weights, repeats)


class TripleObjective(Objective):
    """Queries (head, relation), and the loss of the scores of their tails."""

    capturable: ClassVar[bool] = True

    def __init__(
        self, index: TripleIndex, schedule: TripleSchedule, weights: NDArray[np.float32] | None
    ) -> None:
        self.index, self.schedule = index, schedule
        self.weights = None if weights is None else torch.from_numpy(weights).to(index.device)

    @abstractmethod
    def items(self) -> NDArray[np.int64]:
        """Return what is shuffled and divided into batches in each epoch."""

    @abstractmethod
    def queries(self, batch: torch.Tensor) -> torch.Tensor:
        """Return the queries of a batch of items, int64 (b,)."""

    @abstractmethod
    def loss(
        self, model: TripleModel, query: torch.Tensor, tables: Tables, batch: torch.Tensor
    ) -> tuple[torch.Tensor, int]:
        """Return the sum of the losses of a batch, float (), and the number of terms."""

    def steps(self, rng: np.random.Generator) -> Iterator[Step]:
        """Yield the batches of an epoch, each a tensor on the device."""
        order = torch.from_numpy(rng.permutation(self.items())).to(self.index.device)
        for batch in order.split(self.batch_sizes(len(order))):
            yield (batch,)

    def batch_sizes(self, count: int) -> list[int]:
        """Return the sizes of the batches of some items: none is alone, since a batch norm needs two."""
        size = self.schedule.batch_size
        sizes = [size] * (count // size)
        if count % size == 1 and sizes:
            sizes[-1] += 1
        elif count % size:
            sizes.append(count % size)
        return sizes

    def backward(self, model: Any, step: Step, rng: np.random.Generator) -> torch.Tensor:
        """Return the mean loss of a batch, after its gradients are computed."""
        del rng
        tables = model.encode()
        total, terms = self.loss(model, self.query_vectors(model, tables, step), tables, step[0])
        loss = total / terms
        loss.backward()
        return loss.detach()

    def query_vectors(self, model: TripleModel, tables: Tables, step: Step) -> torch.Tensor:
        """Return the vectors of a step's queries, float (b, d)."""
        heads, relations = self.index.queries[:, self.queries(step[0])]
        return model.query(heads, relations, tables)

    def _cross_entropy(
        self, logits: torch.Tensor, labels: torch.Tensor, weights: torch.Tensor | None
    ) -> torch.Tensor:
        return cross_entropy(logits, labels, weights, self.schedule.focal, self.schedule.fixed_factor)

    def recompute_statistics(self, model: TripleModel) -> None:
        """Recompute the statistics of batch norms from batches as in training."""
        norms = [part for part in model.modules() if isinstance(part, _BatchNorm)]
        if not norms:
            return
        momenta = [norm.momentum for norm in norms]
        for norm in norms:
            norm.reset_running_stats()
            norm.momentum = None
        training = model.training
        model.train()
        with torch.no_grad():
            tables = model.encode()
            for step in islice(self.steps(np.random.default_rng(0)), STATISTICS_BATCHES):
                self.query_vectors(model, tables, step)
        model.train(training)
        for norm, momentum in zip(norms, momenta, strict=True):
            norm.momentum = momentum


class AllTails(TripleObjective):
    """Scores all entities for each query, and compares them with all its answers (1-N)."""

    def __init__(
        self, index: TripleIndex, schedule: TripleSchedule, weights: NDArray[np.float32] | None = None
    ) -> None:
        super().__init__(index, schedule, weights)
        self._most = index.most_answers(schedule.batch_size)

    def items(self) -> NDArray[np.int64]:
        """Return all queries."""
        return np.arange(self.index.num_queries)

    def queries(self, batch: torch.Tensor) -> torch.Tensor:
        """Return the batch, which is of queries."""
        return batch

    def labels(self, batch: torch.Tensor) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor] | None]:
        """Return the smoothed labels of all entities, float (b, entities), and what is weighted.

        That is where the answers are in the table, int64 (answers,), and how much their weights exceed 1;
        None without weights.
        """
        index = self.index
        # On a GPU the number of answers stays unknown to the CPU, which would have to wait for it.
        known = index.device.type == "cpu"
        answers = int((index.indptr[batch + 1] - index.indptr[batch]).sum()) if known else self._most
        row, triple, real = index.labels(batch, answers)
        # What is no answer goes to a row of its own, which is cut off.
        place = torch.where(real, row, len(batch)) * index.num_entities + index.tails[triple]
        # Smoothed as by `smooth`, without another pass over the table.
        share = self.schedule.label_smoothing
        least = share / index.num_entities
        table = torch.full((len(batch) + 1, index.num_entities), least, device=index.device)
        table.view(-1).scatter_(0, place, 1 - share + least)
        if self.weights is None:
            return table[:-1], None
        # What is no answer has no weight. Its places differ: gradients of one place are added one by one.
        spread = torch.arange(len(real), device=index.device) % table[:-1].numel()
        return table[:-1], (
            torch.where(real, place, spread),
            torch.where(real, self.weights[triple] - 1, 0.0),
        )

    def loss(
        self, model: TripleModel, query: torch.Tensor, tables: Tables, batch: torch.Tensor
    ) -> tuple[torch.Tensor, int]:
        """Return the sum of the cross-entropies of all entities."""
        labels, weighted = self.labels(batch)
        logits = model.score_all(query, tables)
        total = self._cross_entropy(logits, labels, None)
        if weighted is not None:
            # All weights but those of answers are 1: a table of them would take two more passes.
            place, excess = weighted
            own, wanted = (table.reshape(-1).index_select(0, place) for table in (logits, labels))
            total = total + self._cross_entropy(own, wanted, excess)
        return total, logits.numel()


class SampledTails(TripleObjective):
    """Scores the tail of each triple and sampled entities (1-K, or with self-adversarial weights)."""

    def __init__(
        self,
        index: TripleIndex,
        schedule: TripleSchedule,
        weights: NDArray[np.float32] | None = None,
        repeats: NDArray[np.int64] | None = None,
    ) -> None:
        super().__init__(index, schedule, weights)
        triples = np.arange(len(index))
        self._items = triples if repeats is None else np.repeat(triples, repeats)

    def items(self) -> NDArray[np.int64]:
        """Return all triples, each as often as it occurs."""
        return self._items

    def queries(self, batch: torch.Tensor) -> torch.Tensor:
        """Return the query of each triple."""
        return self.index.query[batch]

    def candidates(self, batch: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the tail of each triple and its negatives, int64 (b, 1 + k), and whether it has any."""
        schedule, index = self.schedule, self.index
        draw = index.other_entities if schedule.filter_negatives else index.any_entities
        negatives, exist = draw(self.queries(batch), schedule.negatives)
        return torch.cat([index.tails[batch].unsqueeze(1), negatives], dim=1), exist

    def loss(
        self, model: TripleModel, query: torch.Tensor, tables: Tables, batch: torch.Tensor
    ) -> tuple[torch.Tensor, int]:
        """Return the sum of the losses of all triples."""
        schedule = self.schedule
        candidates, exist = self.candidates(batch)
        logits = model.score_some(query, candidates, tables)
        weights = exist.to(logits.dtype) if self.weights is None else self.weights[batch] * exist
        if schedule.objective == "sampled":
            terms = self_adversarial(logits, schedule.temperature, schedule.focal, schedule.fixed_factor)
            return (terms * weights).sum(), len(batch)
        labels = torch.zeros_like(logits)
        labels[:, 0] = 1.0
        labels = smooth(labels, schedule.label_smoothing)
        return self._cross_entropy(logits, labels, weights.unsqueeze(1)), logits.numel()
