"""Evaluate scores: the ranks, and any metrics by their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, must_be
from trueedge.metrics.lists import ListScores
from trueedge.metrics.metric import Metric, get
from trueedge.metrics.ranks import Ranks
from trueedge.metrics.scores import PairScores, Scores
from trueedge.metrics.units import UnitValues, unit_values


class Evaluation(dict[str, float]):
    """Each metric's value by its name, and what each unit contributes.

    Attributes:
        units: values for each unit; empty where no metric is a mean over units.
    """

    def __init__(self, values: Mapping[str, float], units: UnitValues) -> None:
        super().__init__(values)
        self.units = units

    @property
    def ranks(self) -> NDArray[np.float64] | None:
        """The mean rank of each positive among its negatives, float64 (P,); None without such ranks."""
        return self.units.values.get("mr")


class ListEvaluation(Evaluation):
    """Each metric's value by its name, and how many queries it is a mean of.

    Attributes:
        queries: the queries that have a relevant candidate, over which the values are means.
        left_out: the queries that have none, and count nowhere.
    """

    def __init__(self, values: Mapping[str, float], units: UnitValues, queries: int, left_out: int) -> None:
        super().__init__(values, units)
        self.queries = queries
        self.left_out = left_out


def ranks(positive: object, negative: object) -> Ranks:
    """Return the rank of each positive among the negatives, 1 is best.

    Args:
        positive: numbers (P,).
        negative: numbers (M,) shared by all positives, or (P, K) each positive's own.
    """
    return PairScores.check(positive, negative).ranks


def evaluate(positive: object, negative: object, names: Iterable[str]) -> dict[str, float]:
    """Evaluate the scores of positives against those of negatives.

    Args:
        positive: numbers (P,).
        negative: numbers (M,) shared by all positives, or (P, K) each positive's own.
        names: names of metrics, such as ``["mrr", "hits@10", "auc"]``.

    Returns:
        each metric's value by its name, as a fraction of 1 (mean rank: a rank).
    """
    metrics = _parse(names)
    scores = PairScores.check(positive, negative)
    return {metric.name: metric.value(scores) for metric in metrics}


def measure(scores: Scores, names: Iterable[str], unit: str = "positive") -> Evaluation:
    """Return each metric's value of checked scores, with the values for each unit.

    Args:
        scores: checked scores.
        names: names of metrics.
        unit: what a unit is, a noun.
    """
    metrics = _parse(names)
    values = {metric.name: metric.value(scores) for metric in metrics}
    return Evaluation(values, unit_values(scores, metrics, unit))


def evaluate_lists(
    indptr: object, scores: object, relevant: object, names: Iterable[str], *, block: bool = False
) -> ListEvaluation:
    """Evaluate ranked lists of candidates, one list for each query.

    Args:
        indptr: int array (q + 1,), where each query's list starts in ``scores``.
        scores: numbers (n,), the candidates' scores in any order within a list.
        relevant: bool array (n,), which candidates are right.
        names: names of metrics, such as ``["ndcg@100", "vcmpr@50"]``.
        block: these lists are some of many. Otherwise a K that no list reaches is an error, since the whole
            list would be the top, whatever the scores.

    Returns:
        each metric's value by its name; ``queries`` and ``left_out`` say how many queries it is a mean of,
        and how many had no relevant candidate.
    """
    metrics = _parse(names)
    lists = ListScores.check(indptr, scores, relevant)
    longest = int(lists.sizes.candidates.max())
    for metric in metrics:
        if not block and metric.k is not None and metric.k > longest:
            raise InputError(f"{metric.name}: the longest list has only {longest} candidates")
    found = measure(lists, [metric.name for metric in metrics], "query")
    return ListEvaluation(found, found.units, len(lists.sizes.relevant), lists.left_out)


def _parse(names: Iterable[str]) -> list[Metric]:
    listed = [names] if isinstance(names, str) else names
    if not isinstance(listed, Iterable):
        raise must_be("names", "evaluate", "names of metrics, such as ['mrr', 'hits@10']", names)
    return [get(name) for name in listed]
