"""Hard negatives end to end, beside the same procedure over dense rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchmarks import dense_rows
from benchmarks.graphs import Sizes, with_held_out
from benchmarks.ppr import within_bound
from benchmarks.timing import OURS, Bar, Bystanders, Clock, Contender, DisagreementError, Row, race
from trueedge import negatives
from trueedge.graph import Graph

K, ALPHA, EPS = 500, 0.15, 1e-5


def measure(sizes: Sizes, repeats: int, with_peers: bool = True) -> list[Row]:
    """The negatives of all positives, and the time the dense rows would take for them."""
    split = with_held_out(*sizes.collab, sizes.hard_positives)
    graph, positives = split.train, split.test.astype(np.int64)
    # A graph of a thousand nodes, as tests use it, has not 250 candidates around every hub.
    k = K if graph.num_nodes > 10_000 else 100
    task = f"HeaRT negatives (RA, PPR), {len(positives):,} positives, k = {k}, eps {EPS:g}"

    def run() -> NDArray[np.int32]:
        return negatives.heart(graph, positives, k, alpha=ALPHA, eps=EPS)

    # It takes minutes: the first run is on a few, and one of all counts.
    negatives.heart(graph, positives[:2], k, alpha=ALPHA, eps=EPS)
    ours = race(task, Contender(OURS, run, bar=Bar("seconds", 150)), [], min(repeats, 1))
    if not with_peers:
        return ours
    return ours + dense(task, graph, positives, sizes.few_positives, k, ours[0].seconds or 0.0)


def dense(task: str, graph: Graph, positives: NDArray[np.int64], few: int, k: int, base: float) -> list[Row]:
    """The dense rows on some positives, extrapolated: PageRank by distinct ends, the rest by positives."""
    some = positives[:few]
    ends = np.unique(some)
    pushes = len(np.unique(positives)) / len(ends)
    stack = dense_rows.stack_pagerank(graph, ALPHA, EPS)
    ours = estimates(graph, ends)
    stack(int(ends[0]))
    check(graph, some, ends, ours, k)

    place = {int(end): i for i, end in enumerate(ends)}
    pushing, ranking = Clock([], []), Clock([], [])
    with Bystanders() as bystanders:
        pushing.time(lambda: [stack(int(end)).sum() for end in ends])
        ranking.time(lambda: dense_rows.hard_negatives(graph, some, k, lambda end: ours[place[end]]))
    parts = [
        part("of that, PageRank from a searched stack", pushing, pushes, f"{len(ends)} end nodes", base),
        part("of that, dense rows and ranking", ranking, len(positives) / few, f"{few} positives", base),
    ]
    total = sum(row.seconds or 0.0 for row in parts)
    bar = Bar("ratio", 100)
    whole = Row(
        task,
        "dense rows",
        total,
        user=sum(row.user or 0.0 for row in parts),
        share=few / len(positives),
        ratio=total / base,
        bar=str(bar),
        reached=total / base >= bar.value,
        note=f"one thread; extrapolated from {few} positives; each end node is pushed once",
    )
    return [replace(row, others=bystanders.share) for row in (whole, *parts)]


def part(name: str, clock: Clock, factor: float, what: str, base: float) -> Row:
    """The line of one half of the dense rows' work, timed once."""
    seconds = clock.seconds[0] * factor
    return Row(
        name,
        "dense rows",
        seconds,
        user=clock.user[0] * factor,
        memory=clock.memory,
        share=1 / factor,
        ratio=seconds / base,
        note=f"one thread; extrapolated from {what}",
    )


def estimates(graph: Graph, ends: NDArray[np.int64]) -> NDArray[np.float64]:
    """Our PageRank of some nodes as dense rows, float64 (ends, n)."""
    from trueedge.kernels.push import push_rows

    rows = push_rows(graph.indptr, graph.indices, ends, ALPHA, EPS)
    scores = np.zeros((len(ends), graph.num_nodes))
    scores[np.repeat(np.arange(len(ends)), np.diff(rows.starts)), rows.nodes] = rows.scores
    return scores


def check(
    graph: Graph, some: NDArray[np.int64], ends: NDArray[np.int64], ours: NDArray[np.float64], k: int
) -> None:
    """Refuse to go on unless dense rows and ours choose the very same negatives from the same scores."""
    place = {int(end): i for i, end in enumerate(ends)}
    slow = dense_rows.hard_negatives(graph, some, k, lambda end: ours[place[end]])
    quick = negatives.heart(graph, some, k, alpha=ALPHA, eps=EPS, ties="released")
    if not np.array_equal(slow, quick):
        at = int(np.argmin((slow == quick).all(axis=(1, 2))))
        raise DisagreementError(f"the hard negatives of positive {at} differ from those of the dense rows")
    stack = dense_rows.stack_pagerank(graph, ALPHA, EPS)
    within_bound(EPS * graph.degrees, ours[:2], np.stack([stack(int(end)) for end in ends[:2]]))
