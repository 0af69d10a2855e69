"""Records in files: exported to JSON and CSV, set aside where the store cannot be written, imported."""

from __future__ import annotations

import csv
import json
import secrets
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from trueedge.errors import InputError, with_article
from trueedge.files.cards import read_json
from trueedge.files.writing import check_target, replacing
from trueedge.results.record import Record, newer
from trueedge.results.rows import SEALED, check_units

_COLUMNS = "dataset protocol method seed part metric value settings options created key graph task source"
# A record has a few kilobytes, with the values of a hundred thousand units a megabyte.
MOST_BYTES = 1 << 32


def export(records: Sequence[Record], path: str | Path) -> Path:
    """Write records to a file: whole and sealed as ``.json``, or one line per metric as ``.csv``.

    Args:
        records: the records.
        path: a ``.json`` or ``.csv`` file.
    """
    path = Path(path)
    if path.suffix not in (".json", ".csv"):
        raise InputError(f"{path}: records are exported to a .json or a .csv file")
    check_target(path, "the list of records")
    with replacing(path, "the list of records") as draft, draft.open("w", newline="") as file:
        if path.suffix == ".json":
            file.write(json.dumps([record.sealed() for record in records], indent=2) + "\n")
            return path
        writer = csv.writer(file)
        writer.writerow(_COLUMNS.split())
        for record in records:
            writer.writerows(_lines(record))
    return path


def set_aside(records: Sequence[Record], before: Path | None = None) -> Path:
    """Write records to a file in the working folder or, failing that, the folder for temporary files.

    Args:
        records: those that could not be stored.
        before: the file of an earlier call, which is replaced if it can be.
    """
    name = f"trueedge-unsaved-{datetime.now(UTC):%Y%m%d}-{secrets.token_hex(3)}.json"
    places = [] if before is None else [before]
    with suppress(OSError):  # the working folder may be gone
        places.append(Path.cwd() / name)
    places.append(Path(tempfile.gettempdir()) / name)
    reasons = []
    for place in places:
        try:
            return export(records, place)
        except InputError as error:
            reasons.append(str(error))
    raise InputError("; ".join(reasons))


def read_records(path: str | Path) -> list[Record]:
    """Read and check the records in a ``.json`` file that :func:`export` or :func:`set_aside` wrote."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    found = read_json(path, absent=str(path), damaged=str(path), most=MOST_BYTES)
    if not isinstance(found, list):
        raise InputError(f"{path} does not hold a list of records")
    records = []
    for number, plain in enumerate(found, 1):
        try:
            records.append(_checked(plain))
        except (TypeError, ValueError, KeyError, AttributeError, RecursionError) as error:
            reason = str(error) if isinstance(error, InputError) else "it is not a record"
            raise InputError(f"{path}: record {number} cannot be imported: {reason}") from None
    return records


def _checked(plain: Any) -> Record:
    if not isinstance(plain, dict):
        raise InputError(f"it is {with_article(type(plain).__name__)}")
    if newer(plain):
        raise InputError(f"it has format {plain['format']}, which only a newer version of trueedge knows")
    record = Record.from_dict(plain)
    if record.format >= SEALED and "seal" not in plain:
        raise InputError("its seal is missing")
    check_units(record)
    return record


def _lines(record: Record) -> list[list[object]]:
    plain = record.to_dict()
    origin = plain["provenance"]
    shared = [
        *(json.dumps(plain[key], sort_keys=True) for key in ("settings", "options")),
        *(record.created, record.key, origin.get("hashes", {}).get("graph", "")),
        *(origin.get(name, "") for name in ("task", "source")),
    ]
    where = (record.dataset, record.protocol, record.method, record.seed)
    return [
        [*where, part, name, repr(value), *shared]
        for part, metrics in record.metrics.items()
        for name, value in metrics.items()
    ]
