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
WHOLE, SCORED = "dense rows", "dense rows, only scored nodes sorted"


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
    """The dense rows on some positives, extrapolated: PageRank by distinct ends, the rest by positives.

    The bar is on the straightforward ranking of whole rows; the one that sorts scored nodes only is context.
    """
    some = positives[:few]
    ends = np.unique(some)
    stack = dense_rows.stack_pagerank(graph, ALPHA, EPS)
    ours = dict(zip(ends.tolist(), estimates(graph, ends), strict=True))
    two = [int(end) for end in ends[:2]]
    within_bound(EPS * graph.degrees, np.stack([ours[e] for e in two]), np.stack([stack(e) for e in two]))
    quick = negatives.heart(graph, some, k, alpha=ALPHA, eps=EPS, ties="released")

    def ranked(rank: dense_rows.Ranker) -> Clock:
        clock = Clock([], [])
        check(quick, clock.time(lambda: dense_rows.hard_negatives(graph, some, k, ours.__getitem__, rank)))
        return clock

    pushing = Clock([], [])
    with Bystanders() as bystanders:
        pushing.time(lambda: [stack(int(end)).sum() for end in ends])
        whole, scored = ranked(dense_rows.rank_whole_row), ranked(dense_rows.rank_scored)
    pushes, factor = len(np.unique(positives)) / len(ends), len(positives) / few
    push = part("of that, PageRank from a searched stack", pushing, pushes, f"{len(ends)} end nodes", base)
    parts = [
        part("of that, dense rows and ranking", clock, factor, f"{few} positives", base, who)
        for clock, who in ((whole, WHOLE), (scored, SCORED))
    ]
    rows = [
        both(task, [push, parts[0]], few / len(positives), Bar("ratio", 100)),
        push,
        parts[0],
        both(task, [push, parts[1]], few / len(positives), None),
        parts[1],
    ]
    return [replace(row, others=bystanders.share) for row in rows]


def both(task: str, parts: list[Row], share: float, bar: Bar | None) -> Row:
    """The line of all of the dense rows' work."""
    seconds = sum(row.seconds or 0.0 for row in parts)
    ratio = sum(row.ratio or 0.0 for row in parts)
    return Row(
        task,
        parts[1].who,
        seconds,
        user=sum(row.user or 0.0 for row in parts),
        share=share,
        ratio=ratio,
        bar=str(bar) if bar else "",
        reached=ratio >= bar.value if bar else None,
        note=f"one thread; {parts[1].note.partition('; ')[2]}; rows of end nodes alone, each pushed once",
    )


def part(name: str, clock: Clock, factor: float, what: str, base: float, who: str = WHOLE) -> Row:
    """The line of one half of the dense rows' work, timed once."""
    seconds = clock.seconds[0] * factor
    return Row(
        name,
        who,
        seconds,
        user=clock.user[0] * factor,
        memory=clock.memory,
        share=1 / factor,
        ratio=seconds / base,
        note=f"one thread; extrapolated from {what}",
    )


def estimates(graph: Graph, ends: NDArray[np.int64]) -> NDArray[np.float64]:
    """Our PageRank of some nodes as dense rows, float64 (ends, n)."""
    from trueedge.kernels.walks.push import push_rows

    rows = push_rows(graph.indptr, graph.indices, ends, ALPHA, EPS)
    scores = np.zeros((len(ends), graph.num_nodes))
    scores[np.repeat(np.arange(len(ends)), np.diff(rows.starts)), rows.nodes] = rows.scores
    return scores


def check(ours: NDArray[np.int32], theirs: NDArray[np.int32]) -> None:
    """Refuse to go on unless dense rows and ours choose the very same negatives from the same scores."""
    if not np.array_equal(ours, theirs):
        at = int(np.argmin((ours == theirs).all(axis=(1, 2))))
        raise DisagreementError(f"the hard negatives of positive {at} differ from those of the dense rows")
