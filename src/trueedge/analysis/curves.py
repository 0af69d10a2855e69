"""Training curves as plain values for records."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

# A few hundred epochs show a training of ten thousand as clearly, and keep its record small.
MOST = 200


def training_curve(scorer: object) -> dict[str, Any]:
    """Return the ``training`` of a scorer with a ``history``, for a record's provenance; otherwise nothing.

    It holds the validation ``metric``, ``best_epoch``, and (epoch, value) lists: ``evaluations``, ``losses``.
    """
    history = getattr(scorer, "history", None)
    losses, values = getattr(history, "losses", None), getattr(history, "values", None)
    if losses is None or values is None:
        return {}
    best = int(getattr(history, "best_epoch", 0))
    curve = {
        "metric": getattr(history, "metric", None),
        "best_epoch": best,
        "evaluations": _thinned([(int(epoch), float(value)) for epoch, value in values], best),
        "losses": _thinned([(epoch, float(loss)) for epoch, loss in enumerate(losses, 1)], best),
    }
    return {"training": curve}


def recorded_curve(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Return the training curve in a record's provenance, or nothing."""
    kept = provenance.get("training")
    if not isinstance(kept, Mapping):
        return {}
    # "looks" is the name in version 0.1.
    return {"evaluations": kept.get("looks", []), **kept}


def _thinned(curve: Sequence[tuple[int, float]], best: int) -> list[list[float]]:
    """Return evenly spaced values, with the first, the best and the last."""
    every = max(1, math.ceil(len(curve) / MOST))
    last = len(curve) - 1
    return [
        [epoch, value]
        for place, (epoch, value) in enumerate(curve)
        if place % every == 0 or place == last or epoch == best
    ]
