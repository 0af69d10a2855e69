"""Records for other programs: JSON and CSV."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

from trueedge.errors import InputError
from trueedge.results.record import Record

COLUMNS = (
    "dataset",
    "protocol",
    "method",
    "seed",
    "part",
    "metric",
    "value",
    "settings",
    "options",
    "created",
    "key",
    "graph",
    "task",
    "source",
)


def export(records: Sequence[Record], path: str | Path) -> Path:
    """Write records to a file: whole as ``.json``, or one line a metric as ``.csv``."""
    path = Path(path)
    if path.suffix not in (".json", ".csv"):
        raise InputError(f"{path}: records are exported to a .json or a .csv file")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".json":
            path.write_text(json.dumps([record.to_dict() for record in records], indent=2) + "\n")
            return path
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            for record in records:
                writer.writerows(_lines(record))
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None
    return path


def _lines(record: Record) -> list[list[object]]:
    plain = record.to_dict()
    shared = [
        *(json.dumps(plain[key], sort_keys=True) for key in ("settings", "options")),
        record.created,
        record.key,
        plain["provenance"].get("hashes", {}).get("graph", ""),
        plain["provenance"].get("task", ""),
        plain["provenance"].get("source", ""),
    ]
    where = (record.dataset, record.protocol, record.method, record.seed)
    return [
        [*where, part, name, repr(value), *shared]
        for part, metrics in record.metrics.items()
        for name, value in metrics.items()
    ]
