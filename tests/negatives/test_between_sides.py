"""Negatives of bipartite graphs: all samplers against brute force."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from heart_twin import candidates, ranked_by_paper, ranked_by_release, score_lists
from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.negatives import degree_corrected, full, heart, heart_shards, triplet, uniform
from trueedge.negatives.heart import largest_k

# Nodes of the two sides are mixed, and node 7 is on neither.
SIDES = np.array([0, 1, 0, 1, 1, 0, 1, -1])
EDGES = np.array([(0, 1), (0, 3), (1, 2), (2, 4), (4, 5), (3, 5)])
POSITIVE = np.array([(0, 6)])
FREE = [(0, 4), (1, 5), (2, 3), (2, 6), (5, 6)]


@pytest.fixture
def draws(thorough: bool) -> range:
    """The seeds of repeated draws."""
    return range(4000 if thorough else 500)


@cache
def graph_of() -> Graph:
    return Graph.from_edges(EDGES, 8, name="mixed")


def pairs_of(negatives: np.ndarray) -> list[tuple[int, int]]:
    return [(min(pair), max(pair)) for pair in negatives.reshape(-1, 2).tolist()]


def fits(counts: Counter, expected: dict) -> bool:
    """Whether counts are as likely as expected, by a chi-square test."""
    assert set(counts) <= set(expected)
    total = sum(expected.values())
    wanted = [sum(counts.values()) * share / total for share in expected.values()]
    return chisquare([counts[key] for key in expected], wanted).pvalue > 1e-3


@pytest.mark.parametrize("redraw", ["both", "target"])
def test_uniform_draws_each_set_of_free_pairs_between_the_sides(redraw: str, draws: range) -> None:
    counts: Counter = Counter()
    for seed in draws:
        drawn = uniform(graph_of(), POSITIVE, 2, seed=seed, redraw=redraw, sides=SIDES)
        counts[tuple(sorted(pairs_of(drawn)))] += 1
    sets = {tuple(pair): 1.0 for pair in combinations(FREE, 2)}
    if redraw == "both":
        assert fits(counts, sets)
    assert set(counts) == set(sets)
    everything = uniform(graph_of(), POSITIVE, 5, sides=SIDES)
    assert sorted(pairs_of(everything)) == FREE
    with pytest.raises(InputError, match="only 5 pairs"):
        uniform(graph_of(), POSITIVE, 6, sides=SIDES)


@pytest.mark.parametrize("redraw", ["both", "target"])
def test_degree_corrected_draws_by_the_product_of_degrees(redraw: str, draws: range) -> None:
    counts: Counter = Counter()
    for seed in draws:
        drawn = degree_corrected(graph_of(), POSITIVE, 1, seed=seed, redraw=redraw, sides=SIDES)
        counts.update(pairs_of(drawn))
    degree = np.bincount(np.concatenate([EDGES, POSITIVE]).ravel(), minlength=8)
    weights = {pair: float(degree[pair[0]] * degree[pair[1]]) for pair in FREE}
    if redraw == "both":
        assert fits(counts, weights)
    assert set(counts) == set(FREE)
    everything = degree_corrected(graph_of(), POSITIVE, 5, sides=SIDES)
    assert sorted(pairs_of(everything)) == FREE


def test_degree_corrected_of_the_training_graph_leaves_out_nodes_without_edges() -> None:
    drawn = degree_corrected(graph_of(), POSITIVE, 3, degrees="train", sides=SIDES)
    assert sorted(pairs_of(drawn)) == [(0, 4), (1, 5), (2, 3)]
    with pytest.raises(InputError, match="only 3 pairs"):
        degree_corrected(graph_of(), POSITIVE, 4, degrees="train", sides=SIDES)


def test_triplet_draws_each_free_node_of_the_other_side(draws: range) -> None:
    positives = np.array([(6, 2)])
    counts = [Counter(), Counter()]
    for seed in draws:
        drawn = triplet(graph_of(), positives, 2, seed=seed, sides=SIDES)[0]
        assert drawn[:, 0].tolist() == [6, 6]
        counts[1][tuple(sorted(drawn[:, 1].tolist()))] += 1
    assert set(counts[1]) == {(0, 5)}
    for seed in draws:
        counts[0][int(triplet(graph_of(), [(0, 6)], 1, seed=seed, keep="target", sides=SIDES)[0, 0, 0])] += 1
    assert fits(counts[0], {2: 1.0, 5: 1.0})
    with pytest.raises(InputError, match="node 2 of mixed has only 1 nodes"):
        triplet(graph_of(), [(2, 6)], 2, sides=SIDES)


def test_full_lists_the_free_nodes_of_the_other_side() -> None:
    found = full(graph_of(), [2, 6, 7, 0], known=[(0, 6)], sides=SIDES)
    assert [found.of(row).tolist() for row in range(4)] == [[3, 6], [2, 5], [], [4]]


@st.composite
def bipartite_cases(draw: st.DrawFn) -> tuple[Graph, np.ndarray, np.ndarray]:
    """A graph of two mixed sides, its sides, and positives that are not edges."""
    seed = draw(st.integers(0, 10_000))
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(8, 30))
    sides = rng.permutation(np.arange(nodes) % 2)
    grid = [(u, v) for u in range(nodes) for v in range(u + 1, nodes) if sides[u] != sides[v]]
    chosen = rng.permutation(len(grid))
    cut = int(rng.integers(4, max(5, len(grid) // 3)))
    table = rng.integers(0, 2, (nodes, 6)) if seed % 2 else None
    graph = Graph.from_edges(np.array(grid)[chosen[3 : cut + 3]], nodes, table)
    return graph, sides, np.array(grid)[chosen[:3]]


@settings(max_examples=40, deadline=None)
@given(bipartite_cases(), st.sampled_from(["paper", "released"]), st.booleans())
def test_heart_ranks_the_other_side_as_its_twin_does(
    case: tuple[Graph, np.ndarray, np.ndarray], ties: str, with_known: bool
) -> None:
    graph, sides, positives = case
    known = positives[1:] if with_known else None
    k = largest_k(graph, positives, 6, known, sides=sides)
    if not k:
        return
    heuristics = ["ra", "ppr"] if graph.features is None else ["ppr", "features", "cn"]
    found = heart(graph, positives, k, heuristics, known=known, ties=ties, sides=sides, seed=3)
    lists_used = [name for name in heuristics if name not in ("ra", "cn")]
    for (a, b), rows in zip(positives.tolist(), found.tolist(), strict=True):
        for end, other, half, column in ((a, b, rows[: k // 2], 0), (b, a, rows[k // 2 :], 1)):
            among = candidates(graph, end, other, [] if known is None else known.tolist())
            among = [node for node in among if sides[node] != sides[end]]
            lists = score_lists(graph, end, lists_used, 0.15, 1e-5)
            if ties == "paper":
                ranked = [node for *_, node in ranked_by_paper(lists, among, graph.num_nodes)]
                scored = len(ranked)
            else:
                order, scored = ranked_by_release(lists, among)
                ranked = [node for _, node in order]
            assert {pair[column] for pair in half} == {end}
            got = [pair[1 - column] for pair in half]
            assert len(set(got)) == len(got) == k // 2
            assert set(got) <= set(among)
            if scored >= k // 2:
                assert got == ranked[: k // 2]
            else:
                assert set(got) >= {node for node in among if any(node in one for one in lists)}


def test_the_largest_k_between_the_sides_is_exact() -> None:
    graph, positives = graph_of(), np.array([(2, 6)])
    # Around 2 only node 3 is left, around 6 nodes 0 and 5.
    assert largest_k(graph, positives, 500, sides=SIDES) == 2
    ((first, second),) = heart(graph, positives, 2, ("ppr",), sides=SIDES).tolist()
    assert first == [2, 3]
    assert second in ([0, 6], [5, 6])
    with pytest.raises(InputError, match="the largest possible k is 2"):
        heart(graph, positives, 4, ("ppr",), sides=SIDES)


def test_common_neighbours_alone_are_refused_between_the_sides() -> None:
    with pytest.raises(InputError, match="ra and cn are 0 between the two sides"):
        heart(graph_of(), POSITIVE, 2, ("ra", "cn"), sides=SIDES)


def test_shards_hold_the_same_negatives_and_know_their_sides(tmp_path) -> None:
    graph, positives = graph_of(), np.array([(2, 6), (0, 6)])
    made = heart_shards(graph, positives, tmp_path / "shards", k=2, heuristics=("ppr",), sides=SIDES)
    assert np.array_equal(made.assemble(), heart(graph, positives, 2, ("ppr",), sides=SIDES))
    with pytest.raises(InputError, match="another request"):
        heart_shards(graph, positives, tmp_path / "shards", k=2, heuristics=("ppr",), sides=1 - SIDES)


@pytest.mark.parametrize("sides", [[0, 1], np.zeros(8, dtype=int), np.zeros(8)])
def test_wrong_sides_are_refused(sides: object) -> None:
    for sampler in (uniform, degree_corrected, triplet):
        with pytest.raises(InputError, match=r"sides must hold|does not join the two sides"):
            sampler(graph_of(), POSITIVE, sides=sides)
