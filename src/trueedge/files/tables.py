"""Tables of named columns: dicts of columns, data frames, and csv and parquet files."""

from __future__ import annotations

import csv
import importlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.arrays import refuse_masked, regular_file
from trueedge.files.records import PARQUET_ENDINGS
from trueedge.files.text import open_text, shown

SEPARATORS = "\t;,"
# Each of them reads parquet files, and whichever is installed will do.
READERS = {"polars": "read_parquet", "pyarrow.parquet": "read_table", "pandas": "read_parquet"}
# What the index of a data frame is called in a file if it has no name.
UNNAMED = ("", "Unnamed: 0", "__index_level_0__")


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of one length.

    Attributes:
        title: what it is, for messages.
        columns: the columns by name: arrays (rows,), or (rows, d) for several numbers in each row.
        lines: the line of each row in a text file; None if it was not read from one.
        index: the column that was the index of a data frame; None if there is none. It is one of
            ``UNNAMED`` if it has no name, and then only there if it is not 0, 1, 2, … or a file has it.
    """

    title: str
    columns: Mapping[str, NDArray[Any]]
    lines: Sequence[int] | None = None
    index: str | None = None

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def place(self, row: int) -> str:
        """Return where a row is, for messages: its line in a text file, otherwise its number from 0."""
        if self.lines is None:
            return f"{self.title}, row {row}"
        return f"{self.title}, line {self.lines[row]}"

    def column(self, name: str) -> NDArray[Any]:
        """Return a column."""
        if name not in self.columns:
            there = ", ".join(map(shown, self.columns)) or "none"
            raise InputError(f"{self.title}: there is no column {shown(name)}, only {there}")
        return self.columns[name]


def as_table(given: object, title: str, is_header: Callable[[Sequence[str]], bool] | None = None) -> Table:
    """Return a table from a dict of columns, a data frame, or the path of a csv or parquet file.

    Args:
        given: a dict; a frame of pandas, polars or pyarrow; or a path. Files that do not end with
            ``.parquet`` are read as text: a line of column names, then the rows, separated by tabs,
            semicolons or commas.
        title: what it is, for messages; a file is called by its path.
        is_header: says of the cells in the first line of a text file whether they are the names of columns,
            which are otherwise called 0, 1, 2, …; None: they are names.
    """
    if isinstance(given, (str, os.PathLike)):
        path = Path(given)
        if path.suffix.lower() in PARQUET_ENDINGS:
            return _of_columns(_parquet(path), str(path), _schema(path))
        return _read_text(path, is_header)
    return _of_columns(given, title, getattr(given, "schema", None))


def _of_columns(given: Any, title: str, schema: Any) -> Table:
    """Return a table from a dict or a data frame.

    Args:
        given: the dict or frame.
        title: what it is.
        schema: pyarrow's description of the columns, if there is one.
    """
    metadata = getattr(schema, "pandas_metadata", None) or {}
    found = _levels(given, metadata.get("index_columns", ()))
    index = next(iter(found)) if len(found) == 1 else None
    levels = {name: values for name, values in found.items() if values is not None}
    if hasattr(given, "to_pydict"):
        given = given.to_pydict()
    if isinstance(given, Mapping):
        named: dict[Any, Any] = {**levels, **given}
    elif hasattr(given, "columns") and hasattr(given, "__getitem__"):
        names: Any = given.columns
        named = {**levels, **{name: given[name] for name in names}}
    else:
        kind = type(given).__name__
        raise InputError(f"{title} must be a dict of columns, a data frame or the path of a file, got {kind}")
    columns = {str(name): _array(values, f"{title}, column {name!r}") for name, values in named.items()}
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        (first, most), (other, least) = min(lengths.items(), key=_size), max(lengths.items(), key=_size)
        raise InputError(f"{title}: the column {first!r} has {most} rows, but {other!r} has {least}")
    return Table(title, columns, index=index if index is not None else _unnamed(columns))


def _levels(frame: Any, stored: Sequence[Any]) -> dict[str, Any]:
    """Return the levels of a data frame's index by name; None for one that the frame has as a column.

    An index 0, 1, 2, … without a name is not there.

    Args:
        frame: the frame.
        stored: what pandas wrote of its levels: the names of columns, or ranges of numbers.
    """
    index: Any = getattr(frame, "index", None)
    found: list[tuple[Any, Any]] = []
    for one in stored:
        name, values = (one, None) if isinstance(one, str) else (one["name"], _range(one))
        if values is None or len(values) == len(frame):
            found.append((name, values))
    if hasattr(index, "get_level_values"):
        there = set(map(str, frame.columns))
        found = [
            (name, None if str(name) in there else index.get_level_values(place))
            for place, name in enumerate(index.names)
        ]
    if len(found) == 1 and found[0][0] is None:
        values = found[0][1]
        plain = bool((np.asarray(values) == np.arange(len(values))).all())
        return {} if plain else {UNNAMED[0]: values}
    return {str(name): values for name, values in found if name is not None}


def _range(level: Mapping[str, Any]) -> range:
    return range(level["start"], level["stop"], level["step"])


def _schema(path: Path) -> Any:
    """Return the schema of a parquet file, which only pyarrow reads with what pandas says of the index."""
    try:
        return importlib.import_module("pyarrow.parquet").read_schema(str(path))
    except ImportError:
        return None


def _unnamed(columns: Mapping[str, Any]) -> str | None:
    """Return the name of the column that a file has for an index without a name."""
    return next((name for name in columns if name in UNNAMED), None)


def _size(item: tuple[str, int]) -> int:
    return item[1]


def _array(values: Any, what: str) -> NDArray[Any]:
    refuse_masked(values, what)
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    elif hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if isinstance(values, (str, bytes, Mapping)) or not hasattr(values, "__len__"):
        raise InputError(f"{what} must be a list of values, got {type(values).__name__}")
    try:
        found = np.asarray(values)
    except ValueError:
        found = np.empty(len(values), dtype=object)  # lists of several lengths
        found[:] = list(values)
    if found.ndim == 0 or found.ndim > 2:
        raise InputError(f"{what} must be a list of values, got an array of shape {found.shape}")
    return _numbers(found) if found.dtype == object and found.ndim == 1 else found


def _numbers(values: NDArray[Any]) -> NDArray[Any]:
    """Return objects that are all numbers, or missing, as an array of numbers; others as they are."""
    plain = [None if is_missing(one) else one for one in values.tolist()]
    kinds = {type(one) for one in plain if one is not None}
    if not kinds or not kinds <= {int, float, bool}:
        return values
    if None not in plain:
        return np.array(plain)
    return np.array([np.nan if one is None else one for one in plain], dtype=np.float64)


def is_missing(value: object) -> bool:
    """Return whether a value stands for none: None, NaN, pandas' NA, or a blank text."""
    if isinstance(value, str):
        return not value.strip()
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def _read_text(path: Path, is_header: Callable[[Sequence[str]], bool] | None) -> Table:
    """Read a text file; a column of numbers is an array of numbers, any other one of texts."""
    text = open_text(path)
    head = text.data.lstrip(b"\r\n").partition(b"\n")[0].decode()
    separator = max(SEPARATORS, key=head.count)
    rows: list[list[str]] = []
    names: list[str] = []
    lines: list[int] = []
    reader = csv.reader(text.data.decode().split("\n"), delimiter=separator)
    try:
        for row in reader:
            if not row or row == [""]:
                continue
            if not names:
                names = [cell.strip() for cell in row]
                if is_header is None or is_header(names):
                    continue
                names = [str(place) for place in range(len(row))]
            if len(row) != len(names):
                raise text.error(reader.line_num, f"{len(row)} values, but {len(names)} columns")
            rows.append(row)
            lines.append(reader.line_num)
    except csv.Error as error:
        raise text.error(reader.line_num, str(error)) from None
    if not names:
        raise InputError(f"{path} is empty")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"{path}: two columns are called {twice[0]!r}")
    columns: Sequence[Sequence[str]] = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    parsed = {name: _parsed(column) for name, column in zip(names, columns, strict=True)}
    return Table(str(path), parsed, tuple(lines), _unnamed(parsed))


def _parsed(texts: Sequence[str]) -> NDArray[Any]:
    """Return whole numbers, or numbers (a blank is NaN), or texts."""
    stripped = [one.strip() for one in texts]
    filled = [one for one in stripped if one]
    if not filled or any("_" in one for one in filled):
        return np.array(stripped, dtype=object)
    try:
        if len(filled) == len(stripped) and all(one.lstrip("+-").isdecimal() for one in filled):
            # A leading zero says that it is a name.
            if not any(len(one) > 1 and one.startswith("0") for one in filled):
                return np.array([int(one) for one in filled], dtype=np.int64)
            return np.array(stripped, dtype=object)
        return np.array([float(one) if one else np.nan for one in stripped])
    except (ValueError, OverflowError):
        return np.array(stripped, dtype=object)


def _parquet(path: Path) -> Any:
    regular_file(path)
    for module, function in READERS.items():
        try:
            read = getattr(importlib.import_module(module), function)
        except ImportError:
            continue
        try:
            return read(str(path))
        except Exception as error:  # each of them has errors of its own
            raise InputError(f"{path} is not a readable parquet file: {shown(str(error))}") from None
    raise InputError(f"{path}: parquet files need pyarrow; pip install pyarrow")
