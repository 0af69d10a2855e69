"""A heuristic that is asked for more pairs than a graph has scores each of them once, with the same bits."""

from __future__ import annotations

import numpy as np
import pytest

import trueedge as te
from trueedge.methods.heuristics import known_scores

KARATE = te.load("karate")
EVERY = np.array([(u, v) for u in range(34) for v in range(34) if u != v])


@pytest.mark.parametrize("name", ["cn", "aa", "ra", "katz", "ppr", "shortest-path"])
def test_scores_from_the_table_have_the_same_bits(name):
    task = te.task("karate", "existing")
    heuristic = te.methods.get(name)()
    scorer = heuristic.fit(task)
    rng = np.random.default_rng(0)
    for _ in range(4):
        pairs = EVERY[rng.integers(0, len(EVERY), 700)]
        assert np.array_equal(scorer.score(pairs), heuristic.score(task.graph, pairs))
    assert scorer.known.table is not None


def asked_of(known, rounds):
    """Return how many pairs are computed in some rounds of all pairs."""
    counts = []

    def compute(pairs):
        counts.append(len(pairs))
        return pairs[:, 0] + 100.0 * pairs[:, 1]

    for _ in range(rounds):
        scores = known.score(compute, EVERY, 34)
        assert np.array_equal(scores, EVERY[:, 0] + 100.0 * EVERY[:, 1])
    return counts


def test_every_pair_is_computed_once():
    assert asked_of(known_scores.KnownScores(), 5) == [len(EVERY)]


def test_few_pairs_make_no_table():
    known = known_scores.KnownScores()
    known.score(lambda pairs: np.zeros(len(pairs)), EVERY[:100], 34)
    assert known.table is None


def test_a_large_graph_has_no_table(monkeypatch):
    monkeypatch.setattr(known_scores, "MOST_PAIRS", 1000)
    known = known_scores.KnownScores()
    assert asked_of(known, 3) == [len(EVERY)] * 3
    assert known.table is None


def test_a_score_that_is_not_a_number_is_computed_again():
    known = known_scores.KnownScores()
    for _ in range(2):
        assert np.isnan(known.score(lambda pairs: np.full(len(pairs), np.nan), EVERY, 34)).all()
