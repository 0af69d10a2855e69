"""What makes a model's scores doubtful: too good, upside down, or as if the answers had been known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from trueedge.methods import Method
from trueedge.registry import Registry
from trueedge.results.record import Record
from trueedge.tasks import Task


@dataclass(frozen=True)
class Suspicion:
    """A reason to doubt.

    Attributes:
        name: what was looked at.
        sentence: the reason, with its numbers.
        grave: whether the scores are invalid if it is true, rather than merely worth a look.
    """

    name: str
    sentence: str
    grave: bool = True


@dataclass(frozen=True, eq=False)
class Evidence:
    """What suspicions are drawn from, under one protocol.

    Attributes:
        method: the model.
        task: the first split.
        scorer: the model, fitted on it.
        record: its record on it.
        records: the records of the model on all splits.
        baselines: the records of the baselines on all splits.
    """

    method: Method
    task: Task
    scorer: Any
    record: Record
    records: Sequence[Record]
    baselines: Sequence[Record]


Look = Callable[[Evidence], Suspicion | None]
LOOKS: Registry[Look] = Registry("suspicion", "trueedge.verdict")


def look(name: str) -> Callable[[Look], Look]:
    """Register a function that looks for a reason to doubt."""

    def registered(function: Look) -> Look:
        LOOKS.add(name, function)
        return function

    return registered


def suspicions(evidence: Evidence) -> list[Suspicion]:
    """Return all reasons to doubt, grave ones first."""
    found = [one for check in LOOKS.values() if (one := check(evidence)) is not None]
    return sorted(found, key=lambda one: not one.grave)
