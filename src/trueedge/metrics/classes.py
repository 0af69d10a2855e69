"""Metrics of predicted classes: accuracy, micro-F1, macro-F1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.metrics.metric import Metric, register
from trueedge.metrics.scores import LAYOUTS, Scores, take

LAYOUT = "classes"
LAYOUTS[LAYOUT] = "predicted classes of nodes"
# How far from 0 to 1 rounding may bring a probability.
MARGIN = 1e-6
# Logits of which fewer lie outside 0 to 1 are rather probabilities with faults.
FEW = 0.25


@dataclass(frozen=True, eq=False)
class ClassScores(Scores):
    """Predicted and true classes of nodes.

    Attributes:
        truth: bool (n, classes), the classes that each node has.
        predicted: float64 (n, classes), 1 for a predicted class and 0 for others; if k classes tie for the
            highest score of a node that has one class, each is predicted by 1/k.
        notes: what the user should know of how predictions were read.
    """

    form: ClassVar[str] = "classes"
    layout = LAYOUT

    truth: NDArray[np.bool_]
    predicted: NDArray[np.float64]
    notes: tuple[str, ...] = ()

    @classmethod
    def check(cls, truth: NDArray[Any], predicted: NDArray[Any]) -> Self:
        """Return the scores, or raise an InputError if they do not fit together."""
        if truth.ndim != 2 or not truth.size or truth.shape != predicted.shape:
            raise InputError(f"there are classes of shape {truth.shape}, predictions of {predicted.shape}")
        if not ((predicted >= 0) & (predicted <= 1)).all():
            raise InputError("predicted classes must lie between 0 and 1")
        return cls(truth.astype(np.bool_), predicted.astype(np.float64))

    @property
    def sizes(self) -> tuple[int, int]:
        """Return the numbers of nodes and classes."""
        count, classes = self.truth.shape
        return count, classes

    @cached_property
    def counts(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return true positives, and two denominators: predicted and true members, each (n, classes)."""
        truth = self.truth.astype(np.float64)
        return truth * self.predicted, self.predicted, truth

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return true and predicted classes."""
        return {"truth": self.truth, "predicted": self.predicted}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the scores of some :meth:`arrays`."""
        return cls.check(*take(arrays, "truth", "predicted"))


def classes_from(answers: NDArray[Any], classes: int, multi: bool) -> NDArray[np.float64]:
    """Return predicted classes, float64 (n, classes), from classes or scores of nodes.

    Args:
        answers: the class of each node, whole numbers (n,), or a number for each class, (n, classes). If a
            node can have several classes, numbers from 0 to 1 alone (up to rounding) are probabilities, and
            those above 0.5 are predicted; otherwise they are logits, and those above 0 are predicted.
        classes: the number of classes.
        multi: whether a node can have several classes.
    """
    if answers.ndim == 1:
        if multi:
            raise InputError(f"nodes can have several classes: predictions need the shape (n, {classes})")
        numbers = answers.astype(np.float64)
        wrong = (numbers != np.floor(numbers)) | (numbers < 0) | (numbers >= classes)
        if wrong.any():
            raise InputError(
                f"a predicted class is {answers[int(wrong.argmax())]}: classes are numbered from 0 to"
                f" {classes - 1}"
            )
        return np.eye(classes)[numbers.astype(np.int64)]
    if answers.shape[1] != classes:
        raise InputError(f"there are {classes} classes, but predictions of shape {answers.shape}")
    if multi:
        threshold = 0.0 if _outside(answers) else 0.5
        return np.asarray(answers > threshold).astype(np.float64)
    best = np.asarray(answers == answers.max(axis=1, keepdims=True)).astype(np.float64)
    shares: NDArray[np.float64] = best / best.sum(axis=1, keepdims=True)
    return shares


def logit_notes(answers: NDArray[Any]) -> tuple[str, ...]:
    """Return a note on logits that are almost all from 0 to 1, as probabilities are.

    Args:
        answers: a number for each node and class, (n, classes); a node can have several classes.
    """
    outside = _outside(answers)
    if not 0 < outside < FEW * answers.size:
        return ()
    lie = "lies" if outside == 1 else "lie"
    return (f"{outside} of {answers.size} numbers {lie} outside 0 to 1, so all are read as logits",)


def _outside(answers: NDArray[Any]) -> int:
    """Return how many numbers are no probabilities."""
    return int(np.count_nonzero((answers < -MARGIN) | (answers > 1 + MARGIN)))


def _accuracies(scores: ClassScores) -> NDArray[np.float64]:
    """Return the share of right predictions of each node; all classes of a node must be right."""
    if (scores.truth.sum(axis=1) == 1).all() and np.allclose(scores.predicted.sum(axis=1), 1):
        right: NDArray[np.float64] = scores.counts[0].sum(axis=1)
        return right
    exact = np.all(scores.truth == (scores.predicted > 0.5), axis=1)
    return np.asarray(exact, dtype=np.float64)


def _micro_f1(scores: ClassScores) -> NDArray[np.float64]:
    right, predicted, true = (part.sum(axis=1) for part in scores.counts)
    return _ratio(2 * right, predicted + true)


def _macro_f1(scores: ClassScores) -> NDArray[np.float64]:
    right, predicted, true = scores.counts
    # A class that nobody has and nobody predicts says nothing. scikit-learn leaves it out if nodes have one
    # class each, and counts it as 0 if they have several.
    there = (predicted + true).sum(axis=0) > 0
    if not there.any():
        return np.zeros(len(right))
    parts = [_ratio(2 * right[:, c], predicted[:, c] + true[:, c]) for c in np.flatnonzero(there)]
    return np.asarray(np.mean(parts, axis=0))


def _ratio(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values per node whose mean is the ratio of two sums.

    They are the ratio plus each node's influence on it, so that their spread gives its standard error.
    """
    total = below.sum()
    if not total:
        return np.zeros(len(above))
    ratio = above.sum() / total
    return np.asarray(ratio + len(above) * (above - ratio * below) / total)


def _register(pattern: str, title: str, formula: str, values: Any) -> None:
    register(
        Metric(
            pattern=pattern,
            title=title,
            layouts=(LAYOUT,),
            formula=formula,
            citation="van Rijsbergen, Information Retrieval, 1979",
            values=values,
        )
    )


_register(
    "micro-f1",
    "F1 of all predicted classes together",
    "2 TP / (2 TP + FP + FN), counted over all nodes and classes; classes that tie share a prediction",
    _micro_f1,
)
_register(
    "macro-f1",
    "mean of the F1 of each class",
    "mean over classes of 2 TP / (2 TP + FP + FN); a class that nobody has or predicts is left out",
    _macro_f1,
)
_register(
    "accuracy",
    "share of nodes whose classes are all right",
    "a node counts if exactly its classes are predicted; classes that tie share a prediction",
    _accuracies,
)
