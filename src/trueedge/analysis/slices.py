"""Performance by group of test units: links of low degree, without common neighbours, far apart, …"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge import datasets, methods, tasks
from trueedge.analysis.comparison import interval, test_part, unit_values
from trueedge.errors import InputError
from trueedge.metrics.factors import dominant_factors
from trueedge.metrics.units import plural
from trueedge.progress import Progress
from trueedge.results.record import Record
from trueedge.results.versions import labelled
from trueedge.statistics.sample import Sample
from trueedge.statistics.significance import Estimate
from trueedge.tasks import LinkTask, Task
from trueedge.tasks.base import KINDS
from trueedge.tasks.protocols import get as get_protocol

Names = NDArray[np.str_]
# The heuristic of each factor: Shomer et al., LPFormer, KDD 2024.
PROXIES = {"local": "cn", "global": "ppr", "features": "cosine"}
SEVERAL = "none or several"
# The beginning of a sentence about one split.
SEED = re.compile(r"^.*?, seed \d+: ")
TITLES = {
    "degree": "degree of the end with fewer neighbours",
    "common neighbours": "common neighbours",
    "distance": "distance in the training graph",
    "factor": "dominant factor",
}
NOTES = {
    "factor": "A factor is dominant where only its score is in the top tenth: common neighbours (local),"
    " PageRank (global) or feature cosine (features)."
}


@dataclass(frozen=True)
class Slicing:
    """The test units of a table in groups.

    Attributes:
        name: the property they are grouped by.
        title: the same, in a few words.
        groups: the names of the groups, in order.
        counts: the number of units in each, over all splits.
        values: for each method's label its mean and interval in each group, or None without units.
        note: a sentence on the groups, if they need one.
    """

    name: str
    title: str
    groups: tuple[str, ...]
    counts: tuple[int, ...]
    values: Mapping[str, tuple[Estimate | None, ...]]
    note: str = ""

    @property
    def links(self) -> tuple[int, ...]:
        """Return ``counts``; this is its older name."""
        warnings.warn("Slicing.links is now Slicing.counts", DeprecationWarning, stacklevel=2)
        return self.counts


@dataclass(frozen=True)
class Sliced:
    """A table's test units, grouped by each property.

    Attributes:
        metric: the metric that is averaged.
        slicings: one for each property; empty if nothing could be grouped.
        left_out: a sentence for each split and record that could not be used.
    """

    metric: str
    slicings: tuple[Slicing, ...]
    left_out: tuple[str, ...]

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return why splits and records could not be used, each reason once, whatever its numbers."""
        found: dict[str, str] = {}
        for sentence in self.left_out:
            reason = SEED.sub("", sentence, count=1)
            found.setdefault(re.sub(r"\d+", "0", reason), reason)
        return tuple(found.values())


def slices(
    records: Sequence[Record],
    metric: str | None = None,
    level: float = 0.95,
    most_seconds: float = math.inf,
    progress: Progress | None = None,
    known: Mapping[str, Task] | None = None,
    properties: Mapping[str, Mapping[str, NDArray[Any]]] | None = None,
) -> Sliced:
    """Group the test units of one data set under one protocol, and average each method in each group.

    The task is recreated from the records without downloads, and used if it has the hash in the records.

    Args:
        records: records of one data set under one protocol, with values for each test unit.
        metric: a mean over units; by default the headline.
        level: the level of the intervals.
        most_seconds: leave out tasks that took longer to make.
        progress: called with a text, the number of tasks made and the number of all tasks.
        known: tasks that are made already, by their hash.
        properties: what :func:`properties_of` returns for a task, by the task's hash.
    """
    by_task: dict[str, list[Record]] = {}
    for record in records:
        by_task.setdefault(str(record.provenance.get("task", "")), []).append(record)
    chosen = metric or records[0].headline
    given, found_properties = properties or {}, dict[str, Mapping[str, NDArray[Any]]]()
    left_out: dict[str, None] = {}
    for number, (task_hash, group) in enumerate(by_task.items()):
        if progress is not None:
            progress(f"{group[0].dataset} · {group[0].protocol}", number, len(by_task))
        try:
            if all(not record.units for record in group):
                unit = getattr(KINDS.find(group[0].kind), "unit", "unit")
                raise InputError(f"{_where(group[0])}: its records hold no values for each test {unit}")
            took = group[0].seconds.get("task", 0.0)
            if task_hash in given:
                found_properties[task_hash] = given[task_hash]
                continue
            if known and task_hash in known:
                found_properties[task_hash] = properties_of(known[task_hash])
                continue
            if took > most_seconds:
                what = f"its task took {took:.0f} s to make, too long to make it again"
                raise InputError(f"{_where(group[0])}: {what}")
            found_properties[task_hash] = properties_of(rebuilt(group[0]))
        except InputError as error:
            left_out[str(error)] = None
    # Tasks with the same test units are one sample, grouped by the properties in the first of them.
    parts = {task_hash: test_part(by_task[task_hash][0]) for task_hash in found_properties}
    of_parts = {part: found_properties[task_hash] for task_hash, part in reversed(parts.items())}
    found: dict[str, dict[str, list[NDArray[np.float64]]]] = {}
    for label, group in labelled(records).items():
        for record in group:
            task_hash = str(record.provenance.get("task", ""))
            if task_hash not in found_properties:
                continue
            try:
                values = unit_values(record, chosen)
            except InputError as error:
                left_out[str(error)] = None
                continue
            found.setdefault(label, {}).setdefault(parts[task_hash], []).append(values)
    names = next(iter(of_parts.values()), {})
    slicings = [_slicing(name, of_parts, found, chosen, level) for name in names] if found else []
    return Sliced(chosen, tuple(slicings), tuple(left_out))


def rebuilt(record: Record) -> Task:
    """Recreate the task of a record, or raise an InputError that says why this is impossible."""
    name, where = record.dataset, _where(record)
    if not datasets.is_name(name):
        raise InputError(f"{where}: {name} is not a named data set, so its task cannot be made again")
    released = get_protocol(record.protocol).released
    needed = {file.path for file in datasets.get(name).files_with(released)}
    missing = [c.path for c in datasets.verify(name) if c.state == "missing" and c.path in needed]
    if missing:
        raise InputError(f"{where}: the data is not on this machine ({missing[0]})")
    task = tasks.task(name, record.protocol, record.task_seed, **dict(record.options))
    # Records of earlier versions have the hash that did not cover the names of nodes.
    if record.provenance.get("task") not in (task.hash, task.hash_without_labels):
        raise InputError(f"{where}: the task made again differs from the record's (another hash)")
    return task


def can_be_sliced(kind: str) -> bool:
    """Return whether the units of a kind of task have properties to group them by."""
    found = KINDS.find(kind)
    return found is not None and (issubclass(found, LinkTask) or found.properties is not Task.properties)


def properties_of(task: Task) -> dict[str, NDArray[Any]]:
    """Return the properties that test units are grouped by, an array (n,) each."""
    if isinstance(task, LinkTask):
        return link_properties(task)
    found = task.properties()
    if not found:
        raise InputError(
            f"{task.dataset} · {task.protocol}: its {plural(task.unit)} have no properties to group by"
        )
    return found


def link_properties(task: LinkTask) -> dict[str, NDArray[Any]]:
    """Return the degree, common neighbours, distance and factor of test positives, an array (P,) each.

    All are of the training graph. The degree is that of the end with fewer neighbours; distance -1: no path.
    """
    from trueedge.kernels.neighbors.bfs import distances

    graph, links = task.graph, task.test.positives.astype(np.int64)
    degrees = np.diff(graph.indptr)
    known = factor_scores(task)
    factors = dominant_factors(known).astype("<U32")
    factors[factors == ""] = SEVERAL
    return {
        "degree": degrees[links].min(axis=1),
        "common neighbours": np.rint(np.asarray(known["local"])).astype(np.int64),
        "distance": distances(graph.indptr, graph.indices, links),
        "factor": factors,
    }


def factor_scores(task: LinkTask) -> dict[str, NDArray[Any]]:
    """Return the scores of test positives by the heuristic of each factor, (P,)."""
    links = task.test.positives.astype(np.int64)
    return {
        factor: methods.create(proxy).fit(task).score(links)
        for factor, proxy in PROXIES.items()
        if proxy != "cosine" or task.graph.features is not None
    }


def group_names(name: str, values: NDArray[Any], all_values: NDArray[Any]) -> Names:
    """Return the name of each value's group, str (n,).

    Args:
        name: the property.
        values: the values of some units: texts, or numbers, which are grouped by quartiles.
        all_values: the values of all units of a table, for the quartiles.
    """
    if values.dtype.kind not in "iuf":
        return values.astype(np.str_)
    if name == "distance":
        return np.where(values < 0, "no path", np.where(values >= 5, "5+", values.astype(np.str_)))
    bounds = np.array([0, 1, 3]) if name == "common neighbours" else _quartiles(all_values)
    low = 0 if name == "common neighbours" else int(all_values.min())
    starts = [low, *(int(bound) + 1 for bound in bounds)]
    names = [_span(start, int(end)) for start, end in zip(starts, bounds, strict=False)]
    return np.array([*names, f"{starts[-1]}+"])[np.searchsorted(bounds, values, side="left")]


def _where(record: Record) -> str:
    return f"{record.dataset} · {record.protocol}, seed {record.task_seed}"


def _quartiles(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return the upper ends of the lower three quarters; fewer if ends coincide or reach the maximum."""
    ends = np.unique(np.quantile(values, [0.25, 0.5, 0.75], method="inverted_cdf").astype(np.int64))
    kept: NDArray[np.int64] = ends[ends < values.max()]
    return kept


def _span(start: int, end: int) -> str:
    return str(start) if start == end else f"{start}–{end}"


def _order(name: str, groups: Sequence[str]) -> list[str]:
    if name == "factor":
        return sorted(groups, key=[*PROXIES, SEVERAL].index)
    # Numbers by where they start; names without one are last.
    starts = {group: re.match(r"\d+", group) for group in groups}
    return sorted(groups, key=lambda group: int(found[0]) if (found := starts[group]) else math.inf)


def _slicing(
    name: str,
    properties: Mapping[str, Mapping[str, NDArray[Any]]],
    found: Mapping[str, Mapping[str, list[NDArray[np.float64]]]],
    metric: str,
    level: float,
) -> Slicing:
    pooled = np.concatenate([one[name] for one in properties.values()])
    members = {task: group_names(name, one[name], pooled) for task, one in properties.items()}
    everyone = np.concatenate(list(members.values()))
    groups = _order(name, [str(group) for group in np.unique(everyone)])
    values = {
        label: tuple(_estimate(by_task, members, group, metric, level) for group in groups)
        for label, by_task in found.items()
    }
    counts = tuple(int((everyone == group).sum()) for group in groups)
    return Slicing(name, TITLES.get(name, name), tuple(groups), counts, values, NOTES.get(name, ""))


def _estimate(
    by_task: Mapping[str, list[NDArray[np.float64]]],
    members: Mapping[str, Names],
    group: str,
    metric: str,
    level: float,
) -> Estimate | None:
    """Return a method's mean in a group; every split has the same weight, as in the whole table."""
    samples = []
    for task, rows in by_task.items():
        inside = members[task] == group
        if inside.any():
            samples.append(Sample.of([row[inside] for row in rows], f"{metric} values"))
    return interval(samples, metric, level) if samples else None
