"""The ledger of misses: every published value that our evidence misses, with its cause and an experiment."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from trueedge.errors import InputError

Status = Literal["explained", "open"]
STATUSES: tuple[Status, ...] = ("explained", "open")
FILE = "misses.toml"


@dataclass(frozen=True)
class Value:
    """One of our values beside the published one.

    Attributes:
        evidence: the name of the file it stands in, without its ending.
        study: the study's name.
        dataset: the data set.
        protocol: the protocol.
        method: the method.
        metric: the metric.
        ours: our mean.
        seeds: the number of seeds behind it.
        theirs: the published value.
        allowed: how far the two may be apart: the published standard deviation; without one, two of ours or
            the tolerance of the evidence.
    """

    evidence: str
    study: str
    dataset: str
    protocol: str
    method: str
    metric: str
    ours: float
    seeds: int
    theirs: float
    allowed: float

    @property
    def difference(self) -> float:
        """Return ours minus theirs."""
        return self.ours - self.theirs

    @property
    def missed(self) -> bool:
        """Return whether the two are further apart than allowed."""
        # Not a number is a miss, too.
        return not abs(self.difference) <= self.allowed

    @property
    def place(self) -> str:
        """Return where it stands, in words."""
        return f"{self.evidence}: {self.dataset}, {self.protocol}, {self.method}, {self.metric}"


@dataclass(frozen=True)
class Miss:
    """An entry of the ledger; it covers the missed values that match all its patterns.

    Attributes:
        evidence: patterns of names of evidence files; ``*`` matches anything.
        values: how many missed values it is the first to cover. Patterns may cover values that hold, too: if
            one of these is missed one day, the number says so.
        cause: why the values differ, in one line.
        experiment: the command or the published study that shows it, or would.
        status: ``explained``, if the experiment was run and shows it; ``open``, otherwise.
        datasets: patterns of data sets.
        protocols: patterns of protocols.
        methods: patterns of methods.
        metrics: patterns of metrics.
    """

    evidence: tuple[str, ...]
    values: int
    cause: str
    experiment: str
    status: Status
    datasets: tuple[str, ...] = ("*",)
    protocols: tuple[str, ...] = ("*",)
    methods: tuple[str, ...] = ("*",)
    metrics: tuple[str, ...] = ("*",)

    def covers(self, value: Value) -> bool:
        """Return whether a value matches all patterns."""
        pairs = (
            (self.evidence, value.evidence),
            (self.datasets, value.dataset),
            (self.protocols, value.protocol),
            (self.methods, value.method),
            (self.metrics, value.metric),
        )
        return all(any(fnmatchcase(name, one) for one in patterns) for patterns, name in pairs)


@dataclass(frozen=True)
class Ledger:
    """All published values with evidence, and the entries about those that are missed.

    Attributes:
        values: the values, in the order of the files.
        entries: the entries, in the order of the ledger.
    """

    values: tuple[Value, ...]
    entries: tuple[Miss, ...]

    def missed(self) -> list[tuple[Value, Miss | None]]:
        """Return each missed value with the first entry that covers it."""
        return [
            (value, next((one for one in self.entries if one.covers(value)), None))
            for value in self.values
            if value.missed
        ]

    def by_entry(self) -> list[tuple[Miss, list[Value]]]:
        """Return each entry with the missed values it is the first to cover."""
        found: dict[int, list[Value]] = {place: [] for place in range(len(self.entries))}
        places = {id(entry): place for place, entry in enumerate(self.entries)}
        for value, entry in self.missed():
            if entry is not None:
                found[places[id(entry)]].append(value)
        return [(self.entries[place], values) for place, values in found.items()]

    def faults(self) -> list[str]:
        """Return a sentence for each missed value without an entry, and each entry that covers others."""
        said = [
            f"{value.place}: {value.ours:.4g} misses the published {value.theirs:.4g}, and no entry says why"
            for value, entry in self.missed()
            if entry is None
        ]
        for place, (entry, values) in enumerate(self.by_entry(), 1):
            where = f"entry {place} ({entry.cause})"
            if not values:
                said.append(f"{where} covers no value that is missed: remove it")
            elif len(values) != entry.values:
                said.append(
                    f"{where} covers {len(values)} missed values, not {entry.values}: see whether its cause"
                    " is that of all, and correct 'values'"
                )
        return said


def read(folder: str | Path) -> Ledger:
    """Return the ledger of a folder of evidence, which has a file ``misses.toml``.

    Args:
        folder: the folder of the evidence, one ``.json`` file for each study.
    """
    folder = Path(folder)
    path = folder / FILE
    try:
        known = tomllib.loads(path.read_text("utf-8"))
    except (OSError, RecursionError, ValueError) as error:
        raise InputError(f"{path}: the ledger cannot be read: {error}") from error
    tolerances = _tolerances(known.pop("tolerances", {}), path)
    misses = known.pop("misses", [])
    if not isinstance(misses, list) or not all(isinstance(one, dict) for one in misses):
        raise InputError(f"{path}: write [[misses]] for each entry, with two brackets on each side")
    entries = tuple(_entry(one, place + 1, path) for place, one in enumerate(misses))
    if known:
        raise InputError(f"{path}: unknown key {next(iter(known))!r}; known are 'tolerances' and 'misses'")
    values = tuple(
        value for file in sorted(folder.glob("*.json")) for value in _read_values(file, tolerances)
    )
    unused = set(tolerances) - {value.evidence for value in values}
    if unused:
        raise InputError(f"{path}: there is no evidence for the tolerance of {sorted(unused)[0]!r}")
    return Ledger(values, entries)


def _tolerances(found: Any, path: Path) -> dict[str, float]:
    if not isinstance(found, Mapping) or not all(_is_size(one) for one in found.values()):
        raise InputError(f"{path}: tolerances are numbers above 0, one for each file of evidence")
    return {str(name): float(value) for name, value in found.items()}


def _is_size(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0


def _entry(found: Mapping[str, Any], number: int, path: Path) -> Miss:
    known = {one.name for one in fields(Miss)}
    where = f"{path}: entry {number}"
    for key in found:
        if key not in known:
            raise InputError(f"{where}: unknown key {key!r}; known are {', '.join(sorted(known))}")
    for key in ("evidence", "values", "cause", "experiment", "status"):
        if not found.get(key):
            raise InputError(f"{where}: {key!r} is missing")
    if found["status"] not in STATUSES:
        raise InputError(f"{where}: status must be one of {', '.join(STATUSES)}, got {found['status']!r}")
    if type(found["values"]) is not int:
        raise InputError(f"{where}: values must be a whole number, got {found['values']!r}")
    patterns = {key: _patterns(found[key], f"{where}: {key!r}") for key in found if key in PATTERNS}
    evidence = patterns.pop("evidence")
    cause, experiment = str(found["cause"]), str(found["experiment"])
    return Miss(evidence, found["values"], cause, experiment, found["status"], **patterns)


PATTERNS = ("evidence", "datasets", "protocols", "methods", "metrics")


def _patterns(value: Any, what: str) -> tuple[str, ...]:
    listed: Sequence[Any] = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise InputError(f"{what} must be a name or a list of names")
    return tuple(listed)


def _read_values(path: Path, tolerances: Mapping[str, float]) -> list[Value]:
    """Return the values of a file of evidence, or raise an InputError that names it."""
    try:
        return list(_values(path, tolerances))
    except (ArithmeticError, LookupError, OSError, TypeError, ValueError) as error:
        raise InputError(f"{path} is no file of evidence: {error!r}") from error


def _values(path: Path, tolerances: Mapping[str, float]) -> Iterator[Value]:
    """Yield the values of a file of evidence that have a published one."""
    card = json.loads(path.read_text("utf-8"))
    # A published value is rounded.
    rounding = 0.5001 * 10 ** -card["decimals"]
    for row in card["rows"]:
        if row["theirs"] is None:
            continue
        spread = row["their_std"] or (2 * (row["std"] or 0.0) if row["their_std"] is None else 0.0)
        allowed = max(rounding, spread, tolerances.get(path.stem, 0.0))
        yield Value(
            evidence=path.stem,
            study=str(card["study"]),
            dataset=str(row["dataset"]),
            protocol=str(row["protocol"]),
            method=str(row["method"]),
            metric=str(row["metric"]),
            ours=float(row["ours"]),
            seeds=row["seeds"],
            theirs=float(row["theirs"]),
            allowed=allowed,
        )
