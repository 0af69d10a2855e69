"""One split judged four ways: recommendation, and links against three kinds of negatives."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import trueedge as te
from trueedge import methods
from trueedge.datasets.random_graphs import barabasi_albert
from trueedge.errors import InputError
from trueedge.studies import Plan
from trueedge.studies.degree_bias import recommendation
from trueedge.studies.degree_bias.benchmarks import BENCHMARKS, benchmarks, best_of_lists, hardest


@pytest.fixture(scope="module")
def graph():
    """A grown graph of a size that is enumerated in no time."""
    return barabasi_albert(120, 4, seed=1)


@pytest.fixture(scope="module")
def task(graph):
    return benchmarks(graph, 0)


@pytest.mark.parametrize("protocol", ["uniform", "degree-corrected"])
def test_links_are_judged_on_the_very_pairs_of_the_protocol_of_that_name(graph, task, protocol) -> None:
    assert task.links[protocol].hash == te.task(graph, protocol, 0).hash


@pytest.mark.parametrize("method", ["cn", "lrw", "eigenmap"])
def test_lists_are_judged_as_the_recommendation_protocol_judges_them(graph, task, method) -> None:
    plain = te.task(graph, "recommendation", 0)
    assert plain.graph.hash == task.graph.hash
    scorer = methods.create(method).fit(plain, seed=3)
    wanted = plain.evaluate(scorer, metrics=["ndcg@10", "ndcg@100", "vcmpr@100"])
    found = task.evaluate(scorer)
    assert {name: found[name] for name in wanted} == pytest.approx(wanted, abs=1e-9)


def test_a_record_holds_every_benchmark(task) -> None:
    found = task.evaluate(methods.create("cn").fit(task))
    for benchmark in BENCHMARKS:
        assert 0 <= found[f"{benchmark} auc"] <= 1
        assert 0 <= found[f"{benchmark} precision@10"] <= 1
    assert {"heart own auc", "heart own mrr", "ndcg@25", "vcmpr@50"} <= set(found)
    assert set(task.evaluate(methods.create("cn").fit(task), metrics=["ndcg@10"])) == {"ndcg@10"}


def test_the_auc_against_hard_negatives_is_over_all_pairs(task) -> None:
    scorer = methods.create("pa").fit(task)
    positive, negative = task.links["heart"].scores(scorer)
    wins = [np.mean((one > negative) + 0.5 * (one == negative)) for one in positive]
    assert task.evaluate(scorer)["heart auc"] == pytest.approx(np.mean(wins))


def test_the_hardest_negatives_are_those_heart_gives_when_asked_for_fewer(graph, task) -> None:
    link, scorer = task.links["heart"], methods.create("cn").fit(task)
    positive, negative = link.scores(scorer)
    fewer = te.negatives.heart(task.graph, link.test.positives, k=10, seed=0)
    assert (hardest(negative, 10) == scorer.score(fewer.reshape(-1, 2)).reshape(len(positive), 10)).all()
    assert hardest(negative, 10_000).shape == negative.shape
    auc = te.metrics.evaluate(positive, hardest(negative, 10).reshape(-1), ["auc"])["auc"]
    assert task.evaluate(scorer)["heart-10 auc"] == auc


def test_hard_negatives_are_fewer_where_a_node_has_few_candidates(graph, task) -> None:
    hard = task.links["heart"].test
    train = task.graph
    assert hard.negatives.shape[1] == 2 * (
        train.num_nodes - 2 - int(train.degrees[np.unique(hard.positives)].max())
    )
    some = benchmarks(graph, 0, heart_positives=7).links["heart"].test
    assert len(some.positives) == 7
    known = {tuple(pair) for pair in task.hidden["test"].tolist()}
    assert {tuple(pair) for pair in some.positives.tolist()} <= known


def test_some_nodes_are_asked_and_the_mean_is_over_them(graph, task) -> None:
    some = benchmarks(graph, 0, queries=9)
    scorer = methods.create("lrw").fit(some)
    assert len(some.queries()) == 9
    assert set(some.queries()) <= set(task.queries())
    assert some.hash != task.hash
    gains = []
    for node in some.queries().tolist():
        known = {node, *task.graph.indices[task.graph.indptr[node] : task.graph.indptr[node + 1]].tolist()}
        hidden = {v for pair in task.hidden["test"].tolist() if node in pair for v in pair if v != node}
        others = np.array([other for other in range(task.num_nodes) if other not in known])
        scores = scorer.score(np.column_stack([np.full(len(others), node), others]))
        gain = 0.0
        for other in hidden:
            own = scores[others == other][0]
            above, tied = int((scores > own).sum()), int((scores == own).sum())
            places = np.arange(above + 1, above + tied + 1)
            gain += np.where(places <= 10, 1 / np.log2(places + 1), 0.0).mean()
        gains.append(gain / sum(1 / np.log2(place + 1) for place in range(1, min(len(hidden), 10) + 1)))
    assert some.evaluate(scorer)["ndcg@10"] == pytest.approx(np.mean(gains))


def test_two_stages_of_one_method_are_one_stage_down_to_what_was_retrieved(graph, task) -> None:
    staged = replace(benchmarks(graph, 0, retriever="lrw"), candidates=30)
    scorer = methods.create("lrw").fit(task)
    one, two = task.evaluate(scorer), staged.evaluate(scorer)
    assert two["ndcg@25"] == pytest.approx(one["ndcg@25"])
    assert two["uniform auc"] == one["uniform auc"]
    assert staged.hash != task.hash


def test_what_was_not_retrieved_is_not_recommended_however_well_it_ranks(graph) -> None:
    staged = replace(benchmarks(graph, 0, retriever="lrw"), candidates=10)
    walks = methods.create("lrw").fit(staged)
    backwards = staged.evaluate(lambda pairs: -walks.score(pairs))
    forwards = staged.evaluate(walks)
    # The same ten are retrieved; only their order differs, so the hits among ten are the same.
    assert backwards["vcmpr@10"] == pytest.approx(forwards["vcmpr@10"])
    assert backwards["ndcg@10"] < forwards["ndcg@10"]


def test_the_best_of_a_list_are_kept_with_what_ties_and_without_what_was_not_reached() -> None:
    scores = np.array([3.0, 1.0, 2.0, 2.0, 0.0, 0.0, 5.0, 0.0, 4.0])
    kept = best_of_lists(scores, np.array([0, 4, 4, 6, 9]), 2)
    assert kept.tolist() == [True, False, True, True, False, False, True, False, True]
    rng = np.random.default_rng(0)
    scores, bounds = rng.integers(0, 6, 200).astype(float), np.array([0, 50, 90, 200])
    slow = np.zeros(200, dtype=bool)
    for start, stop in pairwise(bounds.tolist()):
        for place in range(start, stop):
            better = (scores[start:stop] > scores[place]).sum()
            slow[place] = scores[place] > 0 and better < 7
    assert (best_of_lists(scores, bounds, 7) == slow).all()


@pytest.mark.parametrize("wrong", [{"queries": 0}, {"queries": True}, {"heart_positives": 1.5}])
def test_a_number_of_questions_that_is_none_is_refused(graph, wrong) -> None:
    with pytest.raises(InputError, match=f"{next(iter(wrong))} must be"):
        benchmarks(graph, 0, **wrong)


def test_the_same_seed_gives_the_same_task_and_another_one_does_not(graph, task) -> None:
    assert benchmarks(graph, 0).hash == task.hash
    assert benchmarks(graph, 1).hash != task.hash
    assert benchmarks(graph, 0, redraw="target").hash != task.hash


def test_a_task_of_several_benchmarks_is_not_saved_as_if_it_were_of_one(task, tmp_path) -> None:
    with pytest.raises(InputError, match="several benchmarks"):
        task.save(tmp_path / "task")
    assert task.links["heart"].save(tmp_path / "heart").is_dir()


def test_settings_reach_the_methods_of_recommendation(monkeypatch) -> None:
    monkeypatch.setattr(recommendation, "benchmarks", lambda *_args: te.task("karate", "recommendation"))
    entries = [entry for entry in recommendation.ENTRIES if entry.ours == "gcn"]
    plan = Plan(settings={"epochs": 3})
    assert {cell.method.epochs for cell in recommendation.cells_of("karate", 0, entries, plan)} == {3}
