"""Recommendation: every node ranks every node it does not know."""

from __future__ import annotations

import math

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import InputError
from trueedge.tasks import recommend


@pytest.fixture
def task() -> te.RecommendTask:
    return te.task("karate", "recommendation", seed=0)


def test_the_candidates_are_all_but_itself_and_known_neighbours(task: te.RecommendTask) -> None:
    (pairs, indptr, relevant), *rest = task.blocks("test")
    assert rest == []
    assert not task.graph.has_edges(pairs).any()
    assert (pairs[:, 0] != pairs[:, 1]).all()
    expected = sum(task.num_nodes - 1 - task.graph.degrees[node] for node in task.queries())
    assert len(pairs) == expected == indptr[-1]
    assert relevant.sum() == 2 * len(task.hidden["test"])


def test_a_naive_count_gives_the_same_values(task: te.RecommendTask) -> None:
    noise = np.random.default_rng(0).random((task.num_nodes, task.num_nodes))
    names = ["ndcg@10", "recall@10", "vcmpr@10"]
    values = task.evaluate(lambda pairs: noise[pairs[:, 0], pairs[:, 1]], metrics=names)
    hidden = {frozenset(pair) for pair in task.hidden["test"].tolist()}
    ndcg, recall, vcmpr = [], [], []
    for node in task.queries().tolist():
        others = [v for v in range(task.num_nodes) if v != node and v not in task.graph.neighbors(node)]
        others.sort(key=lambda v: -noise[node, v])
        hits = [frozenset((node, v)) in hidden for v in others]
        total = sum(hits)
        gain = sum(hit / math.log2(place + 2) for place, hit in enumerate(hits[:10]))
        ndcg.append(gain / sum(1 / math.log2(place + 2) for place in range(min(total, 10))))
        recall.append(sum(hits[:10]) / total)
        vcmpr.append(sum(hits[:10]) / min(10, total))
    for name, expected in (("ndcg@10", ndcg), ("recall@10", recall), ("vcmpr@10", vcmpr)):
        assert values[name] == pytest.approx(np.mean(expected))


def test_blocks_do_not_change_the_values(task: te.RecommendTask, monkeypatch) -> None:
    scorer = te.methods.get("lrw")().fit(task)
    whole = task.evaluate(scorer)
    monkeypatch.setattr(recommend, "PAIRS_IN_A_BLOCK", 100)
    assert len(list(task.blocks("test"))) > 5
    assert task.evaluate(scorer) == pytest.approx(whole)


def test_validation_edges_are_never_recommended_at_test() -> None:
    task = te.task("karate", "recommendation", valid=0.1)
    pairs = np.concatenate([pairs for pairs, _, _ in task.blocks("test")])
    known = task.graph.with_edges(task.hidden["valid"])
    assert not known.has_edges(pairs).any()
    assert set(task.part_names) == {"valid", "test"}


def test_a_sample_holds_positives_and_others(task: te.RecommendTask) -> None:
    positives, others = task.sample_pairs("test", 15)
    assert positives.shape == (15, 2)
    assert others.shape == (15, 2)
    whole = te.load("karate")
    assert whole.has_edges(positives).all()
    assert not whole.has_edges(others).any()


def test_a_list_longer_than_any_is_refused_and_names_are_normal(task: te.RecommendTask) -> None:
    scorer = te.methods.get("ra")().fit(task)
    for name in ("recall@1000", "ndcg@99999999999999999"):
        with pytest.raises(InputError, match="has only 34 nodes"):
            task.evaluate(scorer, metrics=[name])
    assert list(task.evaluate(scorer, metrics="ndcg@10")) == ["ndcg@10"]


def test_a_constant_scorer_gets_a_warning(task: te.RecommendTask) -> None:
    with pytest.warns(te.ScoreWarning, match="all scores are 0"):
        task.evaluate(lambda pairs: np.zeros(len(pairs)))
