"""Every finding says what to do, stands once, and is silent where the benchmark is too small."""

from __future__ import annotations

import inspect
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.null_audits import KINDS, SIZES, measured
from faults import FAULTS, communities
from planted import NODES, benchmark, random_edges

import trueedge as te
from trueedge.audit import Finding, LinkSubject, Problem, catalogue
from trueedge.audit.check import chance_auc, chance_share, graded_share, pairs_needed, smallest
from trueedge.errors import InputError

VERBS = {
    *("Check", "Compute", "Do", "Draw", "Keep", "Leave", "List", "Merge", "Remove", "Report", "Shuffle"),
    *("Split", "Use"),
}


def told(check: te.audit.Check, subject: object) -> str:
    return check.advice if isinstance(check.advice, str) else check.advice(subject)


@pytest.fixture(scope="module")
def hubs() -> te.audit.Audit:
    """Degrees give the positives away: several checks see it."""
    return te.audit(FAULTS["degree-auc"]())


def test_every_check_says_what_to_do_in_one_short_imperative_sentence() -> None:
    subject = LinkSubject(benchmark())
    for check in catalogue():
        advice = told(check, subject)
        assert advice.split()[0] in VERBS, advice
        assert len(advice) <= 100
        assert not advice.endswith(".")
        assert advice.count("`") % 2 == 0


def test_a_protocol_is_not_recommended_to_who_uses_it_already() -> None:
    degrees = next(one for one in catalogue() if one.name == "degree-auc")
    task = benchmark()
    assert told(degrees, LinkSubject(task)) == "Use `-p degree-corrected`"
    corrected = replace(task, protocol="degree-corrected")
    assert "`pa`" in told(degrees, LinkSubject(corrected))
    near = next(one for one in catalogue() if one.name == "distances")
    assert "`cn`" in told(near, LinkSubject(replace(task, protocol="heart-released")))


def test_what_is_wrong_has_advice_and_what_is_not_has_none(hubs) -> None:
    for one in hubs:
        assert bool(one.advice) == one.wrong == (one.verdict in ("broken", "look"))


def test_findings_with_the_same_advice_are_one_problem(hubs) -> None:
    problems = hubs.problems
    assert len({one.advice for one in problems}) == len(problems)
    assert [one for problem in problems for one in problem.findings if not one.wrong] == []
    assert sum(len(problem.findings) for problem in problems) == sum(one.wrong for one in hubs)
    degrees = next(one for one in problems if "degree-corrected" in one.advice)
    names = [one.check for one in degrees.findings]
    assert {"degree-auc", "shortcut-pa", "degrees", "degree-groups"} <= set(names)
    assert isinstance(degrees, Problem)
    assert degrees.verdict == degrees.worst.verdict == "broken"
    assert all(f"{name} " in degrees.others for name in names[1:])
    assert [one.verdict for one in problems] == sorted(one.verdict for one in problems)


def test_an_audit_is_called_as_a_module_and_answers(hubs, tmp_path) -> None:
    assert te.audit.Finding is Finding
    assert list(inspect.signature(te.audit).parameters)[:2] == ["thing", "protocol"]
    found = te.audit("karate", "existing", seed=1)
    assert isinstance(found, te.audit.Audit)
    assert [one.numbers for one in found] == [one.numbers for one in te.audit.audit("karate", seed=1)]
    assert not hubs.ok
    assert hubs.verdict == "broken"
    assert hubs.answer.startswith("Scores on this benchmark are misleading: ")
    assert hubs.page(tmp_path / "audit.html").read_text().startswith("<!DOCTYPE html>")
    with pytest.raises(InputError, match=r"audit\.json: the page of an audit is a \.html file"):
        hubs.page(tmp_path / "audit.json")
    with pytest.raises(InputError, match="did you mean 'karate'"):
        te.audit("karaet")


def test_an_audit_is_shown_short_as_text_as_html_and_as_a_table(hubs, monkeypatch) -> None:
    assert len(repr(hubs)) < 120
    shown = hubs._repr_html_()
    for one in hubs.problems:
        first = one.sentence.split(";")[0][:40]
        assert first in shown
        assert one.advice in shown
        assert str(hubs).count(one.advice) == 1
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    rows = hubs.table
    assert [row["check"] for row in rows] == [one.check for one in hubs.by_verdict()]
    assert rows[0]["advice"] == hubs.problems[0].advice


def test_a_few_test_edges_are_too_small_to_judge() -> None:
    pairs = random_edges(5000)
    found = te.audit(communities_of_seven())
    assert found.count("too small") > found.count("ok") / 2
    assert found["shortcut-cn"].verdict == found["degree-auc"].verdict == "too small"
    assert "86 test positives (7 here)" in found.answer
    # A leak is a fact, however small the benchmark is.
    leaky = te.audit(
        benchmark(test=np.concatenate([pairs[3200:3206], pairs[:1]]), negatives=pairs[4000:4007])
    )
    assert leaky["train-leak"].verdict == "broken"
    assert leaky.verdict == "broken"


def communities_of_seven() -> te.LinkTask:
    task = communities()
    part = task.part("test")
    few = type(part)(part.positives[:7], part.negatives[:7])
    return replace(task, parts={**task.parts, "test": few})


def test_a_clean_benchmark_is_ok_and_a_tiny_one_is_not_called_so() -> None:
    clean = te.audit(benchmark())
    assert clean.ok
    assert clean.verdict == "ok"
    assert clean.answer == "No check found anything wrong with this benchmark."
    tiny = te.audit("karate")
    assert tiny.ok
    assert tiny.verdict == "too small"


def test_the_size_a_check_needs_comes_from_the_standard_error() -> None:
    needed = pairs_needed(chance_auc, 0.4)["test positives"]
    assert chance_auc(needed, needed) <= 0.4 < chance_auc(needed - 1, needed - 1)
    # The AUC of random scores is within chance_auc in 999 of 1,000 cases, at that size too.
    rng = np.random.default_rng(0)
    scores = rng.random((4000, needed, 2))
    aucs = (scores[:, :, None, 0] > scores[:, None, :, 1]).mean(axis=(1, 2))
    assert (np.abs(aucs - 0.5) > chance_auc(needed, needed)).mean() < 0.003
    assert smallest(lambda size: 1 / size, 0.25) == 4


def test_a_share_of_few_units_needs_to_be_larger() -> None:
    assert chance_share(0.05, 7) == pytest.approx(0.05 + 3.29 * np.sqrt(0.05 * 0.95 / 7))
    assert chance_share(0.05, 220) == 0.05
    assert chance_share(0.5, 0) == 0.5
    assert [graded_share(0.0, 0.05, 0.5, units) for units in (9, 10)] == ["too small", "ok"]
    assert [graded_share(2 / 7, 0.05, 0.5, 7), graded_share(5 / 7, 0.05, 0.5, 7)] == ["too small", "broken"]


def test_common_neighbours_of_a_bipartite_graph_are_not_called_ok() -> None:
    rng = np.random.default_rng(0)
    ends = np.unique(np.column_stack([rng.integers(0, 60, 900), 60 + rng.integers(0, 80, 900)]), axis=0)
    found = te.audit(te.Graph.from_edges(ends, 140, name="shop"), "existing")
    for name in ("common-neighbours", "no-common-neighbour", "shortcut-cn"):
        assert found.skipped[name] == "no test pair has a common neighbour: the graph is bipartite"
    assert found["shortcut-pa"].verdict == "ok"
    assert "within distance three" in found["distances"].sentence
    distances = next(one for one in catalogue() if one.name == "distances")
    hard = te.task(te.Graph.from_edges(ends, 140, name="shop"), "heart")
    assert told(distances, LinkSubject(hard)) == "Report Shortest Path (`shortest-path`) beside every model"
    # Negatives within a side give themselves away.
    inside = np.column_stack([rng.integers(0, 30, 80), rng.integers(30, 60, 80)])
    easy = te.audit(te.task(te.Graph.from_edges(ends, 140, name="shop"), "existing"), negatives=inside)
    assert easy["shortcut-cn"].wrong


def test_a_graph_without_common_neighbours_says_so_too() -> None:
    ring = np.column_stack([np.arange(NODES), np.roll(np.arange(NODES), 1)])
    far = np.column_stack([np.arange(0, NODES, 8), (np.arange(0, NODES, 8) + 100) % NODES])
    found = te.audit(benchmark(ring[40:], ring[:20], ring[20:40], far))
    assert found.skipped["shortcut-cn"].startswith("no test pair has a common neighbour")


@pytest.mark.rotating(4)
@pytest.mark.parametrize("size", SIZES[:4])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore")
def test_no_check_sees_a_fault_in_random_data(kind: str, size: int) -> None:
    found = measured(kind, size, runs=2)
    assert max(found.alarms.values(), default=0) < 2
    assert sum(found.alarms.values()) <= 1
