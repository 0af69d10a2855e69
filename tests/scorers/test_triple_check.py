"""check_scorer on triples: what is wrong with a scorer of queries is named."""

from __future__ import annotations

import numpy as np
import pytest

import trueedge as te
from trueedge.scorers import triple_check

UMLS = te.task("umls")
ENTITIES, RELATIONS = UMLS.num_entities, UMLS.num_relations
RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(ENTITIES, 2 * RELATIONS, ENTITIES)).astype(np.float32)
LEFT, MIDDLE = RNG.normal(size=(ENTITIES, 8)), RNG.normal(size=(2 * RELATIONS, 8))


def honest(heads, relations):
    """Random but fixed scores."""
    return TABLE[heads, relations]


def with_nan(heads, relations):
    scores = honest(heads, relations).copy()
    scores[heads == UMLS.queries()[0, 0], 3] = np.nan
    return scores


def batch_statistics(heads, relations):
    scores = honest(heads, relations)
    return scores - scores.mean(axis=0)


def by_place(heads, relations):
    return honest(heads, relations) + np.arange(len(heads))[:, None] * np.arange(ENTITIES)


class Stateful:
    """Scores that become better with every call."""

    def __init__(self) -> None:
        self.calls = 0
        self.answers = {
            tuple(query): one for query, one in zip(UMLS.queries().tolist(), UMLS.targets(), strict=True)
        }

    def score_tails(self, heads, relations):
        self.calls += 1
        scores = honest(heads, relations).astype(np.float64)
        for row, query in enumerate(zip(heads.tolist(), relations.tolist(), strict=True)):
            if query in self.answers:
                scores[row, self.answers[query]] += 0.1 * self.calls
        return scores


class Noisy:
    """Scores with noise of a fresh generator each call."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)

    def score_tails(self, heads, relations):
        return honest(heads, relations) + 0.01 * self.rng.normal(size=(len(heads), ENTITIES))


def sigmoid(heads, relations):
    return 1 / (1 + np.exp(-20 * honest(heads, relations)))


def only_frequency(heads, relations):
    """Says it uses heads, and does not."""
    counts = np.zeros((2 * RELATIONS, ENTITIES))
    np.add.at(counts, (UMLS.graph.both_directions[:, 1], UMLS.graph.both_directions[:, 2]), 1)
    return np.log1p(counts[relations]) + 0 * heads[:, None]


def only_tail(heads, relations):
    del heads
    return TABLE[0, relations]


def found(scorer, task=UMLS, **options) -> dict[str, tuple[str, str]]:
    report = te.check_scorer(scorer, task, **options)
    return {one.name: (one.level, one.sentence) for one in report.findings}


def test_an_honest_scorer_passes_every_check() -> None:
    report = te.check_scorer(honest, UMLS)
    assert report.ok
    assert {one.level for one in report.findings} == {"ok"}, str(report)
    names = "answer finite repeat order batch single constant ties saturation popularity entity side"
    assert [one.name for one in report.findings] == names.split()


@pytest.mark.parametrize(
    ("scorer", "name", "level", "words"),
    [
        (with_nan, "finite", "broken", "NaN"),
        (lambda h, r: honest(h, r)[:, :-1], "answer", "broken", r"instead of (1322, 135)"),
        (lambda h, r: honest(h, r)[:, 0], "answer", "broken", "has the shape (1322,)"),
        (
            lambda h, r: TABLE[:, :RELATIONS][h, r],
            "answer",
            "broken",
            "give it score_heads(tails, relations)",
        ),
        (lambda h, r: 1 / 0, "answer", "broken", "ZeroDivisionError"),
        (batch_statistics, "batch", "broken", "batch statistics"),
        (by_place, "order", "broken", "place among the others"),
        (lambda h, r: np.ones((len(h), ENTITIES)), "constant", "broken", "all scores are 1"),
        (lambda h, r: np.round(honest(h, r)), "ties", "look", "are ties"),
        (sigmoid, "saturation", "look", "pass the logits"),
        (Noisy(), "repeat", "look", "randomness"),
        (Stateful(), "state", "broken", "mrr goes from"),
        (only_frequency, "popularity", "look", "how often they answer the relation (rank correlation 1.00)"),
        (only_frequency, "entity", "look", "the entity of the query is ignored"),
        (only_tail, "entity", "look", "the entity of the query is ignored"),
        (lambda h, r: honest(h, r % RELATIONS), "side", "look", "heads and tails are not told apart"),
        (lambda triples: triples[:, 2] * 1.0, "entity", "look", "ignored"),
    ],
)
def test_a_fault_is_named(scorer, name: str, level: str, words: str) -> None:
    results = found(scorer)
    assert name in results, results
    assert results[name][0] == level
    assert words in results[name][1]
    assert "\n" not in results[name][1]


@pytest.mark.parametrize("method", ["entity-degree", "relation-frequency"])
def test_baselines_that_count_are_named_but_not_broken(method: str) -> None:
    report = te.check_scorer(te.methods.create(method).fit(UMLS), UMLS)
    assert report.ok
    levels = {one.name: one.level for one in report.findings}
    assert levels["popularity"] == levels["entity"] == "look"


def test_a_symmetric_model_is_told_so() -> None:
    results = found(te.TripleEmbeddings("distmult", LEFT, MIDDLE[:RELATIONS]))
    assert results["side"][0] == "look"
    assert results["entity"][0] == "ok"
    assert found(te.TripleEmbeddings("complex", LEFT, MIDDLE[:RELATIONS]))["side"][0] == "ok"


def test_noise_does_not_make_a_scorer_broken() -> None:
    assert te.check_scorer(Noisy(), UMLS).ok


def test_many_entities_are_checked_on_fewer_queries(monkeypatch) -> None:
    monkeypatch.setattr(triple_check, "CHECKED_SCORES", 100 * ENTITIES)
    assert found(honest)["answer"][1] == "100 queries got 100 answers"
    assert triple_check.most_queries(2000, 10**9) == triple_check.FEWEST_QUERIES


def test_a_scorer_for_one_side_is_not_asked_for_the_other() -> None:
    task = te.task("umls", sides="tail")
    results = found(lambda h, r: TABLE[:, :RELATIONS][h, r], task)
    assert "side" not in results
    assert results["answer"][0] == "ok"


def test_the_command_names_the_shape(trueedge, tmp_path) -> None:
    (tmp_path / "mine.py").write_text(
        "import numpy as np\ndef short(heads, relations):\n    return np.zeros((len(heads), 134))\n"
    )
    status, out, _ = trueedge("check", "umls", "mine.py:short")
    assert status == 1
    assert "a score for each of 135 entities" in " ".join(out.split())


def test_ties_are_told_in_words_of_triples() -> None:
    report = te.check_scorer(honest, UMLS, sample=60)
    (sentence,) = [one.sentence for one in report.findings if one.name == "ties"]
    assert sentence == "0.00% of the comparisons of an answer with another entity are ties"


def test_a_scorer_that_returns_none_is_refused() -> None:
    with pytest.raises(te.InputError, match="returned None instead of the scores of all entities"):
        UMLS.evaluate(lambda heads, relations: None)


def test_a_scorer_that_remembers_what_it_was_asked_is_broken() -> None:
    """A test query for heads tells which entity answers a query for tails."""
    task = te.task("nations")
    entities, relations = task.num_entities, task.num_relations
    seen = np.zeros((entities, 2 * relations))

    def remember(given, asked):
        seen[given, asked] = 1
        return seen[:, (asked + relations) % (2 * relations)].T.copy()

    report = te.check_scorer(remember, task, sample=100)
    assert not report.ok
    assert "state: a query's score changes once others have been asked" in " ".join(str(report).split())
