"""Other draws of the negatives that all positives share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import trueedge as te
from trueedge.metrics import UnitValues
from trueedge.tasks import redraws
from trueedge.tasks.link import LinkTask
from trueedge.tasks.redraws import REDRAWS, draws, redrawn_metrics, with_redraws

SHARED = ("existing", "uniform", "degree-corrected")


def made(protocol: str, source: Any = "karate", **options: Any) -> LinkTask:
    task = te.task(source, protocol, seed=0, **options)
    assert isinstance(task, LinkTask)
    return task


@pytest.mark.parametrize("protocol", SHARED)
def test_other_draws_have_the_size_of_the_negatives_and_no_known_pair(protocol: str) -> None:
    task = made(protocol, ratio=2)
    drawn = draws(task)
    assert drawn.shape == (REDRAWS, *task.test.negatives.shape)
    whole = task.graph.with_edges(np.concatenate([part.positives for part in task.parts.values()]))
    assert not whole.has_edges(drawn.reshape(-1, 2)).any()
    assert len({one.tobytes() for one in drawn}) == REDRAWS
    assert not any(np.array_equal(one, task.test.negatives) for one in drawn)
    # Another process draws the same, so that the records of two methods can be compared.
    assert np.array_equal(drawn, draws(made(protocol, ratio=2)))


def test_degree_corrected_draws_are_drawn_by_degree() -> None:
    graph = te.load("cora")
    means = {}
    for protocol in ("uniform", "degree-corrected"):
        task = made(protocol, graph)
        means[protocol] = [task.graph.degrees[pairs].mean() for pairs in (draws(task), task.test.negatives)]
    assert means["uniform"][0] == pytest.approx(means["uniform"][1], rel=0.1)
    assert means["degree-corrected"][0] == pytest.approx(means["degree-corrected"][1], rel=0.1)
    assert means["degree-corrected"][0] > 1.5 * means["uniform"][0]


def test_draws_of_a_bipartite_graph_join_its_sides() -> None:
    edges = [(f"u{i}", f"v{(i * j) % 17}") for i in range(30) for j in (1, 2, 3, 5)]
    task = made("existing", sorted(set(edges)), bipartite="yes")
    assert task.graph.sides is not None
    assert (task.graph.sides[draws(task)].sum(axis=-1) == 1).all()


def test_metrics_of_other_draws_vary_around_the_value() -> None:
    task = made("existing", "cora")
    scorer = te.methods.get("ra")().fit(task)
    found = te.run("cora", "existing", "ra")
    drawn = found.redraws("mrr")
    assert drawn is not None
    assert len(drawn) == REDRAWS
    direct = redrawn_metrics(task, scorer, ("mrr", "auc"))
    assert np.array_equal(direct["mrr"], drawn)
    assert direct["auc"].std() > 0
    assert drawn.min() < found.test["mrr"] < drawn.max()
    assert found.ends is not None
    assert len(found.ends) == len(task.test.positives)


def test_own_negatives_are_not_drawn_again() -> None:
    for protocol in ("heart", "triplet"):
        found = te.run("karate", protocol, "ra")
        assert found.redraws("mrr") is None
        assert found.ends is not None
    assert te.run("karate", "recommendation", "ra").ends is None


def test_what_cannot_be_drawn_or_scored_is_unknown(monkeypatch) -> None:
    task = made("existing")
    known = dict.fromkeys(map(tuple, task.pairs().tolist()), 1.0)

    def lookup(pairs: np.ndarray) -> np.ndarray:
        return np.array([known[tuple(pair)] for pair in pairs.tolist()])

    assert task.evaluate(lookup)["mrr"] > 0
    assert redrawn_metrics(task, lookup, ("mrr",)) == {}
    assert redrawn_metrics(replace(task, protocol="of my own"), lambda pairs: pairs[:, 0], ("mrr",)) == {}
    monkeypatch.setattr(redraws, "MOST_PAIRS", 4 * len(task.test.negatives))
    assert redrawn_metrics(made("existing"), lambda pairs: pairs[:, 0], ("mrr",)) == {}


def test_many_units_keep_no_ends(monkeypatch) -> None:
    task = made("heart")
    units = UnitValues("positive", {"mrr": np.ones(len(task.test.positives))})
    monkeypatch.setattr(redraws, "MOST_ENDS", 1)
    assert with_redraws(task, None, units).ends is None


def test_queries_of_a_triple_share_its_entities() -> None:
    task = te.task("nations", "filtered")
    nodes = task.unit_nodes()
    assert nodes is not None
    assert nodes.shape == (len(task.questions("test")), 2)
    triples = task.parts["test"]
    assert {frozenset(pair) for pair in nodes.tolist()} == {
        frozenset(one) for one in triples[:, [0, 2]].tolist()
    }


def test_a_fault_of_a_scorer_of_the_package_is_not_taken_for_no_draws(monkeypatch) -> None:
    task = made("existing")
    scorer = te.methods.get("ra")().fit(task)

    def broken(*_args: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(redraws, "ask_mixed", broken)
    with pytest.raises(RuntimeError, match="broken"):
        redrawn_metrics(task, scorer, ("auc",))
    # A user's scorer may know the pairs of the task alone.
    assert redrawn_metrics(task, lambda pairs: np.ones(len(pairs)), ("auc",)) == {}
