"""Rows of the store: a record is sealed when it is written, and every row is checked when it is read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from trueedge.errors import InputError, with_article
from trueedge.metrics.units import plural
from trueedge.results.packed_units import is_mean, means
from trueedge.results.record import Record, newer, unknown_fields, values_of_ranks
from trueedge.version import VERSION

# Columns that repeat a part of the record; the last column, ``record``, holds all of it as JSON.
COLUMNS = ("key", "dataset", "protocol", "method", "seed", "headline", "value", "created")
# The first format whose records are sealed.
SEALED = 3
# More rows than these are counted, not listed.
MOST_NAMED = 5


def row_of(record: Record) -> tuple[object, ...]:
    """Return a record's columns and its sealed JSON; a record that contradicts itself is refused."""
    check_units(record)
    return (*(getattr(record, name) for name in COLUMNS), json.dumps(record.sealed()))


def read_rows(rows: Iterable[Sequence[Any]], path: Path) -> tuple[list[Record], list[str]]:
    """Return the records of rows (id, columns, JSON), and sentences on those that are left out or special.

    A row that is damaged, or that was changed after it was written, is left out. Of a record of a newer
    version, what this version knows is read.
    """
    records: list[Record] = []
    notes: list[str] = []
    later: Counter[tuple[str, int]] = Counter()
    unknown: set[str] = set()
    unsealed: Counter[str] = Counter()
    for number, *columns, text in rows:
        plain: Any = None
        try:
            plain = json.loads(text)
            if not isinstance(plain, dict):
                raise InputError(f"it is {with_article(type(plain).__name__)}")
            record = Record.from_dict(plain)
            if not newer(plain):
                _check_row(record, plain, columns)
        except (TypeError, ValueError, AttributeError, KeyError, RecursionError) as error:
            notes.append(f"{path}: {_left_out(number, columns, text, plain, error)}")
            continue
        if newer(plain):
            later[_version(plain), plain["format"]] += 1
            unknown |= {*unknown_fields(plain)}
        elif "seal" not in plain:
            unsealed[_version(plain)] += 1
        records.append(record)
    for (version, number), count in later.items():
        ignored = f"; ignored: {', '.join(sorted(unknown))}" if unknown else ""
        notes.append(
            f"{path}: {_records(count)} written by trueedge {version} (format {number}), which is newer than"
            f" {VERSION}: only what {VERSION} knows is read{ignored}"
        )
    for version, count in unsealed.items():
        notes.append(
            f"{path}: {_records(count)} of trueedge {version} {'has' if count == 1 else 'have'} no seal, so"
            " later changes to them cannot be noticed"
        )
    return records, notes


def deleted_rows(numbers: Sequence[int]) -> str:
    """Return a sentence on the rows that are missing among rows numbered from 1, or nothing."""
    gone = sorted(set(range(1, max(numbers, default=0) + 1)) - set(numbers))
    if not gone:
        return ""
    more = f" and {len(gone) - MOST_NAMED} more" if len(gone) > MOST_NAMED else ""
    named = ", ".join(map(str, gone[:MOST_NAMED]))
    if len(gone) == 1:
        return f"row {named} is missing: it was deleted after it was written"
    return f"rows {named}{more} are missing: they were deleted after they were written"


def check_units(record: Record) -> None:
    """Raise an InputError if a metric of the test part is not the mean of its values for each unit."""
    if record.is_trial or not record.units:
        return
    try:
        if "packed_ranks" in record.units:
            # A tie at the K-th place does not show in mean ranks, so hits@K of version 0.1 may differ.
            values = ((n, values_of_ranks(record.units["packed_ranks"], n, {})) for n in ("mrr", "mr"))
            found = {name: float(one.mean()) for name, one in values if one is not None}
        else:
            found = means(record.units)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(f"its values for each {record.unit or 'unit'} cannot be read") from error
    for name, mean in found.items():
        claimed = record.test.get(name)
        if claimed is not None and not is_mean(mean, claimed):
            units = plural(record.unit)
            raise InputError(f"the mean over its {units} gives {name} {mean:.6g}, but it says {claimed:.6g}")


class _ChangedError(InputError):
    """A row is not what was written."""


def _check_row(record: Record, plain: dict[str, Any], columns: Sequence[Any]) -> None:
    """Compare a record with its columns and its unit values; its seal was compared when it was read."""
    if record.format >= SEALED and "seal" not in plain:
        raise _ChangedError("its seal is missing")
    for name, value in zip(COLUMNS, columns, strict=True):
        if value != getattr(record, name):
            raise _ChangedError(f"the column {name} says {value!r}, but its record {getattr(record, name)!r}")
    try:
        check_units(record)
    except InputError as error:
        raise _ChangedError(str(error)) from None


def _left_out(number: int, columns: Sequence[Any], text: Any, plain: Any, error: Exception) -> str:
    """Say that a row is left out, and why."""
    reason = str(error) if isinstance(error, InputError) else repr(str(text)[:60])
    if isinstance(error, _ChangedError) or "its seal" in reason:
        _, dataset, protocol, method, seed, *_ = columns
        where = f"row {number} ({method} on {dataset} under {protocol}, seed {seed})"
        return f"{where} was changed after it was written, so it is left out: {reason}"
    if isinstance(plain, dict) and newer(plain):
        where = f"row {number} was written by trueedge {_version(plain)} (format {plain['format']})"
        return f"{where} and cannot be read by {VERSION}, so it is left out: {reason}"
    return f"row {number} cannot be read as a record, so it is left out: {reason}"


def _version(plain: dict[str, Any]) -> str:
    try:
        return str(plain["provenance"]["versions"]["trueedge"])
    except (KeyError, TypeError):
        return "of an unknown version"


def _records(count: int) -> str:
    return f"{count:,} record{'' if count == 1 else 's'}"
