"""Verdicts on knowledge graphs: tables of scores, inductive pairs, and data with one split."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import InputError
from trueedge.graph import KnowledgeGraph
from trueedge.splits import TripleSplit
from trueedge.tasks import TripleTask
from trueedge.verdict.models import as_method


def triples_of(seed: int, entities: int, count: int) -> np.ndarray:
    """Distinct triples of two relations."""
    rng = np.random.default_rng(seed)
    drawn = np.column_stack([rng.integers(0, limit, 3 * count) for limit in (entities, 2, entities)])
    return rng.permutation(np.unique(drawn, axis=0))[:count].astype(np.int32)


def inductive_pair(test_entities: int = 12) -> TripleTask:
    """A small inductive task; its graphs may have the same number of entities."""
    seen, unseen = triples_of(0, 12, 80), triples_of(1, test_entities, 80)
    train = KnowledgeGraph.from_triples(seen[:60], 12, 2, name="seen")
    names = [f"new {number}" for number in range(test_entities)]
    facts = KnowledgeGraph.from_triples(unseen[:50], entities=names, relations=train.relations, name="new")
    return TripleTask.from_split(TripleSplit(train, seen[60:], unseen[50:], "made", facts))


def one_per_query(task: TripleTask, part: str = "test") -> np.ndarray:
    """Random scores, the same for equal queries."""
    queries = task.queries(part)
    keys = np.unique(queries, axis=0, return_inverse=True)[1].reshape(-1)
    return np.random.default_rng(0).normal(size=(keys.max() + 1, task.graph_for(part).num_entities))[keys]


def vectors(graph: KnowledgeGraph) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(graph.num_entities, 4)), rng.normal(size=(graph.num_relations, 4))


def fit_function(graph):
    entities, relations = vectors(graph)
    return lambda triples: (entities[triples[:, 0]] * relations[triples[:, 1]]).sum(axis=1)


def fit_embeddings(graph):
    return te.TripleEmbeddings("distmult", *vectors(graph))


def fit_sides(graph):
    entities, relations = vectors(graph)
    table = np.concatenate([relations, relations])
    return lambda heads, relations: (entities[heads] * table[relations]) @ entities.T


@pytest.mark.parametrize("fit", [fit_function, fit_embeddings, fit_sides])
def test_what_was_fitted_on_other_entities_needs_with_graph(fit) -> None:
    task = inductive_pair()
    scorer = as_method(fit, "mine", "triples").fit(task)
    assert task.evaluate(scorer, "valid")["mrr"] > 0
    for use in (task.evaluate, lambda one: te.check_scorer(one, task)):
        with pytest.raises(InputError, match=r"fitted on the entities of seen.*give it with_graph\(graph\)"):
            use(scorer)
    with pytest.raises(InputError, match="with_graph"):
        te.judge(fit, task, name="mine", seeds=1)


def test_embeddings_of_the_training_entities_are_refused_on_the_test_graph() -> None:
    task = inductive_pair(10)
    with pytest.raises(InputError, match=r"new has 10 entities.*embeddings of 12.*with_graph"):
        task.evaluate(fit_embeddings(task.graph))
    assert task.evaluate(fit_embeddings(task.test_graph))["mrr"] > 0


def test_a_function_of_the_test_entities_is_evaluated_on_the_test_part_alone() -> None:
    task = inductive_pair(14)
    score = fit_function(task.test_graph)
    # Two training entities fewer: only a question about the test part can be answered.
    found = te.judge(score, task, name="mine")
    own = [one for one in found.records if one.method == "mine"]
    assert own
    assert not any("valid" in one.metrics for one in own)
    assert any("numbers are taken for those of new" in one for one in found.notes)
    assert task.evaluate(score)["mrr"] > 0
    (graph,) = [one for one in te.check_scorer(score, task).findings if one.name == "graph"]
    assert graph.level == "look"
    assert "with_graph" in graph.sentence


@pytest.mark.parametrize("stored", [False, True])
def test_a_table_of_scores_is_judged_by_the_test_part(stored: bool, tmp_path: Path) -> None:
    task = te.task("nations")
    table = one_per_query(task)
    np.save(tmp_path / "mine.npy", table)
    found = te.judge(tmp_path / "mine.npy" if stored else table, "nations", name="mine")
    own = [one for one in found.records if one.method == "mine"]
    assert [one.test["mrr"] for one in own] == [task.evaluate(table)["mrr"]]
    assert not any("valid" in one.metrics for one in own)
    assert not found.suspicions
    assert found.ok


def test_a_table_never_scores_the_queries_of_another_part() -> None:
    # Both parts have the same number of queries, and none repeats.
    train = KnowledgeGraph.from_triples([(0, 0, 1), (1, 0, 2), (2, 0, 3)], 4, 1, name="path")
    split = TripleSplit(train, np.array([[0, 0, 2]], np.int32), np.array([[1, 0, 3]], np.int32), "made")
    task = TripleTask.from_split(split)
    table = np.random.default_rng(0).normal(size=(2, 4))
    found = te.judge(table, task, name="mine")
    assert not any("valid" in one.metrics for one in found.records if one.method == "mine")
    assert not any("IndexError" in one.sentence for one in found.suspicions)
    bound = task.bind(table, "test")
    with pytest.raises(InputError, match="holds no scores of some of the queries"):
        bound.score(task.queries("valid"))


def test_a_table_of_another_part_is_refused_with_the_name_of_the_part() -> None:
    task = te.task("nations")
    with pytest.raises(InputError, match=r"= \(402, 14\) for the test part, got \(398, 14\)"):
        task.evaluate(one_per_query(task, "valid"))


def test_data_with_one_split_has_seeds_and_not_splits() -> None:
    found = te.judge(fit_function, "nations", seeds=3, name="mine")
    assert any("one split, with 3 seeds" in one for one in found.notes)
    assert "random split" not in str(found)
    alone = te.judge(one_per_query(te.task("nations")), "nations", name="mine")
    assert any("to get several seeds" in one for one in alone.advice)
    assert "random split" not in str(alone)
    plain = te.judge(lambda graph: lambda pairs: pairs[:, 0] * 1.0, "karate", "existing", 2, name="mine")
    assert any("2 random splits" in one for one in plain.notes)


@pytest.mark.parametrize("model", ["relation-frequency", te.methods.create("relation-frequency")])
def test_a_method_keeps_its_name(model) -> None:
    with pytest.raises(InputError, match="'relation-frequency' is a method and keeps its name"):
        te.judge(model, "nations", name="mymodel")


def test_a_fixed_scorer_is_not_taken_for_one_that_was_fitted() -> None:
    vectors = np.random.default_rng(0).normal(size=(34, 4))
    te.judge(vectors, te.task("karate", "existing", 0), checks=False)
    assert te.task("karate", "existing", 1).evaluate(vectors)
