"""Judge a model: run it beside baselines under the protocols that fit the data, and say what it is worth."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from trueedge.analysis.slices import properties_of, slices
from trueedge.analysis.tables import Table, tables
from trueedge.audit import audit
from trueedge.errors import InputError, ScoreWarning, must_be, unknown, whole_number
from trueedge.methods import Method
from trueedge.progress import Progress
from trueedge.results.record import Record
from trueedge.results.store import Store
from trueedge.runs import Cell, InProcess, Runner, drive
from trueedge.scorers.check import CheckReport, check_scorer
from trueedge.tasks import Task
from trueedge.tasks.protocols import Source, default_protocol
from trueedge.tasks.protocols import get as get_protocol
from trueedge.tasks.storage import is_saved, load
from trueedge.verdict import advice, groups, plan
from trueedge.verdict.ahead import Ahead
from trueedge.verdict.answers import answer, degree_share
from trueedge.verdict.models import OwnModel, as_method, is_fixed, is_score_file
from trueedge.verdict.suspicions import Evidence, Suspicion, suspicions
from trueedge.verdict.verdict import Verdict

# With slower fits, fewer splits are run unless the user says how many: seconds of a fit, and the seeds.
PATIENCE = ((20.0, 5), (120.0, 3), (float("inf"), 1))
# A model is fitted again, to see what it knows, unless that takes longer than this.
SECONDS_TO_REFIT = 30.0
# The share of edges in the validation part of a protocol that has none of its own.
VALIDATION_SHARE = 0.05
# With fewer test units, the AUC under two protocols differs by chance.
LEAST_UNITS = 100
AUDIT_SAMPLE = 20_000
MOST_SEEDS = 1_000_000


def judge(
    model: object,
    data: Any,
    protocols: Sequence[str] | str | None = None,
    seeds: int | None = None,
    *,
    name: str = "",
    store: Store | str | Path | None = None,
    device: str = "cpu",
    checks: bool = True,
    progress: Progress | None = None,
    options: dict[str, Any] | None = None,
    runner: Runner | None = None,
) -> Verdict:
    """Find out what a model is worth.

    The model is evaluated under the protocols that fit the data, beside the heuristics or other simple
    baselines, on several random splits. The verdict says what it beats and what it cannot be told from, where
    it wins and loses, and what makes its scores doubtful.

    Args:
        model: a function ``fit(task)`` or ``fit(graph)`` that returns a scorer, so that the model is trained
            on each split; a method or its name; or a scorer that is fixed: a function of pairs, vectors of
            nodes, a torch module, a file of scores, an object with ``score(pairs)``. ``"mine.py:fit"`` is
            what a file calls ``fit``.
        data: a data set's name, a file or folder, a graph, a frozen task, or several tasks.
        protocols: their names; by default ``existing``, ``heart``, ``degree-corrected``, and for small graphs
            ``recommendation``; for other data its own protocol.
        seeds: how many random splits; by default five, fewer if a fit takes long. A fixed scorer, which
            cannot be trained again, has one.
        name: what to call the model.
        store: where records are looked up and stored; None keeps them in memory.
        device: where trained methods train.
        checks: check the scorer, and audit the benchmarks.
        progress: called with a text, the runs done and their number.
        options: options of the protocols, for those that have them.
        runner: runs the cells elsewhere, such as ``te.engines.Dask(address).runner``; it needs a store.
    """
    start = time.perf_counter()
    _check_arguments(protocols, seeds, options)
    data = load(data) if isinstance(data, (str, Path)) and is_saved(data) else data
    first = _first_protocol(data, protocols)
    kind, flavour = _kinds(data, first)
    method = as_method(model, name, flavour)
    fixed = is_fixed(method)
    named = [protocols] if isinstance(protocols, str) else protocols
    if named is None and is_score_file(method):
        named = [first]
    asked = plan.requests(data, named, seeds or plan.SEEDS, fixed, options)
    # A task that is made already takes no options; those of a fixed scorer are made with them.
    _check_options(options or {}, [] if plan.is_made(data) else [one.protocol for one in asked])
    large = plan.is_large(data)
    beside = plan.baselines(flavour, kind, method, large)
    kept = store if isinstance(store, Store) or store is None else Store(store)
    ahead = None if runner is None else Ahead(runner, kept, progress)
    judging = _Judging(method, beside, asked, kept, device, seeds, progress, options or {}, ahead)
    if large:
        judging.large = True
        judging.notes.append(_reduced(data, asked, beside))
    judging.run()
    return _verdict(judging, fixed, checks, time.perf_counter() - start)


def _check_arguments(protocols: object, seeds: object, options: object) -> None:
    """Raise an InputError for arguments of the wrong type, before any work is done."""
    if seeds is not None:
        whole_number("seeds", "judge", seeds, 1, MOST_SEEDS)
    listed = [protocols] if isinstance(protocols, str) else protocols
    names = isinstance(listed, (list, tuple)) and listed and all(isinstance(one, str) for one in listed)
    if protocols is not None and not names:
        raise must_be("protocols", "judge", "the name of a protocol or a list of names", protocols)
    if options is not None and not isinstance(options, Mapping):
        raise must_be("options", "judge", "a dict of options and their values", options)


def _check_options(options: Mapping[str, Any], protocols: Sequence[str]) -> None:
    """Raise an InputError for an option that none of the protocols has."""
    known = {key for name in protocols for key in get_protocol(name).options}
    for key in options:
        if key not in known:
            where = ", ".join(dict.fromkeys(protocols)) or "a task that is made already"
            raise unknown(f"option of {where}", key, known or ["(none)"])


class _Judging:
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
        own = self.own(request.protocol)
        took = own[-1].seconds.get("fit", 0.0) if own else 0.0
        found = next(count for most, count in PATIENCE if took <= most)
        if found < len(request.seeds):
            many = "one split" if found == 1 else f"{found} splits"
            self.notes.append(
                f"{request.protocol}: {many} only, since a fit takes {took:.0f} s; seeds=5 runs five"
            )
        return found

    def _make(self, request: plan.Request, seed: int) -> Task:
        return self._cell(request, self.method, seed).task()

    def _cell(self, request: plan.Request, method: Method, seed: int) -> Cell:
        known = get_protocol(request.protocol).options if not isinstance(request.source, Task) else {}
        own = {key: value for key, value in self.options.items() if key in known} | dict(request.options)
        # A file may hold scores of the test part alone; on a large graph, that is all that is compared.
        alone = is_score_file(method) or (self.large and method.name != self.method.name)
        parts = ("test",) if alone else None
        # Intervals are over splits, unless fits turn out to take so long that there is only the first.
        redraws = seed == request.seeds[0]
        return Cell(
            *(request.source, request.protocol, method, seed, own, self.device), parts=parts, redraws=redraws
        )

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

    def for_task(task: Task) -> Method:
        ready = method.for_task(task)
        noted = replace(ready)

        def fit(*arguments: Any, **named: Any) -> Any:
            fitted.append(ready.fit(*arguments, **named))
            return fitted[-1]

        object.__setattr__(noted, "fit", fit)
        return noted

    object.__setattr__(copy, "for_task", for_task)
    return copy


class _Kept(InProcess):
    """Runs cells on a task that is made already."""

    def __init__(self, task: Task, key: str) -> None:
        super().__init__()
        self._task, self._task_key = task, key


def _verdict(judging: _Judging, fixed: bool, checks: bool, seconds: float) -> Verdict:
    made = tables(judging.records)
    label = next(
        (line.label for table in made for line in table.lines if line.row.method == judging.method.name),
        judging.method.name,
    )
    answers = [found for table in made if (found := answer(table, label)) is not None]
    sliced = [slices(table.records, properties=judging.properties) for table in made]
    doubts: list[Suspicion] = []
    check: CheckReport | None = None
    audited: list[tuple[str, Any]] = []
    if checks:
        wrong = {table.first.protocol: _audit(judging.first[table.first.protocol][0]) for table in made}
        audited = [(table.protocol, one) for table in made for one in wrong[table.first.protocol]]
        check = _check(judging)
        doubts = _doubts(judging, check, wrong)
    share = _share(made, label)
    said = groups.sentences(made, sliced, answers, label)
    verdict = Verdict(
        model=judging.method.name,
        dataset=made[0].first.dataset,
        answers=tuple(answers),
        degree_share=share,
        suspicions=tuple(doubts),
        groups=tuple(said),
        check=check,
        warnings=tuple(audited),
        advice=(),
        notes=(*judging.notes, *judging.failed, *_how(judging, fixed)),
        tables=tuple(made),
        sliced=tuple(sliced),
        records=tuple(judging.records),
        seconds=seconds,
    )
    return replace(verdict, advice=tuple(advice.advice(verdict, fixed)))


def _doubts(
    judging: _Judging, check: CheckReport | None, audited: Mapping[str, Sequence[Any]]
) -> list[Suspicion]:
    """Return the reasons to doubt, each once, with the protocols under which it was found."""
    found: dict[str, Suspicion] = {}
    where: dict[str, list[str]] = {}
    for place, protocol in enumerate(judging.first):
        task, scorer = judging.scorer(protocol)
        evidence = Evidence(
            judging.method,
            task,
            scorer,
            judging.own(protocol),
            judging.others(protocol),
            audited[protocol],
            check if place == 0 else None,
            judging.refit(),
            first=place == 0,
        )
        for one in suspicions(evidence):
            found.setdefault(one.name, one)
            where.setdefault(one.name, []).append(protocol)
    named = [
        one
        if one.general or len(judging.first) == 1
        else replace(one, sentence=f"{', '.join(where[name])}: {one.sentence}")
        for name, one in found.items()
    ]
    return sorted(named, key=lambda one: not one.grave)


def _check(judging: _Judging) -> CheckReport | None:
    protocol = next(iter(judging.first))
    task, scorer = judging.scorer(protocol)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScoreWarning)
        return check_scorer(scorer, task)


def _audit(task: Task) -> list[Any]:
    """Return what an audit finds wrong with a benchmark."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScoreWarning)
        try:
            found = audit(task, sample=AUDIT_SAMPLE)
        except InputError:
            return []
    return [one for one in found.by_verdict() if one.wrong]


def _share(made: Sequence[Table], label: str) -> float | None:
    """Return the share of the model's AUC that is degree, if both protocols were run."""
    values = {
        table.first.protocol: line.row.means["auc"]
        for table in made
        for line in table.lines
        if line.label == label and "auc" in line.row.means and _units(line.records) >= LEAST_UNITS
    }
    easy = next((values[one] for one in ("uniform", "existing") if one in values), None)
    if easy is None or "degree-corrected" not in values:
        return None
    return degree_share(easy, values["degree-corrected"])


def _units(records: Sequence[Record]) -> int:
    """Return the number of test units of some records."""
    return sum(len(found) for one in records if (found := one.unit_values("auc")) is not None)


def _reduced(data: Any, requests: Sequence[plan.Request], baselines: Sequence[Method]) -> str:
    """Return a sentence on what is less than usual, because a graph is large."""
    edges = Source.of(data).graph.num_edges
    cheaper = {one.name: plan.CHEAPER[one.name] for one in baselines if one.name in plan.CHEAPER}
    said = [
        f"{name} has {', '.join(f'{key}={value:g}' for key, value in settings.items())}"
        for name, settings in cheaper.items()
    ]
    if any(one.options for one in requests):
        names = "ratios or fraction"
        said.insert(0, f"about {plan.HELD_OUT:,} edges are held out in each part, unless you set {names}")
    return f"This graph is large ({edges:,} edges): {', and '.join(said)}"


def _how(judging: _Judging, fixed: bool) -> list[str]:
    ran = {one.method for one in judging.records}
    names = ", ".join(one.name for one in judging.baselines if one.name in ran)
    many = max((len({r.seed for r in judging.records if r.protocol == p}) for p in judging.first), default=1)
    splits = f"{many} random split{'' if many == 1 else 's'}"
    if judging.options.get("split") == "time":
        splits = "one split by time, which has no other seeds"
    said = [f"beside {names}" if names else "", splits]
    notes = [f"Evaluated {' on '.join(one for one in said if one)}"]
    task, _ = next(iter(judging.first.values()))
    notes += getattr(getattr(task, "graph", None), "notes", ())
    said_of_tasks = [note for task, _ in judging.first.values() for note in task.settings.get("notes", ())]
    notes += [note for note in dict.fromkeys(said_of_tasks) if note not in notes]
    if fixed:
        notes.append(
            f"{judging.method.name} is a fixed scorer, so there is one split; if it was trained on test"
            " edges, its scores mean nothing"
        )
    return notes


def _first_protocol(data: Any, protocols: Sequence[str] | str | None) -> str:
    if isinstance(data, Task):
        return data.protocol
    if isinstance(data, (list, tuple)) and data and isinstance(data[0], Task):
        return data[0].protocol
    if protocols:
        return protocols if isinstance(protocols, str) else protocols[0]
    return default_protocol(data)


def _kinds(data: Any, protocol: str) -> tuple[str, str]:
    """Return the kind of task and of data."""
    one = data[0] if isinstance(data, (list, tuple)) and data and isinstance(data[0], Task) else data
    if isinstance(one, Task):
        return one.kind, one.data
    found = get_protocol(protocol)
    return found.kind, found.data
