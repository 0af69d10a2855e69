"""Does the audit see that a random split looks into the future?"""

from __future__ import annotations

import numpy as np
import pytest

import trueedge as te
from trueedge.audit import audit
from trueedge.splits import by_time


def mail(seed: int = 0) -> te.Graph:
    rng = np.random.default_rng(seed)
    edges = np.unique(np.sort(rng.integers(0, 60, (500, 2)), axis=1), axis=0)
    edges = edges[edges[:, 0] != edges[:, 1]]
    return te.Graph.from_edges(edges, 60, edge_data={"time": rng.permutation(len(edges))}, name="mail")


def test_a_random_split_looks_into_the_future_and_a_split_by_time_does_not() -> None:
    found = audit(mail(), "existing")["future-edges"]
    assert found.verdict == "look"
    assert found.number == pytest.approx(0.5, abs=0.2)
    assert "split=time" in found.advice
    fine = audit(mail(), "existing", split="time")["future-edges"]
    assert fine.verdict == "ok"
    assert fine.number == 0
    assert fine.looked.endswith("test edges")


def test_of_a_task_training_edges_stand_for_a_random_test_part() -> None:
    found = audit(te.task(mail(), "existing"))["future-edges"]
    assert found.verdict == "look"
    assert "stand for the random test part" in found.looked
    assert "not known" in audit(te.task(mail(), "existing", split="time")).skipped["future-edges"]


def test_an_own_split_is_looked_at_with_the_times_of_its_graph() -> None:
    graph = mail()
    assert audit(graph, split=by_time(graph))["future-edges"].number == 0


def test_a_graph_without_times_is_skipped() -> None:
    assert audit("karate").skipped["future-edges"] == "the edges have no times"
