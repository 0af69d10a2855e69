"""Records as a table: plain columns, or a pandas DataFrame."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable
from typing import Any

from trueedge.errors import InputError
from trueedge.results.record import Record


def frame(records: Iterable[Record], long: bool = False) -> Any:
    """Return records as a pandas DataFrame; the columns are those of :func:`columns`.

    Args:
        records: the records, as ``te.run`` returns them or ``store.records()`` has them.
        long: whether to have a row for each metric of each part, instead of one for each record.
    """
    table = columns(records, long)
    try:
        pandas: Any = importlib.import_module("pandas")
    except ImportError:
        raise InputError(
            "a frame needs pandas: pip install pandas, or use trueedge.results.frames.columns(records)"
        ) from None
    return pandas.DataFrame(table)


def columns(records: Iterable[Record], long: bool = False) -> dict[str, list[Any]]:
    """Return records as columns, by name; all have the same length.

    The first columns are ``dataset``, ``protocol``, ``method``, ``seed``, ``task_seed``, ``options``,
    ``settings``, ``kind`` and ``trial``. Options and settings are JSON, so that rows can be grouped by them.
    A wide table goes on with ``headline``, ``value``, a column for each metric of the test part, seconds,
    ``peak_memory`` in bytes, the number of ``warnings``, ``created`` and ``key``. A long one goes on with
    ``part``, ``metric`` and ``value``. Metrics are fractions of 1. The trials of a search have no test part:
    their metrics are None, and their ``value`` is that of the validation part.

    Args:
        records: the records.
        long: whether to have a row for each metric of each part, instead of one for each record.
    """
    if not isinstance(records, Iterable):
        raise InputError(f"a frame is made from a list of records, got {type(records).__name__}")
    given = list(records)
    for one in given:
        if not isinstance(one, Record):
            raise InputError(f"a frame is made from records, got {type(one).__name__}")
    return _long(given) if long else _wide(given)


def _wide(records: list[Record]) -> dict[str, list[Any]]:
    table = _start(records)
    table |= {"headline": [one.headline for one in records], "value": [one.value for one in records]}
    tests = [one.metrics.get("test", {}) for one in records]
    # The headline metrics first, then the others in the order of the records.
    names = dict.fromkeys([*(one.headline for one in records), *(name for test in tests for name in test)])
    table |= {name: [test.get(name) for test in tests] for name in names}
    steps = dict.fromkeys(["task", "fit", "score", *(name for one in records for name in one.seconds)])
    table |= {f"seconds_{name}": [one.seconds.get(name) for one in records] for name in steps}
    return table | {
        "peak_memory": [one.peak_memory for one in records],
        "warnings": [len(one.warnings) for one in records],
        "created": [one.created for one in records],
        "key": [one.key for one in records],
    }


def _long(records: list[Record]) -> dict[str, list[Any]]:
    rows = [
        (one, part, name, value)
        for one in records
        for part, metrics in one.metrics.items()
        for name, value in metrics.items()
    ]
    return {
        **_start([row[0] for row in rows]),
        "part": [row[1] for row in rows],
        "metric": [row[2] for row in rows],
        "value": [row[3] for row in rows],
        "key": [row[0].key for row in rows],
    }


def _start(records: list[Record]) -> dict[str, list[Any]]:
    plain = ("dataset", "protocol", "method", "seed", "task_seed")
    return {
        **{name: [getattr(one, name) for one in records] for name in plain},
        "options": [_text(one.options) for one in records],
        "settings": [_text(one.settings) for one in records],
        "kind": [one.kind for one in records],
        "trial": [one.is_trial for one in records],
    }


def _text(values: Any) -> str:
    return json.dumps(dict(values), sort_keys=True, default=str)
