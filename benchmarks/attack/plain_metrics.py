"""The metrics once more, in plain Python, by comparing every positive with every negative."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

Rows = Sequence[Sequence[float]]


def plain_metrics(positive: Sequence[float], negative: Any) -> dict[str, float]:
    """Return the metrics of scores: MRR, mean rank, Hits@K, AUC and, for shared negatives, AP and precision.

    Args:
        positive: P numbers.
        negative: M numbers shared by all positives, or P lists of numbers.
    """
    shared = not (len(negative) and isinstance(negative[0], (list, tuple)))
    rows: Rows = [list(negative)] * len(positive) if shared else negative
    above = [sum(other > score for other in row) for score, row in zip(positive, rows, strict=True)]
    equal = [sum(other == score for other in row) for score, row in zip(positive, rows, strict=True)]
    best = [1 + more for more in above]
    worst = [1 + more + same for more, same in zip(above, equal, strict=True)]
    middle = [Fraction(one + two, 2) for one, two in zip(best, worst, strict=True)]
    wins = [
        (2 * (len(row) - more - same) + same, 2 * len(row))
        for row, more, same in zip(rows, above, equal, strict=True)
    ]
    found = {
        "mrr": _mean([1 / rank for rank in middle]),
        "mrr.optimistic": _mean([Fraction(1, rank) for rank in best]),
        "mrr.pessimistic": _mean([Fraction(1, rank) for rank in worst]),
        "mr": _mean(middle),
        "auc": _mean([Fraction(*one) for one in wins]),
    }
    for k in range(1, len(rows[0]) + 1):
        found[f"hits@{k}"] = _mean([int(rank <= k) for rank in (worst if shared else middle)])
        found[f"rank-hits@{k}"] = _mean([int(rank <= k) for rank in middle])
        found[f"hits@{k}.optimistic"] = _mean([int(rank <= k) for rank in best])
        found[f"hits@{k}.pessimistic"] = _mean([int(rank <= k) for rank in worst])
    if shared:
        found["ap"] = _average_precision(positive, list(negative))
        for k in range(1, len(positive) + len(negative) + 1):
            found[f"precision@{k}"] = _precision(positive, list(negative), k)
    return found


def task_metrics(part: Any, score: Callable[[int, int], float]) -> dict[str, float]:
    """Return the metrics of a part of a task for a function of two nodes, the smaller one first."""

    def ask(pair: Sequence[int]) -> float:
        return score(min(pair), max(pair))

    positive = [ask(pair) for pair in part.positives.tolist()]
    negative: Any
    if part.per_positive:
        negative = [[ask(pair) for pair in row] for row in part.negatives.tolist()]
    else:
        negative = [ask(pair) for pair in part.negatives.tolist()]
    return plain_metrics(positive, negative)


def split_in_order(part: Any, scores: Sequence[float]) -> dict[str, float]:
    """Return the metrics of scores in the order of a task's pairs: positives, then negatives row by row."""
    count = len(part.positives)
    if not part.per_positive:
        return plain_metrics(scores[:count], list(scores[count:]))
    width = part.negatives.shape[1]
    rows = [list(scores[at : at + width]) for at in range(count, len(scores), width)]
    return plain_metrics(scores[:count], rows)


def _average_precision(positive: Sequence[float], negative: Sequence[float]) -> float:
    shares = []
    for score in positive:
        right = sum(other >= score for other in positive)
        wrong = sum(other >= score for other in negative)
        shares.append(Fraction(right, right + wrong))
    return _mean(shares)


def _precision(positive: Sequence[float], negative: Sequence[float], k: int) -> float:
    """Return the expected share of positives among the K best, over all orders of ties."""
    last = sorted([*positive, *negative], reverse=True)[k - 1]
    sure = sum(score > last for score in positive)
    places = k - sure - sum(score > last for score in negative)
    tied = [sum(score == last for score in group) for group in (positive, negative)]
    return float(Fraction(sure) / k + Fraction(places * tied[0], sum(tied) * k))


def _mean(values: Sequence[Any]) -> float:
    return float(sum(map(Fraction, values), Fraction(0)) / len(values))
