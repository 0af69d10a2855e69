"""Directions and node numbers: do they tell positives from negatives without looking at the graph?"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.check import (
    STANDARD_ERRORS,
    Finding,
    Skipped,
    Verdict,
    chance_auc,
    check,
    graded,
    pairs_needed,
    percent,
    picture,
)
from trueedge.audit.subject import LinkSubject
from trueedge.metrics import evaluate
from trueedge.tasks.protocols import catalogue

# The difference between two shares. A scorer that adds the direction to its scores gains about half of it in
# AUC: a hundredth can be seen in a table, a twentieth decides between methods.
DIFFERENCE_LOOK, DIFFERENCE_BROKEN = 0.01, 0.05
# Numbers may mean something, such as an age or a community: that is for the reader to judge.
FROM_CHANCE_LOOK = 0.1
NUMBERS: dict[str, Callable[[NDArray[np.int64]], NDArray[np.int64]]] = {
    "the smaller number": lambda pairs: pairs.min(axis=-1),
    "the larger number": lambda pairs: pairs.max(axis=-1),
    "the difference of the numbers": lambda pairs: np.abs(pairs[..., 0] - pairs[..., 1]),
}
# Which pairs a score ranks first if its AUC is below one half, and if it is above.
RANKED_FIRST = {
    "the smaller number": ("pairs with a low smaller id", "pairs with a high smaller id"),
    "the larger number": ("pairs with a low larger id", "pairs with a high larger id"),
    "the difference of the numbers": ("close ids", "distant ids"),
}


def _chance_difference(positives: int, negatives: int) -> float:
    """Return how far two shares of one half differ in one case of a thousand."""
    return STANDARD_ERRORS * 0.5 * math.sqrt(1 / positives + 1 / negatives)


@check(
    "direction",
    "leaks",
    title="direction in which pairs are listed",
    question="Does the direction of a pair tell whether it is a positive?",
    rule="look: the shares of positives and negatives with the smaller node first differ by more than"
    f" {percent(DIFFERENCE_LOOK)}; broken: by more than {percent(DIFFERENCE_BROKEN)}, in files",
    advice="List all pairs with the smaller node first",
    fewest=pairs_needed(_chance_difference, 0.5),
    picture=picture("Pairs with the smaller node first", "bars", "share of the pairs"),
)
def _direction(subject: LinkSubject) -> Finding | Skipped:
    if _split_here(subject):
        return Skipped("trueedge made these pairs and asks about each with its smaller node first")
    view = subject.listed_for_leaks()
    above, below = _ascending(view.positives), _ascending(view.negatives)
    counts = len(view.positives), view.negatives.size // 2
    difference = abs(above - below)
    noise = _chance_difference(*counts)
    # A direction that tells no more than chance does no harm.
    bounds = max(DIFFERENCE_LOOK, noise), max(DIFFERENCE_BROKEN, noise)
    verdict: Verdict = graded(difference, *bounds)
    sentence = (
        f"{percent(above)} of the positives and {percent(below)} of the negatives are listed with the smaller"
        f" node first: the direction alone has an AUC of {0.5 + difference / 2:.3f}"
    )
    if verdict != "ok":
        sentence += "; trueedge asks about every pair with its smaller node first, other programs may not"
    if verdict == "broken" and _made_here(subject):
        verdict = "look"
    return Finding(
        "direction",
        verdict,
        percent(difference),
        sentence,
        {"difference": difference, "positives": above, "negatives": below, "chance": noise},
        {
            "pairs": np.array(["positives", "negatives"]),
            "share with the smaller node first": np.array([above, below]),
        },
        view.sizes(),
    )


def _made_here(subject: LinkSubject) -> bool:
    """Return whether the negatives come from one of our protocols, not from files that others use too."""
    name = subject.task.protocol
    return any(one.name == name and one.released is None for one in catalogue())


def _split_here(subject: LinkSubject) -> bool:
    """Return whether both positives and negatives were made here, so that no file lists their direction."""
    settings = subject.task.settings
    made = str(settings.get("split", "")).startswith(("ratio", "fraction", "time"))
    return made and settings.get("negatives") != "published" and _made_here(subject)


def _ascending(pairs: NDArray[np.int64]) -> float:
    return float((pairs[..., 0] < pairs[..., 1]).mean())


@check(
    "node-numbers",
    "shortcuts",
    title="what node numbers alone achieve",
    question="Do the numbers of its two nodes tell whether a pair is a positive?",
    rule=f"look: an AUC more than {FROM_CHANCE_LOOK} away from 0.5",
    advice="Shuffle node ids before a method may use them",
    fewest=pairs_needed(chance_auc, 0.4),
    picture=picture("AUC of scores made of node numbers alone", "bars", "AUC"),
)
def _numbers(subject: LinkSubject) -> Finding:
    view = subject.lists()
    found = {
        name: evaluate(number(view.positives), number(view.negatives), ["auc"])["auc"]
        for name, number in NUMBERS.items()
    }
    strongest = max(found, key=lambda name: abs(found[name] - 0.5))
    noise = chance_auc(len(view.positives), view.negatives.size // 2)
    away = abs(found[strongest] - 0.5)
    verdict: Verdict = "look" if away > max(noise, FROM_CHANCE_LOOK) else "ok"
    first = RANKED_FIRST[strongest][found[strongest] > 0.5]
    predict = "predict edges" if verdict == "look" else "hardly predict edges"
    return Finding(
        "node-numbers",
        verdict,
        f"{0.5 + away:.3f}",
        f"node ids alone {predict} (AUC {0.5 + away:.2f} for {first})",
        {"auc": 0.5 + away, **found, "chance": noise},
        {"score": np.array(list(found)), "AUC": np.array(list(found.values()))},
        view.sizes(),
    )
