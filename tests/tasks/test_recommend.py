"""Recommendation: every node ranks every node it does not know."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import recommend_twin

import trueedge as te
from trueedge.errors import InputError
from trueedge.tasks import recommend


@pytest.fixture
def task() -> te.RecommendTask:
    return te.task("karate", "recommendation", seed=0)


def asked_pairs(task: te.RecommendTask) -> np.ndarray:
    asked = []

    def score(pairs):
        asked.append(pairs.copy())
        return np.arange(len(pairs), dtype=np.float64)

    task.evaluate(score)
    return np.concatenate(asked)


def test_the_candidates_are_all_but_itself_and_known_neighbours(task: te.RecommendTask) -> None:
    pairs = asked_pairs(task)
    assert not task.graph.has_edges(pairs).any()
    assert (pairs[:, 0] != pairs[:, 1]).all()
    expected = sum(task.num_nodes - 1 - task.graph.degrees[node] for node in task.queries())
    assert len(pairs) == len(np.unique(pairs, axis=0)) == expected
    scores = task.scores(lambda pairs: np.zeros(len(pairs)))
    assert scores.sizes.candidates.sum() == expected
    assert scores.sizes.relevant.sum() == 2 * len(task.hidden["test"])


SCORERS = ("ra", "lrw", "vectors", "candidates", "ties")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", SCORERS)
@pytest.mark.parametrize("in_a_block", [4_000_000, 1_000])
def test_values_are_those_of_every_pair_to_the_last_bit(kind, seed, in_a_block, monkeypatch) -> None:
    monkeypatch.setattr(recommend, "PAIRS_IN_A_BLOCK", in_a_block)
    graph = te.datasets.price(150, 500, 3.0, seed=seed)
    task = te.task(graph, "recommendation", seed=seed, valid=0.1)
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((task.num_nodes, 20)).astype(np.float32)
    # Equal vectors are equal candidates.
    vectors[::4] = vectors[0]
    table = rng.integers(0, 5, (task.num_nodes, task.num_nodes)).astype(np.float32)
    scorer = {
        "ra": lambda: te.methods.get("ra")().fit(task),
        "lrw": lambda: te.methods.get("lrw")().fit(task),
        "vectors": lambda: vectors,
        "candidates": lambda: SimpleNamespace(score_candidates=lambda nodes: table[nodes]),
        "ties": lambda: lambda pairs: table[pairs[:, 0], pairs[:, 1]],
    }[kind]()
    for part in task.part_names:
        ours = task.evaluate(scorer, part)
        means, units = recommend_twin.evaluate(task, scorer, part)
        assert dict(ours) == means
        for name, values in units.items():
            assert np.array_equal(ours.units.values[name], values)


def test_vectors_give_the_same_scores_row_by_row_and_pair_by_pair() -> None:
    rng = np.random.default_rng(3)
    for dimension in (1, 7, 64, 100, 513):
        scorer = te.scorers.scorer.EmbeddingScorer(rng.standard_normal((40, dimension)).astype(np.float32))
        asked = np.array([3, 3, 39, 0])
        pairs = np.column_stack([np.repeat(asked, 40), np.tile(np.arange(40), 4)])
        assert np.array_equal(scorer.score_candidates(asked).reshape(-1), scorer.score(pairs))


def test_an_array_of_answers_is_ranked_like_a_scorer(task: te.RecommendTask) -> None:
    table = np.random.default_rng(0).random((task.num_nodes, task.num_nodes))
    from_array = task.scores_of("test", table[task.queries()])
    from_scorer = task.scores(lambda pairs: table[pairs[:, 0], pairs[:, 1]])
    assert np.array_equal(from_array.above, from_scorer.above)
    with pytest.raises(InputError, match=r"have the shape \(19, 34\), got \(34, 34\)"):
        task.scores_of("test", table)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda nodes: np.zeros((len(nodes), 3)), "must score 34 nodes for each of 19 nodes"),
        (lambda nodes: np.full((len(nodes), 34), np.nan), "646 of 646 scores of SimpleNamespace are NaN"),
        (lambda nodes: None, "but it answered with None"),
    ],
)
def test_wrong_answers_are_named(task: te.RecommendTask, answer, message) -> None:
    with pytest.raises(InputError, match=message):
        task.evaluate(SimpleNamespace(score_candidates=answer))


def test_vectors_that_are_not_finite_are_named(task: te.RecommendTask) -> None:
    vectors = np.zeros((34, 2))
    vectors[5, 1] = np.nan
    with pytest.raises(InputError, match="1 of 68 vectors of mine is NaN"):
        task.evaluate(SimpleNamespace(name="mine", vectors=vectors, score=lambda pairs: pairs[:, 0]))


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
    assert len(list(recommend.blocks_of(len(task.queries()), task.num_nodes, 100))) > 5
    assert task.evaluate(scorer) == pytest.approx(whole)


def test_validation_edges_are_never_recommended_at_test() -> None:
    task = te.task("karate", "recommendation", valid=0.1)
    pairs = asked_pairs(task)
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


def lists_of(task: te.RecommendTask, head: str, path: Path) -> Path:
    """Write what Katz recommends to every node, under names of columns."""
    lists = te.recommend(te.methods.create("katz").fit(task), k=task.num_nodes)
    columns = lists.columns()
    rows = zip(columns["node"], columns["partner"], columns["score"], strict=True)
    path.write_text(head + "".join(f"{node},{partner},{score!r}\n" for node, partner, score in rows))
    return path


@pytest.mark.parametrize("head", ["", "node,partner,score\n", "user,friend,score\n", "source,target,score\n"])
def test_lists_of_another_system_are_worth_what_its_scores_are(head: str, tmp_path: Path) -> None:
    task = te.task("karate", "recommendation")
    path = lists_of(task, head, tmp_path / "lists.csv")
    expected = task.evaluate(te.methods.create("katz").fit(task))
    assert task.evaluate(path) == expected
    assert te.judge(str(path), task).records[0].test == expected


def test_the_lists_of_a_bipartite_graph_may_name_nodes_as_its_columns_do(tmp_path: Path) -> None:
    edges = tmp_path / "sales.csv"
    pairs = ((u, i) for u in range(20) for i in range(15) if (u * i) % 3)
    edges.write_text("user_id,item_id\n" + "".join(f"{u},{i}\n" for u, i in pairs))
    task = te.task(edges, "recommendation")
    path = lists_of(task, "node,partner,score\n", tmp_path / "lists.csv")
    expected = task.evaluate(path)
    users = [line.split(",") for line in path.read_text().splitlines() if line.startswith("user")]
    path.write_text("user,item,score\n" + "".join(f"{u[5:]},{i[5:]},{s}\n" for u, i, s in users))
    found = task.evaluate(path)
    nodes = [task.graph.labels[node].startswith("user") for node in task.lists("test").queries]
    for name in task.metrics:
        assert np.array_equal(found.units.values[name][nodes], expected.units.values[name][nodes])


def test_scores_of_pairs_are_not_taken_for_lists(tmp_path: Path) -> None:
    task = te.task("karate", "recommendation")
    scorer = te.methods.create("katz").fit(task)
    pairs = np.column_stack(np.triu_indices(task.num_nodes, 1))
    rows = [f"{u},{v},{score!r}\n" for (u, v), score in zip(pairs, scorer.score(pairs).tolist(), strict=True)]
    path = tmp_path / "scores.csv"
    for head in ("", "u,v,score\n"):
        path.write_text(head + "".join(rows))
        assert task.evaluate(path) == task.evaluate(scorer)
        path.write_text(head + "".join(rows[::2]))
        with pytest.raises(InputError, match="may hold recommended lists or scores of pairs"):
            task.evaluate(path)
