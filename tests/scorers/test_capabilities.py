"""Scorers by capability: whatever answers is taken, checked for planted faults, or refused in a sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import trueedge as te
from trueedge.errors import InputError
from trueedge.metrics import PairScores
from trueedge.metrics.partitions import PartitionScores
from trueedge.tasks.base import KINDS, GraphTask, Task
from trueedge.tasks.communities import CommunityTask

NODES = 40
RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(NODES, NODES))
VECTORS = RNG.normal(size=(NODES, 6))

with KINDS.restored():

    class Classes(GraphTask):
        """Nodes whose vectors are to be predicted, as far as these tests need it."""

        kind, title, unit, needs, part_names = "classes", "Classes", "node", "nodes", ("test",)

        def arrays(self):
            return {}

        @classmethod
        def from_arrays(cls, arrays, **fields):
            return cls(**fields)

        def questions(self, part):
            return np.arange(5, NODES)

        def scores_of(self, part, answers):
            best = answers.argmax(axis=1) if answers.ndim == 2 else answers
            return PartitionScores(np.arange(5, NODES) % 3, best.astype(int), best.astype(int))

    class Tails(Task):
        """Heads and relations whose tails are ranked."""

        kind, title, unit, needs, part_names = "tails-of-tests", "Tails", "query", "candidates", ("test",)

        def arrays(self):
            return {}

        @classmethod
        def from_arrays(cls, arrays, **fields):
            return cls(**fields)

        def questions(self, part):
            return np.column_stack([np.arange(30), np.arange(30) % 4])

        def scores_of(self, part, answers):
            return PairScores.check(answers[:, 3], np.delete(answers, 3, axis=1))


FIELDS: dict[str, Any] = {"dataset": "toy", "protocol": "own", "seed": 0}


def graph() -> te.Graph:
    return te.Graph.from_edges(
        np.random.default_rng(1).integers(0, NODES, (200, 2)), NODES, repeats="drop", self_loops="drop"
    )


def task_that_needs(need: str) -> Task:
    if need == "pairs":
        return te.task(graph(), "uniform")
    if need == "nodes":
        return Classes(graph=graph(), metrics=("nmi",), headline="nmi", **FIELDS)
    if need == "vectors":
        return CommunityTask.of(graph(), np.arange(NODES) % 3)
    return Tails(metrics=("mrr",), headline="mrr", **FIELDS)


def honest(rows: np.ndarray) -> np.ndarray:
    """Answers of the right shape for pairs, queries of two columns (nine candidates) and nodes."""
    if rows.ndim == 1:
        return VECTORS[rows]
    return TABLE[rows[:, 0], rows[:, 1]] + TABLE[rows[:, 1], rows[:, 0]]


def candidates(rows: np.ndarray) -> np.ndarray:
    return TABLE[rows[:, 0]][:, :9] + rows[:, 1:]


ANSWERS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "pairs": honest,
    "nodes": honest,
    "candidates": candidates,
}
METHOD = {"pairs": "score", "nodes": "predict", "candidates": "score_candidates"}
CAPABILITIES = pytest.mark.parametrize("need", list(ANSWERS))


def levels(scorer: object, need: str) -> dict[str, str]:
    report = te.check_scorer(scorer, task_that_needs(need))
    return {one.name: one.level for one in report.findings if one.level != "ok"}


@CAPABILITIES
def test_an_honest_scorer_passes_and_is_evaluated_as_function_and_object(need: str) -> None:
    task, answer = task_that_needs(need), ANSWERS[need]
    thing = type("Thing", (), {METHOD[need]: lambda self, rows: answer(rows), "name": "thing"})()

    class Module(torch.nn.Module):
        def forward(self, rows):
            return torch.from_numpy(answer(rows.numpy()))

    values = task.evaluate(answer)
    for scorer in (thing, Module()):
        assert task.evaluate(scorer) == values
        assert levels(scorer, need) == {}
    assert levels(answer, need) == {}


@CAPABILITIES
def test_a_scorer_that_uses_its_buffer_again_is_not_accused(need: str) -> None:
    buffer = np.empty(
        (
            5000,
            *ANSWERS[need](
                task_that_needs(need).sample("test", 2) if need != "pairs" else np.zeros((1, 2), int)
            ).shape[1:],
        )
    )

    def same_buffer(rows):
        found = buffer[: len(rows)]
        found[:] = ANSWERS[need](rows)
        return found

    assert levels(same_buffer, need) == {}
    task = task_that_needs(need)
    assert task.evaluate(same_buffer) == task.evaluate(ANSWERS[need])


@CAPABILITIES
def test_a_scorer_that_writes_into_its_input_changes_nothing(need: str) -> None:
    def careless(rows):
        found = ANSWERS[need](rows)
        rows[:] = 0
        return found

    task = task_that_needs(need)
    before = task.questions("test").copy()
    assert levels(careless, need) == {}
    assert task.evaluate(careless) == task.evaluate(ANSWERS[need])
    assert np.array_equal(task.questions("test"), before)


def noisy(answer, rows):
    return answer(rows) + np.random.default_rng().normal(size=answer(rows).shape)


def by_place(answer, rows):
    found = answer(rows)
    return found + np.arange(len(found)).reshape(-1, *[1] * (found.ndim - 1))


def sorted_answers(answer, rows):
    return np.sort(answer(rows), axis=0)


def batch_norm(answer, rows):
    found = answer(rows)
    return (found - found.mean(axis=0)) / (found.std(axis=0) + 1e-9)


def holes(answer, rows):
    found = answer(rows).copy()
    found[::3] = np.nan
    return found


def constant(answer, rows):
    return np.ones_like(answer(rows))


def one_too_few(answer, rows):
    return answer(rows)[1:]


def deep(answer, rows):
    return answer(rows)[..., None, None]


def shy(answer, rows):
    if len(rows) == 1:
        raise RuntimeError("too few rows")
    return answer(rows)


@CAPABILITIES
@pytest.mark.parametrize(
    ("fault", "name"),
    [
        (by_place, "order"),
        (sorted_answers, "order"),
        (batch_norm, "batch"),
        (batch_norm, "single"),
        (holes, "finite"),
        (constant, "constant"),
        (one_too_few, "answer"),
        (deep, "answer"),
        (shy, "single"),
    ],
)
def test_a_planted_fault_is_caught(need: str, fault: Callable[..., Any], name: str) -> None:
    assert levels(lambda rows: fault(ANSWERS[need], rows), need)[name] == "broken"


@CAPABILITIES
def test_random_answers_are_mentioned(need: str) -> None:
    assert levels(lambda rows: noisy(ANSWERS[need], rows), need)["repeat"] == "look"


def test_answers_whose_width_changes_with_the_batch_are_caught() -> None:
    wide = lambda rows: np.pad(candidates(rows), ((0, 0), (0, len(rows) % 7)))  # noqa: E731
    assert "broken" in levels(wide, "candidates").values()


def test_the_sentences_speak_of_what_was_asked() -> None:
    for need, noun in (
        ("pairs", "pairs"),
        ("nodes", "nodes"),
        ("candidates", "queries"),
        ("vectors", "nodes"),
    ):
        scorer = VECTORS if need == "vectors" else ANSWERS[need]
        text = str(te.check_scorer(scorer, task_that_needs(need)))
        assert f"shuffled {noun} keep their scores" in text
        assert ("direction" in text) == (need == "pairs")


def test_vectors_are_checked_too() -> None:
    assert levels(VECTORS, "vectors") == {}
    assert levels(np.ones((NODES, 3)), "vectors") == {"constant": "broken"}
    thing = type("Thing", (), {"embeddings": lambda self: VECTORS})()
    held = type("Held", (), {"vectors": VECTORS, "score": None})()
    table = type("Table", (), {"embeddings": VECTORS})()
    task = task_that_needs("vectors")
    for scorer in (thing, held, table, torch.from_numpy(VECTORS)):
        assert task.evaluate(scorer) == task.evaluate(VECTORS)


@pytest.mark.parametrize(
    ("need", "scorer", "words"),
    [
        (
            "pairs",
            lambda rows: np.ones(3),
            r"the lambda must answer \d+ pairs with shape \(\d+,\), it answered with \(3,\)",
        ),
        ("pairs", lambda rows: np.ones((len(rows), 2)), r"it answered with \(\d+, 2\)"),
        ("pairs", np.ones((3, 2)), "has 40 nodes, but the embedding matrix has 3 rows"),
        ("nodes", np.ones(7), r"there are 40 nodes, but predictions of shape \(7,\)"),
        ("nodes", np.ones((NODES, 2, 2)), r"predictions of shape \(40, 2, 2\)"),
        (
            "nodes",
            lambda rows: np.ones(3),
            r"the lambda must answer 35 rows with shape \(35,\) or \(35, d\), it answered with \(3,\)",
        ),
        ("nodes", lambda rows: 1.0, r"it answered with \(\)"),
        ("nodes", lambda rows: np.full(len(rows), np.nan), "35 of 35 scores of the lambda are NaN"),
        ("nodes", lambda rows: ["a"] * len(rows), "scores of the lambda must be real numbers"),
        ("nodes", [1.0] * NODES, "this task needs an array, an object with predict"),
        ("nodes", te.methods.create("cn"), "the method 'cn' has not been fitted"),
        (
            "candidates",
            lambda rows: np.ones(len(rows)),
            r"must answer 30 rows with shape \(30, d\), it answered with \(30,\)",
        ),
        (
            "candidates",
            lambda rows: np.ones((len(rows), 2)),
            r"the lambda answered shape \(30, 2\), which does not fit Tails",
        ),
        ("candidates", lambda heads, relations: heads, "cannot be called with the queries alone"),
        ("candidates", 7, "this task needs an object with score_candidates"),
        ("candidates", dict, "dict is a class"),
        ("vectors", np.ones((3, 2)), r"the array of vectors has vectors of shape \(3, 2\) for 40 nodes"),
        (
            "vectors",
            type("Flat", (), {"vectors": np.ones(NODES)})(),
            r"Flat has vectors of shape \(40,\) for 40 nodes",
        ),
        ("vectors", len, "len scores pairs: it has no vectors of nodes"),
        ("vectors", VECTORS * np.nan, "vectors are NaN"),
    ],
    ids=range(20),
)
def test_a_wrong_answer_is_one_sentence_with_scorer_and_shape(need: str, scorer: object, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        task_that_needs(need).evaluate(scorer)
    assert "\n" not in str(caught.value)


def test_an_array_of_predictions_without_a_graph_needs_a_row_for_each_node_asked() -> None:
    with KINDS.restored():

        class Loose(Tails):
            kind, needs = "loose", "nodes"

            def questions(self, part):
                return np.arange(5, 9)

            def scores_of(self, part, answers):
                return PairScores.check(answers, answers)

    task = Loose(metrics=("mrr",), headline="mrr", **FIELDS)
    assert task.scores(np.arange(20.0)).positive.tolist() == [5.0, 6.0, 7.0, 8.0]
    with pytest.raises(InputError, match=r"no prediction for node 8: the array has shape \(7,\)"):
        task.scores(np.arange(7.0))


def test_answers_in_batches_of_several_types_lose_no_digit() -> None:
    from trueedge.scorers.scorer import CallableScorer, ask

    def mixed(rows):
        return rows.astype(np.float32) if rows[0] < 4 else rows + 1e-12

    found = ask(CallableScorer(mixed), np.arange(8), batch=4)
    assert found.tolist() == [0.0, 1.0, 2.0, 3.0, *(np.arange(4, 8) + 1e-12).tolist()]
    with pytest.raises(InputError, match=r"must answer every row alike, .* \(4, 4\) and \(2, 2\)"):
        ask(CallableScorer(lambda rows: np.ones((len(rows), len(rows))), "mine", (2,)), np.arange(6), batch=4)


# Recommendation: all candidates of a node at once, or pair by pair


@pytest.fixture
def recommend() -> te.RecommendTask:
    task = te.task(graph(), "recommendation")
    assert isinstance(task, te.RecommendTask)
    return task


class Rows:
    name = "rows"

    def score_candidates(self, queries):
        return TABLE[queries]


def test_candidates_and_pairs_give_the_same_bits(recommend, monkeypatch) -> None:
    def pairs(rows):
        return TABLE[rows[:, 0], rows[:, 1]]

    one, two = recommend.evaluate(Rows()), recommend.evaluate(pairs)
    assert one == two
    for name in one:
        assert one.units.values[name].tobytes() == two.units.values[name].tobytes()
    assert recommend.scores(Rows()).hash == recommend.scores(pairs).hash
    assert recommend.scores_of("test", TABLE[recommend.queries()]).hash == recommend.scores(pairs).hash
    monkeypatch.setattr("trueedge.tasks.recommend.PAIRS_IN_A_BLOCK", 100)
    assert recommend.scores(Rows()).hash == recommend.scores(pairs).hash
    assert recommend.evaluate(Rows()) == recommend.evaluate(pairs)


def test_both_ways_of_recommending_are_checked(recommend) -> None:
    assert te.check_scorer(Rows(), recommend).ok
    assert te.check_scorer(VECTORS, recommend).ok
    noise = type(
        "Noise", (), {"score_candidates": lambda self, q: np.random.default_rng().random((len(q), NODES))}
    )()
    for scorer in (noise, lambda pairs: np.random.default_rng().random(len(pairs))):
        report = te.check_scorer(scorer, recommend)
        assert [one.name for one in report.findings if one.level == "look"] == ["repeat"]
        assert report.ok


def test_a_table_of_too_few_candidates_is_named(recommend) -> None:
    short = type("Short", (), {"score_candidates": lambda self, queries: TABLE[queries][:, :7]})()
    with pytest.raises(
        InputError,
        match=r"Short must score 40 nodes for each of \d+ nodes, .* it answered with shape \(\d+, 7\)",
    ):
        recommend.evaluate(short)


def test_a_metric_without_a_finite_value_or_with_too_few_values_is_named() -> None:
    from trueedge.metrics import get, measure
    from trueedge.metrics.metric import METRICS, register

    scores = PairScores.check([1.0, 2.0], [0.0, 1.5])
    with METRICS.restored():
        for pattern, values in (("hole", lambda s: np.full(2, np.nan)), ("flat", lambda s: np.ones((2, 2)))):
            register(replace(get("mrr"), pattern=pattern, values=values, of_rank=None))
        register(replace(get("mrr"), pattern="short", values=lambda s: np.ones(1), of_rank=None))
        with pytest.raises(InputError, match="hole of these scores is nan"):
            measure(scores, ["mrr", "hole"])
        with pytest.raises(
            InputError, match=r"flat must give one value for each positive, it gave shape \(2, 2\)"
        ):
            measure(scores, ["mrr", "flat"])
        with pytest.raises(
            InputError, match=r"short must give one value for each positive, it gave shape \(1,\)"
        ):
            measure(scores, ["mrr", "short"])
