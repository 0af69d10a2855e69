"""Groups of a method's records: by its settings, and by the version of its code."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from trueedge import methods
from trueedge.results.record import Record, request_key


def of_last_code(records: Iterable[Record]) -> tuple[list[Record], list[str]]:
    """Drop the records of earlier versions of a method's code, of the files it read, or of trueedge.

    Of the records of a method with the same given settings on one data set under one protocol, those with the
    code of the last one are kept, whatever their seeds; and of these, those that read no file that a later
    one read with other content. Old records without a hash of the code are all kept.

    Args:
        records: oldest first.

    Returns:
        the remaining records, and a sentence for each method that has others.
    """
    every = list(records)
    last = {_row_key(record): _code(record) for record in every if _code(record)}
    files: dict[str, dict[str, str]] = {}
    for record in every:
        files.setdefault(_row_key(record), {}).update(record.provenance.get("files", {}))
    kept: list[Record] = []
    earlier: dict[str, int] = {}
    for record in every:
        row = _row_key(record)
        read = record.provenance.get("files", {})
        same = all(files[row][name] == digest for name, digest in read.items())
        if not _code(record) or (_code(record) == last[row] and same):
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
    """Return the records of each method with its settings by a unique label, in order.

    Where only settings filled in for the task differ, the label gets a number.
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
    """Return the settings that differ from the method's defaults, or all settings of an unknown method.

    Settings that were filled in for the task do not count.
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
    """Format settings or options as ``" (key=value, …)"``, or nothing."""
    text = ", ".join(f"{key}={value}" for key, value in values.items())
    return f" ({text})" if text else ""


def _code(record: Record) -> tuple[str, str] | None:
    """Return the hash of the method's code and trueedge's version, if the record has them."""
    code = record.provenance.get("code")
    return (str(code), str(record.provenance.get("versions", {}).get("trueedge"))) if code else None


def _row_key(record: Record) -> str:
    """Return the same key for records of one line of a table, apart from settings filled in by the code."""
    request = {name: getattr(record, name) for name in ("dataset", "protocol", "options", "method")}
    return request_key(source=record.provenance.get("source"), given=not_default(record), **request)
