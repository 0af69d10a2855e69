"""Means and standard deviations over seeds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from trueedge.results.record import Record


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
    """

    dataset: str
    protocol: str
    method: str
    headline: str
    seeds: int
    means: dict[str, float]
    stds: dict[str, float]


def summarise(records: Iterable[Record]) -> list[Row]:
    """One row for each data set, protocol and method, in the order they first occur."""
    groups: dict[tuple[str, str, str], list[Record]] = {}
    for record in records:
        groups.setdefault((record.dataset, record.protocol, record.method), []).append(record)
    return [_row(group) for group in groups.values()]


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
    return Row(first.dataset, first.protocol, first.method, first.headline, len(records), means, stds)
