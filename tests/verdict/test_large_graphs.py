"""On a large graph, a verdict holds out fewer edges, and says what is less than usual."""

from __future__ import annotations

import pytest

import trueedge as te
from trueedge.verdict import judge, plan


@pytest.fixture
def karate(monkeypatch) -> te.Graph:
    """A graph of 78 edges, which are many here."""
    monkeypatch.setattr(plan, "MOST_EDGES", 50)
    monkeypatch.setattr(plan, "HELD_OUT", 8)
    return te.load("karate")


def test_a_verdict_on_a_large_graph_says_what_it_leaves_out(karate) -> None:
    found = judge("pa", karate, ["existing", "degree-corrected"], seeds=1, checks=False)
    (said,) = (note for note in found.notes if "large" in note)
    assert "78 edges" in said
    assert "about 8 edges" in said
    assert "ppr has eps=1e-05" in said
    assert "katz has max_length=3" in said
    options = {one.protocol: dict(one.options) for one in found.records}
    assert options["existing"] == {"ratios": (0.8, 0.1, 0.1)}
    assert options["degree-corrected"] == {"fraction": 0.1, "valid": 0.1}
    settings = {one.method: one.settings for one in found.records}
    assert settings["ppr"]["eps"] == 1e-5
    assert settings["katz"]["max_length"] == 3
    # The model is evaluated on every part, the baselines on the part that is compared.
    assert {tuple(one.metrics) for one in found.records if one.method == "pa"} == {("valid", "test")}
    assert {tuple(one.metrics) for one in found.records if one.method != "pa"} == {("test",)}


def test_options_of_the_user_and_tasks_that_are_made_are_left_as_they_are(karate) -> None:
    kept = plan.requests(karate, ["existing"], 3, False, {"ratios": (0.7, 0.1, 0.2)})
    assert [dict(one.options) for one in kept] == [{}]
    assert not plan.is_large(te.task(karate, "existing"))
    assert not plan.is_large([te.task(karate, "existing")])


def test_a_small_graph_keeps_its_splits_and_baselines() -> None:
    assert not plan.is_large("karate")
    (one,) = plan.requests("karate", ["heart"], 5, False)
    assert dict(one.options) == {}
    beside = {one.name: one for one in plan.baselines("graph", "link", te.methods.create("pa"))}
    assert beside["ppr"].settings()["eps"] == 1e-6
    assert beside["katz"].settings()["max_length"] is None
