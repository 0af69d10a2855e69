"""A published table whose trained methods are tuned first: each column by its own metric."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from trueedge.errors import InputError
from trueedge.methods import Method
from trueedge.progress import Progress
from trueedge.results import Record
from trueedge.runs import Runner, runner_in_use
from trueedge.search import Tuned, tune
from trueedge.studies.grids import published_grid
from trueedge.studies.published_values import PublishedValue
from trueedge.studies.study import Plan


@dataclass(frozen=True)
class Search:
    """One search behind a published value.

    Attributes:
        dataset: the data set.
        protocol: our protocol.
        method: the method; settings that differ from their default are not searched.
        metric: the validation metric that decides.
        space: the values of each setting.
        options: the protocol's options.
    """

    dataset: str
    protocol: str
    method: Method
    metric: str
    space: Mapping[str, tuple[Any, ...]]
    options: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Return what is searched, in words."""
        return f"{self.method.name} on {self.dataset} under {self.protocol}, by {self.metric}"


def search_for(
    paper: str, value: PublishedValue, protocol: str, method: Method, options: Mapping[str, Any], plan: Plan
) -> Search | None:
    """Return the search for a value, or None if its method is not trained or has no published grid.

    The epoch is selected by the value's own metric, too.
    """
    if "select" not in method.space():
        return None
    # What the user or the study has set stays as it is.
    fixed = set(method.changed())
    space = published_grid(paper, value.dataset, method, fixed)
    selection: dict[str, Any] = {"select": value.metric}
    selected = method if "select" in plan.settings else replace(method, **selection)
    return Search(value.dataset, protocol, selected, value.metric, space, options) if space else None


def run_searches(
    searches: Sequence[Search], seeds: int, plan: Plan
) -> tuple[list[tuple[Search, list[Record], str]], list[str]]:
    """Run searches one after another, the trials of each in parallel.

    Returns for each search the records of its best settings and a sentence about its budget and winner, and a
    sentence for each search that failed.
    """
    assert plan.tuning is not None
    found, failed = [], []
    with runner_in_use(plan.runner, plan.jobs) as runner:
        for number, one in enumerate(searches):
            try:
                tuned, budget = _tuned(one, seeds, plan, runner, f"search {number + 1} of {len(searches)} · ")
            except InputError as error:
                failed.append(f"{one.name}: {error}")
                continue
            plan.used.extend(tuned.records)
            found.append((one, tuned.records, _said(one, tuned, budget)))
    return found, failed


def _tuned(one: Search, seeds: int, plan: Plan, runner: Runner, where: str) -> tuple[Tuned, str]:
    assert plan.tuning is not None
    budgets: list[str] = []
    tuned = tune(
        one.dataset,
        one.protocol,
        one.method,
        trials=plan.tuning.trials,
        search=plan.tuning.search,
        seeds=seeds,
        metric=one.metric,
        space=one.space,
        device=plan.device,
        jobs=plan.jobs,
        store=plan.store,
        announce=lambda budget: budgets.append(str(budget)),
        progress=_in_front(where, plan.progress),
        runner=runner,
        **one.options,
    )
    return tuned, budgets[0]


def _in_front(where: str, progress: Progress | None) -> Callable[[str, int, int], None] | None:
    if progress is None:
        return None
    return lambda text, done, total: progress(where + text, done, total)


def _said(one: Search, tuned: Tuned, budget: str) -> str:
    """Return the budget and the winner in words, for the evidence."""
    varied = [name for name, values in one.space.items() if len(values) > 1]
    winner = ", ".join(f"{name} {tuned.settings[name]:g}" for name in varied)
    return f"tuned by validation {one.metric}: {budget}; best: {winner}"
