"""KG-Mixup's tables: all triples, groups of tail-relation degrees, its parts, and calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from trueedge import methods, tasks
from trueedge.analysis.comparison import unit_values
from trueedge.methods import Method
from trueedge.metrics.ranked import degree_groups
from trueedge.results import Record
from trueedge.studies.kgmixup.budgets import PARTS, settings
from trueedge.studies.printed_tables import PrintedTable
from trueedge.studies.published_values import PublishedValue, published
from trueedge.studies.study import Finding, Plan, mean_and_std, register_listed

TABLES = ("kgmixup/table-4.1", "kgmixup/table-4.2", "kgmixup/table-4.4", "kgmixup/table-4.5")
GROUPS = ("zero", "low", "medium", "high")
SUFFIXES = {"over-sampling": "oversampling", "re-weighting": "reweighting"}


def _run(plan: Plan, *, table: str) -> Finding:
    values = [_ours(value) for value in published("kgmixup") if value.table == table]
    return PrintedTable(table, values, lambda _: "filtered", _method, 1, measure=_measure).run(plan)


def _ours(value: PublishedValue) -> PublishedValue:
    """Return a value with our names; the group of degrees joins the metric."""
    model, _, addition = value.method.partition("+")
    if addition in PARTS:
        method = f"{model}+kgmixup/{addition}"
    else:
        method = f"{model}+{SUFFIXES.get(addition, addition)}" if addition else model
    group = value.protocol.partition("degree-bin:")[2]
    metric = f"{value.metric} {group}" if group else value.metric
    return replace(value, method=method, metric=metric, protocol="filtered")


def published_values() -> dict[tuple[str, str, str], float]:
    """Return the published values by data set, method and metric, in our names."""
    values = [_ours(value) for value in published("kgmixup") if value.table in TABLES]
    return {(v.dataset, v.method, v.metric): v.mean for v in values if v.mean is not None}


def _method(value: PublishedValue) -> Method:
    return methods.create(value.method.partition("/")[0], settings(value.dataset, value.method))


def _measure(value: PublishedValue, records: Sequence[Record]) -> tuple[float, float] | None:
    metric, _, group = value.metric.partition(" ")
    if metric == "ece":
        return mean_and_std(records, f"ece-{group}" if group else "ece")
    if not group:
        found = mean_and_std(records, metric)
        return None if found is None else (100 * found[0], 100 * found[1])
    inside = in_group(value.dataset, group)
    if not inside.any():
        return None
    means = [100 * float(unit_values(record, metric)[inside].mean()) for record in records]
    return float(np.mean(means)), float(np.std(means, ddof=1)) if len(means) > 1 else 0.0


def in_group(dataset: str, group: str) -> NDArray[np.bool_]:
    """Return which test queries have an answer whose tail-relation degree is in a group."""
    inside: NDArray[np.bool_] = _groups(dataset) == GROUPS.index(group)
    return inside


@cache
def _groups(dataset: str) -> NDArray[np.int64]:
    """Return the group of the tail-relation degree of each test query's answer."""
    made = tasks.task(dataset, "filtered")
    assert isinstance(made, tasks.TripleTask)
    return degree_groups(made.degrees("test"))


for _table in TABLES:
    register_listed(_table, partial(_run, table=_table))
