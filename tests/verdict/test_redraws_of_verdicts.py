"""A verdict scores other draws of negatives only where an interval of a single split needs them."""

from __future__ import annotations

import numpy as np
import pytest

import trueedge as te
from trueedge.splits import Split
from trueedge.verdict import plan, running


def fit(graph):
    return lambda pairs: graph.degrees[pairs].sum(axis=1).astype(np.float64)


def drawn(verdict: te.Verdict) -> dict[str, set[int]]:
    """Return the methods and seeds whose records have other draws."""
    found: dict[str, set[int]] = {"model": set(), "baselines": set()}
    for one in verdict.records:
        if len(one.redraws("mrr")):
            found["model" if one.method == "mine" else "baselines"].add(one.seed)
    return found


@pytest.mark.parametrize(
    ("seeds", "seconds", "expected"),
    [
        (2, 0.0, {"model": set(), "baselines": set()}),
        (1, 0.0, {"model": {0}, "baselines": {0}}),
        # How long a fit takes is known after the first.
        (None, 0.0, {"model": {0}, "baselines": set()}),
        (None, -1.0, {"model": {0}, "baselines": {0}}),
    ],
)
def test_draws_are_scored_if_the_first_split_may_stay_alone(monkeypatch, seeds, seconds, expected) -> None:
    many = ((float("inf"), 2),) if seconds == 0.0 else ((seconds, 2), (float("inf"), 1))
    monkeypatch.setattr(running, "PATIENCE", many)
    verdict = te.judge(fit, "karate", "existing", seeds, name="mine", checks=False)
    assert drawn(verdict) == expected


def test_a_frozen_task_has_one_split_whatever_the_seeds() -> None:
    task = te.task("karate", "existing", 0)
    assert drawn(te.judge(fit, task, seeds=2, name="mine", checks=False)) == {"model": {0}, "baselines": {0}}


def test_a_split_that_is_given_or_published_is_the_only_one() -> None:
    graph = te.load("karate")
    train = te.Graph.from_edges(graph.edges[:-4], graph.num_nodes)
    given = Split(train, graph.edges[:0], graph.edges[-4:], "own")
    seeds = (0, 1)
    assert plan.has_one_split(plan.Request(given, "existing", seeds))
    assert plan.has_one_split(plan.Request("ogbl-collab", "existing", seeds))
    assert plan.has_one_split(plan.Request("cora", "heart-released", seeds))
    assert not plan.has_one_split(plan.Request(graph, "existing", seeds))
    assert not plan.has_one_split(plan.Request("cora", "heart", seeds))
