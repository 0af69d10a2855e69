"""A published table whose trained methods are tuned first: each column by its own metric.

One search serves all columns that share their trainings (see :mod:`trueedge.scorers.selections`): a trial is
trained once, and has a validation value for each metric. So do the final runs of settings that are best by
several metrics.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

from trueedge.methods import Method
from trueedge.metrics import get as get_metric
from trueedge.results import Record
from trueedge.runs import Cell, Outcome, drive, runner_in_use
from trueedge.search import Budget, Space
from trueedge.search.strategies import strategy
from trueedge.studies.study import Plan
from trueedge.tasks.protocols import get as get_protocol

# The number of the trial with the published settings, which need not be a point of the grid.
PUBLISHED = -1


@dataclass(frozen=True)
class Search:
    """One search behind some published values of a method.

    Attributes:
        dataset: the data set.
        protocol: our protocol.
        method: the method; settings that differ from their default are not searched.
        metrics: the validation metrics; the best settings are chosen by each of them.
        space: the values of each setting.
        options: the protocol's options.
    """

    dataset: str
    protocol: str
    method: Method
    metrics: tuple[str, ...]
    space: Mapping[str, tuple[Any, ...]]
    options: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Return what is searched, in words."""
        return f"{self.method.name} on {self.dataset} under {self.protocol}, by {', '.join(self.metrics)}"


@dataclass(frozen=True)
class Tuned:
    """What a search found for one metric.

    Attributes:
        records: the records of the settings that are best by this metric, one per seed.
        said: budget and winner, in words.
    """

    records: list[Record]
    said: str


def run_searches(
    searches: Sequence[Search], seeds: int, plan: Plan
) -> tuple[list[dict[str, Tuned]], list[str]]:
    """Run searches side by side; earlier ones go first.

    Returns for each search what it found, by metric, and a sentence for each search or seed that failed.
    """
    running = [_Running(one, seeds, plan) for one in searches]
    done, total = 0, sum(len(one.trials) + seeds for one in running)
    with runner_in_use(plan.runner, plan.jobs) as runner:
        # Final runs are known when the trials are done. The last ones may be known too late for a first pass.
        while any(one.is_waiting for one in running):
            sent: list[_Running] = []
            for position, outcome in drive(_cells(running, sent), plan.store, runner):
                sent[position].note(outcome)
                plan.used.extend([] if outcome.record is None else [outcome.record, *outcome.others])
                done += 1
                if plan.progress is not None:
                    plan.progress(sent[position].search.name, done, total)
    return [one.found() for one in running], [reason for one in running for reason in one.failed]


def _cells(running: Sequence[_Running], sent: list[_Running]) -> Iterator[Cell]:
    """Yield the final runs of searches whose trials are done, and the next trials if there are none."""
    while (one := next((one for one in running if one.is_ready), None)) is not None or (
        one := next((one for one in running if one.trials), None)
    ) is not None:
        sent.append(one)
        yield one.next_cell()


@dataclass(eq=False)
class _Running:
    """A search on its way."""

    search: Search
    seeds: int
    plan: Plan
    failed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        assert self.plan.tuning is not None
        search = self.search
        unused = search.method.unused(get_protocol(search.protocol).kind)
        space = Space.of(search.method, search.space, unused)
        trials = min(self.plan.tuning.trials, len(space))
        self.trial_seeds = self.plan.tuning.trial_seeds
        self.budget = Budget(space, "grid", trials, self.seeds, self.plan.jobs, self.trial_seeds)
        # Other seeds than those of the final runs, so that a lucky trial is not reported.
        more = range(self.seeds + 1, self.seeds + self.trial_seeds)
        points = [PUBLISHED, *strategy("grid", space, 0, trials).ask(trials)]
        self.trials = [(point, seed) for seed in (0, *more) for point in points]
        self.running_trials = 0
        # The validation values of each trial by metric and seed, by the number of its point. A point with the
        # published settings is the same trial, under the number of these.
        self.values: dict[int, dict[str, dict[int, float]]] = {}
        self.numbers: dict[Method, int] = {}
        self.finals: list[Cell] | None = None
        self.records: dict[str, list[Record]] = {}

    @property
    def is_ready(self) -> bool:
        """Return whether all trials are done and final runs are left."""
        if self.trials or self.running_trials:
            return False
        if self.finals is None:
            self.finals = self._final_cells()
        return bool(self.finals)

    @property
    def is_waiting(self) -> bool:
        """Return whether anything is left to start."""
        return bool(self.trials) or self.is_ready

    def next_cell(self) -> Cell:
        """Return the next trial or final run."""
        if not self.trials:
            assert self.finals
            return self.finals.pop(0)
        number, seed = self.trials.pop(0)
        self.running_trials += 1
        cell = self._cell(number, self.search.metrics, seed)
        self.numbers.setdefault(cell.method, number)
        return replace(cell, parts=("valid",))

    def note(self, outcome: Outcome) -> None:
        """Take note of a trial or a final run."""
        cell = outcome.cell
        is_trial = cell.parts is not None
        self.running_trials -= is_trial
        if outcome.record is None:
            sentence = f"{self.search.name}: {outcome.reason}"
            # A trial that fails is no finding, unless all of them do.
            self.failed += [] if sentence in self.failed or is_trial else [sentence]
            self.reason = sentence
            return
        for one in (outcome.record, *outcome.others):
            metric = str(one.settings["select"])
            if is_trial:
                found = self.values.setdefault(self.numbers[cell.method], {}).setdefault(metric, {})
                found[cell.seed] = one.metrics["valid"][metric]
            else:
                self.records.setdefault(metric, []).append(one)

    def found(self) -> dict[str, Tuned]:
        """Return what was found, by metric."""
        return {
            metric: Tuned(sorted(self.records[metric], key=lambda one: one.seed), self._said(metric))
            for metric in self.search.metrics
            if metric in self.records
        }

    def _final_cells(self) -> list[Cell]:
        """Return the runs of the best settings, those that are best by several metrics once."""
        if not self.values:
            self.failed.append(self.reason)
            return []
        chosen: dict[int, list[str]] = {}
        for metric in self.search.metrics:
            chosen.setdefault(self._best(metric), []).append(metric)
        return [
            self._cell(number, metrics, seed)
            for seed in range(1, self.seeds + 1)
            for number, metrics in chosen.items()
        ]

    def _best(self, metric: str) -> int:
        """Return the number of the settings with the best mean, among those with the most finished seeds."""
        sign = 1 if get_metric(metric).higher_is_better else -1
        most = max(len(one[metric]) for one in self.values.values())
        means = {
            number: sign * fmean(one[metric].values())
            for number, one in self.values.items()
            if len(one[metric]) == most
        }
        return max(sorted(means), key=means.__getitem__)

    def _cell(self, number: int, metrics: Sequence[str], seed: int) -> Cell:
        search, space = self.search, self.budget.space
        selection: dict[str, Any] = {"select": metrics[0]}
        at = search.method if number == PUBLISHED else space.at(space.point(number))
        method = replace(at, **selection)
        place = (search.dataset, search.protocol, method, seed, search.options, self.plan.device)
        return Cell(*place, task_seed=0, also_select=tuple(metrics[1:]))

    def _said(self, metric: str) -> str:
        """Return the budget and the winner in words, for the evidence."""
        space, others, best = self.budget.space, len(self.search.metrics) - 1, self._best(metric)
        winner = "the published settings"
        if best != PUBLISHED:
            point = space.point(best)
            varied = [name for name, values in space.values.items() if len(values) > 1]
            winner = ", ".join(f"{name} {point[name]:g}" for name in varied)
        shared = f", trained once for this and {others} other metrics" if others else ""
        seeds = self.trial_seeds
        finished = sum(len(one[metric]) == seeds for one in self.values.values())
        missing = len(set(self.numbers.values())) - finished
        result = "a result" if seeds == 1 else "all their seeds"
        left = f", {missing} of the trials without {result}" if missing else ""
        compared = f", trials compared by the mean of {seeds} seeds" if seeds > 1 else ""
        tried = f"{self.budget}, the published settings tried too{compared}{shared}{left}"
        return f"tuned by validation {metric}: {tried}; best: {winner}"
