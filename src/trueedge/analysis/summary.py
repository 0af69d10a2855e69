"""Means and standard deviations over seeds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from trueedge.results.record import Record, request_key
from trueedge.results.versions import listed, not_default


@dataclass(frozen=True)
class Row:
    """One method on one data set under one protocol, over its seeds.

    Attributes:
        dataset: the data set's name.
        protocol: the protocol's name.
        method: the method's name.
        headline: the metric the protocol is known by.
        seeds: how many records it has.
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
        return self.method + listed(self.settings)

    @property
    def where(self) -> str:
        """The data set and the protocol, with the options that were set: ``cora · heart (k=100)``."""
        return f"{self.dataset} · {self.protocol}{listed(self.options)}"


def summarise(records: Iterable[Record]) -> list[Row]:
    """Return a row for each data set, protocol and method with their options and settings, in order.

    Trials of a search have no test part, and no row.
    """
    judged = [record for record in records if not record.is_trial]
    names = ("kind", "dataset", "protocol", "options", "source", "method", "settings")
    return [_row(group) for group in alike(judged, *names)]


def alike(records: Iterable[Record], *names: str) -> list[list[Record]]:
    """Return the records in groups that agree in some attributes, or in their ``source``."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        # As a key, because what was read from the store has lists where a fresh record has tuples.
        groups.setdefault(request_key(**{name: _attribute(record, name) for name in names}), []).append(
            record
        )
    return list(groups.values())


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
        not_default(first),
        dict(first.options),
    )


def _attribute(record: Record, name: str) -> Any:
    return record.provenance.get("source") if name == "source" else getattr(record, name)
