"""What a prediction that is the same for all nodes reaches on the validation part."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from trueedge.errors import ScoreWarning

if TYPE_CHECKING:
    from trueedge.tasks import NodeTask

LOSSES = ("loss", "loss-and-f1")


def chance_level(task: NodeTask, select: str) -> float:
    """Return the best validation value of a prediction that is the same for all nodes.

    The smallest loss is the entropy of the classes of the validation nodes; a metric is computed of every
    single class, or, if nodes can have several, of the most frequent ones, however many.

    Args:
        task: its test part is not read.
        select: what is compared on the validation part: the loss, or a metric.
    """
    true = task.memberships("valid")
    shares = true.mean(axis=0)
    if select in LOSSES:
        outcomes = np.stack([shares, 1 - shares]) if task.multi else shares[None]
        parts = -outcomes * np.log(np.where(outcomes > 0, outcomes, 1.0))
        return float(parts.sum(axis=0).mean() if task.multi else parts.sum())
    order = np.argsort(-shares, kind="stable")
    guesses = np.eye(len(shares))
    if task.multi:
        guesses = np.cumsum(guesses[order], axis=0)
    tables = [np.tile(one, (task.graph.num_nodes, 1)) for one in guesses]
    with warnings.catch_warnings():
        # That these predictions are the same for all nodes is no news.
        warnings.simplefilter("ignore", ScoreWarning)
        return float(max(task.evaluate(table, "valid", [select])[select] for table in tables))
