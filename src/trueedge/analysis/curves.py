"""Training curves as plain values that a record can keep."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

# A training of ten thousand epochs is as clear from a few hundred of them, and its record stays small.
MOST = 200


def training_curve(scorer: object) -> dict[str, Any]:
    """Return the validation metric and the loss by epoch of a trained scorer, for a record's provenance.

    Args:
        scorer: what a method's fit gave; a trained one has a ``history``.

    Returns:
        empty where nothing was trained, else under ``training`` the ``metric`` and ``best_epoch``, and
        ``evaluations`` and ``losses``, each a list of (epoch, value).
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
    """Return the training curve in a record's provenance; empty where it has none."""
    kept = provenance.get("training")
    if not isinstance(kept, Mapping):
        return {}
    # What version 0.1 called them.
    return {"evaluations": kept.get("looks", []), **kept}


def _thinned(curve: Sequence[tuple[int, float]], best: int) -> list[list[float]]:
    """At most so many values, evenly spread; the first, the best and the last are among them."""
    every = max(1, math.ceil(len(curve) / MOST))
    last = len(curve) - 1
    return [
        [epoch, value]
        for place, (epoch, value) in enumerate(curve)
        if place % every == 0 or place == last or epoch == best
    ]
