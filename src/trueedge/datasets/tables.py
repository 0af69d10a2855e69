"""Numbers in plain text files of a known layout."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from trueedge.errors import InputError


def read_table(
    path: Path,
    columns: int,
    dtype: DTypeLike = np.int64,
    *,
    separator: str | None = None,
    header: bool = False,
) -> NDArray[Any]:
    """Read a table of numbers, plain or gzip (``.gz``): an array (rows, columns); ``#`` starts a comment.

    Args:
        path: the file.
        columns: how many numbers each row has.
        dtype: the type of the numbers.
        separator: what stands between numbers; None for white space.
        header: the first line names the columns.
    """
    try:
        with _open(path) as lines:
            if header:
                lines.readline()
            if not lines.read(1):
                return np.empty((0, columns), dtype=dtype)
        table = np.loadtxt(path, dtype=dtype, delimiter=separator, skiprows=int(header), ndmin=2)
    except (EOFError, zlib.error, OSError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    except (ValueError, OverflowError) as error:
        raise _blame(path, columns, dtype, separator, header, str(error)) from None
    if table.shape[1] != columns:
        raise _blame(path, columns, dtype, separator, header, f"it has {table.shape[1]} columns")
    return table


def _open(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8")
    return path.open(encoding="utf-8")


def _blame(
    path: Path, columns: int, dtype: DTypeLike, separator: str | None, header: bool, reason: str
) -> InputError:
    """The error for a table that does not fit: the first line and value at fault."""
    kind = int if np.dtype(dtype).kind in "iu" else float
    noun = "a whole number" if kind is int else "a number"
    with _open(path) as lines:
        try:
            for number, line in enumerate(lines, start=1):
                words = line.partition("#")[0].strip()
                if not words or (header and number == 1):
                    continue
                row = words.split(separator)
                if len(row) != columns:
                    return InputError(f"{path}: line {number} has {len(row)} values, not {columns}")
                for word in row:
                    try:
                        kind(word)
                    except ValueError:
                        return InputError(f"{path}: line {number} has {word!r}, which is not {noun}")
        except UnicodeDecodeError:
            reason = "it is not a text file"
    return InputError(f"{path} is not a table of numbers: {reason}")
