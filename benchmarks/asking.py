"""What it costs to ask about positives and negatives mixed, instead of one after the other."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.graphs import Sizes, heavy_tailed
from benchmarks.metrics import NAMES, in_order
from benchmarks.timing import OURS, Bar, Contender, Row, race
from trueedge import methods
from trueedge.metrics import PairScores
from trueedge.scorers.scorer import score_pairs
from trueedge.tasks import LinkTask, Part

DIMENSION = 32
# Mixing may cost at most three tenths.
BAR = Bar("ratio", 1 / 1.3)


def measure(sizes: Sizes, repeats: int, with_peers: bool = True) -> list[Row]:
    """Evaluate a sum, a common-neighbour index and an embedding on lists of the size of ogbl-citation2."""
    del with_peers
    task = lists(sizes)
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((task.num_nodes, DIMENSION), dtype=np.float32)
    scorers: dict[str, Any] = {
        "a sum of numbers": Sum(),
        "resource allocation": methods.create("ra").fit(task),
        f"an embedding of dimension {DIMENSION}": task.bind(vectors, "test"),
    }
    rows: list[Row] = []
    count, length = task.test.negatives.shape[:2]
    for name, scorer in scorers.items():
        evaluate: Callable[[], Any] = partial(task.evaluate, scorer)
        apart = Contender("asked apart", partial(ask_apart, task, scorer), in_order, bar=BAR)
        what = f"{name}: {count:,} × {length:,}"
        rows += race(what, Contender(OURS, evaluate, in_order), [apart], repeats)
    return rows


class Sum:
    """A scorer that takes next to no time."""

    def score(self, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the sum of both nodes, folded."""
        found: NDArray[np.float64] = (pairs[:, 0] + pairs[:, 1]) % 1_000_003 * 1.0
        return found


def lists(sizes: Sizes) -> LinkTask:
    """Each positive against random partners of its first node, as in ogbl-citation2."""
    graph = heavy_tailed(*sizes.wide)
    rng = np.random.default_rng(0)
    positives = graph.edges[rng.integers(0, graph.num_edges, sizes.ranked[0])]
    negatives = np.empty((*sizes.ranked, 2), dtype=np.int32)
    negatives[..., 0] = positives[:, None, 0]
    negatives[..., 1] = rng.integers(0, graph.num_nodes - 1, sizes.ranked, dtype=np.int32)
    negatives[..., 1] += negatives[..., 1] >= negatives[..., 0]
    return LinkTask(
        dataset=graph.name,
        protocol="lists",
        seed=0,
        graph=graph,
        parts={"test": Part(positives, negatives)},
        metrics=NAMES,
        headline="mrr",
    )


def ask_apart(task: LinkTask, scorer: Any) -> Any:
    """Evaluate as version 0.1 did: all negatives in their order, then all positives."""
    test = task.test
    negative = score_pairs(scorer, test.negatives.reshape(-1, 2)).reshape(test.negatives.shape[:-1])
    return task.evaluate_scores(PairScores.check(score_pairs(scorer, test.positives), negative))
