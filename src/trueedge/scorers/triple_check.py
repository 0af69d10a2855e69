"""Check what a scorer of triples looks at: a query's entity, its side, or only how often answers occur."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.metrics import PairScores, get
from trueedge.scorers.headline import Headline
from trueedge.scorers.probe import BadAnswerError, CheckResult
from trueedge.scorers.questions import Questions
from trueedge.scorers.scorer import has_with_graph

# Scores that a check keeps at a time: as float64 they take 128 MB.
CHECKED_SCORES = 1 << 24
FEWEST_QUERIES = 50
PAIRS_COMPARED = 200
QUERIES_COMPARED = 20
# Rows that differ by rounding are the same.
ROUNDING = 1e-6
# The rank correlation of a scorer that only counts is 1.
COUNTED = 0.95
Counts = Callable[[NDArray[np.int64]], Mapping[str, NDArray[Any]]]


@dataclass(frozen=True, eq=False)
class AnswersHeadline(Headline):
    """The value of a metric on a sample of queries, whose answers are ranked among all entities.

    Attributes:
        targets: int64 array (n,), the true answers.
    """

    has_direction: ClassVar[bool] = False

    targets: NDArray[np.int64]

    @classmethod
    def of(cls, queries: NDArray[np.int64], targets: NDArray[np.int64], num_entities: int) -> AnswersHeadline:
        """Return the MRR of queries (n, 2)."""
        return cls("mrr", queries, len(queries), (len(queries), num_entities - 1), targets)

    def value(self, scores: NDArray[np.float64]) -> float:
        """Return the metric of scores (n, entities); NaN if some are not finite."""
        if not np.isfinite(scores).all():
            return float("nan")
        return get(self.metric).value(PairScores.check(*self.split(scores)))

    def split(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the scores of the answers (n,), and those of all others (n, entities - 1)."""
        others = np.ones(scores.shape, dtype=np.bool_)
        rows = np.arange(len(scores))
        others[rows, self.targets] = False
        return scores[rows, self.targets], scores[others].reshape(len(scores), -1)


def most_queries(sample: int, num_entities: int) -> int:
    """Return how many queries are checked, so that their scores fit into memory."""
    return min(sample, max(FEWEST_QUERIES, CHECKED_SCORES // max(num_entities, 1)))


def check_queries(
    questions: Questions, scores: NDArray[np.float64], num_relations: int, counts: Counts
) -> list[CheckResult]:
    """Check whether the scores (n, entities) depend on the entity and the side of a query.

    Args:
        questions: the queries (n, 2) and their scorer.
        scores: their scores.
        num_relations: the number of relations R.
        counts: returns for queries how often each entity occurs, (n, entities), by what is counted.
    """
    if not np.isfinite(scores).all():
        return []
    queries = questions.rows
    results = [
        _popularity(queries, scores, counts),
        _entity(queries, scores),
        _side(questions, num_relations),
    ]
    return [one for one in results if one is not None]


def check_graph(scorer: object, bound: object, task: Any, part: str) -> list[CheckResult]:
    """Check whether a scorer can tell the graph of an inductive task's part from the training graph.

    Args:
        scorer: the scorer as it was given.
        bound: the scorer of the part's queries.
        task: the task of triples.
        part: the part.
    """
    graph = task.graph_for(part)
    if graph is task.graph or getattr(bound, "is_table", False):
        return []
    if has_with_graph(scorer):
        return [CheckResult("ok", "graph", f"with_graph gives a scorer for the entities of {graph.name}")]
    sentence = f"there is no with_graph(graph): its numbers are taken for the entities of {graph.name}"
    return [CheckResult("look", "graph", f"{sentence}, and must not be those of {task.graph.name}")]


def _entity(queries: NDArray[np.int64], scores: NDArray[np.float64]) -> CheckResult | None:
    """Compare queries with the same relation and different entities."""
    order = np.lexsort((queries[:, 0], queries[:, 1]))
    left, right = order[:-1], order[1:]
    pairs = (queries[left, 1] == queries[right, 1]) & (queries[left, 0] != queries[right, 0])
    left, right = left[pairs][:PAIRS_COMPARED], right[pairs][:PAIRS_COMPARED]
    if not len(left):
        return None
    same = int(_same(scores[left], scores[right]).sum())
    compared = f"{same} of {len(left)} pairs of queries with the same relation and different entities"
    if 2 * same < len(left):
        return CheckResult("ok", "entity", "the scores depend on the entity of a query")
    return CheckResult(
        "look", "entity", f"the entity of the query is ignored: {compared} get the same scores"
    )


def _side(questions: Questions, num_relations: int) -> CheckResult | None:
    """Compare (entity, r, ?) with (?, r, entity)."""
    rows = questions.rows
    inverse = rows[:, 1] >= num_relations
    if inverse.all() or not inverse.any() or getattr(questions.scorer, "is_table", False):
        return None
    tails = rows[~inverse][:QUERIES_COMPARED]
    try:
        asked = [
            questions.in_batches(tails + np.array([0, shift]), len(tails)) for shift in (0, num_relations)
        ]
    except BadAnswerError as trouble:
        return CheckResult("broken", "side", str(trouble))
    if asked[0].shape != asked[1].shape or not _same(*(one.astype(np.float64) for one in asked)).all():
        return CheckResult("ok", "side", "heads and tails get different scores")
    return CheckResult(
        "look", "side", "heads and tails are not told apart: (e, r, ?) and (?, r, e) get the same scores"
    )


def _popularity(
    queries: NDArray[np.int64], scores: NDArray[np.float64], counts: Counts
) -> CheckResult | None:
    """Compare the order of the entities with that by counts."""
    from scipy.stats import rankdata

    chosen = queries[:QUERIES_COMPARED]
    ranked = rankdata(scores[: len(chosen)], axis=1)
    for what, table in counts(chosen).items():
        found = correlation(ranked, rankdata(table, axis=1))
        if len(found) and np.median(found) >= COUNTED:
            sentence = f"entities are ranked by {what} (rank correlation {np.median(found):.2f})"
            return CheckResult("look", "popularity", f"only counts: {sentence}")
    return CheckResult("ok", "popularity", "entities are not ranked by how often they occur alone")


def correlation(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the correlation of each two rows in which neither is constant."""
    first, second = (one - one.mean(axis=1, keepdims=True) for one in (first, second))
    size = np.sqrt((first**2).sum(axis=1) * (second**2).sum(axis=1))
    return np.asarray((first * second).sum(axis=1)[size > 0] / size[size > 0])


def _same(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which rows are the same up to rounding, bool (n,)."""
    scale = np.maximum(np.abs(first).max(axis=1), np.abs(second).max(axis=1))
    return np.asarray(np.abs(first - second).max(axis=1) <= ROUNDING * scale)
