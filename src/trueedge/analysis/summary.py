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
        headline: the metric that tables show first.
        seeds: the number of its records.
        means: the mean of each test metric.
        stds: the standard deviation of each test metric (n − 1); 0 for one seed.
        settings: the method's non-default settings.
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
        """Return the method with its non-default settings: ``katz (beta=0.01)``."""
        return self.method + listed(self.settings)

    @property
    def where(self) -> str:
        """Return the data set and the protocol with the options that were set: ``cora · heart (k=100)``."""
        return f"{self.dataset} · {self.protocol}{listed(self.options)}"


def summarise(records: Iterable[Record]) -> list[Row]:
    """Return a row of records for each data set, protocol and method with settings, without trials."""
    tested = [record for record in records if not record.is_trial]
    names = ("kind", "dataset", "protocol", "options", "source", "method", "settings")
    return [_row(group) for group in alike(tested, *names)]


def alike(records: Iterable[Record], *names: str) -> list[list[Record]]:
    """Return groups of records with the same attributes, or ``source`` in their provenance."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        source = record.provenance.get("source")
        values = {name: source if name == "source" else getattr(record, name) for name in names}
        # As a key: records from the store have lists where new ones have tuples.
        groups.setdefault(request_key(**values), []).append(record)
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
    about = (first.dataset, first.protocol, first.method, first.headline, len(records))
    return Row(*about, means, stds, not_default(first), dict(first.options))
