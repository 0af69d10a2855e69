"""What a text file of pairs or scores means, read by a parser that shares no code with the package."""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections.abc import Sequence

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
NO_ID = re.compile(r"[+-]?(nan|inf)|[+-][0-9]+|[+-]?[0-9]*\.[0-9]*(e[+-]?[0-9]+)?", re.ASCII | re.IGNORECASE)
LARGEST = 2**63 - 1
Pairs = list[tuple[str, str]]


class SenselessError(ValueError):
    """The text has no meaning: whoever reads it must refuse it."""


def rows_of(data: bytes) -> list[list[str]]:
    """Return the fields of each line of a text, plain or gzip, without comments and blank lines."""
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise SenselessError(f"gzip: {error}") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SenselessError("not UTF-8") from None
    if "\0" in text:
        raise SenselessError("a NUL")
    lines = [line for line in re.split("\r\n|\r|\n", text) if line.strip() and line.lstrip()[0] not in "#%"]
    if not lines:
        raise SenselessError("no line")
    mark = next((mark for mark in "\t;," if mark in lines[0].strip()), None)
    return [_fields(line, mark) for line in lines]


def _fields(line: str, mark: str | None) -> list[str]:
    if '"' not in line:
        return line.split() if mark is None else [field.strip() for field in line.split(mark)]
    joined = " ".join(line.split()) if mark is None else line
    try:
        (row,) = csv.reader([joined], delimiter=mark or " ", skipinitialspace=True, strict=True)
    except (csv.Error, ValueError) as error:
        raise SenselessError(f"quotes: {error}") from None
    return [field.strip() for field in row]


def pairs_of(data: bytes, header: bool) -> Pairs:
    """Return the two ids of each line; whole numbers without leading zeros, if all ids are whole numbers."""
    rows = rows_of(data)
    if len({len(row) for row in rows}) > 1 or len(rows[0]) < 2:
        raise SenselessError("the number of columns")
    pairs = [(row[0], row[1]) for row in rows[int(header) :]]
    if not pairs:
        raise SenselessError("no pair")
    ids = [value for pair in pairs for value in pair]
    for value in ids:
        if not value or NO_ID.fullmatch(value):
            raise SenselessError(f"the id {value!r}")
    if not all(re.fullmatch("[0-9]+", value) for value in ids):
        return pairs
    if any(int(value) > LARGEST for value in ids):
        raise SenselessError("an id that is too large")
    return [(str(int(u)), str(int(v))) for u, v in pairs]


def scores_of(data: bytes) -> list[list[str]]:
    """Return the fields of each line of a file of scores, the last one a number; a header may come first."""
    rows = [[field.split("#")[0].split("%")[0].strip() for field in row] for row in rows_of(data)]
    if not any(NUMBER.fullmatch(field) for field in rows[0]):
        rows = rows[1:]
    if not rows or len({len(row) for row in rows}) > 1 or len(rows[0]) not in (1, 3):
        raise SenselessError("the number of columns")
    for row in rows:
        if not NUMBER.fullmatch(row[-1]) or abs(float(row[-1])) == float("inf"):
            raise SenselessError(f"the score {row[-1]!r}")
    return rows


def unordered(pairs: Sequence[tuple[str, str]]) -> set[frozenset[str]]:
    """Return the edges of pairs: without self-loops, directions and repeats."""
    return {frozenset(pair) for pair in pairs if pair[0] != pair[1]}
