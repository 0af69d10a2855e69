"""A slow, obvious reader of edge lists: line by line, in plain Python, from the documented rules."""

from __future__ import annotations

import csv
import gzip
import re

from trueedge.files.columns import COLUMN_WORDS, HEADER_WORDS, MISSING_WORDS

Edges = list[tuple[int, int]]


class RefusedError(Exception):
    """The file is not an edge list."""


def naive_read(
    data: bytes, num_nodes: int | None = None, self_loops: str = "refuse", repeats: str = "refuse"
) -> tuple[Edges, int, list[str] | None]:
    """The edges in the order of the file, the number of nodes, and the labels or None."""
    rows = _rows(data)
    if _numbers_columns(rows):
        raise RefusedError
    rows = [row[:2] for row in rows]
    if rows and _is_header(rows):
        rows = rows[1:]
    elif _may_be_header(rows):
        raise RefusedError
    ids = [value for row in rows for value in row]
    if not ids or any(value == "" or _is_no_id(value) for value in ids):
        raise RefusedError
    names = [value for value in ids if not _is_whole(value)]
    if names and (num_nodes is not None or _are_missing(names, ids)):
        raise RefusedError
    if names:
        labels = list(dict.fromkeys(ids))
        edges = [(labels.index(u), labels.index(v)) for u, v in rows]
        return tidy(edges, self_loops, repeats), len(labels), labels
    # Python refuses to convert thousands of digits, even where they are zeros.
    numbers = [(int(u.lstrip("0") or "0"), int(v.lstrip("0") or "0")) for u, v in rows]
    known = sorted({node for edge in numbers for node in edge})
    if _begins_with_counts(numbers):
        raise RefusedError
    if known[-1] >= (2**63 if num_nodes is None else num_nodes):
        raise RefusedError
    if num_nodes is not None or known == list(range(len(known))):
        return tidy(numbers, self_loops, repeats), num_nodes or len(known), None
    edges = [(known.index(u), known.index(v)) for u, v in numbers]
    return tidy(edges, self_loops, repeats), len(known), [str(node) for node in known]


def _may_be_header(rows: list[list[str]]) -> bool:
    """The first of six rows or more has two words that do not come again, unlike most other rows."""
    ids = [value for row in rows for value in row]
    often = [any(ids.count(value) > 1 for value in row) for row in rows]
    words = all(re.fullmatch("[A-Za-z][A-Za-z_ ]*", value) for value in rows[0])
    return len(rows) > 5 and words and not often[0] and sum(often[1:]) > len(often[1:]) / 2


def _numbers_columns(rows: list[list[str]]) -> bool:
    """The first row is 0, 1, 2, … above at least two rows of names."""
    counted = rows[0] == [str(place) for place in range(len(rows[0]))]
    return counted and len(rows) > 2 and all(_is_word(value) for row in rows[1:] for value in row[:2])


def _begins_with_counts(rows: Edges) -> bool:
    """The first row is the number of nodes and the number of rows."""
    rest = {node for edge in rows[1:] for node in edge}
    return bool(rest) and rows[0][1] == len(rows) - 1 and rows[0][0] in (len(rest), max(rest), max(rest) + 1)


def _rows(data: bytes) -> list[list[str]]:
    try:
        if data.startswith(b"\x1f\x8b"):
            data = gzip.decompress(data)
        text = data.decode("utf-8-sig")
    except Exception as error:
        raise RefusedError from error
    if "\0" in text or text.startswith("%%MatrixMarket"):
        raise RefusedError
    lines = [line for line in re.split("\r\n|\r|\n", text) if line.strip() and line.strip()[0] not in "#%"]
    if not lines:
        raise RefusedError
    separator = next((mark for mark in "\t;," if mark in lines[0].strip()), None)
    rows = [_fields(line, separator) for line in lines]
    if len(rows[0]) < 2 or any(len(row) != len(rows[0]) for row in rows):
        raise RefusedError
    return rows


def _fields(line: str, separator: str | None) -> list[str]:
    if '"' not in line:
        return [field.strip() for field in (line.split(separator) if separator else line.split())]
    line = line if separator else " ".join(line.split())
    try:
        fields = next(csv.reader([line], delimiter=separator or " ", skipinitialspace=True, strict=True))
    except csv.Error as error:
        raise RefusedError from error
    return [field.strip() for field in fields]


def _is_header(rows: list[list[str]]) -> bool:
    first, others = rows[0], [value for row in rows[1:] for value in row]
    if not all(_is_word(value) for value in first):
        return False
    if all(value.casefold() in HEADER_WORDS for value in first):
        return not set(first) & set(others)
    if not any(_is_word(value) for value in others):
        return bool(others)
    return all(_names_column(value) for value in first) and not any(_names_column(value) for value in others)


def _names_column(value: str) -> bool:
    """A usual name of a column, or one with a usual word in it, and no digit."""
    split = re.sub("([A-Z]?[a-z]+|[A-Z]+)", r" \1 ", value)
    words = {word.lower() for word in split.split() if word.isascii() and word.isalpha()}
    usual = value.casefold() in HEADER_WORDS or bool(words & COLUMN_WORDS)
    return usual and not any(mark.isdigit() for mark in value)


def _is_word(value: str) -> bool:
    return bool(value) and not (_is_whole(value) or _is_no_id(value) or value.casefold() in MISSING_WORDS)


def _is_whole(value: str) -> bool:
    return value.isascii() and value.isdigit()


def _is_no_id(value: str) -> bool:
    """A number by Python's own understanding, but not a whole one without a sign."""
    if len(value.split()) == 2 and all(_is_whole(part) for part in value.split()):
        return True
    if not value.isascii() or "_" in value or _is_whole(value):
        return False
    try:
        float(value)
    except ValueError:
        return False
    bare = value.lower().lstrip("+-")
    if bare.isalpha():
        return bare in ("nan", "inf")
    # A whole number with an exponent counts only where the exponent has a sign.
    return "." in bare or "e" not in bare or "e+" in bare or "e-" in bare


def _are_missing(names: list[str], ids: list[str]) -> bool:
    return len(names) < len(ids) and all(name.casefold() in MISSING_WORDS for name in names)


def tidy(edges: Edges, self_loops: str, repeats: str) -> Edges:
    kept: Edges = []
    for u, v in edges:
        if u == v:
            if self_loops == "refuse":
                raise RefusedError
        elif (u, v) in kept or (v, u) in kept:
            if repeats == "refuse":
                raise RefusedError
        else:
            kept.append((u, v))
    return kept
