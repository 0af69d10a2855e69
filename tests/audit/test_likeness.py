"""Likeness and shortcuts: numbers that tell negatives from positives are noticed, others are not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted import NODES, benchmark, own_lists, random_edges, run, skewed_edges

from trueedge.audit import audit
from trueedge.audit.likeness import gap
from trueedge.methods import create

PAIRS = random_edges(5000)
CHECKS = ("degrees", "common-neighbours", "no-common-neighbour", "distances")
SHORTCUTS = ("shortcut-pa", "shortcut-cn", "shortcut-shortest-path")


@pytest.mark.parametrize("check", CHECKS + SHORTCUTS)
def test_where_all_pairs_are_alike_nothing_tells_them_apart(check: str) -> None:
    assert run(check, benchmark()).verdict == "ok"


def rings() -> np.ndarray:
    """Cliques of ten nodes: edges have common neighbours, and pairs across have none and no path."""
    groups = np.arange(NODES).reshape(-1, 10)
    edges = [[group[i], group[j]] for group in groups for i in range(10) for j in range(i + 1, 10)]
    return np.random.default_rng(0).permutation(np.array(edges, np.int32))


@pytest.mark.parametrize(
    "check",
    ["common-neighbours", "no-common-neighbour", "distances", "shortcut-cn", "shortcut-shortest-path"],
)
def test_negatives_across_communities_give_themselves_away(check: str) -> None:
    edges = rings()
    across = np.array([[u, v] for u, v in random_edges(1000, seed=3).tolist() if u // 10 != v // 10])
    task = benchmark(edges[:1400], edges[1400:1500], edges[1500:], across)
    assert run(check, task).verdict == "broken"


@pytest.mark.parametrize("check", ["degrees", "shortcut-pa"])
def test_degrees_that_tell_pairs_apart_are_noticed(check: str) -> None:
    edges = skewed_edges(3600)
    low = np.random.default_rng(1).integers(300, NODES, size=(800, 2))
    assert run(check, benchmark(edges[:3000], edges[3000:3200], edges[3200:], low)).verdict == "broken"


def test_a_handful_of_pairs_is_not_enough_for_a_verdict() -> None:
    task = benchmark(test=PAIRS[3200:3204], negatives=PAIRS[4000:4004])
    found = audit(task)
    for check in CHECKS + SHORTCUTS:
        assert found[check].verdict == "too small"
        assert found[check].advice == ""


def clustered_features(spread: float) -> np.ndarray:
    """A row near the mean of a node's group of ten."""
    rng = np.random.default_rng(2)
    middles = np.repeat(rng.normal(size=(NODES // 10, 16)), 10, axis=0)
    return middles + spread * rng.normal(size=(NODES, 16))


def test_negatives_no_more_alike_than_random_pairs_are_noticed_and_hard_ones_pass() -> None:
    edges = rings()
    parts = (edges[:1400], edges[1400:1500], edges[1500:])
    table = clustered_features(0.3)
    easy = benchmark(*parts, random_edges(800, seed=9), table)
    found = run("feature-similarity", easy)
    assert found.verdict == "look"
    assert found.numbers["hardness"] < 0.1
    assert run("shortcut-cosine", easy).verdict == "broken"
    hard = benchmark(*parts, edges[:300, ::-1], table)
    assert run("feature-similarity", hard).verdict == "ok"
    assert run("shortcut-cosine", hard).verdict == "ok"


def test_features_without_a_link_to_edges_are_no_finding() -> None:
    task = benchmark(features=np.random.default_rng(0).normal(size=(NODES, 8)))
    assert run("shortcut-cosine", task).verdict == "ok"
    assert run("feature-similarity", benchmark(features=np.ones((NODES, 3)))).verdict == "ok"


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=30), st.lists(st.integers(0, 5), min_size=1, max_size=30)
)
def test_the_gap_is_kolmogorov_and_smirnovs(first: list[int], second: list[int]) -> None:
    from scipy.stats import ks_2samp

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the p-value, which is not asked for
        wanted = ks_2samp(first, second, method="asymp").statistic
    assert gap(np.array(first, float), np.array(second, float)) == pytest.approx(wanted)


def test_distances_are_counted_as_networkx_does() -> None:
    import networkx as nx

    edges = random_edges(450)
    task = benchmark(edges, PAIRS[3000:3200], PAIRS[3200:3300], PAIRS[4000:4100])
    graph = nx.Graph(edges.tolist())
    graph.add_nodes_from(range(NODES))
    found = run("distances", task)
    for name, pairs in (("positives", task.test.positives), ("negatives", task.test.negatives)):
        steps = [_steps(graph, u, v) for u, v in pairs.tolist()]
        wanted = [steps.count(step) / len(steps) for step in found.series["steps"].tolist()]
        np.testing.assert_allclose(found.series[name], wanted)


def _steps(graph, u: int, v: int) -> str:
    import networkx as nx

    if not nx.has_path(graph, u, v):
        return "no path"
    length = nx.shortest_path_length(graph, u, v)
    return str(length) if length < 10 else "10+"


@pytest.mark.parametrize(("heuristic", "own"), [("pa", False), ("cn", True), ("shortest-path", True)])
def test_a_shortcut_has_the_metrics_the_task_gives_it(heuristic: str, own: bool) -> None:
    task = benchmark()
    if own:
        ends = np.random.default_rng(0).integers(0, NODES, size=(400, 20))
        task = benchmark(negatives=own_lists(task, ends))
    found = run(f"shortcut-{heuristic}", task)
    wanted = task.evaluate(create(heuristic).fit(task), metrics=["auc", "mrr"])
    assert found.number == wanted["auc"]
    assert found.numbers["mrr"] == wanted["mrr"]


def test_a_rank_is_not_taken_from_a_sample_of_shared_negatives() -> None:
    found = run("shortcut-pa", benchmark(), sample=100)
    assert "mrr" not in found.numbers
    assert abs(found.number - run("shortcut-pa", benchmark()).number) < 0.1


def test_the_way_that_negatives_have_gone_is_named_and_where_there_is_none_it_is_said() -> None:
    table = np.random.default_rng(1).random((NODES, 8)).astype(np.float32)
    test, ends = PAIRS[3200:3600], PAIRS[3200:3600, 1]
    table[ends] = table[test[:, 0]]
    told = run("feature-similarity", benchmark(features=table)).sentence
    assert "% of the way from random pairs to positives" in told
    flat = run("feature-similarity", benchmark(features=np.ones((NODES, 2))))
    assert flat.verdict == "ok"
    assert flat.sentence.endswith("features do not separate positives from random pairs")
