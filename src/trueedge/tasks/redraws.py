"""Score other draws of the negatives that all positives of a task share.

The metrics on these draws show how much a record depends on its negatives: see
:mod:`trueedge.statistics.shared_negatives`.
"""

from __future__ import annotations

from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.metrics import PairScores, UnitValues
from trueedge.metrics import get as get_metric
from trueedge.randomness import derive
from trueedge.scorers.asking import ask_mixed
from trueedge.statistics.shared_nodes import shared_ends
from trueedge.tasks.base import Task
from trueedge.tasks.link import LinkTask
from trueedge.tasks.protocols.protocol import find

# With 20 draws the quantile is 2.09 instead of 1.96. Fewer than 5 say little of how much they vary.
REDRAWS, FEWEST = 20, 5
# The most further pairs that a scorer scores for them.
MOST_PAIRS = 500_000
# The ends of more units than these would make a record large, and matter little: the error is then small.
MOST_ENDS = 200_000
_DRAWN: WeakKeyDictionary[Task, NDArray[np.int32]] = WeakKeyDictionary()


def with_redraws(task: Task, scorer: object, units: UnitValues, drawn: bool = True) -> UnitValues:
    """Return the values of a task's test units with the nodes they share, and with other draws of negatives.

    Args:
        task: the task.
        scorer: what was evaluated.
        units: the values of the test part.
        drawn: whether other draws are scored.
    """
    nodes = task.unit_nodes()
    ends = None if nodes is None or len(nodes) > MOST_ENDS else shared_ends(nodes)
    shared = _shares_negatives(task)
    redraws = redrawn_metrics(task, scorer, tuple(units.values)) if drawn else {} if shared else None
    return replace(units, ends=ends, redraws=redraws)


def _shares_negatives(task: Task) -> bool:
    return isinstance(task, LinkTask) and not task.test.per_positive


def redrawn_metrics(
    task: Task, scorer: object, metrics: tuple[str, ...]
) -> dict[str, NDArray[np.float64]] | None:
    """Return metrics of the test part with other draws of its negatives, float64 (R,) by name.

    Returns:
        None if positives do not share negatives; nothing if other draws are too many pairs, if nobody knows
        how to draw them, or if the scorer knows only the pairs of the task.
    """
    if not isinstance(task, LinkTask) or task.test.per_positive:
        return None
    drawn = draws(task)
    if not len(drawn):
        return {}
    try:
        bound = task.bind(scorer, "test")
        positive, scores = ask_mixed(bound, task.test.positives, drawn.reshape(-1, 2), task.seed)
    except InputError:
        return {}
    except Exception:
        # A user's scorer that looks up the pairs of the task may raise anything; one of the package may not.
        if type(scorer).__module__.startswith("trueedge."):
            raise
        return {}
    every = [PairScores(positive, one) for one in scores.reshape(drawn.shape[:2])]
    rules = [get_metric(name) for name in metrics]
    return {rule.name: np.array([rule.value(one) for one in every]) for rule in rules if rule.fits(every[0])}


def draws(task: LinkTask) -> NDArray[np.int32]:
    """Return other draws of a task's test negatives, the same for every scorer, int32 (R, M, 2)."""
    if task not in _DRAWN:
        _DRAWN[task] = _draws(task)
    return _DRAWN[task]


def _draws(task: LinkTask) -> NDArray[np.int32]:
    protocol = find(task.protocol)
    size = len(task.test.negatives)
    count = min(REDRAWS, MOST_PAIRS // max(1, size))
    if protocol is None or protocol.redraw is None or count < FEWEST:
        return np.empty((0, size, 2), dtype=np.int32)
    return np.stack([protocol.redraw(task, derive(task.seed, "redraws", number)) for number in range(count)])
