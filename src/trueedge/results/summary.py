"""Means and standard deviations over seeds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from trueedge import methods
from trueedge.results.record import Record, request_key


@dataclass(frozen=True)
class Row:
    """One method on one data set under one protocol, over its seeds.

    Attributes:
        dataset: the data set's name.
        protocol: the protocol's name.
        method: the method's name.
        headline: the metric the protocol is known by.
        seeds: how many records it stands on.
        means: each test metric's mean.
        stds: each test metric's standard deviation (n − 1); 0 for one seed.
        settings: the method's settings that are not the default.
        options: the protocol's options that were set.
    """

    dataset: str
    protocol: str
    method: str
    headline: str
    seeds: int
    means: dict[str, float]
    stds: dict[str, float]
    settings: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The method, with the settings that are not the default: ``katz (beta=0.01)``."""
        return self.method + _listed(self.settings)

    @property
    def where(self) -> str:
        """The data set and the protocol, with the options that were set: ``cora · heart (k=100)``."""
        return f"{self.dataset} · {self.protocol}{_listed(self.options)}"


def summarise(records: Iterable[Record]) -> list[Row]:
    """One row for each data set, protocol and method with their options and settings, in order.

    Trials of a search have no test part, and no row.
    """
    groups: dict[str, list[Record]] = {}
    for record in records:
        if record.is_trial:
            continue
        names = ("dataset", "protocol", "options", "method", "settings")
        request = {name: getattr(record, name) for name in names}
        # Two files may have the same name.
        request["source"] = record.provenance.get("source")
        groups.setdefault(request_key(**request), []).append(record)
    return [_row(group) for group in groups.values()]


def of_last_code(records: Iterable[Record]) -> tuple[list[Record], list[str]]:
    """The records without those of an earlier version of a method's code, or of trueedge.

    Of records of one method, with the same settings given, on one data set under one protocol, those count
    that were computed with the code of the last one, whatever their seeds. Records that do not tell their
    code (old ones) all count.

    Args:
        records: oldest first.

    Returns:
        the records that count, and a sentence for each method that has others.
    """
    listed = list(records)
    last = {_row_key(record): _code(record) for record in listed if _code(record)}
    kept: list[Record] = []
    earlier: dict[str, int] = {}
    for record in listed:
        if not _code(record) or _code(record) == last[_row_key(record)]:
            kept.append(record)
        else:
            label = f"{record.method}{_listed(_not_default(record))}"
            earlier[label] = earlier.get(label, 0) + 1
    return kept, [
        f"{count} record{'s' if count > 1 else ''} of an earlier version of {label}"
        f" {'are' if count > 1 else 'is'} left out"
        for label, count in earlier.items()
    ]


def labelled(records: Iterable[Record]) -> dict[str, list[Record]]:
    """The records of each method with its settings, by a label that no other has, in order.

    Settings filled in for the task may differ where the given ones do not: such a label gets a number.
    """
    groups: dict[str, list[Record]] = {}
    for record in records:
        key = request_key(method=record.method, settings=record.settings)
        groups.setdefault(key, []).append(record)
    found: dict[str, list[Record]] = {}
    for group in groups.values():
        label = f"{group[0].method}{_listed(_not_default(group[0]))}"
        number, unused = 1, label
        while unused in found:
            number += 1
            unused = f"{label} #{number}"
        found[unused] = group
    return found


def _code(record: Record) -> tuple[str, str] | None:
    """The version of the code, where a record tells it: a hash of the method's, and trueedge's number."""
    code = record.provenance.get("code")
    return (str(code), str(record.provenance.get("versions", {}).get("trueedge"))) if code else None


def _row_key(record: Record) -> str:
    """The same for records that stand in one line of a table, but for settings that the code filled in."""
    request = {name: getattr(record, name) for name in ("dataset", "protocol", "options", "method")}
    return request_key(source=record.provenance.get("source"), given=_not_default(record), **request)


def _row(records: list[Record]) -> Row:
    first = records[0]
    names = [name for name in first.test if all(name in record.test for record in records)]
    means, stds = {}, {}
    for name in names:
        values = [record.test[name] for record in records]
        mean = math.fsum(values) / len(values)
        spread = math.fsum((value - mean) ** 2 for value in values)
        means[name] = mean
        stds[name] = math.sqrt(spread / (len(values) - 1)) if len(values) > 1 else 0.0
    return Row(
        first.dataset,
        first.protocol,
        first.method,
        first.headline,
        len(records),
        means,
        stds,
        _not_default(first),
        dict(first.options),
    )


def _not_default(record: Record) -> dict[str, Any]:
    """The settings that are not the method's default; all of them where the method is not known here.

    A setting that was left open and filled in for the task is none that anybody set.
    """
    given = record.provenance.get("given")
    if given is not None:
        return {key: value for key, value in record.settings.items() if key in given}
    known = {kind.name: kind for kind in methods.catalogue()}
    if record.method not in known:
        return dict(record.settings)
    defaults = known[record.method]().settings()
    return {key: value for key, value in record.settings.items() if defaults.get(key) != value}


def _listed(values: dict[str, Any]) -> str:
    text = ", ".join(f"{key}={value}" for key, value in values.items())
    return f" ({text})" if text else ""
