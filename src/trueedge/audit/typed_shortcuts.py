"""Shortcuts of node classification: what labels, edges without types, or features alone achieve."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.check import Finding, Skipped, chance_share, check, graded, percent, picture
from trueedge.audit.typed_subject import NodeSubject
from trueedge.metrics import Evaluation

if TYPE_CHECKING:
    from scipy.sparse import csr_array

KINDS = ("nodes",)
# With a class that most nodes have, micro-F1 is high whatever is learned: above 0.7 most of it is that
# class, above 0.9 differences of models disappear behind it.
MAJORITY_LOOK, MAJORITY_BROKEN = 0.7, 0.9
# The share of the way from the majority to certainty. With four fifths gone, models differ by little more
# than noise; above 95 % nothing is left to show.
SOLVED_LOOK, SOLVED_BROKEN = 0.8, 0.95
SHOWN_METRICS = {"micro-f1": "micro-F1", "macro-f1": "macro-F1"}
# Ridge penalties; rows of features have length 1, so that the kernel has a diagonal of ones.
PENALTIES = (0.1, 0.3, 1.0, 3.0, 10.0)
# Steps of conjugate gradients: more change no prediction.
STEPS = 50


def _features_alone(subject: NodeSubject) -> Evaluation | str:
    """Evaluate ridge regression on the features of the target type, or say why there is none."""
    table = subject.table(subject.task.target)
    if table is None or not table.nnz:
        return f"nodes of type {subject.noun!r} have no features"
    return subject.evaluate_scorer(FeatureRidge.fit(subject))


class FeatureRidge:
    """Ridge regression of the classes on the features of a node, without any edge.

    Rows of features have length 1. The penalty is chosen on the validation part; without one, it is the
    middle of the grid. If a node can have several classes, a class is predicted for as many nodes as have it
    in the training part.
    """

    name = "features alone"
    expects_ties = True

    def __init__(self, scores: NDArray[np.float64], first: int) -> None:
        self.scores, self.first = scores, first

    @classmethod
    def fit(cls, subject: NodeSubject) -> FeatureRidge:
        """Learn from the training nodes."""
        from scipy.sparse import diags_array

        task, table = subject.task, subject.table(subject.task.target)
        assert table is not None
        lengths = np.sqrt(np.asarray(table.multiply(table).sum(axis=1)).reshape(-1))
        unit = (diags_array(1.0 / np.where(lengths > 0, lengths, 1.0)) @ table).tocsr()
        train = task.nodes["train"] - subject.first
        given = task.memberships("train").astype(np.float64)
        known = unit[train]
        turned, shares = known.T.tocsr(), given.mean(axis=0)
        best: tuple[float, FeatureRidge] | None = None
        for penalty in PENALTIES if "valid" in task.nodes else PENALTIES[2:3]:
            weights = turned @ _solved(known, turned, penalty, given - shares)
            scores = np.asarray(unit @ weights) + shares
            made = cls(_thresholded(scores, shares) if task.multi else scores, subject.first)
            value = subject.evaluate_scorer(made, "valid")["micro-f1"] if "valid" in task.nodes else 0.0
            if best is None or value > best[0]:
                best = value, made
        assert best is not None
        return best[1]

    def predict(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return a score for each class, float64 (n, classes)."""
        return self.scores[np.asarray(nodes) - self.first]


def _solved(
    rows: csr_array, columns: csr_array, penalty: float, wanted: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the weights of training nodes by conjugate gradients: sparse products alone, no large kernel."""
    found = np.zeros_like(wanted)
    left, way = wanted.copy(), wanted.copy()
    size = (left * left).sum(axis=0)
    for _ in range(STEPS):
        turned = rows @ (columns @ way) + penalty * way
        step = size / np.maximum((way * turned).sum(axis=0), 1e-300)
        found += step * way
        left -= step * turned
        before, size = size, (left * left).sum(axis=0)
        way = left + size / np.maximum(before, 1e-300) * way
    return found


def _thresholded(scores: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 for the classes that a node has: each for the share of nodes that have it in training."""
    least = np.array([np.quantile(scores[:, one], 1 - share) for one, share in enumerate(shares)])
    return np.asarray(scores > least).astype(np.float64)


def _of_method(method: str, subject: NodeSubject) -> Evaluation | str:
    return subject.evaluate(method)


#: Predictors that use one source alone: what evaluates them, and what they use, in words.
NODE_SHORTCUTS: dict[str, tuple[Callable[[NodeSubject], Evaluation | str], str]] = {
    "majority": (partial(_of_method, "majority"), "the most frequent class"),
    "label-propagation": (partial(_of_method, "label-propagation"), "label propagation"),
    "node-features": (_features_alone, "features without edges"),
}


def _run(subject: NodeSubject, *, shortcut: str) -> Finding | Skipped:
    evaluate, uses = NODE_SHORTCUTS[shortcut]
    found = evaluate(subject)
    if isinstance(found, str):
        return Skipped(found)
    base = subject.evaluate("majority")
    left = {name: max(1.0 - base[name], 1e-9) for name in SHOWN_METRICS}
    adjusted = min((found[name] - base[name]) / left[name] for name in SHOWN_METRICS)
    count = len(subject.parts["test"])
    if shortcut == "majority":
        verdict = graded(
            found["micro-f1"], MAJORITY_LOOK, MAJORITY_BROKEN, chance_share(MAJORITY_LOOK, count)
        )
    else:
        # Micro- and macro-F1 must both be high: the majority has a high micro-F1 on unbalanced classes.
        verdict = graded(adjusted, SOLVED_LOOK, SOLVED_BROKEN, chance_share(SOLVED_LOOK, count))
    told = " and ".join(f"{title} {found[name]:.4f}" for name, title in SHOWN_METRICS.items())
    beside = " and ".join(f"{base[name]:.4f}" for name in SHOWN_METRICS)
    sentence = f"{uses} alone: {told}"
    return Finding(
        f"shortcut-{shortcut}",
        verdict,
        f"{found['micro-f1']:.4f}",
        sentence if shortcut == "majority" else f"{sentence}; the most frequent class: {beside}",
        {**{name: found[name] for name in SHOWN_METRICS}, "adjusted": adjusted, "chance": base["micro-f1"]},
        {
            "metric": np.array(list(SHOWN_METRICS.values())),
            uses: np.array([found[name] for name in SHOWN_METRICS]),
            **(
                {}
                if shortcut == "majority"
                else {"the most frequent class": np.array([base[name] for name in SHOWN_METRICS])}
            ),
        },
        f"{count:,} test nodes",
    )


ADVICE = {
    "majority": "Report macro-F1 beside micro-F1",
    "label-propagation": "Report `label-propagation` beside every model",
    "node-features": "Report a model without edges beside every model",
}
RULES = {
    True: f"look: a micro-F1 above {MAJORITY_LOOK}; broken: above {MAJORITY_BROKEN}",
    False: f"look: micro- and macro-F1 are more than {percent(SOLVED_LOOK)} of the way from those of the most"
    f" frequent class to 1; broken: more than {percent(SOLVED_BROKEN)}",
}
for _shortcut, (_, _uses) in NODE_SHORTCUTS.items():
    check(
        f"shortcut-{_shortcut}",
        "shortcuts",
        title=f"the F1 of {_uses} alone",
        question=f"How much of the task can be solved with {_uses} alone?",
        rule=RULES[_shortcut == "majority"],
        advice=ADVICE[_shortcut],
        picture=picture(f"Performance of {_uses} alone", "bars", "F1"),
        kinds=KINDS,
    )(partial(_run, shortcut=_shortcut))
