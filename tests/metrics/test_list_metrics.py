"""Metrics of ranked lists against scikit-learn, and against lists that do not fit together."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import sklearn.metrics as sk
from hypothesis import given, settings
from hypothesis import strategies as st

import trueedge.metrics as tm
from trueedge.errors import InputError

NAMES = [m.name.replace("@K", "@2") for m in tm.catalogue() if "lists" in m.layouts]


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 12), levels=st.sampled_from([1, 2, 4, 10**6]))
def test_ndcg_equals_that_of_scikit_learn_ties_included(seed, k, levels):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, levels, 12).astype(np.float64)
    relevant = rng.random(12) < 0.4
    relevant[rng.integers(12)] = True
    ours = tm.evaluate_lists([0, 12], scores, relevant, [f"ndcg@{k}"])[f"ndcg@{k}"]
    assert ours == pytest.approx(sk.ndcg_score([relevant], [scores], k=k), abs=1e-12)


def test_a_list_of_shuffled_lists_gives_the_mean_of_each_alone():
    rng = np.random.default_rng(1)
    sizes = rng.integers(3, 30, 25)
    indptr = np.cumsum([0, *sizes])
    scores = rng.integers(0, 6, indptr[-1]).astype(np.float32)
    relevant = rng.random(indptr[-1]) < 0.2
    relevant[indptr[:-1]] = True
    parts = [slice(a, b) for a, b in pairwise(indptr)]
    alone = [tm.evaluate_lists([0, len(scores[p])], scores[p], relevant[p], NAMES) for p in parts]
    together = tm.evaluate_lists(indptr, scores, relevant, NAMES)
    for name in NAMES:
        assert together[name] == pytest.approx(np.mean([values[name] for values in alone]), rel=1e-12)


def test_queries_without_a_relevant_candidate_are_left_out_and_counted():
    indptr = [0, 0, 3, 6, 6, 8]
    scores = [3.0, 2.0, 1.0, 9.0, 8.0, 7.0, 1.0, 2.0]
    relevant = [False, True, False, False, False, False, True, False]
    values = tm.evaluate_lists(indptr, scores, relevant, ["list-mrr", "recall@1"])
    assert values == {"list-mrr": 0.5, "recall@1": 0.0}
    assert (values.queries, values.left_out) == (2, 3)


def test_vcmpr_is_the_larger_of_precision_and_recall():
    scores, relevant = np.arange(10.0), np.arange(10) >= 6
    assert tm.evaluate_lists([0, 10], scores, relevant, ["vcmpr@2", "vcmpr@4", "vcmpr@8"]) == {
        "vcmpr@2": 1.0,
        "vcmpr@4": 1.0,
        "vcmpr@8": 1.0,
    }
    assert tm.evaluate_lists([0, 10], -scores, relevant, ["vcmpr@8"]) == {"vcmpr@8": 0.5}


def test_a_k_that_no_list_reaches_is_an_error():
    for name in ("ndcg@5", "recall@5", "vcmpr@5", "hitrate@5"):
        with pytest.raises(InputError, match="@5: the longest list has only 4 candidates"):
            tm.evaluate_lists([0, 4, 6], np.arange(6.0), [True] * 6, [name])


def test_relevance_may_be_zeros_and_ones():
    scores = [0.0, 1.0, 2.0]
    assert tm.evaluate_lists([0, 3], scores, [0, 1, 0], NAMES) == tm.evaluate_lists(
        [0, 3], scores, [False, True, False], NAMES
    )


@pytest.mark.parametrize(
    ("indptr", "scores", "relevant", "message"),
    [
        ([0, 2], [1.0, np.nan], [True, False], "1 of 2 candidate scores is NaN"),
        ([0, 2], [[1.0, 2.0]], [True, False], r"candidate scores must have the shape \(n,\)"),
        ([0, 2], [1.0, 2.0], [True], r"relevant must have the shape \(2,\) of the scores, got \(1,\)"),
        ([0, 2], [1.0, 2.0], [2, 0], "relevant must hold only true and false"),
        ([0, 2], [1.0, 2.0], [0.5, 0.0], "relevant must hold only true and false"),
        ([0, 1], [1.0, 2.0], [True, False], "indptr must go from 0 to 2, got 0 to 1"),
        ([1, 2], [1.0, 2.0], [True, False], "indptr must go from 0 to 2, got 1 to 2"),
        ([0, 2, 1, 2], [1.0, 2.0], [True, False], "indptr falls from 2 to 1 at query 1"),
        ([0.0, 2.0], [1.0, 2.0], [True, False], "indptr must hold q \\+ 1 whole numbers, got float64"),
        ([2], [1.0, 2.0], [True, False], "indptr must hold q \\+ 1 whole numbers"),
        ([0, 1, 2], [1.0, 2.0], [False, False], "none of the 2 queries has a relevant candidate"),
        ([0, 0], [], [], "none of the 1 queries has a relevant candidate"),
    ],
)
def test_lists_that_do_not_fit_together_are_refused(indptr, scores, relevant, message):
    with pytest.raises(InputError, match=message):
        tm.evaluate_lists(indptr, scores, relevant, ["list-mrr"])
