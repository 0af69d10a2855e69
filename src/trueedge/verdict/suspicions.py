"""What makes a model's scores doubtful: too good, upside down, or as if the answers had been known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from trueedge import methods
from trueedge.methods import Method
from trueedge.registry import Registry
from trueedge.results.record import Record
from trueedge.tasks import Task
from trueedge.verdict.asked import Asked, ask_around

if TYPE_CHECKING:
    from trueedge.audit import Finding
    from trueedge.scorers.check import CheckReport

# What a model is compared with beyond the records: heuristics of each kind.
HEURISTICS = ("ra", "lrw", "ppr", "shortest-path", "pa")


@dataclass(frozen=True)
class Suspicion:
    """A reason to doubt.

    Attributes:
        name: what was looked at.
        sentence: the reason, with its numbers.
        grave: whether the scores are invalid if it is true, rather than merely worth a look.
        general: whether it is about the model under any protocol.
    """

    name: str
    sentence: str
    grave: bool = True
    general: bool = False


@dataclass(frozen=True, eq=False)
class Evidence:
    """What suspicions are drawn from, under one protocol.

    Attributes:
        method: the model.
        task: the first split.
        scorer: the model, fitted on it.
        records: the records of the model on all splits.
        baselines: the records of the baselines on all splits.
        audited: what an audit found about the task.
        check: what the checks of the scorer found; None if they were made under another protocol.
        refit: fit the model again, on another task; None if that is impossible or takes too long.
        first: whether this is the first protocol: what is true under all of them is looked at once.
    """

    method: Method
    task: Task
    scorer: Any
    records: Sequence[Record]
    baselines: Sequence[Record] = ()
    audited: Sequence[Finding] = ()
    check: CheckReport | None = None
    refit: Callable[[Task], Any] | None = None
    first: bool = True

    @cached_property
    def asked(self) -> Asked | None:
        """Return scores of known edges, hidden edges and other pairs; None if the model cannot give them."""
        return ask_around(self.task, self.scorer)

    @cached_property
    def heuristics(self) -> dict[str, Asked]:
        """Return what heuristics answer to the same questions, by their names; computed if it is needed."""
        if self.task.data != "graph":
            return {}
        features = getattr(self.task, "features", None) is not None
        names = [*HEURISTICS, *(["cosine"] if features else [])]
        found = {name: ask_around(self.task, methods.create(name).fit(self.task)) for name in names}
        return {name: asked for name, asked in found.items() if asked is not None}

    @property
    def best_heuristic(self) -> tuple[str, Asked | None]:
        """Return the heuristic with the best AUC against random pairs, and what it answers."""
        best = max(self.heuristics, key=lambda name: self.heuristics[name].test_auc, default="")
        return best, self.heuristics.get(best)

    def best_baseline(self, metric: str) -> tuple[str, float] | None:
        """Return the baseline with the largest mean of a metric, and that mean; None if none has it."""
        values: dict[str, list[float]] = {}
        for record in self.baselines:
            if metric in record.test:
                values.setdefault(record.method, []).append(record.test[metric])
        means = {name: sum(found) / len(found) for name, found in values.items()}
        best = max(means, key=means.__getitem__, default="")
        return (best, means[best]) if best else None

    def mean(self, metric: str) -> float | None:
        """Return the model's mean of a metric over all splits; None if its records do not have it."""
        values = [record.test[metric] for record in self.records if metric in record.test]
        return sum(values) / len(values) if values else None


Look = Callable[[Evidence], Iterable[Suspicion]]
LOOKS: Registry[Look] = Registry("suspicion", "trueedge.verdict")


def look(name: str) -> Callable[[Look], Look]:
    """Register a function that yields reasons to doubt."""

    def registered(function: Look) -> Look:
        LOOKS.add(name, function)
        return function

    return registered


def suspicions(evidence: Evidence) -> list[Suspicion]:
    """Return all reasons to doubt, grave ones first."""
    found = [one for check in LOOKS.values() for one in check(evidence)]
    return sorted(found, key=lambda one: not one.grave)
