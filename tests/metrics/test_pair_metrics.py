"""Metrics of pairs against outside references, and against scores that are not fit to be judged."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import sklearn.metrics as sk
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import trueedge.metrics as tm
import trueedge.metrics.scores
from trueedge.errors import InputError

PAIRS = [m.name.replace("@K", "@2") for m in tm.catalogue() if "per-positive" in m.layouts]
finite = st.floats(allow_nan=False, allow_infinity=False, width=32)
some_scores = arrays(np.float32, st.integers(1, 40), elements=finite | st.sampled_from([0.0, -0.0, 1.0]))


@settings(max_examples=300, deadline=None)
@given(positive=some_scores, negative=some_scores)
def test_auc_and_ap_equal_those_of_scikit_learn(positive, negative):
    truth = np.concatenate([np.ones(len(positive)), np.zeros(len(negative))])
    scores = np.concatenate([positive, negative]).astype(np.float64)
    ours = tm.evaluate(positive, negative, ["auc", "ap"])
    assert ours["auc"] == pytest.approx(sk.roc_auc_score(truth, scores), abs=1e-12)
    assert ours["ap"] == pytest.approx(sk.average_precision_score(truth, scores), abs=1e-12)


@settings(max_examples=200, deadline=None)
@given(positive=some_scores, negative=some_scores, k=st.integers(1, 40))
def test_shared_hits_count_positives_above_the_kth_best_negative(positive, negative, k):
    if k > len(negative):
        with pytest.raises(InputError, match=f"hits@{k}: K can be at most {len(negative)} "):
            tm.evaluate(positive, negative, [f"hits@{k}"])
        return
    bar = np.sort(negative)[-k]
    assert tm.evaluate(positive, negative, [f"hits@{k}"])[f"hits@{k}"] == np.mean(positive > bar)


@settings(max_examples=100, deadline=None)
@given(positive=some_scores, negative=some_scores)
def test_shared_negatives_rank_like_the_same_negatives_in_every_row(positive, negative):
    shared = tm.ranks(positive, negative)
    own = tm.ranks(positive, np.tile(negative, (len(positive), 1)))
    assert np.array_equal(shared.optimistic, own.optimistic)
    assert np.array_equal(shared.pessimistic, own.pessimistic)
    assert np.array_equal(shared.mean, (shared.optimistic + shared.pessimistic) / 2)


def test_a_constant_scorer_with_nine_negatives_has_a_reciprocal_rank_of_two_elevenths():
    values = tm.evaluate([1.0], np.ones((1, 9)), ["mrr", "mrr.optimistic", "mrr.pessimistic"])
    assert values == pytest.approx({"mrr": 2 / 11, "mrr.optimistic": 1.0, "mrr.pessimistic": 0.1})


def test_own_auc_is_the_mean_of_the_positives_own():
    rng = np.random.default_rng(3)
    positive, negative = rng.integers(0, 9, 20), rng.integers(0, 9, (20, 15))
    each = [
        sk.roc_auc_score([1] + [0] * 15, np.append(p, row)) for p, row in zip(positive, negative, strict=True)
    ]
    assert tm.evaluate(positive, negative, ["auc"])["auc"] == pytest.approx(np.mean(each), abs=1e-12)


def test_hits_of_own_negatives_take_the_mean_rank_and_shared_ones_the_strict_rule():
    positive, negative = np.zeros(1), np.array([1.0, 0.0, -1.0])
    assert tm.evaluate(positive, negative, ["hits@3", "hits@2", "rank-hits@3"]) == {
        "hits@3": 1.0,
        "hits@2": 0.0,
        "rank-hits@3": 1.0,
    }
    tied = np.array([0.0, 0.0, -1.0])
    assert tm.evaluate(positive, tied, ["hits@2", "rank-hits@2"]) == {"hits@2": 0.0, "rank-hits@2": 1.0}
    assert tm.evaluate(positive, tied[None], ["hits@2"]) == {"hits@2": 1.0}


@pytest.mark.parametrize("layout", ["shared", "per-positive"])
@pytest.mark.parametrize("name", ["hits@9", "rank-hits@9", "hits@9.optimistic", "hits@9.pessimistic"])
def test_more_places_than_negatives_are_an_error_and_not_a_one(name, layout):
    negative = np.zeros(8) if layout == "shared" else np.zeros((3, 8))
    with pytest.raises(InputError, match=f"{name}: K can be at most 8 with so few scores"):
        tm.evaluate(np.ones(3), negative, [name])
    assert tm.evaluate(np.ones(3), negative, [name.replace("9", "8")])[name.replace("9", "8")] == 1.0


def test_precision_needs_as_many_pairs_as_places():
    assert tm.evaluate([3, 1], [2], ["precision@3"]) == {"precision@3": pytest.approx(2 / 3)}
    with pytest.raises(InputError, match="precision@4: K can be at most 3"):
        tm.evaluate([3, 1], [2], ["precision@4"])


@pytest.mark.parametrize(
    ("positive", "negative", "message"),
    [
        ([np.nan] * 12 + [0.0] * 443, [0.0], "12 of 455 positive scores are NaN"),
        ([0.0, 1.0], [np.inf, 0.0, 1.0], "1 of 3 negative scores is infinite"),
        ([0.0], [[np.nan, -np.inf, np.inf, 2.0]], "1 of 4 negative scores is NaN and 2 are infinite"),
        ([], [1.0], "there is no positive score"),
        ([1.0], [], "there is no negative score"),
        ([1.0], np.empty((1, 0)), "there is no negative score"),
        ([[1.0]], [1.0], r"positive scores must have the shape \(P,\), got \(1, 1\)"),
        ([1.0, 2.0], [[1.0, 2.0]], "there are 2 positive scores, but negative scores for 1"),
        ([1.0], np.zeros((1, 1, 1)), r"negative scores must have the shape \(M,\) or \(P, K\)"),
        (3.0, [1.0], "must be an array"),
        (["a"], [1.0], "positive scores must be real numbers"),
        ([None], [1.0], "positive scores must be real numbers"),
        ([1.0], [1j], "negative scores must be real numbers, got values of type complex128"),
        ([[1.0], [1.0, 2.0]], [1.0], "positive scores cannot be read as an array"),
    ],
)
def test_scores_that_cannot_be_judged_are_refused_with_their_count(positive, negative, message):
    with pytest.raises(InputError, match=message) as caught:
        tm.evaluate(positive, negative, ["mrr"])
    assert "\n" not in str(caught.value)


def test_no_conversion_makes_two_scores_equal():
    # Neighbours in float64 that are one number in float32.
    assert tm.evaluate([1.0 + 1e-12], np.array([[1.0]]), ["mrr"]) == {"mrr": 1.0}
    # The float16 nearest to 0.1 is below 0.1.
    assert tm.evaluate(np.array([0.1]), np.array([[0.1]], dtype=np.float16), ["mrr"]) == {"mrr": 1.0}
    assert tm.evaluate(np.array([0.1], dtype=np.float32), np.array([0.1]), ["mr"]) == {"mr": 1.0}
    assert tm.evaluate([2**53], np.array([[2**53 - 1]]), ["mr"]) == {"mr": 1.0}
    with pytest.raises(InputError, match="2 of 2 negative scores do not fit into a float64"):
        tm.evaluate([1], [2**60 + 1, -(2**53) - 1], ["mr"])
    with pytest.raises(InputError, match="1 of 1 positive scores do not fit"):
        tm.evaluate(np.array([2**64 - 1], dtype=np.uint64), [1], ["mr"])


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="long double is a float64 here")
def test_a_long_double_that_would_be_rounded_is_refused():
    fine = np.longdouble(1) + np.finfo(np.longdouble).eps
    with pytest.raises(InputError, match="do not fit into a float64"):
        tm.evaluate(np.array([fine]), [1.0], ["mr"])


def test_minus_zero_and_subnormal_numbers_are_what_they_are():
    assert tm.evaluate([-0.0], [[0.0]], ["mr"]) == {"mr": 1.5}
    assert tm.evaluate([5e-324], [[0.0]], ["mr"]) == {"mr": 1.0}


@pytest.mark.parametrize("name", PAIRS)
def test_memory_in_blocks_changes_nothing(name, monkeypatch):
    rng = np.random.default_rng(9)
    positive, negative = rng.integers(0, 20, 50), rng.integers(0, 20, (50, 11))
    whole = tm.evaluate(positive, negative, [name])
    monkeypatch.setattr(trueedge.metrics.scores, "NUMBERS_IN_A_BLOCK", 25)
    assert tm.evaluate(positive, negative, [name]) == whole


def test_arrays_of_any_order_and_byte_order_are_read():
    rng = np.random.default_rng(10)
    positive, negative = rng.random(7), rng.random((7, 5))
    expected = tm.evaluate(positive, negative, PAIRS)
    assert tm.evaluate(positive, np.asfortranarray(negative), PAIRS) == expected
    assert tm.evaluate(positive[::-1], negative[::-1], ["mr"])["mr"] == pytest.approx(expected["mr"])
    assert tm.evaluate(positive, negative.astype(">f8"), PAIRS) == expected
    assert tm.evaluate(positive.tolist(), negative.tolist(), PAIRS) == expected
    negative.flags.writeable = False
    assert tm.evaluate(positive, negative, PAIRS) == expected


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16, torch.int64])
def test_torch_tensors_are_read_as_they_are(dtype):
    positive = torch.tensor([3, 1, 2]).to(dtype)
    negative = torch.tensor([[1, 2], [1, 2], [1, 2]]).to(dtype)
    if dtype.is_floating_point:
        positive.requires_grad_()
    assert tm.ranks(positive, negative).mean.tolist() == [1.0, 2.5, 1.5]


def test_inputs_are_left_as_they_were():
    positive, negative = np.array([2.0, 1.0]), np.array([3.0, 1.0, 2.0])
    tm.evaluate(positive, negative, ["mrr", "auc", "ap", "precision@2"])
    assert positive.tolist() == [2.0, 1.0]
    assert negative.tolist() == [3.0, 1.0, 2.0]
    assert positive.flags.writeable
    assert negative.flags.writeable


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mrrr", "no metric is called 'mrrr'; did you mean 'mrr'?"),
        ("mrr@10", "no metric is called 'mrr@10'; did you mean 'mrr'?"),
        ("MRR", "no metric is called 'MRR'; did you mean 'mrr'?"),
        ("Hits@20", "no metric is called 'Hits@20'; did you mean 'hits@20'?"),
        ("hit@50", "no metric is called 'hit@50'; did you mean 'hits@50'?"),
        ("hits", "no metric is called 'hits'; did you mean 'hits@10'?"),
        ("hits@5.pesimistic", "did you mean 'hits@5.pessimistic'?"),
        ("hits@", "hits@: K must be a whole number, 1 or more, as in 'hits@10'"),
        ("hits@0", "hits@0: K must be a whole number, 1 or more, as in 'hits@10'"),
        ("hits@-1", "hits@-1: K must be a whole number, 1 or more, as in 'hits@10'"),
        ("hits@2.5", "no metric is called 'hits@2.5'"),
        ("hits@K", "hits@K: K must be a whole number, 1 or more, as in 'hits@10'"),
        ("hits@ten.pessimistic", "as in 'hits@10.pessimistic'"),
        ("hits@٣", "hits@٣: K must be a whole number"),
        (
            "quality of life",
            "no metric is called 'quality of life'; there are: accuracy, adjusted-mrr, amri, ap",
        ),
    ],
)
def test_a_name_nobody_knows_gets_a_hint(name, message):
    with pytest.raises(InputError) as caught:
        tm.get(name)
    assert message in str(caught.value)


def test_the_number_in_a_name_is_its_k():
    assert tm.get("hits@10").k == 10
    assert tm.get("hits@10.pessimistic").name == "hits@10.pessimistic"
    assert tm.get("mrr").k is None


def test_a_metric_for_another_layout_is_refused():
    with pytest.raises(InputError, match="ap evaluates negatives shared by all positives"):
        tm.evaluate([1.0], [[0.0]], ["ap"])
    with pytest.raises(InputError, match="ndcg@5 evaluates lists of candidates"):
        tm.evaluate([1.0], [0.0], ["ndcg@5"])
    with pytest.raises(InputError, match=r"mrr evaluates .*; it got lists of candidates"):
        tm.evaluate_lists([0, 2], [1.0, 0.0], [True, False], ["mrr"])


def test_a_metric_of_the_catalogue_asks_for_its_k():
    hits = next(metric for metric in tm.catalogue() if metric.pattern == "hits@K")
    with pytest.raises(InputError, match="needs a number in the place of K, as in 'hits@10'"):
        hits.expectation(tm.PairSizes(1, 100))


def test_an_expectation_is_refused_where_the_metric_is():
    with pytest.raises(InputError, match="hits@11: K can be at most 10"):
        tm.get("hits@11").expectation(tm.PairSizes(5, 10))
    with pytest.raises(InputError, match="precision@11: K can be at most 10"):
        tm.get("precision@11").expectation(tm.PairSizes(5, 5))


def test_one_name_alone_is_one_metric():
    assert tm.evaluate([1.0], [0.0], "auc") == {"auc": 1.0}


def test_a_name_is_given_once_in_the_catalogue():
    from trueedge.metrics.metric import register

    with pytest.raises(InputError, match="'mrr' is registered already"):
        register(tm.get("mrr"))


def test_importing_metrics_needs_neither_torch_nor_numba():
    code = (
        "import sys, trueedge.metrics as m; m.catalogue();"
        "print([name for name in ('torch', 'numba') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_masked_scores_are_refused_with_their_number() -> None:
    masked = np.ma.array([0.1, 0.2, 0.3], mask=[1, 0, 1])
    with pytest.raises(InputError, match="positive scores: 2 values are masked"):
        tm.evaluate(masked, [0.5], ["mrr"])
    with pytest.raises(InputError, match="negative scores: 1 value is masked"):
        tm.evaluate([0.5], [0.1, np.ma.masked], ["mrr"])
    unmasked = np.ma.array([0.1, 0.2, 0.3], mask=False)
    assert tm.evaluate(unmasked, [0.15], ["auc"]) == {"auc": pytest.approx(2 / 3)}


@pytest.mark.parametrize("names", [None, 5])
def test_names_of_metrics_are_names(names: object) -> None:
    with pytest.raises(InputError, match="names must be names of metrics, such as"):
        tm.evaluate([0.5], [0.1], names)  # type: ignore[arg-type]


def test_ranks_without_the_highest_negatives_are_those_among_the_others() -> None:
    from trueedge.metrics.ranks import rank_shared, without_highest

    rng = np.random.default_rng(8)
    positive, negative = rng.normal(size=200), rng.normal(size=50)
    ranks = rank_shared(positive, negative).mean
    for number in (0, 1, 7, 50):
        left = np.sort(negative)[: len(negative) - number]
        assert np.array_equal(without_highest(ranks, number), rank_shared(positive, left).mean)
