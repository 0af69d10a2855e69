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
from trueedge.methods import Method
from trueedge.studies.printed_tables import PrintedTable, absent, training_of
from trueedge.studies.published_values import AGAIN, PublishedValue
from trueedge.studies.study import catalogue

Key = tuple[str, str, str, str]
Training = tuple[str, str, Method]
# Values that a paper quotes from others, beside its own.
REPORTED = "/reported"


@dataclass(frozen=True)
class Group:
    """The published values of a method on a data set in one table, but for those that an earlier one prints.

    Attributes:
        study: the study that computes them.
        dataset: the data set.
        method: the method.
        metrics: the metrics without evidence.
        seconds: how long their trainings take, one after another on a GPU; roughly.
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
        cells: the number of values whose data is here and whose method is in the catalogue. Several tables
            print some of them.
        with_evidence: how many of them have evidence.
        different: the number of values that are not printed in an earlier table, too.
        different_with_evidence: how many of these have evidence.
        missing: the others of these, the quickest first.
        seconds: how long the trainings for all of them take; one that several tables share counts once.
    """

    cells: int
    with_evidence: int
    different: int
    different_with_evidence: int
    missing: tuple[Group, ...]
    seconds: float


def coverage(folder: str | Path) -> Coverage:
    """Return which published cells have evidence.

    Args:
        folder: the folder of the evidence, one ``.json`` file for each study.
    """
    known = evidence_keys(folder)
    groups: dict[tuple[str, str, str], list[PublishedValue]] = {}
    tables: dict[str, PrintedTable] = {}
    cells = with_evidence = 0
    printed: set[Key] = set()
    here: dict[tuple[str, str], bool] = {}
    for study in catalogue():
        table = None if study.table is None else study.table()
        for value in _computable(table, here):
            assert table is not None
            key = _key(table, value)
            cells += 1
            with_evidence += key in known
            tables[study.name] = table
            if key not in known and key not in printed:
                groups.setdefault((study.name, value.dataset, value.method), []).append(value)
            printed.add(key)
    found, together = [], dict[Training, float]()
    for place, values in groups.items():
        trainings = _trainings(tables[place[0]], values)
        together |= trainings
        found.append(Group(*place, tuple(value.metric for value in values), sum(trainings.values())))
    return Coverage(
        *(cells, with_evidence, len(printed), len(printed & known)),
        missing=tuple(sorted(found, key=lambda group: group.seconds)),
        seconds=sum(together.values()),
    )


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
        if value.mean is None or value.note == AGAIN or value.method.partition("/")[0] not in known:
            continue
        place = (value.dataset, table.protocol(value))
        if place not in here:
            here[place] = not absent(*place)
        if here[place]:
            found.append(value)
    return found


def _key(table: PrintedTable, value: PublishedValue) -> Key:
    return (value.dataset, table.protocol(value), value.method.removesuffix(REPORTED), value.metric)


def _trainings(table: PrintedTable, values: list[PublishedValue]) -> dict[Training, float]:
    """Return the trainings behind some values of a method, and how long all seeds of each take."""
    first = replace(values[0], method=values[0].method.removesuffix(REPORTED))
    where = first.dataset, table.protocol(first)
    if methods.get(first.method.partition("/")[0]).family in ("heuristics", "counting"):
        return {(*where, table.method(first)): 1.0}
    one = next(
        float(row["seconds"])
        for row in reversed(_measured())
        if fnmatchcase(first.dataset, row["dataset"]) and fnmatchcase(first.method, row["method"])
    )
    # Columns that stop alike share a training; otherwise there is one for each metric that selects an epoch.
    return {(*where, training_of(table.method(value))): one * table.seeds for value in values}


@cache
def _measured() -> tuple[dict[str, str], ...]:
    text = (files("trueedge.studies") / "training_seconds.csv").read_text("utf-8")
    return tuple(csv.DictReader(text.splitlines()))
