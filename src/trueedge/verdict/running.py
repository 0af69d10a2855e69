"""Run a model beside baselines, split by split, and keep what a verdict is made of."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from trueedge.analysis.slices import properties_of
from trueedge.errors import InputError, ScoreWarning
from trueedge.methods import Method
from trueedge.progress import Progress
from trueedge.results.record import Record
from trueedge.results.store import Store
from trueedge.runs import Cell, InProcess, drive
from trueedge.tasks import Task
from trueedge.tasks.protocols import get as get_protocol
from trueedge.verdict import plan
from trueedge.verdict.ahead import Ahead
from trueedge.verdict.models import OwnModel, holds_scores, is_fixed, scores_one_graph

# With slower fits, fewer splits are run unless the user says how many: seconds of a fit, and the seeds.
PATIENCE = ((20.0, 5), (120.0, 3), (float("inf"), 1))
# A model is fitted again, to see what it knows, unless that takes longer than this.
SECONDS_TO_REFIT = 30.0
# The share of edges in the validation part of a protocol that has none of its own.
VALIDATION_SHARE = 0.05


class Judging:
    """One judgement: runs cells, and keeps tasks, scorers and records.

    Attributes:
        records: all records, of the model and of the baselines.
        properties: the properties of each task's test units, by the task's hash.
        first: the first task of each protocol, with the fitted model.
        notes: what the reader has to know, a sentence each.
        large: whether the graph is large, so that baselines are evaluated on the test part alone.
    """

    def __init__(
        self,
        method: Method,
        baselines: Sequence[Method],
        requests: Sequence[plan.Request],
        store: Store | None,
        device: str,
        seeds: int | None,
        progress: Progress | None,
        options: dict[str, Any],
        ahead: Ahead | None = None,
    ) -> None:
        self.ahead = ahead
        self.method, self.baselines, self.requests = method, baselines, list(requests)
        self.store, self.device, self.seeds, self.progress = store, device, seeds, progress
        self.options = options
        self.records: list[Record] = []
        self.first: dict[str, tuple[Task, Any]] = {}
        self.notes: list[str] = []
        self.large = False
        self.failed: dict[str, None] = {}
        self.properties: dict[str, Mapping[str, NDArray[Any]]] = {}

    def run(self) -> None:
        """Run the model and the baselines, split by split, since protocols share splits."""
        done = 0
        counts = [len(one.seeds) for one in self.requests]
        for seed in range(max(counts, default=0)):
            if self.ahead is not None:
                self.requests = [self._with_validation(one) for one in self.requests]
                self.ahead.run(seed, self.requests, counts, (self.method, *self.baselines), self._cell)
            for place in range(len(counts)):
                if seed >= counts[place]:
                    continue
                if seed == 0:
                    self.requests[place] = self._with_validation(self.requests[place])
                request = self.requests[place]
                task = self._make(request, seed)
                for method in (self.method, *self.baselines):
                    self._run(request, task, method, seed)
                    done += 1
                    if self.progress is not None:
                        total = sum(counts) * (1 + len(self.baselines))
                        self.progress(f"{request.protocol} · {method.name}", done, total)
                self._group(task)
                if seed == 0 and self.seeds is None:
                    counts[place] = min(counts[place], self._affordable(request))

    def _with_validation(self, request: plan.Request) -> plan.Request:
        """Add a validation part to a protocol that has none, for a user's ``fit(task)``: it may need one."""
        own = isinstance(self.method, OwnModel) and self.method.fits == "task"
        if isinstance(request.source, Task) or not own:
            return request
        known = get_protocol(request.protocol).options
        if known.get("valid") != 0.0 or "valid" in self.options or "valid" in request.options:
            return request
        return replace(request, options={**request.options, "valid": VALIDATION_SHARE})

    def _group(self, task: Task) -> None:
        """Note the properties of a task's test units, while the heuristics behind them are remembered."""
        # Tasks without properties are named where units are grouped.
        with suppress(InputError):
            self.properties[task.hash] = properties_of(task)

    def _affordable(self, request: plan.Request) -> int:
        """Return how many splits are worth the time, after the first one."""
        found = self._splits(request)
        if found < len(request.seeds):
            noun = "seed" if plan.has_one_split(request) else "split"
            many = f"one {noun}" if found == 1 else f"{found} {noun}s"
            took = self._fit_seconds(request)
            self.notes.append(
                f"{request.protocol}: {many} only, since a fit takes {took:.0f} s; seeds=5 runs five"
            )
        return found

    def _splits(self, request: plan.Request) -> int:
        took = self._fit_seconds(request)
        return next(count for most, count in PATIENCE if took <= most)

    def _fit_seconds(self, request: plan.Request) -> float:
        own = self.own(request.protocol)
        return own[-1].seconds.get("fit", 0.0) if own else 0.0

    def _make(self, request: plan.Request, seed: int) -> Task:
        return self._cell(request, self.method, seed).task()

    def _cell(self, request: plan.Request, method: Method, seed: int) -> Cell:
        known = get_protocol(request.protocol).options if not isinstance(request.source, Task) else {}
        own = {key: value for key, value in self.options.items() if key in known} | dict(request.options)
        # A file may hold scores of the test part alone; on a large graph, that is all that is compared.
        alone = holds_scores(method) or (self.large and method.name != self.method.name)
        # A number is another entity in each graph of an inductive pair, and the scorer knows one of them.
        alone = alone or (plan.is_inductive(request) and scores_one_graph(method))
        parts = ("test",) if alone else None
        redraws = seed == request.seeds[0] and self._may_stay_alone(request)
        return Cell(
            *(request.source, request.protocol, method, seed, own, self.device), parts=parts, redraws=redraws
        )

    def _may_stay_alone(self, request: plan.Request) -> bool:
        """Return whether the first split may be the only one: intervals of several are over these."""
        if plan.has_one_split(request):
            return True
        # The model is fitted first; before that, nobody knows how long it takes.
        return self.seeds is None and (not self.own(request.protocol) or self._splits(request) == 1)

    def _run(self, request: plan.Request, task: Task, method: Method, seed: int) -> None:
        """Run a cell on the task that is made; a failed baseline is noted, a failed model is an error."""
        fitted: list[Any] = []
        own = method is self.method
        cell = self._cell(request, _remembering(method, fitted) if own else method, seed)
        with _Kept(task, cell.task_key) as runner:
            ((_, outcome),) = drive([cell], self.store, runner)
        if outcome.record is None:
            if method is self.method:
                raise InputError(f"{method.name} under {request.protocol}: {outcome.reason}")
            self.failed.setdefault(f"{method.name} was not run: {outcome.reason}")
            return
        new = self.ahead is not None and outcome.record.key in self.ahead.fresh
        self.records.append(replace(outcome.record, cached=False) if new else outcome.record)
        if own and request.protocol not in self.first:
            self.first[request.protocol] = (task, fitted[0] if fitted else None)

    def own(self, protocol: str) -> list[Record]:
        """Return the records of the model under a protocol."""
        return [one for one in self._of(protocol) if self._is_own(one)]

    def others(self, protocol: str) -> list[Record]:
        """Return the records of the baselines under a protocol."""
        return [one for one in self._of(protocol) if not self._is_own(one)]

    def _of(self, protocol: str) -> list[Record]:
        return [one for one in self.records if one.protocol == protocol]

    def refit(self) -> Callable[[Task], Any] | None:
        """Return a function that fits the model again; None for a method of ours, and if it takes long."""
        took = max((one.seconds.get("fit", 0.0) for one in self.records if self._is_own(one)), default=0.0)
        ours = type(self.method).__module__.partition(".")[0] == "trueedge"
        if ours or is_fixed(self.method) or took > SECONDS_TO_REFIT:
            return None
        return self._fit

    def _fit(self, task: Task) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ScoreWarning)
            return self.method.for_task(task).fit(task, seed=0, device=self.device)

    def _is_own(self, record: Record) -> bool:
        return record.method == self.method.name

    def scorer(self, protocol: str) -> tuple[Task, Any]:
        """Return the first task of a protocol and the model fitted on it."""
        task, found = self.first[protocol]
        if found is None:
            found = self._fit(task)
            self.first[protocol] = (task, found)
        return task, found


def _remembering(method: Method, fitted: list[Any]) -> Method:
    """Return the same method, of the same class; what it is fitted to is added to a list."""
    copy = replace(method)

    def fit(*arguments: Any, **named: Any) -> Any:
        fitted.append(method.fit(*arguments, **named))
        return fitted[-1]

    object.__setattr__(copy, "fit", fit)
    return copy


class _Kept(InProcess):
    """Runs cells on a task that is made already."""

    def __init__(self, task: Task, key: str) -> None:
        super().__init__()
        self._task, self._task_key = task, key
