"""A study: a published table as code, our numbers next to the published ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from trueedge.analysis import summarise
from trueedge.analysis.figure import Figure
from trueedge.errors import InputError, unknown, whole_number
from trueedge.methods import Method
from trueedge.progress import Progress
from trueedge.registry import Registry
from trueedge.results import Record, Store
from trueedge.runs import Cell, drive, runner_for


@dataclass(frozen=True)
class Plan:
    """What to run of a study.

    Attributes:
        datasets: only these data sets; empty for all of the study.
        methods: only these methods; empty for all.
        seeds: the number of seeds, or None for the study's own.
        device: where trained methods train.
        store: where records are looked up and stored.
        progress: called with a text, the work done and the work in all.
        jobs: how many cells run at a time, each in a process of its own if more than one.
    """

    datasets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    seeds: int | None = None
    device: str = "cpu"
    store: Store | None = None
    progress: Progress | None = None
    jobs: int = 1

    def __post_init__(self) -> None:
        whole_number("seeds", "Plan", 1 if self.seeds is None else self.seeds, 1)
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
    """

    rows: list[Comparison]
    missing: list[str] = field(default_factory=list)
    places: list[dict[str, Any]] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)


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
    """

    name: str
    title: str
    citation: str
    decimals: int
    run: Callable[[Plan], Finding]
    one_process: bool = False


STUDIES: Registry[Study] = Registry("study", "trueedge.studies")


def register(study: Study) -> Study:
    """Add a study to the catalogue."""
    return STUDIES.add(study.name, study)


def get(name: str) -> Study:
    """Return the study of a name."""
    return STUDIES.get(name)


def catalogue() -> tuple[Study, ...]:
    """Return all studies."""
    return STUDIES.values()


def chosen(asked: Sequence[str], there: Sequence[str], what: str) -> list[str]:
    """Return the names asked for, or all where none is; an unknown name is an error."""
    for name in asked:
        if name not in there:
            raise unknown(what, name, there)
    return [name for name in there if not asked or name in asked]


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
    with runner_for(plan.jobs) as runner:
        for position, outcome in drive(cells, plan.store, runner):
            cell = outcome.cell
            # Not the cell itself, which may hold its task.
            done[position] = (cell.protocol, cell.method, outcome.record, outcome.reason)
            if plan.progress is not None:
                plan.progress(f"{cell.name} · {cell.protocol} · {cell.method.name}", len(done), total or 0)
    records: dict[tuple[str, str, Method], list[Record]] = {}
    missing: dict[str, None] = {}
    for position in sorted(done):
        protocol, method, record, reason = done[position]
        if record is None:
            missing[f"{method.name} under {protocol}: {reason}"] = None
        else:
            records.setdefault((record.dataset, record.protocol, method), []).append(record)
    return records, list(missing)


def places(records: Iterable[Sequence[Record]]) -> list[dict[str, Any]]:
    """Return where records were computed: each device, machine and set of versions once."""
    found: list[dict[str, Any]] = []
    for record in (record for group in records for record in group):
        place = {name: record.provenance.get(name) for name in ("device", "machine", "versions")}
        if place not in found:
            found.append(place)
    return found


def mean_and_std(records: Sequence[Record], metric: str) -> tuple[float, float] | None:
    """Return the mean and standard deviation of a test metric over records, None where they lack it."""
    (row,) = summarise(records)
    if metric not in row.means:
        return None
    return row.means[metric], row.stds[metric]


def need(rows: Sequence[Comparison], study: str, missing: Sequence[str]) -> None:
    """Raise an InputError for an empty table, with the first reason for it."""
    if not rows:
        raise InputError(f"nothing of {study} could be run: {missing[0] if missing else 'no method matches'}")
