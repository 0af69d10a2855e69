"""Negatives: repeats, coverage and bands of ids are caught where they were planted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted import NODES, benchmark, own_lists, random_edges, run

import trueedge as te
from trueedge.audit.negatives import densest_band, drawn_ends
from trueedge.audit.subject import View

PAIRS = random_edges(5000)


@pytest.mark.parametrize("check", ["distinct-negatives", "node-coverage", "id-bands"])
def test_a_clean_benchmark_passes_with_shared_and_with_own_negatives(check: str) -> None:
    task = benchmark()
    ends = np.array([np.random.default_rng(row).permutation(NODES)[:40] for row in range(400)])
    assert run(check, task).verdict == "ok"
    assert run(check, benchmark(negatives=own_lists(task, ends))).verdict == "ok"


@pytest.mark.parametrize(("repeats", "verdict"), [(0, "ok"), (5, "ok"), (30, "look"), (200, "broken")])
def test_repeated_negatives_are_counted(repeats: int, verdict: str) -> None:
    negatives = np.concatenate(
        [PAIRS[4000 : 4800 - repeats], np.repeat(PAIRS[4000:4001, ::-1], repeats, axis=0)]
    )
    found = run("distinct-negatives", benchmark(negatives=negatives))
    assert found.verdict == verdict
    assert found.number == pytest.approx(repeats / 800)


def test_negatives_among_few_nodes_do_not_cover_the_graph() -> None:
    rng = np.random.default_rng(0)
    for nodes, verdict in ((100, "look"), (20, "broken")):
        chosen = rng.permutation(NODES)[:nodes]
        found = run("node-coverage", benchmark(negatives=rng.choice(chosen, size=(800, 2))))
        assert found.verdict == verdict
        assert found.number == pytest.approx(nodes / NODES)


@pytest.mark.parametrize("own", [False, True])
def test_negatives_from_a_band_of_ids_are_found_where_they_are(own: bool) -> None:
    rng = np.random.default_rng(0)
    if own:
        task = benchmark()
        ends = np.where(
            rng.random((400, 40)) < 0.8, rng.integers(200, 250, (400, 40)), rng.integers(0, NODES, (400, 40))
        )
        found = run("id-bands", benchmark(negatives=own_lists(task, ends)))
        assert (found.numbers["first id"], found.numbers["last id"]) == (200, 249)
        assert found.number == pytest.approx(0.8 + 0.2 * 0.125, abs=0.01)
    else:
        found = run("id-bands", benchmark(negatives=rng.integers(200, 250, size=(800, 2))))
        assert found.number == 1
    assert found.verdict == "broken"


def test_nodes_of_high_degree_at_the_front_are_not_taken_for_a_band() -> None:
    task = te.task("price:nodes=2000,edges=8000", "degree-corrected")
    found = run("id-bands", task)
    assert found.number > 0.2
    assert found.verdict == "ok"


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40).filter(any))
def test_the_densest_band_is_the_best_of_all_windows(counts: list[int]) -> None:
    width = -(-len(counts) // 8)
    best = max(sum(counts[start : start + width]) for start in range(len(counts) - width + 1))
    share, first, last = densest_band(np.array(counts))
    assert share == pytest.approx(best / sum(counts))
    assert sum(counts[first : last + 1]) == best
    assert last - first + 1 == width


def test_the_drawn_end_is_the_one_that_is_not_the_positives() -> None:
    negatives = np.array([[[0, 5], [6, 1], [7, 0], [1, 8], [3, 4]]])
    view = View(np.array([[0, 1]]), negatives, True, True)
    assert sorted(drawn_ends(view).tolist()) == [3, 4, 5, 6, 7, 8]


@pytest.mark.data("planetoid", "heart/citeseer")
def test_the_released_citeseer_negatives_are_flagged(data_folder) -> None:
    released = te.task("citeseer", "heart-released")
    bands = run("id-bands", released)
    assert bands.verdict == "broken"
    assert bands.number == pytest.approx(0.809, abs=0.0005)
    assert bands.numbers["first id"] == pytest.approx(2078, abs=1)
    assert bands.numbers["last id"] == pytest.approx(2493, abs=1)
    alike = run("feature-similarity", released)
    assert alike.verdict == "look"
    assert alike.numbers["negatives"] == pytest.approx(0.051, abs=0.001)
    assert alike.numbers["random"] == pytest.approx(0.044, abs=0.001)
    assert alike.numbers["positives"] == pytest.approx(0.187, abs=0.0005)


@pytest.mark.data("planetoid")
def test_citeseer_negatives_made_as_the_paper_describes_pass(data_folder) -> None:
    made = te.task("citeseer", "heart")
    assert run("id-bands", made).verdict == "ok"
    alike = run("feature-similarity", made)
    assert alike.verdict == "ok"
    assert alike.numbers["negatives"] == pytest.approx(0.119, abs=0.003)


def test_where_no_mrr_is_told_or_no_negative_is_shared_none_can_decide_it() -> None:
    from dataclasses import replace

    judged_by_auc = replace(benchmark(), headline="auc")
    assert run("few-negatives", judged_by_auc).reason == "the headline metric is auc, not MRR"
    own = benchmark(negatives=own_lists(benchmark(), np.random.default_rng(0).integers(0, NODES, (400, 8))))
    assert run("few-negatives", own).reason == "each positive has its own negatives"
    assert "so many negatives" in run("few-negatives", benchmark(), sample=100).reason


def test_the_mrr_without_the_highest_negatives_is_that_among_the_others() -> None:
    from trueedge.methods import create
    from trueedge.metrics import evaluate

    task = benchmark()
    found = run("few-negatives", task)
    above, below = task.scores(create("pa").fit(task))
    expected = [
        evaluate(above, np.sort(below)[: len(below) - number], ["mrr"])["mrr"] for number in range(11)
    ]
    assert found.series["pa"].tolist() == pytest.approx(expected)
