"""A study: a published table as code, our numbers next to the published ones."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from trueedge import methods
from trueedge.analysis import summarise
from trueedge.analysis.figure import Figure
from trueedge.errors import InputError, unknown, whole_number
from trueedge.methods import Method
from trueedge.progress import Progress
from trueedge.registry import Registry
from trueedge.results import Record, Store
from trueedge.runs import Cell, Runner, drive, runner_in_use

if TYPE_CHECKING:
    from trueedge.studies.printed_tables import PrintedTable

MOST_SEEDS = 10_000


@dataclass(frozen=True)
class Tuning:
    """How the methods of a table are tuned before their numbers are taken.

    Attributes:
        trials: the number of trials for each method, drawn at random from the published grid; at most its
            size.
        trial_seeds: the number of seeds of each trial. Settings are compared by the mean of their validation
            values; the published searches took it over ten seeds. Settings of which a seed failed are
            compared only if a seed of every setting did.
    """

    trials: int = 60
    trial_seeds: int = 1

    def __post_init__(self) -> None:
        whole_number("trials", "Tuning", self.trials, 1)
        whole_number("trial_seeds", "Tuning", self.trial_seeds, 1, MOST_SEEDS)


@dataclass(frozen=True)
class Plan:
    """What to run of a study.

    Attributes:
        datasets: only these data sets; empty for all of the study.
        methods: only these methods; empty for all.
        metrics: only these metrics of a printed table; empty for all.
        seeds: the number of seeds; None for as many as the study has.
        device: the device for trained methods.
        store: where records are read from and written to.
        progress: called with a text, the number of finished runs and their total.
        jobs: the number of parallel processes.
        used: gets the records that the study used, new and cached ones.
        settings: settings that take the place of the study's, for methods that have them.
        runner: runs the cells elsewhere, instead of ``jobs`` processes.
        tuning: search the published grid for each method and metric first; None: use the published settings.
        evidence: the folder of evidence, for studies that are about the numbers of other studies.
    """

    datasets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    seeds: int | None = None
    device: str = "cpu"
    store: Store | None = None
    progress: Progress | None = None
    jobs: int = 1
    used: list[Record] = field(default_factory=list, compare=False, repr=False)
    settings: Mapping[str, Any] = field(default_factory=dict)
    runner: Runner | None = field(default=None, compare=False, repr=False)
    tuning: Tuning | None = None
    evidence: Path = Path("results")

    def with_settings(self, method: Method) -> Method:
        """Return a method with the settings of the plan that it has."""
        own = {key: value for key, value in self.settings.items() if key in method.space()}
        return replace(method, **own) if own else method

    def __post_init__(self) -> None:
        # A study may make all its cells before the first one runs.
        whole_number("seeds", "Plan", 1 if self.seeds is None else self.seeds, 1, MOST_SEEDS)
        whole_number("jobs", "Plan", self.jobs, 1)


@dataclass(frozen=True)
class Comparison:
    """One of our numbers and the published one, both in the paper's unit.

    Attributes:
        dataset: the data set's name.
        protocol: the protocol of our records.
        method: the method's name.
        metric: the metric's name.
        ours: our mean.
        std: our standard deviation over seeds.
        seeds: the number of our records.
        theirs: the published mean, None where none was published.
        their_std: the published standard deviation, or None.
        tuned: how the settings were searched, in words; empty: they are the published ones.
        places: where our records were computed, as numbers of :attr:`Finding.places`; empty: not known.
    """

    dataset: str
    protocol: str
    method: str
    metric: str
    ours: float
    std: float
    seeds: int
    theirs: float | None
    their_std: float | None = None
    tuned: str = ""
    places: tuple[int, ...] = ()

    @property
    def difference(self) -> float | None:
        """Return our mean minus the published one."""
        return None if self.theirs is None else self.ours - self.theirs


@dataclass(frozen=True)
class Finding:
    """The results of a study.

    Attributes:
        rows: the comparisons.
        missing: a sentence for each thing that could not be run.
        places: where the records were computed: device, machine and versions.
        figures: the paper's figures, drawn from our numbers.
        notes: what the rows say, one sentence each.
    """

    rows: list[Comparison]
    missing: list[str] = field(default_factory=list)
    places: list[dict[str, Any]] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Study:
    """A published table: make one and give it to :func:`register`.

    Attributes:
        name: what users type, ``paper/table``.
        title: one line.
        citation: the paper.
        decimals: how many decimals the paper prints.
        run: runs a plan.
        one_process: whether it must run in one process, because it measures its own work.
        reads_evidence: whether it is about the numbers of other studies, in their evidence.
        table: makes the printed table that it runs, if it is one; its methods can be tuned if it has a grid.
    """

    name: str
    title: str
    citation: str
    decimals: int
    run: Callable[[Plan], Finding]
    one_process: bool = False
    reads_evidence: bool = False
    table: Callable[[], PrintedTable] | None = None

    @property
    def tunable(self) -> bool:
        """Return whether its methods can be tuned first, see :class:`Tuning`."""
        return self.table is not None and bool(self.table().grid)


STUDIES: Registry[Study] = Registry("study", "trueedge.studies")


def register(study: Study) -> Study:
    """Add a study to the catalogue."""
    return STUDIES.add(study.name, study)


@cache
def _cards() -> dict[str, dict[str, str]]:
    path = files("trueedge.studies") / "studies.csv"
    return {row["name"]: row for row in csv.DictReader(path.read_text("utf-8").splitlines())}


def register_listed(
    name: str,
    run: Callable[[Plan], Finding] | None = None,
    *,
    table: Callable[[], PrintedTable] | None = None,
) -> Study:
    """Register a study whose title, paper and number of decimals are a row of ``studies.csv``.

    Args:
        name: the study's name.
        run: runs a plan; None: runs the table.
        table: makes the printed table that the study runs.
    """
    row = _cards()[name]
    texts = {key: row[key] for key in ("name", "title", "citation")}
    alone, reads = (row[trait] == "yes" for trait in ("one_process", "reads_evidence"))
    decimals = int(row["decimals"])
    if run is None:
        assert table is not None
        made = table

        def run(plan: Plan) -> Finding:
            return made().run(plan)

    return register(
        Study(**texts, decimals=decimals, run=run, one_process=alone, reads_evidence=reads, table=table)
    )


def get(name: str) -> Study:
    """Return the study of a name."""
    return STUDIES.get(name)


def catalogue() -> tuple[Study, ...]:
    """Return all studies, in the order of ``studies.csv``; others last."""
    order = list(_cards())
    known = [study for study in STUDIES.values() if study.name in order]
    others = [study for study in STUDIES.values() if study.name not in order]
    return (*sorted(known, key=lambda study: order.index(study.name)), *others)


def chosen(asked: Sequence[str], there: Sequence[str], what: str) -> list[str]:
    """Return the requested names, or all if none is requested; refuse unknown ones.

    The name of a family of methods stands for those of its methods that are there, and a name such as ``gcn``
    for the class of that name that is there, ``gcn-hetero``.
    """
    wanted: set[str] = set()
    for name in asked:
        of_family = {kind.name for kind in methods.catalogue() if kind.family == name}
        meant = {name} if name in there else {one for one in there if one.partition("/")[0] in of_family}
        meant = meant or {name + end for end in methods.SUFFIXES.values()}.intersection(there)
        if not meant:
            raise unknown(what, name, there)
        wanted |= meant
    return [name for name in there if not asked or name in wanted]


def run_all(
    cells: Iterable[Cell], plan: Plan, total: int | None = None
) -> tuple[dict[tuple[str, str, Method], list[Record]], list[str]]:
    """Run cells; return the records by (data set, protocol, method), and a sentence for each failed cell.

    Args:
        cells: what to run; a generator is read as cells are run.
        plan: names the store, the number of processes and the progress callback.
        total: the number of cells, where ``cells`` is a generator.
    """
    if isinstance(cells, Sequence):
        total = len(cells)
    done = {}
    with runner_in_use(plan.runner, plan.jobs) as runner:
        for position, outcome in drive(cells, plan.store, runner):
            cell = outcome.cell
            found = [] if outcome.record is None else [outcome.record, *outcome.others]
            plan.used.extend(found)
            own = [cell.method, *(one.method for one in cell.others_selected())]
            # Not the cell itself, which may hold its task.
            done[position] = (cell.protocol, cell.method, list(zip(own, found, strict=False)), outcome.reason)
            if plan.progress is not None:
                plan.progress(f"{cell.name} · {cell.protocol} · {cell.method.name}", len(done), total or 0)
    records: dict[tuple[str, str, Method], list[Record]] = {}
    missing: dict[str, None] = {}
    for position in sorted(done):
        protocol, method, measured, reason = done[position]
        if not measured:
            missing[f"{method.name} under {protocol}: {reason}"] = None
        for selected, record in measured:
            records.setdefault((record.dataset, record.protocol, selected), []).append(record)
    return records, list(missing)


def places(records: Iterable[Sequence[Record]]) -> list[dict[str, Any]]:
    """Return where records were computed: each device, machine, set of versions and commit once."""
    found: list[dict[str, Any]] = []
    for record in (record for group in records for record in group):
        place = _place(record)
        if place not in found:
            found.append(place)
    return found


def places_of(records: Sequence[Record], known: Sequence[dict[str, Any]]) -> tuple[int, ...]:
    """Return the numbers of the places where some records were computed, among the known ones."""
    return tuple(sorted({known.index(_place(record)) for record in records}))


def _place(record: Record) -> dict[str, Any]:
    place = {name: record.provenance.get(name) for name in ("device", "machine", "versions")}
    commit = record.provenance.get("commit")
    return {**place, "commit": commit} if commit else place


def comparison(
    where: tuple[str, str, str, str],
    values: Sequence[float] | np.ndarray[Any, Any],
    theirs: float | None = None,
    their_std: float | None = None,
) -> Comparison:
    """Return the row of some values: their mean, standard deviation and number, and the published ones.

    Args:
        where: data set, protocol, method and metric.
        values: the values of the seeds, networks or graphs, (n,).
        theirs: the published mean.
        their_std: the published standard deviation.
    """
    std = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return Comparison(*where, float(np.mean(values)), std, len(values), theirs, their_std)


def mean_and_std(records: Sequence[Record], metric: str) -> tuple[float, float] | None:
    """Return the mean and standard deviation of a test metric over records, None where they lack it."""
    (row,) = summarise(records)
    if metric not in row.means:
        return None
    return row.means[metric], row.stds[metric]


class NoValueError(InputError):
    """A study has no value to show."""


def need(rows: Sequence[Comparison], study: str, missing: Sequence[str]) -> None:
    """Raise a NoValueError for an empty table, with the first reason for it."""
    if not rows:
        raise NoValueError(f"there is no value for {study}: {missing[0] if missing else 'no method matches'}")
