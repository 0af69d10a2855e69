"""HeaRT's tables: the released split, both settings."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial

from trueedge import methods
from trueedge.methods import Method
from trueedge.studies.printed_tables import PrintedTable, on_released_files, selected_by
from trueedge.studies.published_values import PublishedValue, published
from trueedge.studies.study import register_listed

# The paper's heuristics on OGB count walks up to this length.
OGB_KATZ_LENGTH = 2
# The metric that stops a training, in both settings. Each column is selected by its own metric.
STOP = {"ogbl-collab": "hits@50", "ogbl-ddi": "hits@20", "ogbl-ppa": "hits@100"}


def heart_method(value: PublishedValue) -> Method:
    """Return the method behind a value of HeaRT's tables."""
    if value.method == "katz" and value.dataset.startswith("ogbl"):
        return methods.create(value.method, {"max_length": OGB_KATZ_LENGTH})
    if "stop" in methods.get(value.method.partition("/")[0]).space():
        return selected_by(value, stop=STOP.get(value.dataset, "mrr"))
    return selected_by(value)


@cache
def _columns() -> dict[tuple[str, str, str], list[str]]:
    """Return the metrics that any table prints, by data set, setting and method."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for value in published("heart"):
        if value.mean is not None and value.note != "reported":
            found.setdefault((value.dataset, value.protocol, value.method), []).append(value.metric)
    return found


def _further(value: PublishedValue) -> list[str]:
    """Return the metrics of all tables for the method of a value: one training gives them all."""
    return _columns().get((value.dataset, value.protocol, value.method.partition("/")[0]), [])


def _table(name: str) -> PrintedTable:
    values = [value for value in published("heart") if value.table == name]
    return PrintedTable(
        name,
        [_reported(value) for value in values],
        on_released_files,
        heart_method,
        grid="heart",
        further=_further,
    )


def _reported(value: PublishedValue) -> PublishedValue:
    """Return a value that Tables 3 and 9 quote from other papers under a name of its own."""
    return replace(value, method=f"{value.method}/reported") if value.note == "reported" else value


for _number in (1, 2, 3, 4, 5, 9, 10, 11, 12, 13, 15, 16):
    _name = f"heart/table-{_number}"
    register_listed(_name, table=partial(_table, _name))
