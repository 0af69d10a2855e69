"""A model at chance is called so, also if it beats a baseline that is below chance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import trueedge as te
from trueedge.verdict import judge
from trueedge.verdict.advice import advice


def vectors(nodes: int) -> np.ndarray:
    """Return random vectors of nodes."""
    return np.random.default_rng(0).normal(size=(nodes, 8))


def test_noise_on_typed_links_is_said_to_be_at_chance() -> None:
    graph = te.load("bibliography")
    found = judge(vectors(graph.num_nodes), te.task(graph, "typed-links"))
    assert [one.place for one in found.answers] == ["above"]
    said = "its ROC-AUC is not significantly different from chance (50)"
    assert said in [one.sentence for one in found.suspicions]
    assert found.ok
    assert found.sentence.startswith("my model beats ")
    assert found.sentence.endswith(" It is not significantly better than chance.")
    assert "Improve the model before you compare it: random scores do about as well" in found.advice
    assert not any(one.startswith("Report") for one in found.advice)


@pytest.mark.parametrize(("protocol", "metric"), [("existing", "MRR"), ("degree-corrected", "AUC")])
def test_noise_on_a_plain_graph_is_said_to_be_at_chance(protocol: str, metric: str) -> None:
    found = judge(vectors(34), te.task("karate", protocol), seeds=1)
    assert any(f"{metric} is not significantly different from chance (" in one for one in _said(found))


def test_protocols_with_different_chance_levels_are_said_one_by_one() -> None:
    found = judge(vectors(34), "karate", ["existing", "degree-corrected"])
    said = [one for one in _said(found) if "from chance" in one]
    assert "It is not significantly better than chance." in found.sentence
    other = replace(found, suspicions=found.suspicions[:1])
    assert "Under 1 of 2 protocols, it is not significantly better than chance." in other.sentence
    assert said[0].startswith("existing: its ")
    assert said[1] == "degree-corrected: its AUC is not significantly different from chance (50)"


def test_advice_for_one_protocol_does_not_speak_of_several() -> None:
    found = judge("ra", te.task("karate", "existing"), checks=False)
    ahead = replace(found.answers[0], place="above")
    one, two = (replace(found, answers=(ahead,) * count, suspicions=()) for count in (1, 2))
    assert advice(one, fixed=False) == ["Report MRR with its interval: the model is ahead"]
    assert advice(two, fixed=False)[0].startswith("Report every protocol")


def _said(found: te.verdict.Verdict) -> list[str]:
    return [one.sentence for one in found.suspicions]


def test_advice_names_a_baseline_that_is_significantly_better() -> None:
    found = judge("ra", te.task("karate", "existing"), checks=False)
    below = replace(found.answers[0], place="below", best="lrw", beside=("aa", "cn"))
    other = replace(below, protocol="heart", best="ppr", beside=("ppr",))
    alone = replace(found, answers=(below,), suspicions=())
    assert advice(alone, fixed=False)[0] == "Use aa: it is better here"
    both = replace(found, answers=(below, other), suspicions=())
    assert advice(both, fixed=False)[0] == "Use ppr: it is better under heart"
