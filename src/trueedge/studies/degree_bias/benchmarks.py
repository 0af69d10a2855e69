"""One split evaluated in four ways: recommendation, and link prediction against three kinds of negatives."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge import datasets, methods, negatives, splits
from trueedge.errors import InputError, whole_number
from trueedge.graph import Graph
from trueedge.methods.heuristics.heuristic import without_rounding_errors
from trueedge.metrics import Evaluation, UnitValues, evaluate
from trueedge.randomness import generator
from trueedge.scorers.scorer import Scorer, score_pairs, scorer_name
from trueedge.splits import Split
from trueedge.tasks import LinkTask, RecommendTask
from trueedge.tasks.full_ranking import Table
from trueedge.tasks.recommend import NodeLists

BENCHMARKS = ("uniform", "degree-corrected", "heart")
FRACTION = 0.25
# Enough for a standard error of a hundredth; the largest network has 26,498 nodes and 16,339 test edges.
QUERIES = 1_000
HEART_POSITIVES = 2_000
HEART_NEGATIVES = 500
# The numbers of hardest negatives per positive, which are HeaRT's negatives for that number.
HARDEST = (2, 10, 20, 50, 100, 500)
LIST_SIZES = (10, 25, 50, 100)
# The paper's lists are of a hundred, retrieved first and then ranked.
CANDIDATES = 100


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class BenchmarksTask(RecommendTask):
    """A recommendation task that also evaluates link prediction, so that methods are fitted only once.

    Most methods retrieve candidates by their own scores; for slow pairwise methods, another one retrieves.

    Attributes:
        asked: the query nodes, int32 (q,).
        links: the test part against each kind of negatives.
        retriever: the method whose best are ranked; None where the ranking method retrieves.
        candidates: how many are retrieved for a node.
    """

    kind: ClassVar[str] = "benchmarks"

    asked: NDArray[np.int32]
    links: Mapping[str, LinkTask]
    retriever: str | None = None
    candidates: int = CANDIDATES

    def queries(self, part: str = "test") -> NDArray[np.int32]:
        """Return the query nodes, int32 (q,), ascending."""
        self.check_part(part)
        return self.asked

    def evaluate(
        self, scorer: object, part: str = "test", metrics: Sequence[str] | None = None
    ) -> Evaluation:
        """Evaluate a scorer by its lists and on every kind of negatives.

        Link prediction metrics are called ``benchmark metric``, such as ``heart auc``.
        """
        bound = self.bind(scorer, part)
        found = self._judge_lists(bound, part, self.metrics if metrics is None else tuple(metrics))
        if metrics is not None:
            return Evaluation(found, UnitValues(self.unit))
        for name, task in self.links.items():
            positive, negative = task.scores(scorer, part)
            # The paper's AUC is over all pairs, also where each positive has negatives of its own.
            pooled = evaluate(positive, negative.reshape(-1), ["auc", *_precisions(positive, negative)])
            found |= {f"{name} {metric}": value for metric, value in pooled.items()}
            if negative.ndim == 2:
                own = evaluate(positive, negative, ["auc", "mrr"])
                found |= {f"{name} own {metric}": value for metric, value in own.items()}
                for k in HARDEST:
                    value = evaluate(positive, hardest(negative, k).reshape(-1), ["auc"])["auc"]
                    found[f"{name}-{k} auc"] = value
        return Evaluation(found, UnitValues(self.unit))

    def _judge_lists(self, ranker: Scorer, part: str, names: tuple[str, ...]) -> dict[str, float]:
        lists = self.lists(part)
        found = lists.rank(self.table(ranker, lists), scorer_name(ranker))
        return dict(lists.measure(found.ranks, names, self.unit))

    def table(self, bound: Scorer, lists: NodeLists) -> Table:
        """Return a function from nodes to the scores of all nodes, or of those that were retrieved."""
        if self.retriever is not None:
            retriever = methods.create(self.retriever).fit(self)
            return lambda asked: lists.by_pairs(
                asked, lambda pairs, starts: self._of_retrieved(bound, retriever, pairs, starts)
            )
        vectors = getattr(bound, "vectors", None)
        if not isinstance(vectors, np.ndarray):
            return super().table(bound, lists)
        wide = vectors.astype(np.float64)
        # Matrix products sum in another order: scores that differ only by rounding must tie.
        return lambda asked: lists.without_known(asked, without_rounding_errors(wide[asked] @ wide.T))

    def _of_retrieved(
        self, ranker: Scorer, retriever: Scorer, pairs: NDArray[np.int64], starts: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        kept = best_of_lists(score_pairs(retriever, pairs), starts, self.candidates)
        scores = np.empty(len(pairs))
        scores[kept] = score_pairs(ranker, pairs[kept])
        # Candidates that are not retrieved are tied behind the others.
        scores[~kept] = scores[kept].min(initial=0.0) - 1.0
        return scores

    def save(self, folder: str | Path) -> Path:
        """Refuse to save: a saved task has one benchmark."""
        del folder
        names = ", ".join(self.links)
        raise InputError(
            f"{self} is of several benchmarks and not saved: save the tasks of {names} one by one"
        )

    @cached_property
    def hashes(self) -> dict[str, str]:
        """The SHA-256 of the graph, the parts, the nodes that are asked and the negatives."""
        asked = hashlib.sha256(np.ascontiguousarray(self.asked, dtype="<i4").tobytes()).hexdigest()
        links = {name: task.hash for name, task in self.links.items()}
        return {**super().hashes, "asked": asked, **links}

    @cached_property
    def hash(self) -> str:
        """A SHA-256 of all that, and of how lists are retrieved."""
        text = " ".join(f"{name}={value}" for name, value in sorted(self.hashes.items()))
        how = f"{self.retriever} {self.candidates} {self.metrics} {HARDEST}"
        return hashlib.sha256(f"{self.kind} {text} {how}".encode()).hexdigest()


def benchmarks(
    source: str | Graph,
    seed: int = 0,
    retriever: str | None = None,
    redraw: str = "both",
    queries: int = QUERIES,
    heart_positives: int = HEART_POSITIVES,
) -> BenchmarksTask:
    """Return the task of a quarter of a network's edges: recommend them, and tell them from negatives.

    Args:
        source: a network's name, or a graph.
        seed: for split, negatives, and which nodes and edges are asked for.
        retriever: the method that retrieves; None where the ranking method does.
        redraw: what of a rejected pair is drawn again: ``both`` ends (Algorithm 1), or the ``target`` as in
            the published runs.
        queries: the most nodes that are asked for a list.
        heart_positives: the most test edges that are judged against hard negatives.

    Aiyappa et al., Implicit Degree Bias in the Link Prediction Task, ICML 2025, section 3.2.
    """
    for name, value in (("queries", queries), ("heart_positives", heart_positives)):
        whole_number(name, "benchmarks", value, 1)
    graph = datasets.load(source) if isinstance(source, str) else source
    split = splits.fraction(graph.largest_component(), FRACTION, seed=seed)
    links = {
        name: LinkTask.from_split(split, name, seed, graph.name, redraw=redraw)
        for name in ("uniform", "degree-corrected")
    }
    links["heart"] = _hard(split, graph.name, seed, heart_positives)
    nodes = np.unique(split.test)
    if len(nodes) > queries:
        nodes = np.sort(generator(seed, "benchmarks", "queries").choice(nodes, size=queries, replace=False))
    sizes = [k for k in LIST_SIZES if k < split.train.num_nodes] or [1]
    settings: dict[str, Any] = {"split": split.name, "redraw": redraw, "queries": len(nodes)}
    if retriever is not None:
        settings |= {"retriever": retriever, "candidates": CANDIDATES}
    return BenchmarksTask(
        dataset=graph.name,
        protocol="recommendation",
        seed=seed,
        graph=split.train,
        hidden={"test": split.test},
        metrics=tuple(f"{metric}@{k}" for metric in ("ndcg", "vcmpr") for k in sizes),
        headline=f"ndcg@{sizes[-1]}",
        settings=settings,
        asked=nodes.astype(np.int32),
        links=links,
        retriever=retriever,
    )


def best_of_lists(scores: NDArray[np.float64], indptr: NDArray[np.int64], count: int) -> NDArray[np.bool_]:
    """Return which candidates are among the best of their list, with ties, bool (n,).

    Args:
        scores: float64 (n,), 0 for what a retriever does not reach: it is never among the best.
        indptr: int64 (q + 1,), where each list starts.
        count: how many of a list.
    """
    kept = np.zeros(len(scores), dtype=np.bool_)
    for start, stop in zip(indptr[:-1].tolist(), indptr[1:].tolist(), strict=True):
        own = scores[start:stop]
        last = np.partition(own, len(own) - count)[len(own) - count] if len(own) > count else -np.inf
        kept[start:stop] = (own >= last) & (own > 0)
    return kept


def hardest(scores: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Return the scores of each positive's k hardest negatives (or all), half for each end.

    Args:
        scores: float64 (P, K), of HeaRT's negatives: two halves, each with the hardest first.
        k: even.
    """
    half = scores.shape[1] // 2
    return np.concatenate(
        [scores[:, : min(k // 2, half)], scores[:, half : half + min(k // 2, half)]], axis=1
    )


def _hard(split: Split, name: str, seed: int, most: int) -> LinkTask:
    """Return some test edges with up to 500 of HeaRT's negatives each."""
    from trueedge.tasks.link import Part

    positives = split.test
    if len(positives) > most:
        rows = generator(seed, "benchmarks", "heart").choice(len(positives), size=most, replace=False)
        positives = positives[np.sort(rows)]
    free = split.train.num_nodes - 2 - int(split.train.degrees[positives].max())
    k = min(HEART_NEGATIVES, 2 * max(free, 1))
    drawn = negatives.heart(split.train, positives, k=k, seed=seed)
    return LinkTask(
        dataset=name,
        protocol="heart",
        seed=seed,
        graph=split.train,
        parts={"test": Part(positives, drawn)},
        metrics=("auc", "mrr"),
        headline="auc",
        settings={"split": split.name, "k": k},
    )


def _precisions(positive: NDArray[np.float64], negative: NDArray[np.float64]) -> list[str]:
    """Return the names of the paper's Hits@K that there are enough pairs for."""
    return [f"precision@{k}" for k in LIST_SIZES if k <= positive.size + negative.size]
