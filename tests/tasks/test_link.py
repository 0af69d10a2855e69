"""Link tasks: what they show, and how they judge."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import InputError, ScoreWarning
from trueedge.tasks.link import Part
from trueedge.tasks.protocols import Source


@pytest.fixture
def task() -> te.LinkTask:
    return te.task("karate", "existing", seed=0)


def perfect(task: te.LinkTask, part: str = "test"):
    """A scorer that knows the answers."""
    keys = set(map(tuple, np.sort(task.part(part).positives, axis=1).tolist()))
    return lambda pairs: np.array([float(tuple(pair) in keys) for pair in np.sort(pairs, axis=1).tolist()])


def test_a_perfect_scorer_gets_one_everywhere(task: te.LinkTask) -> None:
    with pytest.warns(ScoreWarning):
        values = task.evaluate(perfect(task))
    assert {values["mrr"], values["auc"], values["ap"], values["hits@1"]} == {1.0}


def test_a_constant_scorer_gets_its_chance_and_a_warning(task: te.LinkTask) -> None:
    with pytest.warns(ScoreWarning, match="all scores are 0"):
        values = task.evaluate(lambda pairs: np.zeros(len(pairs)))
    negatives = len(task.test.negatives)
    assert values["auc"] == 0.5
    assert values["mrr"] == pytest.approx(1 / (1 + negatives / 2))
    assert values["mrr.optimistic"] == 1.0
    assert values["mrr.pessimistic"] == pytest.approx(1 / (1 + negatives))


def test_parts_share_no_edge_with_each_other_or_the_graph(task: te.LinkTask) -> None:
    assert not task.graph.has_edges(task.valid.positives).any()
    assert not task.graph.has_edges(task.test.positives).any()
    whole = te.load("karate")
    assert not whole.has_edges(task.test.negatives).any()
    assert not whole.has_edges(task.valid.negatives).any()
    assert task.graph.num_edges + len(task.valid.positives) + len(task.test.positives) == whole.num_edges


def test_everything_that_scores_is_accepted_and_agrees(task: te.LinkTask, tmp_path) -> None:
    torch = pytest.importorskip("torch")
    vectors = np.random.default_rng(0).normal(size=(task.num_nodes, 5))

    def dot(pairs):
        return (vectors[pairs[:, 0]] * vectors[pairs[:, 1]]).sum(axis=1)

    class Module(torch.nn.Module):
        def forward(self, pairs):
            table = torch.from_numpy(vectors)
            return (table[pairs[:, 0]] * table[pairs[:, 1]]).sum(dim=1)

    pairs = task.pairs("test")
    flat, table = tmp_path / "flat.txt", tmp_path / "table.csv"
    np.savetxt(flat, dot(task.distinct_pairs("test")), fmt="%.17g", header=task.pairs_title("test"))
    lines = [f"{v},{u},{float(score)!r}" for (u, v), score in zip(pairs.tolist(), dot(pairs), strict=True)]
    table.write_text("\n".join(reversed(lines)))
    expected = task.evaluate(dot)
    for scorer in (vectors, torch.from_numpy(vectors), Module(), flat, str(table)):
        assert task.evaluate(scorer) == pytest.approx(expected, abs=1e-12)


def test_an_unfitted_method_is_refused(task: te.LinkTask) -> None:
    with pytest.raises(InputError, match="has not been fitted"):
        task.evaluate(te.methods.get("cn")())


@pytest.mark.parametrize(
    ("part", "message"),
    [("train", "no part"), ("tset", "did you mean 'test'"), ("valid", "has no valid part")],
)
def test_a_part_that_is_not_there_is_named(part: str, message: str) -> None:
    task = te.task("karate", "uniform")
    with pytest.raises(InputError, match=message):
        task.evaluate(lambda pairs: pairs[:, 0], part=part)


def test_nan_scores_are_refused_with_their_count(task: te.LinkTask) -> None:
    def scorer(pairs):
        scores = pairs[:, 0].astype(float)
        scores[:3] = np.nan
        return scores

    with pytest.raises(InputError, match="3 of"):
        task.evaluate(scorer)


def test_metrics_can_be_chosen_and_unknown_ones_are_named(task: te.LinkTask) -> None:
    scorer = te.methods.get("ra")().fit(task)
    assert list(task.evaluate(scorer, metrics=["auc", "mrr"])) == ["auc", "mrr"]
    with pytest.raises(InputError, match="hits@1000: K can be at most 7"):
        task.evaluate(scorer, metrics=["hits@1000"])
    with pytest.raises(InputError, match="did you mean"):
        task.evaluate(scorer, metrics=["mmr"])


def test_a_part_with_few_negatives_gets_the_metrics_it_has_pairs_for(task: te.LinkTask) -> None:
    task = replace(task, metrics=("mrr", "hits@3", "hits@7"))
    scorer = te.methods.get("cn")().fit(task)
    assert list(task.evaluate(scorer, "test")) == ["mrr", "hits@3", "hits@7"]
    assert list(task.evaluate(scorer, "valid")) == ["mrr", "hits@3"]


def test_negatives_must_fit_the_positives() -> None:
    positives = np.zeros((3, 2), dtype=np.int32)
    with pytest.raises(InputError, match="negatives for 2"):
        Part(positives, np.zeros((2, 5, 2), dtype=np.int32))
    with pytest.raises(InputError, match="shape"):
        Part(positives, np.zeros((2, 5), dtype=np.int32))


def test_validation_edges_join_the_graph_at_test_where_the_rule_says_so(random_graph) -> None:
    from trueedge.datasets import Rules
    from trueedge.tasks.protocols import get

    graph = random_graph(3, 40, 200)
    protocol = get("existing")
    request = protocol.request(Source("rule", graph, Rules(valid_in_test=True)), 0, {})
    task = protocol.make(request)
    joined = task.graph_for("test")
    assert joined.num_edges == task.graph.num_edges + len(task.valid.positives)
    assert task.graph_for("valid") is task.graph
    scorer = te.methods.get("cn")().fit(task)
    direct = te.methods.get("cn")()
    positive, _ = task.scores(scorer, "test")
    assert (positive == direct.score(joined, task.test.positives)).all()
    positive, _ = task.scores(scorer, "valid")
    assert (positive == direct.score(task.graph, task.valid.positives)).all()


def test_a_task_from_a_split_of_ones_own_keeps_the_split(random_graph) -> None:
    split = te.split(random_graph(1, 60, 400), seed=4)
    task = te.LinkTask.from_split(split, "existing", seed=4)
    assert (task.test.positives == split.test).all()
    assert task.graph is split.train
    hard = te.LinkTask.from_split(split, "heart", seed=4, k=20)
    assert hard.test.negatives.shape == (len(split.test), 20, 2)


def test_a_part_owns_its_arrays() -> None:
    positives, negatives = np.array([[0, 1]], np.int32), np.array([[2, 3]], np.int32)
    part = Part(positives[:], negatives)
    before = part.hash
    positives[0, 0] = 7
    assert part.positives.tolist() == [[0, 1]]
    assert Part(part.positives, part.negatives).hash == before
    with pytest.raises(InputError, match="positives must be an int32 array"):
        Part([[0, 1]], negatives)


def test_positives_that_are_training_edges_are_refused(random_graph) -> None:
    graph = random_graph(0, 30, 100)
    empty = np.empty((0, 2), np.int32)
    with pytest.raises(InputError, match="20 of 20 test positives are edges of the training graph"):
        te.LinkTask.from_split(te.Split(graph, empty, graph.edges[:20].copy(), "leak"), "uniform")
    with pytest.raises(InputError, match="no test positives"):
        te.LinkTask.from_split(te.Split(graph, empty, empty, "nothing"), "uniform")


def test_a_given_split_takes_no_options_of_splitting(random_graph) -> None:
    split = te.split(random_graph(0, 30, 100))
    with pytest.raises(InputError, match="fraction controls the split"):
        te.LinkTask.from_split(split, "uniform", fraction=0.9)
    assert "fraction" not in te.LinkTask.from_split(split, "uniform").settings
    with pytest.raises(InputError, match="does not make a LinkTask"):
        te.LinkTask.from_split(split, "recommendation")


@pytest.mark.parametrize("kind", ["f8", "U2", "?"])
def test_a_part_holds_whole_numbers(kind: str) -> None:
    pairs = np.array([[0, 1], [2, 3]], dtype=np.int32)
    with pytest.raises(InputError, match="Part: negatives must be an int32 array, got 'values of type"):
        Part(pairs, pairs.astype(kind))


def test_a_part_without_negatives_cannot_be_evaluated(task: te.LinkTask) -> None:
    empty = replace(task, parts={"test": Part(task.test.positives, task.test.negatives[:0])})
    with pytest.raises(InputError, match="the test part of karate has no negatives"):
        empty.evaluate(lambda pairs: np.zeros(len(pairs)))


def test_the_lists_of_a_sample_are_drawn_for_themselves(random_graph) -> None:
    split = te.split(random_graph(0, 60, 400), (0.6, 0.1, 0.3), seed=0)
    task = te.LinkTask.from_split(split, "heart", k=30)
    positives, negatives = task.sample_pairs("test", 200, seed=1)
    assert len(positives) == len(task.test.positives)
    assert negatives.shape == (len(positives), 200 // len(positives), 2)
    lists = {
        tuple(pair): many.tolist()
        for pair, many in zip(task.test.positives, task.test.negatives, strict=True)
    }
    columns = [
        lists[tuple(pair)].index(one[0].tolist()) for pair, one in zip(positives, negatives, strict=True)
    ]
    assert len(set(columns)) > 10
