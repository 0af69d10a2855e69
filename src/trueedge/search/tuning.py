"""Hyper-parameter search: trials use the validation part, the best settings the test part and other seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge import metrics
from trueedge.errors import InputError, must_be, unknown
from trueedge.graph.any_graph import GraphLike
from trueedge.methods import Method
from trueedge.metrics.units import plural
from trueedge.progress import Progress
from trueedge.results import Record, Store
from trueedge.runs import Cell, Outcome, Runner, default_protocol, drive, runner_in_use
from trueedge.runs.driver import with_settings
from trueedge.runs.engines.share import OTHERS, ShareDone
from trueedge.search.space import Point, Space
from trueedge.search.strategies import STRATEGIES, strategy
from trueedge.statistics.significance import difference
from trueedge.statistics.tie_groups import holm
from trueedge.tasks import Task
from trueedge.tasks.protocols import Data
from trueedge.tasks.protocols import find as find_protocol
from trueedge.tasks.protocols import get as get_protocol

MOST_RUNS = 1_000_000
# With fewer validation units, even large differences between settings are chance.
FEWEST_UNITS = 30


@dataclass(frozen=True)
class Budget:
    """Describe the cost of a search before it starts.

    Attributes:
        space: the settings and values that are searched.
        search: the strategy's name.
        trials: the number of points to try.
        seeds: the number of seeds for the best settings.
        jobs: the number of parallel processes.
        trial_seeds: the number of seeds of each trial.
    """

    space: Space
    search: str
    trials: int
    seeds: int
    jobs: int
    trial_seeds: int = 1

    @property
    def trainings(self) -> int:
        """Return the largest possible number of runs; those in the store are not repeated."""
        return self.trials * self.trial_seeds + self.seeds

    def __str__(self) -> str:
        settings = ", ".join(f"{name} {len(values)}" for name, values in self.space.values.items())
        sampled = {"grid": "at random from", "tpe": "by TPE from"}[self.search]
        how = "full grid" if self.trials == len(self.space) else f"{sampled} {len(self.space):,} points"
        epochs = getattr(self.space.method, "epochs", None)
        trials = f"{self.trials} trial{'' if self.trials == 1 else 's'}"
        trials += f" with {self.trial_seeds} seeds each" if self.trial_seeds > 1 else ""
        seeds = f"{self.seeds} seed{'' if self.seeds == 1 else 's'}"
        return (
            f"{trials} ({how}: {settings}), then the best settings with {seeds}: at most {self.trainings}"
            " runs"
            + (f" of at most {epochs} epochs" if epochs else "")
            + (f", {self.jobs} in parallel" if self.jobs > 1 else "")
        )


@dataclass(frozen=True)
class Trial:
    """One point of the space and its result.

    Attributes:
        settings: the values of the settings that are searched.
        value: the validation metric, None where the trial failed.
        record: its record, which has no test part.
        fresh: whether the record is new; False where it was in the store.
        reason: why there is no record.
    """

    settings: Point
    value: float | None
    record: Record | None
    fresh: bool = False
    reason: str = ""


@dataclass(frozen=True)
class Tuned:
    """The result of a search.

    Attributes:
        settings: the best values of the settings that were searched.
        records: the records of the best settings, one per seed, with the test part.
        method: the method with its best settings.
        metric: the validation metric that was optimised.
        trials: all trials, in the order of the search.
        fresh: how many of the trials and records are new.
    """

    settings: Point
    records: list[Record]
    method: Method
    metric: str
    trials: list[Trial] = field(repr=False)
    fresh: int = 0

    @property
    def best(self) -> list[Trial]:
        """Return the finished trials, best first; ties in the order of the search."""
        done = [trial for trial in self.trials if trial.value is not None]
        return sorted(done, key=lambda trial: -_worth(self.metric, trial.value or 0.0))

    @cached_property
    def tied(self) -> list[Trial]:
        """Return the trials that do not differ significantly from the best one, without it, best first.

        They are compared on the same validation units (paired t-test, Holm-corrected). Where a metric has no
        values per unit, only trials of equal value are tied.
        """
        winner, *others = self.best
        return [
            trial
            for trial, p in zip(others, _p_values(winner, others, self.metric), strict=True)
            if p >= 0.05
        ]

    @property
    def units(self) -> int:
        """Return the number of validation units that the trials were compared on; 0 if it is unknown."""
        values = _units(self.best[0], self.metric)
        return 0 if values is None else len(values)

    def remarks(self) -> list[str]:
        """Return how sure the choice is: tied trials, and a validation part that is too small to choose."""
        said, count = [], len(self.best)
        if count > 1 and 0 < self.units < FEWEST_UNITS:
            record = self.records[0]
            unit = plural(record.unit) if self.units > 1 else record.unit
            option = _share_option(record.protocol)
            how = f": make it larger with --option {option}=…" if option else ""
            said.append(
                f"The validation part is too small to choose settings ({self.units} {unit}; at least"
                f" {FEWEST_UNITS} are needed){how}"
            )
        if self.tied:
            which = "any other trial" if len(self.tied) == count - 1 else "the tied ones"
            said.append(f"No significant difference between the best trial and {which}")
        return said


def _p_values(winner: Trial, others: Sequence[Trial], metric: str) -> list[float]:
    """Return corrected p-values of the differences between the best trial and each of the others."""
    best = _units(winner, metric)
    found = []
    for trial in others:
        values = _units(trial, metric)
        if best is None or values is None or len(values) != len(best):
            found.append(1.0 if trial.value == winner.value else 0.0)
        else:
            found.append(difference(best, values).p)
    return [float(p) for p in holm(found)] if found else []


def _units(trial: Trial, metric: str) -> NDArray[np.float64] | None:
    """Return a trial's value for each validation unit; None if its record does not hold them."""
    return None if trial.record is None else trial.record.unit_values(metric)


def _share_option(protocol: str) -> str:
    """Return the option that sets the size of the validation part; empty if the protocol has none."""
    known = find_protocol(protocol)
    return next((name for name in ("valid", "ratios") if known is not None and name in known.options), "")


def _worth(metric: str, value: float) -> float:
    """Return a value where higher is better."""
    return value if metrics.get(metric).higher_is_better else -value


def tune(
    source: str | Data | Task | GraphLike,
    protocol: str | None = None,
    method: str | Method = "gcn",
    *,
    trials: int = 20,
    search: str = "grid",
    seeds: int = 10,
    seed: int = 0,
    metric: str | None = None,
    settings: Mapping[str, Any] | None = None,
    space: Mapping[str, Sequence[Any]] | None = None,
    device: str = "cpu",
    jobs: int = 1,
    store: Store | None = None,
    announce: Callable[[Budget], object] | None = None,
    progress: Progress | None = None,
    runner: Runner | None = None,
    **options: Any,
) -> Tuned:
    """Search a method's settings on the validation part, then evaluate the best settings on the test part.

    Split and negatives are the same for all runs. Trials use ``seed`` and only the validation part. The best
    settings are run with the following seeds, so that a lucky trial is not reported. With a store, calling it
    again resumes an interrupted search.

    Args:
        source: a data set's name, the path of an edge list, a graph (of another library too, see
            :func:`trueedge.graph.as_graph`), or a task.
        protocol: the protocol's name; by default ``heart``, or the task's own.
        method: a method's name, or a method; settings that differ from their default are not searched.
        trials: the number of trials; at most the size of the space.
        search: ``grid`` (sampled at random if larger than ``trials``) or ``tpe``.
        seeds: the number of seeds for the best settings.
        seed: the seed for the split, the negatives, the trials and the search.
        metric: the validation metric to optimise; by default the task's headline.
        settings: fixed settings of a method given by name.
        space: values to search for some settings, instead of the default ones.
        device: the device for trained methods.
        jobs: the number of parallel processes. They share the cores, and the last bits of torch's sums may
            depend on the number of threads.
        store: where records are read from and written to.
        announce: called with the budget before the first run.
        progress: called with a text, the number of finished runs and their total.
        runner: runs the cells elsewhere, instead of ``jobs`` processes.
        options: the protocol's options.
    """
    for name, number in (("trials", trials), ("seeds", seeds), ("jobs", jobs)):
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise must_be(name, "tune", "a whole number, 1 or more", number)
    protocol = protocol if protocol is not None else default_protocol(source)
    method = with_settings(method, settings, protocol)
    if metric is not None:
        metrics.get(metric)
    if search not in STRATEGIES:
        raise unknown("search", search, STRATEGIES)
    trial = Cell(source, protocol, method, seed, options, device, seed, ("valid",))
    _check_validation(trial)
    if isinstance(source, Task):
        trial = replace(trial, task_seed=source.seed)
    trial.check()
    kind = source.kind if isinstance(source, Task) else get_protocol(protocol).kind
    searched = Space.of(method, space, method.unused(kind))
    budget = Budget(searched, search, min(trials, len(searched)), seeds, jobs)
    if budget.trainings > MOST_RUNS:
        raise InputError(f"tune: {budget.trainings:,} runs are too many: at most {MOST_RUNS:,} are possible")
    search_run = _Search(trial, budget, metric, store, progress, runner)
    if announce is not None:
        announce(budget)
    return search_run.run()


def _check_validation(trial: Cell) -> None:
    """Refuse a task without a validation part, and name the option that makes one."""
    known = find_protocol(trial.protocol)
    options = {} if known is None else {**known.options, **trial.options}
    if isinstance(trial.source, Task):
        has_one = "valid" in trial.source.part_names
    else:
        has_one = options.get("valid", 1) != 0
    if has_one:
        return
    how = "set valid=0.1 (--option valid=0.1)" if "valid" in options else "give the split a validation part"
    if isinstance(trial.source, Task):
        how += " when the task is made"
    raise InputError(f"{trial.name} under {trial.protocol} has no validation part: {how}")


class _Search:
    """One run of a search."""

    def __init__(
        self,
        trial: Cell,
        budget: Budget,
        metric: str | None,
        store: Store | None,
        progress: Progress | None,
        runner: Runner | None = None,
    ) -> None:
        self.runner = runner
        self.trial, self.budget, self.metric = trial, budget, metric
        self.store, self.progress = store, progress
        self.strategy = strategy(budget.search, budget.space, trial.seed, budget.trials)
        self.done = 0

    def run(self) -> Tuned:
        """Run the trials, then the best settings."""
        with runner_in_use(self.runner, self.budget.jobs) as runner:
            trials = self._trials(runner)
            finished = [trial for trial in trials if trial.value is not None]
            if not finished:
                raise InputError(f"no trial of {self.trial.method.name} could be run: {trials[0].reason}")
            assert self.metric is not None
            worth = partial(_worth, self.metric)
            best = max(finished, key=lambda trial: worth(trial.value or 0.0))
            winner = self.budget.space.at(best.settings)
            outcomes = self._outcomes(runner, self._winners_cells(winner), "best settings")
        records = [outcome.record for outcome in outcomes if outcome.record is not None]
        if not records:
            raise InputError(f"the best settings could not be run: {outcomes[0].reason}")
        fresh = sum(trial.fresh for trial in trials) + sum(outcome.fresh for outcome in outcomes)
        return Tuned(best.settings, records, winner, self.metric, trials, fresh)

    def _trials(self, runner: Runner) -> list[Trial]:
        space = self.budget.space
        found: list[Trial] = []
        while len(found) < self.budget.trials:
            numbers = self.strategy.ask(min(self.strategy.together, self.budget.trials - len(found)))
            points = [space.point(number) for number in numbers]
            cells = [replace(self.trial, method=space.at(point)) for point in points]
            outcomes = self._outcomes(runner, cells, "trial")
            if any(outcome.reason == OTHERS for outcome in outcomes):
                raise ShareDone
            tried = [
                Trial(point, self._value(outcome), outcome.record, outcome.fresh, outcome.reason)
                for point, outcome in zip(points, outcomes, strict=True)
            ]
            worths = [None if one.value is None else _worth(self.metric or "", one.value) for one in tried]
            self.strategy.tell(numbers, worths)
            found += tried
        return found

    def _winners_cells(self, winner: Method) -> list[Cell]:
        first = self.trial.seed + 1
        return [
            replace(self.trial, method=winner, seed=seed, parts=None)
            for seed in range(first, first + self.budget.seeds)
        ]

    def _value(self, outcome: Outcome) -> float | None:
        """Return a trial's validation metric; by default the headline of the first trial."""
        if outcome.record is None:
            return None
        if self.metric is None:
            self.metric = outcome.record.headline
        values = outcome.record.metrics["valid"]
        if self.metric not in values:
            raise unknown(f"metric of {outcome.cell.name} under {outcome.cell.protocol}", self.metric, values)
        return values[self.metric]

    def _outcomes(self, runner: Runner, cells: Sequence[Cell], noun: str) -> list[Outcome]:
        """Run cells and return their outcomes, in order."""
        found: dict[int, Outcome] = {}
        for position, outcome in drive(cells, self.store, runner):
            # Report an unknown metric at the first trial, not after the last.
            if outcome.cell.parts is not None:
                self._value(outcome)
            found[position] = outcome
            self._report(noun)
        return [found[position] for position in range(len(cells))]

    def _report(self, noun: str) -> None:
        self.done += 1
        if self.progress is not None:
            self.progress(f"{self.trial.method.name} · {noun}", self.done, self.budget.trainings)
