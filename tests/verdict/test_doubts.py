"""Cheats and mistakes are named in the verdict, and honest models are not accused."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import InputError
from trueedge.methods import Method
from trueedge.verdict import Verdict, judge
from trueedge.verdict.asked import ask_around, pairs_of
from trueedge.verdict.doubts_renumbered import renumbered


def _cheats() -> Any:
    spec = spec_from_file_location("cheats", Path(__file__).parent / "cheats.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    # Dataclasses look their module up.
    import sys

    sys.modules["cheats"] = module
    spec.loader.exec_module(module)
    return module


cheats = _cheats()
# These take half a minute to compile.
SLOW = ("node2vec", "fastrp")


@pytest.fixture(scope="module")
def graph() -> te.Graph:
    """A graph on which vectors of the whole graph are far better than honest ones."""
    return cheats.communities()


@pytest.fixture(scope="module")
def judged(graph: te.Graph, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Judge a case on one split of the graph; baselines are computed once."""
    store = tmp_path_factory.mktemp("runs")
    task = te.task(graph, "existing", 0)

    def run(title: str, make: Any) -> Verdict:
        if title in cheats.NEED_TORCH and find_spec("torch") is None:
            pytest.skip("torch is not installed")
        case = make(graph)
        data = task if case.data is None else te.task(case.data, "existing", 0)
        # A method keeps its own name.
        name = "" if isinstance(case.model, Method) else title
        return judge(case.model, data, seeds=1, name=name, store=store)

    return run


@pytest.mark.parametrize("title", [one for one in cheats.CHEATS if one != "test part read in fit"])
def test_every_cheat_and_mistake_is_named(title: str, judged: Any, graph: te.Graph) -> None:
    make = cheats.CHEATS[title]
    verdict = judged(title, make)
    named = {one.name for one in verdict.suspicions}
    assert verdict.check is not None
    named |= {one.name for one in verdict.check.findings if one.level != "ok"}
    assert make(graph).named in named
    assert not verdict.ok or title in ("saturated", "rounded", "direction dependence", "two epochs")


@pytest.mark.parametrize("title", list(cheats.HONEST))
def test_no_honest_model_is_accused(title: str, judged: Any, thorough: bool) -> None:
    if title in SLOW and not thorough:
        pytest.skip("slow: run with --all")
    verdict = judged(title, cheats.HONEST[title])
    assert [one.sentence for one in verdict.suspicions if one.grave] == []


@pytest.mark.parametrize(
    "reach",
    [
        lambda task: task.test,
        lambda task: task.parts["test"],
        lambda task: task.part("test"),
        lambda task: task.pairs("test"),
        lambda task: task.questions("test"),
        lambda task: task.distinct_pairs("test"),
        lambda task: task.evaluate(np.zeros((task.num_nodes, 2))),
    ],
)
def test_a_fit_that_reaches_for_the_test_part_is_told_so(reach: Any, graph: te.Graph) -> None:
    def fit(task: Any) -> Any:
        reach(task)
        return lambda pairs: np.zeros(len(pairs))

    with pytest.raises(InputError, match="the test part is withheld while a method is fitted"):
        judge(fit, te.task(graph, "existing"), seeds=1, name="curious")


def test_the_view_for_fitting_holds_no_test_edge(graph: te.Graph) -> None:
    for protocol in ("existing", "recommendation"):
        view = te.task(graph, protocol).for_fitting()
        assert view.part_names in (("valid",), ())
        assert view.test_graph is None
        assert not any(name.startswith("test") for name in view.arrays())
    with pytest.raises(InputError, match="withheld"):
        te.task(graph, "recommendation").for_fitting().hidden["test"]
    with pytest.raises(KeyError):
        te.task(graph, "existing").for_fitting().parts["train"]


def test_a_renumbered_task_is_the_same_task(graph: te.Graph) -> None:
    task = te.task(graph, "heart", k=20)
    order = np.random.default_rng(0).permutation(task.num_nodes)
    other = renumbered(task, order)
    for name in ("cn", "cosine"):
        before = task.evaluate(te.methods.create(name).fit(task))
        assert dict(other.evaluate(te.methods.create(name).fit(other))) == pytest.approx(dict(before))
    assert other.graph.labels is None


def test_no_other_pair_is_an_edge_of_any_part(graph: te.Graph) -> None:
    task = te.task(graph, "existing")
    pairs = pairs_of(task)
    assert pairs is not None
    assert not graph.has_edges(pairs["others"]).any()
    assert task.graph.has_edges(pairs["train"]).all()
    assert graph.has_edges(pairs["test"]).all()


def test_a_model_that_cannot_score_all_pairs_is_not_asked(graph: te.Graph) -> None:
    task = te.task(graph, "existing")
    assert ask_around(task, np.zeros((task.num_nodes, 3))) is not None
    assert ask_around(task, lambda pairs: np.full(len(pairs), np.nan)) is None

    def refuses(pairs: Any) -> Any:
        raise ValueError("these pairs are unknown")

    assert ask_around(task, refuses) is None


def test_perfect_results_on_a_handful_of_edges_are_no_surprise() -> None:
    graph = te.Graph.from_edges([(u, v) for u in range(8) for v in range(u)], name="clique")
    other = replace(graph, num_nodes=16)
    verdict = judge(lambda graph: lambda pairs: graph.degrees[pairs].sum(axis=1), other, ["existing"], 1)
    assert "perfect" not in {one.name for one in verdict.suspicions}


@pytest.mark.parametrize(("rare", "doubted"), [(3, False), (25, True)])
def test_perfect_classes_are_no_surprise_if_a_baseline_is_nearly_as_good(rare: int, doubted: bool) -> None:
    edges = np.random.default_rng(0).integers(0, 50, size=(80, 2))
    given = {"y": [0] * (50 - rare) + [1] * rare}
    typed = te.HeteroGraph.from_tables({"a": given}, {("a", "to", "a"): edges}, label="y")
    verdict = judge(np.array(given["y"]), te.task(typed))
    assert ("perfect" in {one.name for one in verdict.suspicions}) == doubted


def test_a_model_below_chance_is_no_cheat_where_degrees_are_below_chance_too() -> None:
    """Old nodes have many edges, and new edges join new nodes: degrees point the wrong way."""
    old = [(u, v) for u in range(30) for v in range(u + 1, 30)]
    new = [(u, u + step) for step in (1, 2) for u in range(30, 180)]
    pairs = np.array([*old, *new])
    graph = te.Graph.from_edges(pairs, name="growing", edge_data={"time": np.arange(len(pairs), dtype=float)})
    made = te.task(graph, "existing", split="time")
    degrees = made.graph.degrees

    def degree(pairs):
        return np.log1p(degrees[pairs[:, 0]]) + np.log1p(degrees[pairs[:, 1]]) / 2

    found = judge(degree, made, name="degree")
    (doubt,) = [one for one in found.suspicions if one.name == "upside-down"]
    assert not doubt.grave
    assert "pa has 0." in doubt.sentence
