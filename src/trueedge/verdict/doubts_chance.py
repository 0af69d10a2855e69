"""Scores that may be random: the headline is not significantly different from its value by chance."""

from __future__ import annotations

import math

from trueedge import metrics
from trueedge.analysis.tables import Table
from trueedge.metrics import PairSizes
from trueedge.tasks import LinkTask, Task, TypedLinkTask
from trueedge.verdict.suspicions import Suspicion

NAME = "chance"


def at_chance(table: Table, label: str, task: Task) -> Suspicion | None:
    """Return the doubt that a model is at or below chance; None if it is above, or nobody knows.

    Some baselines are below chance, so that noise beats them.

    Args:
        table: the methods under one protocol.
        label: the model's label in it.
        task: one of its tasks.
    """
    line = next((one for one in table.lines if one.label == label), None)
    chance = _chance(task, table.headline)
    if line is None or line.estimate is None or math.isnan(chance):
        return None
    found = line.estimate.estimate
    if not metrics.get(table.headline).higher_is_better or found.low > chance:
        return None
    where = "significantly below" if found.high < chance else "not significantly different from"
    factor = metrics.scale(table.headline)
    return Suspicion(
        NAME, f"its {table.headline.upper()} is {where} chance ({factor * chance:.3g})", grave=False
    )


def _chance(task: Task, metric: str) -> float:
    """Return what random scores get, or NaN if it is not known."""
    if isinstance(task, LinkTask):
        part = task.parts["test"]
        return metrics.get(metric).expectation(PairSizes(len(part.positives), part.negatives.shape[-2]))
    if isinstance(task, TypedLinkTask):
        return metrics.get(metric).expectation((len(task.positives["test"]), len(task.negatives["test"])))
    return math.nan
