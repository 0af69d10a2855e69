"""A study: a published table as code, ours beside theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from trueedge.analysis import summarise
from trueedge.analysis.figure import Figure
from trueedge.errors import InputError, unknown, whole_number
from trueedge.methods import Method
from trueedge.progress import Progress
from trueedge.registry import Registry
from trueedge.results import Record, Store
from trueedge.runs import Cell, Outcome, Workers, run_cells


@dataclass(frozen=True)
class Plan:
    """What to run of a study.

    Attributes:
        datasets: only these, or all the study has where none is named.
        methods: only these, or all.
        seeds: how many seeds, or None for the study's own number.
        device: where learned methods train.
        store: where records are kept.
        progress: called with a text, the work done and the work in all.
        jobs: how many cells are run at a time, in processes of their own where it is more than one.
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
    """One number, ours beside theirs, both in the unit the paper prints.

    Attributes:
        dataset: the data set's name.
        protocol: the protocol ours was run under.
        method: the method's name.
        metric: the metric's name.
        ours: our mean.
        std: our standard deviation over seeds.
        seeds: how many records ours stands on.
        theirs: the published mean, None where nobody has published one.
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
        """Ours minus theirs."""
        return None if self.theirs is None else self.ours - self.theirs


@dataclass(frozen=True)
class Finding:
    """What a study came to.

    Attributes:
        rows: the comparisons.
        missing: what could not be run, and why.
        places: where the records were computed: device, machine and versions.
        figures: what the paper draws, from ours.
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
        one_process: whether nothing of it can run side by side, because it counts or watches itself.
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
    """The study of a name."""
    return STUDIES.get(name)


def catalogue() -> tuple[Study, ...]:
    """All studies."""
    return STUDIES.values()


def chosen(asked: Sequence[str], there: Sequence[str], what: str) -> list[str]:
    """The names asked for, or all; a name that is not there is an error."""
    for name in asked:
        if name not in there:
            raise unknown(what, name, there)
    return [name for name in there if not asked or name in asked]


def run_all(
    cells: Iterable[Cell], plan: Plan, total: int | None = None
) -> tuple[dict[tuple[str, str, Method], list[Record]], list[str]]:
    """Run cells; the records by (data set, protocol, method), and a sentence for each that could not run.

    Args:
        cells: what to run; where they are made one by one, so are they taken.
        plan: with the store, the number of processes and whom to tell of progress.
        total: how many cells there are, where they are made one by one.
    """
    if isinstance(cells, Sequence):
        total = len(cells)
    done = {}
    for place, outcome in _outcomes(cells, plan):
        cell = outcome.cell
        # Not the cell itself, which may hold its task.
        done[place] = (cell.protocol, cell.method, outcome.record, outcome.reason)
        if plan.progress is not None:
            plan.progress(f"{cell.name} · {cell.protocol} · {cell.method.name}", len(done), total or 0)
    records: dict[tuple[str, str, Method], list[Record]] = {}
    missing: dict[str, None] = {}
    for place in sorted(done):
        protocol, method, record, reason = done[place]
        if record is None:
            missing[f"{method.name} under {protocol}: {reason}"] = None
        else:
            records.setdefault((record.dataset, record.protocol, method), []).append(record)
    return records, list(missing)


def _outcomes(cells: Iterable[Cell], plan: Plan) -> Iterator[tuple[int, Outcome]]:
    """What became of each cell, with its place, as it is done."""
    if plan.jobs == 1:
        yield from enumerate(run_cells(cells, plan.store))
    else:
        with Workers(plan.jobs, plan.store) as several:
            yield from several.run(cells)


def places(records: Iterable[Sequence[Record]]) -> list[dict[str, Any]]:
    """Where some records were computed: each device, machine and set of versions once."""
    found: list[dict[str, Any]] = []
    for record in (record for group in records for record in group):
        place = {name: record.provenance.get(name) for name in ("device", "machine", "versions")}
        if place not in found:
            found.append(place)
    return found


def mean_and_std(records: Sequence[Record], metric: str) -> tuple[float, float] | None:
    """The mean and standard deviation of a test metric over records, or None where it was not measured."""
    (row,) = summarise(records)
    if metric not in row.means:
        return None
    return row.means[metric], row.stds[metric]


def need(rows: Sequence[Comparison], study: str, missing: Sequence[str]) -> None:
    """Refuse an empty table, with the first reason for it."""
    if not rows:
        raise InputError(f"nothing of {study} could be run: {missing[0] if missing else 'no method matches'}")
