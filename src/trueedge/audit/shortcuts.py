"""Shortcuts: what scorers that learn nothing already get."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from trueedge.audit.check import Check, Finding, Skipped, chance_auc, graded, register
from trueedge.audit.subject import Subject
from trueedge.methods import get as method
from trueedge.metrics import evaluate, get

# How far an AUC is from a coin's, in either direction: half the way to certainty is worth a look; with four
# fifths gone, less than a fifth of the scale is left to tell real methods apart.
FROM_CHANCE_LOOK, FROM_CHANCE_BROKEN = 0.25, 0.40


@dataclass(frozen=True)
class Shortcut:
    """A scorer that learns nothing: the heuristic's name, and what it looks at."""

    heuristic: str
    looks_at: str


SHORTCUTS = (
    Shortcut("pa", "degrees"),
    Shortcut("cn", "common neighbours"),
    Shortcut("shortest-path", "distances"),
    Shortcut("cosine", "features"),
)


def _run(subject: Subject, *, shortcut: Shortcut) -> Finding | Skipped:
    if method(shortcut.heuristic).needs_features and subject.task.features is None:
        return Skipped("the nodes have no features")
    limit = subject.path_limit if shortcut.heuristic == "shortest-path" else None
    view = subject.lists(limit=limit)
    above, below = subject.scores(shortcut.heuristic, view)
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
        told = f" and {headline} {numbers[headline]:.4f}"
    shown = {name: value for name, value in numbers.items() if name != "chance"}
    return Finding(
        f"shortcut-{shortcut.heuristic}",
        verdict,
        f"{auc:.3f}",
        f"{shortcut.looks_at} alone ({method(shortcut.heuristic).title}) have an AUC of {auc:.4f}{told}",
        numbers,
        {"metric": np.array(list(shown)), "value": np.array(list(shown.values()))},
    )


for _shortcut in SHORTCUTS:
    register(
        Check(
            name=f"shortcut-{_shortcut.heuristic}",
            family="shortcuts",
            title=f"what {_shortcut.looks_at} alone get",
            question=f"How much of the task is {_shortcut.looks_at}?",
            rule=f"look: an AUC more than {FROM_CHANCE_LOOK} from 0.5; broken: more than"
            f" {FROM_CHANCE_BROKEN}",
            run=partial(_run, shortcut=_shortcut),
        )
    )
