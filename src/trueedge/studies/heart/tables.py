"""HeaRT's tables: the released split, both settings."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from trueedge import methods
from trueedge.methods import Method
from trueedge.studies.printed_tables import PrintedTable, on_released_files, selected_by
from trueedge.studies.published_values import PublishedValue, published
from trueedge.studies.study import register_listed

# The paper's heuristics on OGB count walks up to this length.
OGB_KATZ_LENGTH = 2


def _method(value: PublishedValue) -> Method:
    """Return the method behind a value."""
    if value.method == "katz" and value.dataset.startswith("ogbl"):
        return methods.create(value.method, {"max_length": OGB_KATZ_LENGTH})
    return selected_by(value)


def _table(name: str) -> PrintedTable:
    values = [value for value in published("heart") if value.table == name]
    return PrintedTable(
        name, [_reported(value) for value in values], on_released_files, _method, grid="heart"
    )


def _reported(value: PublishedValue) -> PublishedValue:
    """Return a value that Tables 3 and 9 quote from other papers under a name of its own."""
    return replace(value, method=f"{value.method}/reported") if value.note == "reported" else value


for _number in (1, 2, 3, 4, 5, 9, 10, 11, 12, 13, 15, 16):
    _name = f"heart/table-{_number}"
    register_listed(_name, table=partial(_table, _name))
