"""Evaluate scores: ranks, and metrics by name."""

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
    """The value of each metric by name; ``units`` holds the values for each unit."""

    def __init__(self, values: Mapping[str, float], units: UnitValues) -> None:
        super().__init__(values)
        self.units = units

    @property
    def ranks(self) -> NDArray[np.float64] | None:
        """Return the mean rank of each positive among its negatives, float64 (P,), or None."""
        return self.units.values.get("mr")


class ListEvaluation(Evaluation):
    """The value of each metric by name, as a mean over queries.

    Attributes:
        queries: the number of queries with a relevant candidate; the values are means over these.
        left_out: the number of queries without one.
    """

    def __init__(self, values: Mapping[str, float], units: UnitValues, queries: int, left_out: int) -> None:
        super().__init__(values, units)
        self.queries = queries
        self.left_out = left_out


def ranks(positive: object, negative: object) -> Ranks:
    """Return the rank of each positive (P,) among the negatives, (M,) shared or (P, K); 1 is best."""
    return PairScores.check(positive, negative).ranks


def evaluate(positive: object, negative: object, names: Iterable[str]) -> dict[str, float]:
    """Return the value of each metric by name, as a fraction of 1 (mean rank: a rank).

    Args:
        positive: numbers (P,).
        negative: numbers (M,) shared by all positives, or (P, K) for each positive.
        names: names of metrics, such as ``["mrr", "hits@10", "auc"]``.
    """
    metrics = _parse(names)
    scores = PairScores.check(positive, negative)
    return {metric.name: metric.value(scores) for metric in metrics}


def measure(scores: Scores, names: Iterable[str], unit: str = "positive") -> Evaluation:
    """Return the value of each metric for checked scores, with the values for each unit (a noun).

    Args:
        scores: the scores with the truth.
        names: the names of the metrics.
        unit: what one value belongs to, a noun.
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
        relevant: bool array (n,), which candidates are relevant.
        names: names of metrics, such as ``["ndcg@100", "vcmpr@50"]``.
        block: these lists are some of many. Otherwise a K larger than every list is an error, since the first
            K would be the whole list, whatever the scores.
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
