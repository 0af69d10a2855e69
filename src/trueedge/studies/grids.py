"""The grids of settings that papers searched, read from a table."""

from __future__ import annotations

import csv
from collections.abc import Collection
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Any

from trueedge.methods import Method

Grid = dict[str, tuple[Any, ...]]


def published_grid(paper: str, dataset: str, method: Method, fixed: Collection[str] = ()) -> Grid:
    """Return the values that a paper searched for each setting of a method; empty if it names none.

    Settings that the paper did not search, but that :func:`trueedge.search.tune` would, keep their value.
    Later rows of ``grids.csv`` override earlier ones; ``*`` in a row matches any text.

    Args:
        paper: the paper's name, as in the table.
        dataset: the data set's name.
        method: the method.
        fixed: settings that are not searched.
    """
    named: Grid = {}
    for row in _rows():
        patterns = ((row["paper"], paper), (row["dataset"], dataset), (row["method"], method.name))
        if all(fnmatchcase(name, pattern) for pattern, name in patterns):
            named[row["setting"]] = tuple(map(_number, row["values"].split()))
    space = method.space()
    searched = {name: values for name, values in named.items() if name in space and name not in fixed}
    if not searched:
        return {}
    kept = {
        name: (getattr(method, name),)
        for name, limits in space.items()
        if limits.search and name not in searched and name not in fixed
    }
    return {**kept, **searched}


@cache
def _rows() -> tuple[dict[str, str], ...]:
    text = (files("trueedge.studies") / "grids.csv").read_text("utf-8")
    return tuple(csv.DictReader(text.splitlines()))


def _number(text: str) -> int | float:
    return int(text) if text.isdigit() else float(text)
