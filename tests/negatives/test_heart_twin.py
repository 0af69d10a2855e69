"""HeaRT negatives against their plain twin on random graphs."""

from __future__ import annotations

import numpy as np
import pytest

import trueedge.graph as tg
from heart_twin import (
    candidates,
    exact_pagerank,
    ranked_by_paper,
    ranked_by_release,
    resource_allocation,
    rounded,
    score_lists,
)
from trueedge.negatives.heart import heart

ALPHA = 0.15


def make_case(seed: int):
    """A random graph of 20 to 300 nodes with its positives, k, and what else is asked, all from one seed."""
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(20, 301))
    mean_degree = rng.choice([1.0, 2.0, 4.0, 8.0])
    weights = rng.pareto(1.5, nodes) + 0.1 if seed % 2 else np.ones(nodes)
    ends = rng.choice(nodes, size=(int(nodes * mean_degree / 2) + 6, 2), p=weights / weights.sum())
    table = None
    if seed % 3 == 0:
        table = rng.integers(0, 2, (nodes, 12)) if seed % 6 else rng.standard_normal((nodes, 5))
    graph = tg.Graph.from_edges(ends, nodes, table, self_loops="drop", repeats="drop")
    pairs = rng.integers(0, nodes, size=(12, 2))
    positives = pairs[pairs[:, 0] != pairs[:, 1]][:6]
    known = rng.integers(0, nodes, size=(nodes, 2)) if seed % 4 == 1 else None
    heuristics = (
        ["ra", "ppr"] + (["features"] if table is not None else []) + (["cn"] if seed % 5 == 0 else [])
    )
    return (
        graph,
        positives,
        {
            "k": int(rng.choice([2, 8, 20])),
            "heuristics": heuristics,
            "known": known,
            "keep_known": seed % 7 == 3,
            "eps": 1e-10 if seed % 10 else 1e-4,
            "alpha": ALPHA,
        },
    )


def halves(positives, negatives):
    """(kept end, other end, corrupted ends) of both halves of every positive."""
    half = negatives.shape[1] // 2
    for (u, v), rows in zip(positives.tolist(), negatives, strict=True):
        assert (rows[:half, 0] == u).all()
        assert (rows[half:, 1] == v).all()
        yield u, v, rows[:half, 1].tolist()
        yield v, u, rows[half:, 0].tolist()


def allowed(graph, a, b, options):
    known = [] if options["known"] is None else options["known"].tolist()
    return candidates(graph, a, b, known, options["keep_known"])


@pytest.mark.rotating(2)
@pytest.mark.parametrize("seed", range(50))
def test_heart_equals_its_twin_in_every_place(seed):
    graph, positives, options = make_case(seed)
    negatives = heart(graph, positives, **options)
    assert negatives.dtype == np.int32
    assert negatives.shape == (len(positives), options["k"], 2)
    for a, b, corrupted in halves(positives, negatives):
        among = allowed(graph, a, b, options)
        lists = score_lists(graph, a, options["heuristics"], ALPHA, options["eps"])
        expected = [v for _, _, v in ranked_by_paper(lists, among, graph.num_nodes)][: options["k"] // 2]
        assert corrupted[: len(expected)] == expected
        assert set(corrupted[len(expected) :]) <= set(among)
        assert len(set(corrupted)) == len(corrupted)


@pytest.mark.rotating(2)
@pytest.mark.parametrize("seed", range(50))
def test_heart_equals_its_twin_under_the_released_rule(seed):
    graph, positives, options = make_case(seed)
    negatives = heart(graph, positives, ties="released", **options)
    for a, b, corrupted in halves(positives, negatives):
        among = allowed(graph, a, b, options)
        lists = score_lists(graph, a, options["heuristics"], ALPHA, options["eps"])
        order, scored = ranked_by_release(lists, among)
        if scored < len(corrupted):
            has_score = set().union(*lists)
            order = [(rank, v) for rank, v in order if v in has_score]
        expected = [v for _, v in order][: len(corrupted)]
        assert corrupted[: len(expected)] == expected
        assert set(corrupted[len(expected) :]) <= set(among)
        assert len(set(corrupted)) == len(corrupted)


def rank_bounds(low: dict, high: dict, among: list[int], num_nodes: int):
    """The best and the worst rank each candidate can have, when its score is only known within bounds."""
    lows = np.array([low.get(v, 0.0) for v in among])
    highs = np.array([high.get(v, 0.0) for v in among])
    best = 1 + (lows[None, :] > highs[:, None]).sum(axis=1)
    worst = 1 + (highs[None, :] > lows[:, None]).sum(axis=1) - (highs > lows)
    best = np.where(highs <= 0, num_nodes, best)
    worst = np.where(lows <= 0, num_nodes, worst)
    return best, worst


def test_heart_agrees_with_exact_pagerank_wherever_the_error_bound_decides():
    exactly_compared = compared = 0
    for seed in range(50):
        graph, positives, options = make_case(seed)
        options.update(eps=1e-10, heuristics=["ra", "ppr"])
        pagerank = exact_pagerank(graph, ALPHA)
        slack = 1e-10 * graph.degrees
        for a, b, corrupted in halves(positives, heart(graph, positives, **options)):
            among = allowed(graph, a, b, options)
            ra = {v: rounded(score) for v, score in resource_allocation(graph, a).items()}
            # The push falls short by at most its bound; the solve and the rounding add a part in 10^12.
            low = {v: pagerank[a, v] * (1 - 1e-12) - slack[v] for v in among if pagerank[a, v] > 0}
            high = {v: pagerank[a, v] * (1 + 1e-12) for v in among if pagerank[a, v] > 0}
            bounds = [
                rank_bounds(ra, ra, among, graph.num_nodes),
                rank_bounds(low, high, among, graph.num_nodes),
            ]
            first = [tuple(int(x) for x in pair) for pair in zip(bounds[0][0], bounds[1][0], strict=True)]
            last = [tuple(int(x) for x in pair) for pair in zip(bounds[0][1], bounds[1][1], strict=True)]
            best = {v: (min(r), sum(r), v) for v, r in zip(among, first, strict=True)}
            worst = {v: (min(r), sum(r), v) for v, r in zip(among, last, strict=True)}
            ranked = [v for v in among if worst[v][0] < graph.num_nodes]
            if len(ranked) < len(corrupted):
                continue
            compared += 1
            left_out = set(among) - set(corrupted)
            for x in corrupted:
                surely_before = [
                    y for y in left_out if all(m <= n for m, n in zip(worst[y], best[x], strict=True))
                ]
                assert not surely_before
            if all(best[v] == worst[v] for v in among):
                exactly_compared += 1
                assert corrupted == [v for _, _, v in sorted(best.values())][: len(corrupted)]
    assert compared > 300
    assert exactly_compared > 100
