"""Numbers in plain text files of a known layout."""

from __future__ import annotations

import gzip
import os
import warnings
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from trueedge.errors import InputError
from trueedge.files.bounds import check_gzip


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
        if path.suffix == ".gz":
            with path.open("rb") as packed:
                check_gzip(packed, os.fstat(packed.fileno()).st_size, str(path))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of a file without rows
            table = np.loadtxt(
                path, dtype=dtype, delimiter=separator, skiprows=int(header), ndmin=2, encoding="utf-8"
            )
    except InputError:
        raise
    except (EOFError, zlib.error, OSError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    except (ValueError, OverflowError):
        raise _blame(path, columns, dtype, separator, header) from None
    if table.size == 0:
        return np.empty((0, columns), dtype=dtype)
    if table.shape[1] != columns:
        raise _blame(path, columns, dtype, separator, header)
    return table


def _blame(path: Path, columns: int, dtype: DTypeLike, separator: str | None, header: bool) -> InputError:
    """Return the error for a table that does not fit: the first line and value at fault."""
    number: Any = np.dtype(dtype).type
    noun = "whole number" if issubclass(number, np.integer) else "number"
    try:
        with _open(path) as lines:
            for place, line in enumerate(lines, start=1):
                text = line.partition("#")[0].strip()
                if not text or (header and place == 1):
                    continue
                words = text.split(separator)
                if len(words) != columns:
                    return InputError(f"{path}: line {place} has {len(words)} values, not {columns}")
                for word in words:
                    try:
                        number(word)
                    except (ValueError, OverflowError):
                        return InputError(f"{path}: line {place} has {word!r}, which is not a {noun} here")
    except UnicodeDecodeError:
        pass
    return InputError(f"{path} is not a text file of {noun}s")


def _open(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8")
    return path.open(encoding="utf-8")
