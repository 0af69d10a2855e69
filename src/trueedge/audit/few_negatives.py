"""Few negatives: where all positives share them, one that is scored too high costs every positive a rank."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.check import Finding, Skipped, check, graded, pairs_needed, percent, picture
from trueedge.audit.subject import LinkSubject
from trueedge.methods import get as method
from trueedge.metrics.ranks import rank_shared

# Of random scores the best negative is worth a tenth or two of the MRR, by the harmonic numbers. Beyond half,
# two seeds of a method may differ by more than two methods do; where the MRR doubles, one pair decides.
GAIN_LOOK, GAIN_BROKEN = 0.5, 1.0
SCORERS = ("pa", "cn", "ra", "cosine")
LEFT_OUT = 10


def _chance_gain(positives: int, negatives: int, mrr: float | None = None) -> float:
    """Return the gain that random scores have one time in a thousand.

    The positives between the two highest negatives gain half a rank each. Their number is geometric.

    Args:
        positives: how many there are.
        negatives: how many they share.
        mrr: the MRR; that of random scores if None.
    """
    between = math.log(0.001) / math.log(positives / (positives + negatives))
    random = float((1.0 / np.arange(1, negatives + 2)).mean())
    return 0.5 * between / positives / (random if mrr is None else mrr)


@check(
    "few-negatives",
    "negatives",
    title="single negatives that decide the MRR",
    question="Does the MRR depend on single negatives?",
    rule=f"look: the MRR rises by more than {percent(GAIN_LOOK)} without the top-scored negative;"
    f" broken: by more than {percent(GAIN_BROKEN)}",
    advice="Use more negatives (`--option ratio=10`), or report AUC beside MRR",
    fewest=pairs_needed(_chance_gain, GAIN_BROKEN),
    picture=picture("MRR without the top-scored negatives", "lines", "MRR", "top-scored negatives removed"),
)
def _run(subject: LinkSubject) -> Finding | Skipped:
    if subject.task.headline != "mrr":
        return Skipped(f"the headline metric is {subject.task.headline}, not MRR")
    view = subject.lists()
    if view.per_positive:
        return Skipped("each positive has its own negatives")
    if not view.whole_lists:
        return Skipped("there are so many negatives that no single one can matter")
    series: dict[str, NDArray[np.float64]] = {"removed": np.arange(LEFT_OUT + 1, dtype=np.float64)}
    gains = {}
    for name in SCORERS:
        if method(name).needs_features and subject.task.features is None:
            continue
        above, below = subject.scores(name, view)
        series[name] = _without(above, np.sort(below))
        gains[name] = float(series[name][1] / series[name][0]) - 1.0
    most = max(gains, key=gains.__getitem__)
    first, second = series[most][:2]
    noise = _chance_gain(len(view.positives), len(view.negatives), float(first))
    return Finding(
        "few-negatives",
        graded(gains[most], GAIN_LOOK, GAIN_BROKEN, noise),
        f"{100 * gains[most]:+.0f} %",
        f"removing the one of {len(view.negatives):,} shared negatives that {method(most).title} scores"
        f" highest raises its MRR from {first:.4f} to {second:.4f}",
        {"gain": gains[most], **{f"gain of {name}": gain for name, gain in gains.items()}},
        series,
        view.sizes(),
    )


def _without(above: NDArray[np.float64], ordered: NDArray[np.float64]) -> NDArray[np.float64]:
    """The MRR without the 0, 1, … highest negatives, as far as there are some left: nan beyond."""
    found = np.full(LEFT_OUT + 1, np.nan)
    for number in range(min(LEFT_OUT + 1, len(ordered))):
        left = ordered[: len(ordered) - number]
        found[number] = np.mean(1.0 / rank_shared(above, left).mean)
    return found
