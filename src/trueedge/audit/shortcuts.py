"""Shortcuts: what scorers that learn nothing already achieve."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.advice import DEGREES, FEATURES, measure_distance
from trueedge.audit.check import Advice, Finding, Skipped, chance_auc, check, graded, pairs_needed, picture
from trueedge.audit.subject import LinkSubject
from trueedge.methods import get as method
from trueedge.metrics import evaluate, get

# How far an AUC is from a coin's, in either direction: half the way to certainty is worth a look; with four
# fifths gone, less than a fifth of the scale is left to tell real methods apart.
FROM_CHANCE_LOOK, FROM_CHANCE_BROKEN = 0.25, 0.40
GRID = 41
ADVICE: dict[str, Advice] = {
    "pa": DEGREES,
    "cosine": FEATURES,
    "cn": measure_distance,
    "shortest-path": measure_distance,
}


# Scorers that learn nothing: the heuristic's name, and what it uses.
SHORTCUTS = {"pa": "degrees", "cn": "common neighbours", "shortest-path": "distances", "cosine": "features"}


def _run(subject: LinkSubject, *, heuristic: str) -> Finding | Skipped:
    if method(heuristic).needs_features and subject.task.features is None:
        return Skipped("the nodes have no features")
    if heuristic == "cn" and subject.without_common_neighbours:
        return Skipped(subject.without_common_neighbours)
    limit = subject.path_limit if heuristic == "shortest-path" else None
    view = subject.lists(limit=limit)
    above, below = subject.scores(heuristic, view)
    auc = evaluate(above, below, ["auc"])["auc"]
    noise = chance_auc(len(above), below.size)
    verdict = graded(abs(auc - 0.5), FROM_CHANCE_LOOK, FROM_CHANCE_BROKEN, noise)
    numbers = {"auc": auc, "chance": noise}
    headline = subject.task.headline
    told = ""
    k = get(headline).k
    # A rank among a sample of shared negatives is not the rank among all of them; an AUC is.
    if headline != "auc" and view.whole_lists and (k is None or k <= view.negatives.shape[-2]):
        numbers[headline] = evaluate(above, below, [headline])[headline]
        told = f" and an {headline.upper()} of {numbers[headline]:.4f}"
    return Finding(
        f"shortcut-{heuristic}",
        verdict,
        f"{auc:.3f}",
        f"{method(heuristic).title} alone reaches an AUC of {auc:.4f}{told}",
        numbers,
        won_by(above, below),
        view.sizes(),
    )


def won_by(above: NDArray[np.float64], below: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """How many positives have at most a share of their negatives above them: the area is the AUC over lists.

    Args:
        above: float64 (p,), the positives' scores.
        below: float64 (m,) that all share, or (p, k) each positive's own; of ties half are above.
    """
    if below.ndim == 1:
        ordered = np.sort(below)
        ends = [np.searchsorted(ordered, above, side=side) for side in ("left", "right")]
        ahead = 1.0 - (ends[0] + ends[1]) / (2 * len(ordered))
    else:
        ahead = ((below > above[:, None]).mean(axis=1) + (below >= above[:, None]).mean(axis=1)) / 2
    grid = np.linspace(0.0, 1.0, GRID)
    return {
        "share of negatives": grid,
        "positives": np.searchsorted(np.sort(ahead), grid + 1e-12, side="right") / len(ahead),
    }


for _heuristic, _uses in SHORTCUTS.items():
    check(
        f"shortcut-{_heuristic}",
        "shortcuts",
        title=f"what {_uses} alone achieve",
        question=f"How much of the task can be solved with {_uses} alone?",
        rule=f"look: an AUC more than {FROM_CHANCE_LOOK} from 0.5; broken: more than {FROM_CHANCE_BROKEN}",
        advice=ADVICE[_heuristic],
        fewest=pairs_needed(chance_auc, FROM_CHANCE_BROKEN),
        picture=picture(
            f"Positives by the share of their negatives that {_uses} rank higher",
            "lines",
            "share of positives",
            "share of negatives scored higher, at most",
            diagonal=True,
            note="The dashed line is chance; the area below the other line is the AUC.",
        ),
    )(partial(_run, heuristic=_heuristic))
