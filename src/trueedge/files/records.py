"""Tables in files that are no plain text: JSON and Parquet."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trueedge.errors import InputError
from trueedge.files.bounds import check_memory
from trueedge.files.text import TextFile, shown

PARQUET = b"PAR1"
PARQUET_ENDINGS = (".parquet", ".pq")
# A field takes about so many times its size in the file while it is read.
TIMES_UNPACKED = 20


@dataclass(frozen=True, eq=False)
class Records:
    """A table with named columns.

    Attributes:
        where: the file, for messages.
        names: the name of each column.
        columns: the values of each column.
        lines: the line of each row; None if rows have none.
    """

    where: str
    names: tuple[str, ...]
    columns: tuple[Sequence[Any], ...]
    lines: Sequence[int] | None = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.columns[0]) if self.columns else 0

    def place(self, row: int) -> str:
        """Return words for where a row is."""
        if self.lines is None:
            return f"{self.where}, row {row}"
        return f"{self.where}, line {self.lines[row]}"


def is_json(text: TextFile) -> bool:
    """Return whether a text file holds JSON: by its first mark, and by its name or a field in quotes."""
    start = text.data[:1000].lstrip()
    named = {".json", ".jsonl", ".ndjson"}.intersection(text.path.suffixes)
    return start[:1] in (b"{", b"[") and (bool(named) or start[1:].lstrip()[:1] in (b'"', b"{"))


def read_json(text: TextFile) -> Records:
    """Read a file of JSON objects, such as ``{"source": "a", "target": "b"}``: one on each line, or a list.

    A key that the first object does not have is not read.
    """
    whole = text.data.lstrip()[:1] == b"["
    rows = list(_listed(text) if whole else _on_lines(text))
    if not rows:
        raise InputError(f"{text.path} is empty: it has no rows")
    names = tuple(rows[0][1])
    columns = tuple([row.get(name) for _, row in rows] for name in names)
    return Records(str(text.path), names, columns, None if whole else [number for number, _ in rows])


def _listed(text: TextFile) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number and the content of each object of a list."""
    check_memory(TIMES_UNPACKED * len(text.data), str(text.path))
    try:
        found = json.loads(text.data)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        raise text.error(line, "the JSON list that begins with [ in the first line is damaged here") from None
    for number, row in enumerate(found):
        if not isinstance(row, dict):
            raise InputError(f"{text.path}, row {number}: a JSON object is needed, got {shown(str(row))}")
        yield number, row


def _on_lines(text: TextFile) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number and the content of each line that is not blank."""
    for number, line in enumerate(text.lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            raise text.error(
                number, f"this is not a JSON object; JSON lines have one on each line: {shown(line.strip())}"
            ) from None
        if not isinstance(row, dict):
            raise text.error(number, f"a JSON object is needed, got {shown(line.strip())}")
        yield number, row


def is_parquet(path: Path) -> bool:
    """Return whether a file is a Parquet file, by its first bytes."""
    try:
        with path.open("rb") as stream:
            return stream.read(len(PARQUET)) == PARQUET
    except (OSError, ValueError):
        return False  # the reader of text says what is wrong


def read_parquet(path: Path) -> Records:
    """Read a Parquet file; pyarrow must be installed."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise InputError(
            f"{path} is a Parquet file: install pyarrow to read it (pip install pyarrow)"
        ) from None
    try:
        held = parquet.ParquetFile(path).metadata
        sizes = [held.row_group(group).total_byte_size for group in range(held.num_row_groups)]
        check_memory(TIMES_UNPACKED * sum(sizes), str(path))
        table = parquet.read_table(path)
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(f"{path} is a damaged Parquet file: {str(error).splitlines()[0]}") from None
    columns = tuple(table.column(name).to_numpy() for name in range(table.num_columns))
    return Records(str(path), tuple(map(str, table.column_names)), columns)
