"""A record: one finished cell, with everything needed to compare and repeat it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.html import shortened, table_html
from trueedge.results.packed_units import inflate, unpack, unpack_ends, unpack_redraws

Array = TypeVar("Array")

# The format of records that this version writes. Records of format 3 are sealed when they are written. Those
# of format 4 also hold the nodes that test units share, and metrics with other draws of shared negatives.
FORMAT = 4
# The kinds of tasks behind protocols of version 0.1; all others were of links.
OLD_KINDS = {"recommendation": "recommend", "communities": "communities"}

_KINDS: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("key", "dataset", "protocol", "method", "headline", "created", "kind"), str),
    **dict.fromkeys(("options", "settings", "metrics", "seconds", "provenance", "units"), Mapping),
    **dict.fromkeys(("seed", "task_seed", "format"), int),
    "peak_memory": (int, float),
    "warnings": (list, tuple),
}


@dataclass(frozen=True)
class Record:
    """One data set under one protocol by one method with one seed.

    Attributes:
        key: a hash of the request: the same request has the same key.
        dataset: the name of the data set or graph.
        protocol: the protocol's name.
        options: the protocol's options that were set.
        method: the method's name.
        settings: the method's settings, all of them.
        seed: the seed of training, and of split and negatives unless ``task_seed`` differs.
        task_seed: the seed of split and negatives.
        headline: the metric that tables show first.
        metrics: the metrics of each part, as fractions of 1.
        seconds: time of ``task`` (split and negatives), ``fit`` and ``score``.
        peak_memory: the largest resident memory while fitting and scoring, in bytes.
        warnings: warnings about the scores.
        provenance: hashes of graph, positives and negatives; versions; machine.
        created: when it was finished, UTC.
        kind: the kind of task.
        units: the values of the test part for each unit, packed; see :meth:`unit_values`. A trial has those
            of the validation part.
        format: the format of the record.
        cached: whether it was found in the store instead of computed now; it is not stored.
    """

    key: str
    dataset: str
    protocol: str
    options: Mapping[str, Any]
    method: str
    settings: Mapping[str, Any]
    seed: int
    task_seed: int
    headline: str
    metrics: Mapping[str, Mapping[str, float]]
    seconds: Mapping[str, float]
    peak_memory: int
    warnings: tuple[str, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)
    created: str = ""
    kind: str = "link"
    units: Mapping[str, Any] = field(default_factory=dict)
    format: int = FORMAT
    cached: bool = field(default=False, compare=False)

    @property
    def test(self) -> Mapping[str, float]:
        """Return the metrics of the test part."""
        if self.is_trial:
            raise InputError(
                f"the record of {self.method} on {self.dataset} is a trial of a search,"
                " which was not evaluated on the test part"
            )
        return self.metrics["test"]

    @property
    def unit(self) -> str:
        """Return the noun for a unit of the test part: ``positive``, ``node``; empty without unit values."""
        return str(self.units.get("unit", ""))

    def unit_values(self, metric: str) -> NDArray[np.float64] | None:
        """Return a metric's values for the units, float64 (n,) in the task's order, or None."""
        if "packed_ranks" in self.units:
            return self._read(values_of_ranks, self.units["packed_ranks"], metric, self.test)
        return self._read(unpack, self.units, metric)

    def _read(self, reader: Callable[..., Array], *arguments: Any) -> Array:
        """Return what a reader finds in the units, or raise an InputError if these are damaged."""
        try:
            return reader(*arguments)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            where = f"the values for each {self.unit} in the record of {self.method} on {self.dataset}"
            raise InputError(f"{where} are damaged: run it again") from error

    @property
    def ends(self) -> NDArray[np.int64] | None:
        """Return the numbers of the nodes that test units share, int64 (n, 2), 0 for others, or None."""
        return self._read(unpack_ends, self.units)

    def redraws(self, metric: str) -> NDArray[np.float64] | None:
        """Return a metric with other draws of the negatives that test units share, float64 (R,).

        It is empty without other draws, and None if nothing says that negatives are shared.
        """
        return self._read(unpack_redraws, self.units, metric)

    @property
    def ranks(self) -> NDArray[np.float64] | None:
        """Return the mean rank of each test positive among its negatives, float64 (P,), or None."""
        return self.unit_values("mr")

    @property
    def is_trial(self) -> bool:
        """Return whether it is a trial of a search, which is not evaluated on the test part."""
        return "test" not in self.metrics

    @property
    def value(self) -> float:
        """Return the headline metric on the test part; for a trial on the validation part."""
        return self.metrics["valid" if self.is_trial else "test"][self.headline]

    def __repr__(self) -> str:
        names = [shortened(one, 28) for one in (self.method, self.dataset, self.protocol)]
        return f"Record({names[0]} on {names[1]}, {names[2]}, seed {self.seed}: {self._shown()})"

    def _shown(self) -> str:
        part = "valid" if self.is_trial else "test"
        value = self.metrics.get(part, {}).get(self.headline)
        return f"{part} {self.headline} {value:.4f}" if isinstance(value, (int, float)) else "no result"

    def _repr_html_(self) -> str:
        parts = list(self.metrics)
        names = dict.fromkeys(name for part in parts for name in self.metrics[part])
        rows = [[name, *(_cell(self.metrics[part].get(name)) for part in parts)] for name in names]
        title = f"{self.method} on {self.dataset} · {self.protocol}, seed {self.seed}"
        return table_html(title, rows, ["metric", *parts])

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dictionary for JSON."""
        values = {name: getattr(self, name) for name in _WRITTEN}
        # Through JSON: a copy in which numpy's numbers and paths are plain values.
        plain: dict[str, Any] = json.loads(json.dumps(values, default=_written_value))
        return plain

    def sealed(self) -> dict[str, Any]:
        """Return :meth:`to_dict` with its ``seal``, a hash of all the rest."""
        plain = self.to_dict()
        return {**plain, "seal": seal_of(plain)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Record:
        """Check and return a record that :meth:`to_dict` or :meth:`sealed` wrote.

        A seal is compared with the content. Of a record that a newer version wrote, the fields that this
        version knows are read.
        """
        found = upgrade(values)
        if newer(found):
            found = {name: value for name, value in found.items() if name in _FIELDS}
        elif "seal" in found and found.pop("seal") != seal_of(values):
            raise InputError("its content does not match its seal")
        _check(found)
        return cls(**{**found, "warnings": tuple(found.get("warnings", ()))})


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _check(values: Mapping[str, Any]) -> None:
    """Raise an InputError that names the field, for values that no record can have."""
    for name, kinds in _KINDS.items():
        value = values.get(name)
        if name in values and (not isinstance(value, kinds) or isinstance(value, bool)):
            raise InputError(f"{name} is {type(value).__name__}")
    strange = sorted(set(values) - _FIELDS)
    if strange:
        raise InputError(f"it has an unknown field {strange[0]!r}")
    kept = values.get("provenance", {}).get("kept")
    if kept is not None and not (isinstance(kept, Mapping) and _HASH.fullmatch(str(kept.get("scores")))):
        raise InputError("it does not say which scores were kept")
    metrics = values.get("metrics", {})
    evaluated = metrics.get("test", metrics.get("valid"))
    for part in (*metrics.values(), values.get("seconds", {})):
        if not isinstance(part, Mapping):
            raise InputError("a part has no metrics")
        for name, number in part.items():
            # Compared, not converted: the file may hold a whole number of any length.
            if isinstance(number, bool) or not isinstance(number, (int, float)) or not abs(number) < 2**63:
                raise InputError(f"{name} is not a number")
    missing = [name for name in _REQUIRED if name not in values]
    if missing:
        raise InputError(f"{missing[0]} is missing")
    if evaluated is None or values.get("headline") not in evaluated:
        raise InputError(f"it does not have its headline {values.get('headline')!r}")


_HASH = re.compile("[0-9a-f]{64}")
_WRITTEN = tuple(one.name for one in fields(Record) if one.name != "cached")
_FIELDS = set(_WRITTEN)
_REQUIRED = [one.name for one in fields(Record) if one.default is MISSING and one.default_factory is MISSING]


def plain_value(value: Any) -> Any:
    """Return what JSON writes for values of other types: numpy scalars, paths."""
    return value.item() if hasattr(value, "item") else str(value)


def _written_value(value: Any) -> Any:
    is_card = is_dataclass(value) and not isinstance(value, type)
    return asdict(value) if is_card else plain_value(value)


def request_key(**request: Any) -> str:
    """Return a hash of a request; the order of its keys does not matter."""
    text = json.dumps(request, sort_keys=True, default=plain_value)
    return hashlib.sha256(text.encode()).hexdigest()


def seal_of(values: Mapping[str, Any]) -> str:
    """Return a SHA-256 of a record's dictionary, without its seal."""
    said = {name: value for name, value in values.items() if name != "seal"}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def newer(values: Mapping[str, Any]) -> bool:
    """Return whether a record's dictionary has a format that only a newer version knows."""
    return type(values.get("format")) is int and values["format"] > FORMAT


def unknown_fields(values: Mapping[str, Any]) -> list[str]:
    """Return the fields of a record's dictionary that this version does not know."""
    return sorted(set(values) - _FIELDS - {"seal", "packed_ranks"})


def upgrade(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record's dictionary in the current format.

    Version 0.1 kept the mean rank of each test positive as ``packed_ranks``: see :func:`values_of_ranks`.
    """
    found = dict(values)
    if "format" in found:
        return found
    ranks = found.pop("packed_ranks", "")
    units = {"unit": "positive", "packed_ranks": ranks} if ranks else {}
    kind = OLD_KINDS.get(str(found.get("protocol")), "link")
    return {**found, "format": 1, "kind": kind, "units": units}


def values_of_ranks(packed: str, metric: str, recorded: Mapping[str, float]) -> NDArray[np.float64] | None:
    """Return a metric's value for each positive of a record of version 0.1, float64 (P,), or None.

    Args:
        packed: the doubled mean ranks as compressed int64; a ValueError if they cannot be read.
        metric: the metric's name.
        recorded: the metrics of the test part.
    """
    ranks = np.frombuffer(inflate(packed), dtype="<i8") / 2.0
    if not len(ranks) or ranks.min() < 1:
        raise ValueError("there is no rank, or one below 1")
    hits = re.fullmatch(r"(?:rank-)?hits@(\d+)", metric)
    if hits:
        return (ranks <= int(hits[1])).astype(np.float64)
    if metric == "auc" and "auc" in recorded:
        return _wins(ranks, recorded["auc"])
    return {"mrr": 1.0 / ranks, "mr": ranks}.get(metric)


def _wins(ranks: NDArray[np.float64], auc: float) -> NDArray[np.float64]:
    """Return the share of its negatives that each positive is above: lost / negatives = 1 - AUC."""
    lost = float((ranks - 1.0).mean())
    if lost == 0 or auc >= 1:
        # No comparison is lost, or the recorded AUC disagrees, which the caller notices.
        return np.ones(len(ranks)) if lost == 0 else 1.0 - ranks
    return 1.0 - (ranks - 1.0) / max(1, round(lost / (1.0 - auc)))
