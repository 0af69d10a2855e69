from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from known_graphs import Case, Pair, cases, check_shared, complete_but, fingerprint, keys, numbered_case
from scipy import stats
from sklearn.metrics import roc_auc_score

from trueedge import InputError, splits
from trueedge.graph import Graph
from trueedge.negatives import degree_corrected, uniform

# The module's name in the package is that of its function.
MODULE = "trueedge.negatives.degree_corrected"


def degrees_of(case: Case, degrees: str) -> np.ndarray:
    pairs = case.taken if degrees == "full" else keys(case.graph.edges)
    return np.bincount(np.array(sorted(pairs), dtype=int).ravel(), minlength=case.graph.num_nodes)


def reachable(case: Case, degrees: str) -> dict[Pair, int]:
    """The free pairs that can be drawn, with the product of their degrees."""
    degree = degrees_of(case, degrees)
    weights = {(u, v): int(degree[u] * degree[v]) for u, v in case.free}
    return {pair: weight for pair, weight in weights.items() if weight}


@settings(max_examples=700, deadline=None)
@given(cases(), st.sampled_from([0, 0.5, 1, 3]), st.sampled_from(["full", "train"]), st.integers(0, 2**63))
def test_negatives_are_distinct_and_never_known(case: Case, ratio: float, degrees: str, seed: int) -> None:
    count = round(ratio * len(case.positives))
    free = len(reachable(case, degrees))
    if count > free:
        with pytest.raises(InputError, match=f"{count} negatives.*only {free} pairs"):
            degree_corrected(case.graph, case.positives, ratio, case.known, seed, degrees)
        return
    negatives = degree_corrected(case.graph, case.positives, ratio, case.known, seed, degrees)
    check_shared(negatives, case, count)
    assert keys(negatives) <= set(reachable(case, degrees))
    again = degree_corrected(case.graph, case.positives, ratio, case.known, seed, degrees)
    assert (negatives == again).all()


@settings(max_examples=100, deadline=None)
@given(cases(), st.sampled_from(["full", "train"]))
def test_all_free_pairs_can_be_asked_for(case: Case, degrees: str) -> None:
    expected = set(reachable(case, degrees))
    if len(case.positives) == 0:
        return
    ratio = len(expected) / len(case.positives)
    assert keys(degree_corrected(case.graph, case.positives, ratio, case.known, 0, degrees)) == expected


@pytest.mark.rotating(2)
@pytest.mark.parametrize("path", ["rejection", "list"])
@pytest.mark.parametrize("degrees", ["full", "train"])
def test_ordered_choices_have_the_probabilities_of_the_algorithm(
    path: str, degrees: str, monkeypatch: pytest.MonkeyPatch, thorough: bool
) -> None:
    """Two negatives in turn, each in proportion to the product of degrees among the pairs that are left."""
    import sys

    if path == "list":
        nothing = np.empty(0, dtype=np.int64)
        monkeypatch.setattr(sys.modules[MODULE], "_drawn_by_rejection", lambda *rest: nothing)
    graph = Graph.from_edges(np.array([(0, 1), (0, 2), (0, 3), (4, 5)]), 6)
    case = Case(graph, np.array([(1, 2), (3, 4)]), np.array([(0, 4)]))
    weights = reachable(case, degrees)
    total = sum(weights.values())
    chances = {
        (first, second): weights[first] / total * weights[second] / (total - weights[first])
        for first, second in itertools.permutations(weights, 2)
    }
    place = {both: i for i, both in enumerate(chances)}
    counts = np.zeros(len(place))
    draws = 4000 if thorough else 1000
    for seed in range(draws):
        drawn = degree_corrected(graph, case.positives, 1, case.known, seed, degrees)
        counts[place[tuple(map(tuple, drawn.tolist()))]] += 1  # type: ignore[index]
    assert stats.chisquare(counts, draws * np.array(list(chances.values()))).pvalue > 0.001


def hubs(seed: int, nodes: int = 1500) -> Graph:
    """A graph with wide degrees and no other structure: ends of edges are drawn by a heavy-tailed weight."""
    rng = np.random.default_rng(seed)
    weight = np.exp(rng.normal(0, 1, nodes))
    ends = rng.choice(nodes, size=(6 * nodes, 2), p=weight / weight.sum())
    return Graph.from_edges(ends, nodes, self_loops="drop", repeats="drop").largest_component()


def test_nodes_occur_in_proportion_to_their_degree() -> None:
    graph = hubs(0)
    split = splits.fraction(graph, keep_connected=False)
    counts = np.zeros(graph.num_nodes)
    for seed in range(20):
        negatives = degree_corrected(split.train, split.test, seed=seed)
        counts += np.bincount(negatives.ravel(), minlength=graph.num_nodes)
    # Exactly: a node's chance is its degree times the degrees of the nodes it is not joined to.
    adjacency = graph.adjacency()
    chances = graph.degrees * (graph.degrees.sum() - graph.degrees - adjacency @ graph.degrees)
    assert stats.chisquare(counts, counts.sum() * chances / chances.sum()).pvalue > 0.001
    slope = stats.linregress(np.log(graph.degrees), np.log(np.maximum(counts, 0.5))).slope
    assert 0.9 < slope < 1.1


def test_degree_tells_positives_from_uniform_negatives_but_not_from_these() -> None:
    def auc(pairs: np.ndarray) -> float:
        both = np.concatenate([split.test, pairs])
        scores = graph.degrees[both].prod(axis=1)
        return float(roc_auc_score(np.arange(len(both)) < len(split.test), scores))

    graph = hubs(1)
    split = splits.fraction(graph, keep_connected=False)
    assert auc(uniform(split.train, split.test)) > 0.8
    assert abs(auc(degree_corrected(split.train, split.test)) - 0.5) < 0.03


def test_degrees_of_positives_count_unless_train_is_asked_for() -> None:
    """Node 4 has no training edge, so that only the full degrees can draw it."""
    graph = Graph.from_edges(np.array([(0, 1), (2, 3)]), 5)
    assert 4 in degree_corrected(graph, [(3, 4)], ratio=7)
    assert 4 not in degree_corrected(graph, [(3, 4)], ratio=4, degrees="train")
    with pytest.raises(InputError, match="5 negatives are asked for, but graph has only 4 pairs"):
        degree_corrected(graph, [(3, 4)], ratio=5, degrees="train")


def test_a_dense_graph_ends() -> None:
    graph = complete_but(300, (17, 205), (3, 4))
    negatives = degree_corrected(graph, graph.edges[:2])
    assert sorted(negatives.tolist()) == [[3, 4], [17, 205]]
    with pytest.raises(InputError, match="3 negatives are asked for, but dense has only 2 pairs"):
        degree_corrected(graph, graph.edges[:3])


def test_rare_pairs_of_a_skewed_graph_are_all_found() -> None:
    """Two leaves of a star of cliques: nearly every draw hits the clique."""
    clique = [(u, v) for u in range(60) for v in range(u + 1, 60)]
    graph = Graph.from_edges(np.array([*clique, (0, 60), (0, 61)]))
    everything = 62 * 61 // 2 - graph.num_edges
    negatives = degree_corrected(graph, graph.edges[:1], ratio=everything)
    check_shared(negatives, Case(graph, graph.edges[:1], graph.edges), everything)


@pytest.mark.parametrize("leaves", [2, 50])
def test_a_star_gives_pairs_of_leaves(leaves: int) -> None:
    star = Graph.from_edges(np.array([(0, i) for i in range(1, leaves + 1)]), leaves + 3)
    negatives = degree_corrected(star, star.edges[:1])
    assert negatives.min() >= 1
    assert negatives.max() <= leaves


def test_no_positives_have_no_negatives() -> None:
    for nodes in (1, 4):
        assert degree_corrected(Graph.from_edges([], nodes), []).shape == (0, 2)
        assert degree_corrected(Graph.from_edges([], nodes), [], degrees="train").shape == (0, 2)


def test_a_graph_without_edges_has_no_degrees_to_draw_by() -> None:
    with pytest.raises(InputError, match="1 negatives are asked for, but graph has only 0 pairs"):
        degree_corrected(Graph.from_edges([], 5), [(0, 1)], degrees="train")


def test_direction_gives_nothing_away() -> None:
    case = numbered_case()
    ascending = degree_corrected(case.graph, case.positives, 4, case.known)
    assert (ascending[:, 0] < ascending[:, 1]).all()
    descending = degree_corrected(case.graph, case.positives[:, ::-1], 4, case.known)
    assert (descending[:, 0] > descending[:, 1]).all()


def test_seeds_differ_and_one_never_changes() -> None:
    case = numbered_case()
    drawn = {
        fingerprint(degree_corrected(case.graph, case.positives, 1, case.known, seed)) for seed in range(10)
    }
    assert len(drawn) == 10
    assert fingerprint(degree_corrected(case.graph, case.positives, 2, case.known, seed=11)) == PINNED
    everything = len(case.free) / len(case.positives)
    assert fingerprint(degree_corrected(case.graph, case.positives, everything, case.known, 11)) == PINNED_ALL


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"degrees": "test"}, "degree_corrected: degrees must be 'full' or 'train', got 'test'"),
        ({"ratio": -0.5}, "degree_corrected: ratio must be a number, 0 or more"),
        ({"positives": [(4, 4)]}, "positives: row 0 joins the node 4 to itself"),
        ({"positives": [(0.5, 1)]}, "positives: row 0 has 0.5, which is not a node id"),
    ],
)
def test_wrong_input_is_named(options: dict[str, object], message: str) -> None:
    case = numbered_case()
    with pytest.raises(InputError, match=message):
        degree_corrected(**{"graph": case.graph, "positives": case.positives, **options})  # type: ignore[arg-type]


PINNED = "60e93c5072f687d21759bcee5e375924787c3ec839b4498149fbabeff8afce41"
PINNED_ALL = "fb451eb9b143fb4d5ba889ad1784017360180eb4610169eb5af2506106851665"
