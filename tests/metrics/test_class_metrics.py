"""Metrics of predicted classes, against scikit-learn and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from trueedge import metrics
from trueedge.errors import InputError
from trueedge.metrics.classes import ClassScores, classes_from


@given(st.integers(1, 60), st.integers(2, 6), st.integers(0, 10**6))
def test_f1_of_single_classes_is_that_of_scikit_learn(count: int, classes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth, guess = rng.integers(0, classes, (2, count))
    scores = ClassScores.check(np.eye(classes, dtype=bool)[truth], classes_from(guess, classes, False))
    for average in ("micro", "macro"):
        expected = f1_score(truth, guess, average=average, zero_division=0)
        assert metrics.get(f"{average}-f1").value(scores) == pytest.approx(expected)
    assert metrics.get("accuracy").value(scores) == pytest.approx(np.mean(truth == guess))


@given(st.integers(1, 60), st.integers(2, 6), st.integers(0, 10**6))
def test_f1_of_several_classes_is_that_of_scikit_learn(count: int, classes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth, logits = rng.random((count, classes)) < 0.4, rng.normal(size=(count, classes)) * 3
    scores = ClassScores.check(truth, classes_from(logits, classes, True))
    there = (truth | (logits > 0)).any(axis=0)
    if ((logits >= 0) & (logits <= 1)).all() or not there.any():
        return
    micro = f1_score(truth, logits > 0, average="micro", zero_division=0)
    # Of one column alone, scikit-learn would take the mean over both of its values.
    macro = f1_score(truth, logits > 0, average=None, zero_division=0)[there].mean()
    assert metrics.get("micro-f1").value(scores) == pytest.approx(micro)
    assert metrics.get("macro-f1").value(scores) == pytest.approx(macro)
    assert metrics.get("accuracy").value(scores) == np.mean((truth == (logits > 0)).all(axis=1))


def test_the_spread_of_values_per_node_is_the_standard_error_of_the_bootstrap() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 400)
    guess = np.where(rng.random(400) < 0.7, truth, rng.integers(0, 3, 400))
    scores = ClassScores.check(np.eye(3, dtype=bool)[truth], classes_from(guess, 3, False))
    values = metrics.get("macro-f1").per_unit(scores)
    again = []
    for _ in range(150):
        rows = rng.integers(0, 400, 400)
        again.append(f1_score(truth[rows], guess[rows], average="macro"))
    assert values.std(ddof=1) / 20 == pytest.approx(np.std(again), rel=0.15)


def test_classes_that_tie_share_a_prediction() -> None:
    found = classes_from(np.array([[1.0, 1.0, 0.0], [0.0, 2.0, 1.0]]), 3, False)
    assert found.tolist() == [[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]]


def test_numbers_between_0_and_1_are_probabilities_and_others_logits() -> None:
    assert classes_from(np.array([[0.6, 0.4]]), 2, True).tolist() == [[1.0, 0.0]]
    assert classes_from(np.array([[0.6, -0.4]]), 2, True).tolist() == [[1.0, 0.0]]
    assert classes_from(np.array([[3.0, 0.4]]), 2, True).tolist() == [[1.0, 1.0]]


@pytest.mark.parametrize(
    ("answers", "multi", "words"),
    [
        (np.array([0, 3]), False, "a predicted class is 3"),
        (np.array([0.5, 1]), False, "a predicted class is 0.5"),
        (np.array([-1, 1]), False, "a predicted class is -1"),
        (np.array([0, 1]), True, "several classes"),
        (np.zeros((2, 4)), False, "there are 3 classes"),
    ],
)
def test_predictions_that_cannot_be_are_refused(answers: np.ndarray, multi: bool, words: str) -> None:
    with pytest.raises(InputError, match=words):
        classes_from(answers, 3, multi)


def test_class_scores_come_back_from_their_arrays() -> None:
    scores = ClassScores.check(np.eye(3, dtype=bool), np.eye(3)[[0, 2, 1]])
    again = ClassScores.from_arrays(scores.arrays())
    assert again.hash == scores.hash
    with pytest.raises(InputError, match="between 0 and 1"):
        ClassScores.check(np.eye(3, dtype=bool), 2 * np.eye(3))
    with pytest.raises(InputError, match="predictions of"):
        ClassScores.check(np.eye(3, dtype=bool), np.eye(2))
