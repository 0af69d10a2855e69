"""The weight and the time of each edge, as numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.moments import seconds
from trueedge.files.text import shown
from trueedge.graph.edge_columns import Layout


def kept_values(
    layout: Layout, columns: Sequence[Sequence[Any] | NDArray[Any]], place: Callable[[int], str]
) -> tuple[dict[str, NDArray[Any]], tuple[str, ...]]:
    """Return the weight and the time of each edge, where there are any, and notes.

    Args:
        layout: which of them there are. One that the user has named must be right; another one is left out
            if it is not.
        columns: their values, in the order of the layout.
        place: words for where a row is.
    """
    found: dict[str, NDArray[Any]] = {}
    notes: tuple[str, ...] = ()
    for role, values in zip(layout.extras, columns, strict=True):
        try:
            found[role] = edge_values(values, role, place)
        except InputError as error:
            if role not in layout.found:
                raise
            notes += (f"no {role} is kept: {error}",)
        else:
            if role in layout.found:
                notes += (f"the column {layout.found[role]} is kept as the {role} of each edge",)
    return found, notes


def edge_values(
    values: Sequence[Any] | NDArray[Any], role: str, place: Callable[[int], str]
) -> NDArray[np.float64]:
    """Return the values of a column as float64 (m,), dates as seconds since 1970 (UTC).

    Args:
        values: numbers as such or as texts, and for ``time`` also dates (``2020-01-31 12:00:00``).
        role: ``weight`` or ``time``.
        place: words for where a row is.
    """
    array = values if isinstance(values, np.ndarray) else _as_array(values)
    if array.dtype.kind == "M":
        missing = np.isnat(array)
        numbers = array.astype("datetime64[us]").astype(np.float64) / 1e6
        numbers[missing] = np.nan
    elif array.dtype.kind in "iuf":
        numbers = array.astype(np.float64)
    else:
        # Few dates are different ones, and reading them takes long.
        known: dict[str, float] = {}
        numbers = np.empty(len(array))
        for row, value in enumerate(array.tolist()):
            if str(value) not in known:
                known[str(value)] = _number(value, role, row, place)
            numbers[row] = known[str(value)]
    bad = ~np.isfinite(numbers)
    if bad.any():
        row = int(bad.argmax())
        raise InputError(f"{place(row)}: the {role} is {shown(str(values[row]))}, not a number")
    return numbers


def _as_array(values: Sequence[Any]) -> NDArray[Any]:
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        return np.array(values, dtype=object)


def _number(value: Any, role: str, row: int, place: Callable[[int], str]) -> float:
    found = seconds(value) if role == "time" else _as_float(value)
    if found is None:
        written = " or a date like 2020-01-31" if role == "time" else ""
        raise InputError(f"{place(row)}: the {role} is {shown(str(value))}, not a number{written}")
    return found


def _as_float(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
