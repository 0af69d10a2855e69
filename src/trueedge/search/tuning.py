"""A search: trials judged on validation alone, then the winner with seeds of its own, judged on test."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from trueedge import methods, metrics
from trueedge.errors import InputError, unknown, whole_number
from trueedge.graph import Graph
from trueedge.methods import Method
from trueedge.progress import Progress
from trueedge.results import Record, Store
from trueedge.runs import Cell, Outcome, Workers, run_cells
from trueedge.search.space import Point, Space
from trueedge.search.strategies import STRATEGIES, strategy
from trueedge.tasks import Task

Run = Callable[[Sequence[Cell]], Iterator[tuple[int, Outcome]]]


@dataclass(frozen=True)
class Budget:
    """What a search will take, said before it starts.

    Attributes:
        space: where it looks.
        search: how it looks.
        trials: how many points it will try.
        seeds: with how many seeds the winner is run.
        jobs: how many cells are run at a time.
    """

    space: Space
    search: str
    trials: int
    seeds: int
    jobs: int

    @property
    def trainings(self) -> int:
        """How often something is fitted, at most: what is in the store already is not."""
        return self.trials + self.seeds

    def __str__(self) -> str:
        settings = ", ".join(f"{name} ({len(values)})" for name, values in self.space.values.items())
        every = self.trials == len(self.space)
        how = "all" if every else {"grid": "drawn at random", "tpe": "chosen by TPE"}[self.search]
        epochs = getattr(self.space.method, "epochs", None)
        return (
            f"{self.trials} trials of {len(self.space):,} points ({how}) over {settings}; then the winner"
            f" with {self.seeds} {'seed' if self.seeds == 1 else 'seeds'}: at most {self.trainings} trainings"
            + (f" of at most {epochs} epochs" if epochs else "")
            + f", {self.jobs} at a time"
        )


@dataclass(frozen=True)
class Trial:
    """One point that was tried.

    Attributes:
        settings: the settings that were searched.
        value: its validation metric, None where it could not be run.
        record: its record, which knows no test part.
        fresh: whether it was computed now, not found in the store.
        reason: why there is no record.
    """

    settings: Point
    value: float | None
    record: Record | None
    fresh: bool = False
    reason: str = ""


@dataclass(frozen=True)
class Tuned:
    """What a search came to.

    Attributes:
        settings: the winner's settings, of those that were searched.
        records: the winner's records, a seed each, with the test part.
        method: the winner.
        metric: the validation metric it was chosen by.
        trials: all trials, in the order they were asked for.
        fresh: how many trials and records were computed now.
    """

    settings: Point
    records: list[Record]
    method: Method
    metric: str
    trials: list[Trial] = field(repr=False)
    fresh: int = 0

    @property
    def best(self) -> list[Trial]:
        """The trials that could be run, best first; of equal ones the first asked for."""
        done = [trial for trial in self.trials if trial.value is not None]
        return sorted(done, key=lambda trial: -_worth(self.metric, trial.value or 0.0))


def _worth(metric: str, value: float) -> float:
    """The higher, the better: ranks are turned round."""
    return value if metrics.get(metric).higher_is_better else -value


def tune(
    source: str | Graph | Task,
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
    **options: Any,
) -> Tuned:
    """Search a method's settings on the validation part, then judge the winner on the test part.

    Split and negatives are those of one seed throughout. Trials are trained with that seed and never judged
    on the test part; the winner is trained with the seeds after it, so that what luck won on validation is
    not reported. A search that is killed goes on when it is asked for again: every cell is looked up first.

    Args:
        source: a data set's name, the path of an edge list, a graph, or a task that is made already.
        protocol: the protocol's name; ``heart`` where none is given, or the task's own.
        method: a method's name, or a method; settings that are not at their default stay as they are.
        trials: how many points are tried; no more than the space has.
        search: ``grid`` (points at random where the grid has more than ``trials``) or ``tpe``.
        seeds: with how many seeds the winner is run.
        seed: for split, negatives, trials and the search itself.
        metric: the validation metric that chooses, the task's headline where None.
        settings: settings of a method given by name, which are not searched.
        space: values to search for some settings, in the place of the method's own.
        device: where learned methods train.
        jobs: how many cells are run at a time, in processes of their own where it is more than one. The
            cores are divided among them, and the last bits of what torch adds up may depend on that.
        store: where records are kept and looked up.
        announce: called with the budget before anything is trained.
        progress: called with a text, the cells done and the cells in all.
        options: the protocol's options.
    """
    for name, number in (("trials", trials), ("seeds", seeds), ("jobs", jobs)):
        whole_number(name, "tune", number, 1)
    if isinstance(method, str):
        method = methods.create(method, settings)
    elif settings:
        raise InputError("tune: settings go with a method's name; this method has its settings already")
    if protocol is None:
        protocol = source.protocol if isinstance(source, Task) else "heart"
    if metric is not None:
        metrics.get(metric)
    if search not in STRATEGIES:
        raise unknown("search", search, STRATEGIES)
    trial = Cell(source, protocol, method, seed, options, device, seed, ("valid",))
    if isinstance(source, Task):
        source.check_part("valid")
        trial = replace(trial, task_seed=source.seed)
    trial.check()
    looked_at = Space.of(method, space)
    budget = Budget(looked_at, search, min(trials, len(looked_at)), seeds, jobs)
    search_run = _Search(trial, budget, metric, store, progress)
    if announce is not None:
        announce(budget)
    return search_run.run()


class _Search:
    """One run of a search."""

    def __init__(
        self, trial: Cell, budget: Budget, metric: str | None, store: Store | None, progress: Progress | None
    ) -> None:
        self.trial, self.budget, self.metric = trial, budget, metric
        self.store, self.progress = store, progress
        self.strategy = strategy(budget.search, budget.space, trial.seed, budget.trials)
        self.done = 0

    def run(self) -> Tuned:
        """The trials, then the winner."""
        with self._runner() as run:
            trials = self._trials(run)
            finished = [trial for trial in trials if trial.value is not None]
            if not finished:
                raise InputError(f"no trial of {self.trial.method.name} could be run: {trials[0].reason}")
            assert self.metric is not None
            worth = partial(_worth, self.metric)
            best = max(finished, key=lambda trial: worth(trial.value or 0.0))
            winner = self.budget.space.at(best.settings)
            outcomes = self._outcomes(run, self._winners_cells(winner), "winner")
        records = [outcome.record for outcome in outcomes if outcome.record is not None]
        if not records:
            raise InputError(f"the winner could not be run again: {outcomes[0].reason}")
        fresh = sum(trial.fresh for trial in trials) + sum(outcome.fresh for outcome in outcomes)
        return Tuned(best.settings, records, winner, self.metric, trials, fresh)

    def _trials(self, run: Run) -> list[Trial]:
        space = self.budget.space
        found: list[Trial] = []
        while len(found) < self.budget.trials:
            numbers = self.strategy.ask(min(self.strategy.together, self.budget.trials - len(found)))
            points = [space.point(number) for number in numbers]
            cells = [replace(self.trial, method=space.at(point)) for point in points]
            outcomes = self._outcomes(run, cells, "trial")
            told = [
                Trial(point, self._value(outcome), outcome.record, outcome.fresh, outcome.reason)
                for point, outcome in zip(points, outcomes, strict=True)
            ]
            worths = [None if one.value is None else _worth(self.metric or "", one.value) for one in told]
            self.strategy.tell(numbers, worths)
            found += told
        return found

    def _winners_cells(self, winner: Method) -> list[Cell]:
        first = self.trial.seed + 1
        return [
            replace(self.trial, method=winner, seed=seed, parts=None)
            for seed in range(first, first + self.budget.seeds)
        ]

    def _value(self, outcome: Outcome) -> float | None:
        """The validation metric of a trial; the first trial says which it is where none was named."""
        if outcome.record is None:
            return None
        if self.metric is None:
            self.metric = outcome.record.headline
        values = outcome.record.metrics["valid"]
        if self.metric not in values:
            raise unknown(f"metric of {outcome.cell.name} under {outcome.cell.protocol}", self.metric, values)
        return values[self.metric]

    def _outcomes(self, run: Run, cells: Sequence[Cell], noun: str) -> list[Outcome]:
        """What became of each cell, in their order: looked up in the store, or run and stored."""
        found: dict[int, Outcome] = {}
        for place, cell in enumerate(cells):
            known = None if self.store is None else self.store.find(cell.key)
            if known is not None:
                found[place] = Outcome(cell, replace(known, dataset=cell.name))
                self._report(noun)
        left = [place for place in range(len(cells)) if place not in found]
        for place, outcome in run([cells[place] for place in left]):
            if outcome.record is not None:
                if self.store is not None:
                    self.store.append(outcome.record)
                # A metric that is not there is seen at the first trial.
                if cells[0].parts is not None:
                    self._value(outcome)
            found[left[place]] = outcome
            self._report(noun)
        return [found[place] for place in range(len(cells))]

    def _report(self, noun: str) -> None:
        self.done += 1
        if self.progress is not None:
            self.progress(f"{self.trial.method.name} · {noun}", self.done, self.budget.trainings)

    @contextmanager
    def _runner(self) -> Iterator[Run]:
        """What runs cells: this process, or several."""
        if self.budget.jobs == 1:
            cells = _Queue()
            outcomes = run_cells(cells)

            def run(asked: Sequence[Cell]) -> Iterator[tuple[int, Outcome]]:
                for place, cell in enumerate(asked):
                    cells.next = cell
                    yield place, next(outcomes)

            yield run
            return
        with Workers(self.budget.jobs) as several:
            yield several.run


class _Queue:
    """Cells one at a time, to a single run of cells, which makes their task once."""

    next: Cell

    def __iter__(self) -> Iterator[Cell]:
        while True:
            yield self.next
