"""Findings name the part, the measure and the ids that they are about."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from planted import benchmark, random_edges, run

import trueedge as te
from trueedge.audit import Finding, LinkSubject, Skipped, audit, catalogue
from trueedge.tasks import LinkTask, Part

PAIRS = random_edges(5000)


def found(check: str, task: LinkTask) -> Finding:
    answer = run(check, task)
    assert isinstance(answer, Finding)
    return answer


def with_edges(valid: int, test: int) -> LinkTask:
    """Return a task where so many of the 20 negatives of each positive are training edges."""
    made = benchmark()
    parts = {}
    for name, count in (("valid", valid), ("test", test)):
        positives = made.part(name).positives[:50]
        lists = np.concatenate([PAIRS[:count], PAIRS[4000 : 4020 - count]])
        parts[name] = Part(positives, np.tile(lists, (50, 1, 1)))
    return replace(made, parts=parts)


def test_the_ceiling_is_that_of_the_test_part_and_the_sentence_says_so() -> None:
    answer = found("false-negatives", with_edges(valid=8, test=2))
    assert answer.numbers["ceiling"] == pytest.approx(1 / 2)
    assert "an MRR of only 0.500 on the test part" in answer.sentence
    assert answer.number == pytest.approx(2 / 20)


def test_edges_among_validation_negatives_alone_are_worth_a_look() -> None:
    answer = found("false-negatives", with_edges(valid=8, test=0))
    assert answer.verdict == "look"
    assert "an MRR of only 0.200 on the validation part" in answer.sentence
    assert answer.numbers["ceiling"] == 1


def test_heart_is_told_to_be_compared_with_itself() -> None:
    (check,) = (one for one in catalogue() if one.name == "false-negatives")
    assert callable(check.advice)
    task = with_edges(valid=0, test=2)
    told = check.advice(LinkSubject(replace(task, protocol="heart")))
    assert told.startswith("Compare only with results under heart")
    assert "inherent to HeaRT" in told
    assert check.advice(LinkSubject(task)).startswith("Draw the negatives again")


def test_the_direction_of_pairs_made_here_is_no_finding() -> None:
    turned = PAIRS[4000:4800, ::-1]
    assert isinstance(run("direction", benchmark(negatives=turned)), Finding)
    settings = {"split": "ratio 85/5/10, seed 0", "negatives": "uniform"}
    made = run("direction", replace(benchmark(negatives=turned), settings=settings))
    assert isinstance(made, Skipped)
    published = replace(benchmark(negatives=turned), settings={**settings, "negatives": "published"})
    assert found("direction", published).verdict == "look"


def test_close_ids_that_predict_edges_have_an_auc_above_one_half() -> None:
    first = np.random.default_rng(0).integers(0, 399, 400)
    answer = found("node-numbers", benchmark(test=np.column_stack([first, first + 1])))
    assert answer.verdict == "look"
    assert answer.number > 0.9
    assert answer.sentence == f"node ids alone predict edges (AUC {answer.number:.2f} for close ids)"
    assert "hardly predict" in found("node-numbers", benchmark()).sentence


@pytest.mark.parametrize("check", ["degrees", "common-neighbours", "distances"])
def test_the_distance_of_two_distributions_has_a_name(check: str) -> None:
    answer = found(check, benchmark())
    assert f"Kolmogorov–Smirnov distance of {answer.number:.2f}" in answer.sentence


def test_a_task_of_a_directed_graph_says_that_direction_is_ignored() -> None:
    networkx = pytest.importorskip("networkx")
    arcs = networkx.DiGraph([(int(u), int(v)) for u, v in PAIRS[:500]])
    task = te.task(arcs, "existing")
    assert "direction is ignored: 500 of 500 edges go one way only" in audit(task).notes
