"""TAGNet's tables: seen entities, unseen entities, degree messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from trueedge import methods
from trueedge.methods import Method
from trueedge.results import Record
from trueedge.studies.printed_tables import PrintedTable
from trueedge.studies.published_values import PublishedValue, published
from trueedge.studies.study import Finding, Plan, mean_and_std, register_listed

# The number of seeds of each table.
TABLES = {"tagnet/table-5.1": 1, "tagnet/table-5.2": 5, "tagnet/table-5.4": 5}
NAMES = {
    "r-gcn": "rgcn",
    "nbfnet": "nbfnet-kg",
    "tagnet-fixed": "tagnet",
    "tagnet-specific": "tagnet/specific",
}
SETTINGS: dict[str, dict[str, Any]] = {
    "specific": {"specific": True},
    "degree-messages": {"specific": True, "degree_messages": True},
    "no-degree-messages": {"specific": True, "degree_messages": False},
}


def _run(plan: Plan, *, table: str, seeds: int) -> Finding:
    values = [_ours(value) for value in published("tagnet") if value.table == table]
    return PrintedTable(table, values, _protocol, _method, seeds, measure=_measure).run(plan)


def _ours(value: PublishedValue) -> PublishedValue:
    dataset = value.dataset.replace("fb15k-237-v", "fb237-v")
    return replace(value, dataset=dataset, method=NAMES.get(value.method, value.method))


def _protocol(value: PublishedValue) -> str:
    return "inductive" if "-v" in value.dataset else "filtered"


def _method(value: PublishedValue) -> Method:
    name, _, part = value.method.partition("/")
    return methods.create(name, SETTINGS.get(part, {}))


def _measure(value: PublishedValue, records: Sequence[Record]) -> tuple[float, float] | None:
    return mean_and_std(records, value.metric)


for _table, _seeds in TABLES.items():
    register_listed(_table, partial(_run, table=_table, seeds=_seeds))
