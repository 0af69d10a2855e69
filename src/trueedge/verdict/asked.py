"""A model's scores of training edges, hidden edges and pairs that are no edge, side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.graph import in_sorted, pair_keys
from trueedge.metrics import PairScores, get
from trueedge.randomness import generator
from trueedge.scorers.probe import BadAnswerError, ask
from trueedge.scorers.scorer import dimensions_of
from trueedge.tasks import GraphTask, LinkTask, Task
from trueedge.tasks.recommend import RecommendTask

Array = NDArray[np.float64]
# Pairs of each kind; a heuristic like PageRank takes a millisecond for each.
MOST_PAIRS = 800
SEED = 0


@dataclass(frozen=True, eq=False)
class Asked:
    """The scores of some pairs of each kind, float64 (n,).

    Attributes:
        train: edges of the training graph.
        test: test positives.
        valid: validation positives, or None.
        others: random pairs that are no edge in any part.
    """

    train: Array
    test: Array
    valid: Array | None
    others: Array

    @property
    def test_auc(self) -> float:
        """Return the AUC of test positives against random pairs."""
        return auc(self.test, self.others)

    @property
    def train_over_test(self) -> float:
        """Return how often a training edge scores higher than a test positive, ties counting half."""
        return auc(self.train, self.test)

    @property
    def valid_over_test(self) -> float | None:
        """Return how often a validation positive scores higher than a test positive."""
        return None if self.valid is None else auc(self.valid, self.test)


def ask_around(task: Task, scorer: object) -> Asked | None:
    """Return a model's scores of pairs of each kind, asked in one call and in random order.

    None if the task has no such pairs, or if the model cannot score them, as a file of scores cannot.
    """
    pairs = pairs_of(task)
    if pairs is None:
        return None
    rows = np.concatenate(list(pairs.values()))
    order = generator(SEED, "verdict", "order").permutation(len(rows))
    try:
        # On the graph without validation edges, even where they join it for the test part.
        bound = task.bind(scorer, "valid")
        if dimensions_of(bound) != (1,):
            return None
        answer = ask(bound, rows[order])
    except (InputError, BadAnswerError):
        return None
    scores = np.empty(len(rows))
    scores[order] = answer
    if not np.isfinite(scores).all():
        return None
    ends = np.cumsum([len(one) for one in pairs.values()])[:-1]
    found = dict(zip(pairs, np.split(scores, ends), strict=True))
    return Asked(found["train"], found["test"], found.get("valid"), found["others"])


def pairs_of(task: Task) -> dict[str, NDArray[np.int64]] | None:
    """Return some pairs of each kind, int64 (n, 2) with the smaller node first; None without a graph."""
    hidden = _hidden(task)
    if not isinstance(task, GraphTask) or not hidden or not task.graph.num_edges:
        return None
    rng = generator(SEED, "verdict", "pairs")
    kinds = {"train": task.graph.edges, **hidden}
    found = {kind: _some(pairs, rng) for kind, pairs in kinds.items()}
    known = np.concatenate([pair_keys(pairs, task.num_nodes) for pairs in kinds.values()])
    first, second = rng.integers(0, task.num_nodes, (2, 4 * MOST_PAIRS))
    drawn = np.column_stack([np.minimum(first, second), np.maximum(first, second)])
    drawn = drawn[(first != second) & ~in_sorted(pair_keys(drawn, task.num_nodes), np.sort(known))]
    return {**found, "others": drawn[:MOST_PAIRS].astype(np.int64)} if len(drawn) else None


def _hidden(task: Task) -> dict[str, NDArray[np.int32]]:
    """Return the positives of a task's parts."""
    if isinstance(task, LinkTask):
        return {name: task.part(name).positives for name in task.part_names}
    return dict(task.hidden) if isinstance(task, RecommendTask) else {}


def _some(pairs: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.int64]:
    chosen = rng.choice(len(pairs), size=min(MOST_PAIRS, len(pairs)), replace=False)
    return np.sort(pairs[chosen].astype(np.int64), axis=1)


def auc(above: Array, below: Array) -> float:
    """Return how often a score of the first is larger than one of the second, ties counting half."""
    return float(get("auc").value(PairScores.check(above, below)))
