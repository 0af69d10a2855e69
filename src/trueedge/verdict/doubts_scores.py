"""Scores that are too good, upside down, or nothing but the edges themselves."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from trueedge import metrics
from trueedge.audit.check import chance_auc
from trueedge.tasks import GraphTask
from trueedge.verdict.asked import Asked
from trueedge.verdict.suspicions import Evidence, Suspicion, look

PERFECT = 0.999
# Where a baseline is this good, so may a model be.
EASY = 0.99
# An AUC below this is not bad luck.
UPSIDE_DOWN = 0.4
# Perfect scores by chance are this rare.
RARE = 1e-3
# Negatives that are not harder than random pairs.
EASY_NEGATIVES = ("existing", "uniform", "degree-corrected", "typed-links")


@look("adjacency")
def adjacency(evidence: Evidence) -> Iterator[Suspicion]:
    """Find scores that are one number for every edge, hidden or not, and another for every other pair."""
    if (asked := evidence.asked) is not None and is_adjacency(asked):
        yield Suspicion(
            "adjacency",
            f"every test edge has the score {asked.test[0]:g}, every other pair {asked.others[0]:g}: these"
            " are the edges of the whole graph, not predictions",
        )


@look("perfect")
def perfect(evidence: Evidence) -> Iterator[Suspicion]:
    """Find results that no predictor reaches without the answers."""
    for name in dict.fromkeys((evidence.task.headline, "auc", "mrr")):
        value = evidence.mean(name)
        if value is None or metrics.get(name).high != 1 or not metrics.get(name).higher_is_better:
            continue
        best = evidence.best_baseline(name)
        if value < PERFECT or (best is not None and best[1] >= EASY) or not _is_rare(evidence, name, best):
            continue
        shown = metrics.format_value(name, value)
        beside = f", and the best baseline, {best[0]}, {metrics.format_value(name, best[1])}" if best else ""
        yield Suspicion(
            "perfect",
            f"{name.upper()} is {shown}{beside}: no predictor is that good without the answers",
        )
        return
    asked = evidence.asked
    if asked is None or asked.test_auc < PERFECT or len(asked.test) < 20:
        return
    best_name, best_asked = evidence.best_heuristic
    if best_asked is not None and best_asked.test_auc < EASY:
        yield Suspicion(
            "perfect",
            f"test edges score higher than {asked.test_auc:.2%} of random pairs, those of {best_name} higher"
            f" than {best_asked.test_auc:.1%}: does the model know the answers?",
        )


@look("upside-down")
def upside_down(evidence: Evidence) -> Iterator[Suspicion]:
    """Find scores that would be better with the opposite sign."""
    asked = evidence.asked
    if asked is not None:
        found, noise = asked.test_auc, chance_auc(len(asked.test), len(asked.others))
    elif evidence.task.protocol in EASY_NEGATIVES and (mean := evidence.mean("auc")) is not None:
        found, noise = mean, 0.0
    else:
        return
    if found < UPSIDE_DOWN and 0.5 - found > noise:
        # On some graphs an honest score is below chance: where new edges are among new nodes, so are degrees.
        lowest = min(evidence.heuristics, key=lambda name: evidence.heuristics[name].test_auc, default="")
        usual = bool(lowest) and evidence.heuristics[lowest].test_auc < UPSIDE_DOWN
        why = f"; {lowest} has {evidence.heuristics[lowest].test_auc:.2f} here" if usual else ""
        yield Suspicion(
            "upside-down",
            f"test edges score lower than other pairs: AUC is {found:.3f}, with the opposite sign it would be"
            f" {1 - found:.3f}{why}. Are these distances, or was the model hardly trained?",
            grave=not usual,
        )


def is_adjacency(asked: Asked) -> bool:
    """Return whether scores tell edges from other pairs, and nothing else."""
    one, other = asked.test[0], asked.others[0]
    edges = (asked.test == one).all() and (asked.train == one).all()
    return bool(edges and (asked.others == other).all() and one > other)


def _is_rare(evidence: Evidence, metric: str, best: tuple[str, float] | None) -> bool:
    """Return whether perfect results are rarer by chance than one in a thousand, judged by the baselines.

    Args:
        evidence: the records of the model and of the baselines.
        metric: what is perfect.
        best: the best baseline with its mean of the metric, if there is one.
    """
    record = evidence.records[0]
    ranks = record.ranks
    if ranks is None and best is not None and not isinstance(evidence.task, GraphTask):
        values = record.unit_values(metric)
        return values is None or float(np.clip(best[1], 0.1, 1.0)) ** len(values) < RARE
    if ranks is None:
        return not isinstance(evidence.task, GraphTask) or len(evidence.task.questions("test")) >= 20
    shares = [float((found == 1).mean()) for one in evidence.baselines if (found := one.ranks) is not None]
    units = sum(len(found) for one in evidence.records if (found := one.ranks) is not None)
    return float(np.clip(max(shares, default=0.5), 0.1, 1.0)) ** units < RARE
