"""Recommended lists in files: csv, json and parquet."""

from __future__ import annotations

import csv
import importlib
import importlib.util
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from trueedge.errors import InputError
from trueedge.files.writing import check_target, replacing

SUFFIXES = (".csv", ".json", ".parquet")
WHAT = "the list of recommendations"
# Each of them writes parquet files, and whichever is installed will do.
WRITERS: dict[str, Callable[[Any, Any, str], Any]] = {
    "polars": lambda module, columns, path: module.DataFrame(columns).write_parquet(path),
    "pyarrow": lambda module, columns, path: importlib.import_module("pyarrow.parquet").write_table(
        module.table(columns), path
    ),
    "pandas": lambda module, columns, path: module.DataFrame(columns).to_parquet(path),
}


def write_lists(columns: Mapping[str, Sequence[Any]], path: str | Path, what: str = WHAT) -> Path:
    """Write columns of one length to a ``.csv``, ``.json`` (a list of rows) or ``.parquet`` file.

    Args:
        columns: the columns by name.
        path: where the file goes.
        what: what it holds, for the error where it cannot be written.
    """
    path = Path(path)
    check_lists_target(path, what)
    with replacing(path, what) as draft:
        if path.suffix == ".parquet":
            _write_parquet(columns, draft, path)
        elif path.suffix == ".json":
            rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
            draft.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        else:
            with draft.open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(columns)
                writer.writerows(zip(*columns.values(), strict=True))
    return path


def check_lists_target(path: str | Path, what: str = WHAT) -> None:
    """Refuse a file that lists cannot be written to, before any work is done."""
    check_target(path, what, SUFFIXES)
    if Path(path).suffix == ".parquet":
        _parquet_writer(Path(path))


def _write_parquet(columns: Mapping[str, Sequence[Any]], draft: Path, path: Path) -> None:
    name = _parquet_writer(path)
    WRITERS[name](importlib.import_module(name), dict(columns), str(draft))


def _parquet_writer(path: Path) -> str:
    for name in WRITERS:
        if importlib.util.find_spec(name) is not None:
            return name
    raise InputError(f"{path}: parquet files need pyarrow; pip install pyarrow, or write a .csv file")
