"""Published cells without evidence: which could be computed with the data here, and how long that takes."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from pathlib import Path

from trueedge import methods
from trueedge.errors import InputError
from trueedge.studies.printed_tables import PrintedTable, absent, training_of
from trueedge.studies.published_values import PublishedValue
from trueedge.studies.study import catalogue

Key = tuple[str, str, str, str]
# Values that a paper quotes from others, beside its own.
REPORTED = "/reported"


@dataclass(frozen=True)
class Group:
    """The published values of a method on a data set in one table.

    Attributes:
        study: the study that computes them.
        dataset: the data set.
        method: the method.
        metrics: the metrics without evidence.
        seconds: how long the study takes for them, one training at a time on a GPU; roughly.
    """

    study: str
    dataset: str
    method: str
    metrics: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class Coverage:
    """What evidence there is for the published values of the printed tables.

    Attributes:
        cells: the number of values whose data is here and whose method is in the catalogue.
        with_evidence: how many of them have evidence.
        missing: the others, the quickest first.
    """

    cells: int
    with_evidence: int
    missing: tuple[Group, ...]


def coverage(folder: str | Path) -> Coverage:
    """Return which published cells have evidence.

    Args:
        folder: the folder of the evidence, one ``.json`` file for each study.
    """
    known = evidence_keys(folder)
    groups: dict[tuple[str, str, str], list[PublishedValue]] = {}
    tables: dict[str, PrintedTable] = {}
    cells = 0
    here: dict[tuple[str, str], bool] = {}
    for study in catalogue():
        table = None if study.table is None else study.table()
        for value in _computable(table, here):
            assert table is not None
            cells += 1
            tables[study.name] = table
            if _key(table, value) not in known:
                groups.setdefault((study.name, value.dataset, value.method), []).append(value)
    found = [
        Group(*place, tuple(value.metric for value in values), _seconds(tables[place[0]], values))
        for place, values in groups.items()
    ]
    lacking = sum(len(group.metrics) for group in found)
    return Coverage(cells, cells - lacking, tuple(sorted(found, key=lambda group: group.seconds)))


def evidence_keys(folder: str | Path) -> set[Key]:
    """Return the data set, protocol, method and metric of each row in a folder of evidence.

    Several tables print the same cell, ours is computed once. Tuned values are evidence of it, too.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder of evidence: name one with --evidence")
    found: set[Key] = set()
    for path in sorted(folder.glob("*.json")):
        try:
            card = json.loads(path.read_text("utf-8"))
            for row in card["rows"]:
                method = str(row["method"]).removesuffix(REPORTED)
                found.add((str(row["dataset"]), str(row["protocol"]), method, str(row["metric"])))
        except (LookupError, OSError, TypeError, ValueError) as error:
            raise InputError(f"{path} is no file of evidence: {error!r}") from error
    return found


def _computable(table: PrintedTable | None, here: dict[tuple[str, str], bool]) -> list[PublishedValue]:
    """Return the published values whose method is in the catalogue and whose files are here."""
    if table is None:
        return []
    known = {kind.name for kind in methods.catalogue()}
    found = []
    for value in table.values:
        if value.mean is None or value.method.partition("/")[0] not in known:
            continue
        place = (value.dataset, table.protocol(value))
        if place not in here:
            here[place] = not absent(*place)
        if here[place]:
            found.append(value)
    return found


def _key(table: PrintedTable, value: PublishedValue) -> Key:
    return (value.dataset, table.protocol(value), value.method.removesuffix(REPORTED), value.metric)


def _seconds(table: PrintedTable, values: list[PublishedValue]) -> float:
    """Return how long the trainings of some values of a method take, one after another."""
    first = replace(values[0], method=values[0].method.removesuffix(REPORTED))
    if methods.get(first.method.partition("/")[0]).family in ("heuristics", "counting"):
        return 1.0
    # Columns that stop alike share a training; otherwise there is one for each metric that selects an epoch.
    trainings = len({training_of(table.method(value)) for value in values}) * table.seeds
    one = next(
        float(row["seconds"])
        for row in reversed(_measured())
        if fnmatchcase(first.dataset, row["dataset"]) and fnmatchcase(first.method, row["method"])
    )
    return one * trainings


@cache
def _measured() -> tuple[dict[str, str], ...]:
    text = (files("trueedge.studies") / "training_seconds.csv").read_text("utf-8")
    return tuple(csv.DictReader(text.splitlines()))
