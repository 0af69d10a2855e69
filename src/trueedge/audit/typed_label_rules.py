"""Features that give the class away: the best rule of a single column for each class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.check import Finding, Skipped, chance_share, check, graded, percent, picture
from trueedge.audit.typed_subject import NodeSubject

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array

KINDS = ("nodes",)
# The share of the way from "every node has the class" to a perfect rule. A single word can be a strong hint,
# but four fifths deserve a look; beyond 95 %, the column is the class, up to a few errors.
RULE_LOOK, RULE_BROKEN = 0.8, 0.95
# F1 of a class with fewer nodes moves in steps that are too large.
FEWEST = 5
# Columns with several values are compared one by one: this many take about a second.
MOST_COLUMNS = 5_000
# Columns with more values are divided into so many groups of equal size.
GROUPS = 32


@check(
    "label-in-features",
    "leaks",
    title="classes that one column of the features tells",
    question="Does a single feature give a class away?",
    rule="look: for a class, the best rule of one column, chosen on training nodes, has a test F1 that is"
    f" more than {percent(RULE_LOOK)} of the way from predicting the class for every node to 1; broken: more"
    f" than {percent(RULE_BROKEN)}",
    advice="Leave this column out, or find out how it was made",
    picture=picture("The best rule of one column for each class", "bars", "F1 on test nodes", "class"),
    kinds=KINDS,
)
def _run(subject: NodeSubject) -> Finding | Skipped:
    table = subject.table(subject.task.target)
    if table is None or not table.nnz:
        return Skipped(f"nodes of type {subject.noun!r} have no features")
    train, test = subject.truth["train"], subject.truth["test"]
    judged = np.flatnonzero((train.sum(axis=0) >= FEWEST) & (test.sum(axis=0) >= FEWEST))
    if not len(judged):
        return Skipped(f"no class has {FEWEST} training and {FEWEST} test nodes")
    known, asked = (table[subject.parts[part] - subject.first] for part in ("train", "test"))
    rules = _Rules(known, asked, train[:, judged], test[:, judged])
    values, columns = rules.best()
    shares = test[:, judged].mean(axis=0)
    always = 2 * shares / (1 + shares)
    adjusted = (values - always) / np.maximum(1 - always, 1e-9)
    worst = int(adjusted.argmax())
    names = [subject.task.classes[one] for one in judged]
    return Finding(
        "label-in-features",
        graded(
            float(adjusted[worst]),
            RULE_LOOK,
            RULE_BROKEN,
            chance_share(RULE_LOOK, int(test[:, judged[worst]].sum())),
        ),
        f"{values[worst]:.4f}",
        f"column {columns[worst]:,} of the features tells {names[worst]!r} with a test F1 of"
        f" {values[worst]:.4f} (if every node gets it: {always[worst]:.4f}); the mean of the best column"
        f" of each class is {values.mean():.4f}",
        {
            "f1": float(values[worst]),
            "adjusted": float(adjusted[worst]),
            "column": float(columns[worst]),
            "mean over classes": float(values.mean()),
        },
        {"class": np.array(names), "best column": values, "every node": always},
        f"{table.shape[1]:,} columns, {subject.looked()}",
    )


class _Rules:
    """Rules of single columns: the class is predicted for some values of a column.

    Args:
        train: the features of training nodes.
        test: those of test nodes.
        known: bool (n, classes), the classes of training nodes.
        truth: those of test nodes.
    """

    def __init__(
        self, train: csr_array, test: csr_array, known: NDArray[np.bool_], truth: NDArray[np.bool_]
    ) -> None:
        self.train: csc_array = train.tocsc()
        self.test: csc_array = test.tocsc()
        self.known, self.truth = known.astype(np.float64), truth.astype(np.float64)

    def best(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the test F1 of the rule with the best training F1 for each class, and its column."""
        score, column, there = self._non_zero()
        found = np.zeros(len(score))
        for number in range(len(score)):
            values = _dense(self.test, int(column[number])) != 0
            found[number] = _f1((values == there[number]).astype(np.float64), self.truth[:, number])
        for place in self._with_several_values().tolist():
            groups, asked = self._groups(place)
            counts = np.zeros((groups.max() + 1, self.known.shape[1]))
            np.add.at(counts, groups, self.known)
            predicted = counts > np.bincount(groups)[:, None] / 2
            value = _f1(predicted[groups].astype(np.float64), self.known)
            for number in np.flatnonzero(value > score).tolist():
                score[number], column[number] = value[number], place
                found[number] = _f1(predicted[asked, number].astype(np.float64), self.truth[:, number])
        return found, column

    def _non_zero(self) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_]]:
        """Return training F1, column, and whether non-zero or zero entries say a class, for each class."""
        pattern = self.train.copy()
        pattern.data = np.ones_like(pattern.data)
        both = np.asarray(pattern.T @ self.known)
        entries, sizes = np.diff(pattern.indptr)[:, None], self.known.sum(axis=0)
        filled = 2 * both / np.maximum(entries + sizes, 1)
        empty = 2 * (sizes - both) / np.maximum(len(self.known) - entries + sizes, 1)
        larger = np.maximum(filled, empty)
        column = larger.argmax(axis=0)
        classes = np.arange(len(sizes))
        return larger[column, classes], column, filled[column, classes] >= empty[column, classes]

    def _with_several_values(self) -> NDArray[np.int64]:
        """Return the columns with different non-zero values, those with the most entries first."""
        counts = np.diff(self.train.indptr)
        there = np.flatnonzero(counts)
        starts = self.train.indptr[:-1][there]
        if not len(there):
            return there
        least, most = (low.reduceat(self.train.data, starts) for low in (np.minimum, np.maximum))
        several = there[least < most]
        order = np.argsort(-counts[several], kind="stable")
        return several[order[:MOST_COLUMNS]].astype(np.int64)

    def _groups(self, column: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the group of values of each training and test node."""
        own = _dense(self.train, column)
        levels = np.unique(own)
        if len(levels) > GROUPS:
            levels = np.unique(np.quantile(own, np.linspace(0, 1, GROUPS + 1)[1:-1]))
            edges = levels
        else:
            edges = (levels[:-1] + levels[1:]) / 2
        return np.searchsorted(edges, own), np.searchsorted(edges, _dense(self.test, column))


def _dense(table: csc_array, column: int) -> NDArray[np.float64]:
    found = np.zeros(table.shape[0])
    inside = slice(table.indptr[column], table.indptr[column + 1])
    found[table.indices[inside]] = table.data[inside]
    return found


def _f1(predicted: NDArray[np.float64], truth: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 2 TP / (2 TP + FP + FN), of each column if there are several."""
    total = predicted.sum(axis=0) + truth.sum(axis=0)
    return np.asarray(2 * (predicted * truth).sum(axis=0) / np.maximum(total, 1))
