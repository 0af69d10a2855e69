"""Which records of a method belong together: its settings, and the version of its code."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from trueedge import methods
from trueedge.results.record import Record, request_key


def of_last_code(records: Iterable[Record]) -> tuple[list[Record], list[str]]:
    """The records without those of an earlier version of a method's code, or of trueedge.

    Of records of one method, with the same settings given, on one data set under one protocol, those count
    that were computed with the code of the last one, whatever their seeds. Records that do not tell their
    code (old ones) all count.

    Args:
        records: oldest first.

    Returns:
        the records that count, and a sentence for each method that has others.
    """
    every = list(records)
    last = {_row_key(record): _code(record) for record in every if _code(record)}
    kept: list[Record] = []
    earlier: dict[str, int] = {}
    for record in every:
        if not _code(record) or _code(record) == last[_row_key(record)]:
            kept.append(record)
        else:
            label = f"{record.method}{listed(not_default(record))}"
            earlier[label] = earlier.get(label, 0) + 1
    return kept, [
        f"{count} record{'s' if count > 1 else ''} of an earlier version of {label}"
        f" {'are' if count > 1 else 'is'} left out"
        for label, count in earlier.items()
    ]


def labelled(records: Iterable[Record]) -> dict[str, list[Record]]:
    """The records of each method with its settings, by a label that no other has, in order.

    Settings filled in for the task may differ where the given ones do not: such a label gets a number.
    """
    groups: dict[str, list[Record]] = {}
    for record in records:
        key = request_key(method=record.method, settings=record.settings)
        groups.setdefault(key, []).append(record)
    found: dict[str, list[Record]] = {}
    for group in groups.values():
        label = f"{group[0].method}{listed(not_default(group[0]))}"
        number, unused = 1, label
        while unused in found:
            number += 1
            unused = f"{label} #{number}"
        found[unused] = group
    return found


def not_default(record: Record) -> dict[str, Any]:
    """The settings that are not the method's default; all of them where the method is not known here.

    A setting that was left open and filled in for the task is none that anybody set.
    """
    given = record.provenance.get("given")
    if given is not None:
        return {key: value for key, value in record.settings.items() if key in given}
    known = {kind.name: kind for kind in methods.catalogue()}
    if record.method not in known:
        return dict(record.settings)
    defaults = known[record.method]().settings()
    return {key: value for key, value in record.settings.items() if defaults.get(key) != value}


def listed(values: dict[str, Any]) -> str:
    """Format settings or options as ``" (key=value, …)"``; empty where there are none."""
    text = ", ".join(f"{key}={value}" for key, value in values.items())
    return f" ({text})" if text else ""


def _code(record: Record) -> tuple[str, str] | None:
    """The version of the code, where a record tells it: a hash of the method's, and trueedge's number."""
    code = record.provenance.get("code")
    return (str(code), str(record.provenance.get("versions", {}).get("trueedge"))) if code else None


def _row_key(record: Record) -> str:
    """The same for records that stand in one line of a table, but for settings that the code filled in."""
    request = {name: getattr(record, name) for name in ("dataset", "protocol", "options", "method")}
    return request_key(source=record.provenance.get("source"), given=not_default(record), **request)
