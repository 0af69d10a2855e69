"""The first look at an edge list in a text file: its header, and some of its values."""

from __future__ import annotations

from trueedge.errors import InputError
from trueedge.files.columns import (
    find_separator,
    first_row,
    is_skipped,
    is_word,
    names_column,
    refuse_other_formats,
    split_fields,
)
from trueedge.files.text import TextFile, shown
from trueedge.graph import column_names
from trueedge.graph.column_values import Column
from trueedge.graph.edge_columns import EdgeFormat, Preview

# The sample: the first lines, and a few blocks of lines from the rest of a large file.
FIRST_BYTES, FIRST_ROWS = 1 << 18, 2000
BLOCKS, BLOCK_BYTES, BLOCK_ROWS = 8, 1 << 14, 250


def preview_text(text: TextFile, asked: EdgeFormat) -> tuple[Preview, bool | None] | None:
    """Return a sample of a text file, and whether its first line is a header (None: by the two ends alone).

    Returns None if there is nothing to decide: two columns, and no column is asked for.

    Args:
        text: the file.
        asked: what the user says about it.
    """
    refuse_other_formats(text)
    number, start, line = first_row(text.data)
    separator = find_separator(line)
    first = split_fields(text, number, line, separator) if line else []
    if len(first) < 2:
        return None
    if "{" in line.lstrip()[1:].replace("{}", "") and line.rstrip().endswith("}"):
        raise text.error(
            number,
            f"{shown(line.strip())} has a dictionary, as networkx writes it:"
            " read the file with networkx.read_edgelist, and make the graph with Graph.from_networkx",
        )
    rows, ahead = _sample(text, start + len(line.encode()) + 1, separator, len(first))
    columns = [Column([row[place] for row in rows], ahead) for place in range(len(first))]
    header = asked.header
    if header is None and _are_numbers_of_columns(first, columns):
        raise text.error(
            number,
            f"{line.strip()!r} may number the columns: pass header=True (--header) to skip the line,"
            " or header=False (--no-header) if it is an edge",
        )
    by_name = [column for column in asked.columns.values() if isinstance(column, str)]
    if header is None and _known(by_name, first):
        header = True
    elif header is None and asked.source is None:
        header = _is_header(first, columns)
    if len(first) == 2 and not asked.columns and not (header and any(map(_is_value, first))):
        return None
    names = tuple(first) if header else _names_in_comment(text, start, separator, len(first))
    if not header:
        columns = [
            Column([value, *column.values], ahead + 1) for value, column in zip(first, columns, strict=True)
        ]
    return Preview(str(text.path), names, tuple(columns)), header


def _known(asked: list[str], first: list[str]) -> bool:
    """Return whether the first line has a name that is asked for; a number may be a place instead."""
    folded = {field.casefold() for field in first}
    return any(name.casefold() in folded and not name.isdigit() for name in asked)


def _is_header(first: list[str], columns: list[Column]) -> bool:
    """Return whether the first line of a table names its columns."""
    if not first[0] and first[1:] == [str(place) for place in range(len(first) - 1)]:
        return True  # pandas numbers columns that have no name
    if not all(map(is_word, first[1:])) or (first[0] and not is_word(first[0])):
        return False
    if not first[0] and len(first) > 2 and columns[0].values and all(columns[0].values):
        return True  # above an index
    values = [column.is_number or column.kind == "date" for column in columns]
    if any(is_word(name) and is_value for name, is_value in zip(first, values, strict=True)):
        return True
    known = [place for place, name in enumerate(first) if names_column(name) or _is_value(name)]
    known = sorted({*known, *(place for pair in _pairs(first) for place in pair)})
    others = {value for place in known for value in columns[place].values}
    return len(known) > 1 and others.isdisjoint(first) and not any(map(names_column, others))


def _pairs(names: list[str]) -> list[tuple[int, int]]:
    return [*column_names.end_pairs(names), *column_names.weak_pairs(names)]


def _is_value(name: str) -> bool:
    return column_names.plain_name(name) in column_names.WEIGHTS | column_names.TIMES


def _are_numbers_of_columns(first: list[str], columns: list[Column]) -> bool:
    """Return whether the first line is 0, 1, 2, … above names, as pandas writes it."""
    counted = first == [str(place) for place in range(len(first))]
    rows = [value for column in columns[:2] for value in column.values]
    return counted and len(rows) > 2 and all(map(is_word, rows))


def _names_in_comment(
    text: TextFile, start: int, separator: str | None, columns: int
) -> tuple[str, ...] | None:
    """Return the names of columns in the comment above the first line: ``# source target weight``."""
    above = text.data[:start].decode().rstrip("\n").rpartition("\n")[2].strip()
    if not above or above[0] not in "#%":
        return None
    try:
        names = split_fields(text, 1, above.lstrip("#% "), separator)
    except InputError:
        return None
    fits = len(names) == columns and all(map(is_word, names)) and _pairs(names)
    return tuple(names) if fits else None


def _sample(text: TextFile, start: int, separator: str | None, columns: int) -> tuple[list[list[str]], int]:
    """Return some rows with the right number of columns, and how many of them are the first ones."""
    rows = _rows(text, start, FIRST_BYTES, FIRST_ROWS, separator, columns)
    ahead, rest = len(rows), len(text.data) - start - FIRST_BYTES
    if rest > 0:
        for block in range(BLOCKS):
            at = text.data.find(b"\n", start + FIRST_BYTES + rest * block // BLOCKS)
            if at >= 0:
                rows += _rows(text, at + 1, BLOCK_BYTES, BLOCK_ROWS, separator, columns)
    return rows, ahead


def _rows(
    text: TextFile, start: int, size: int, most: int, separator: str | None, columns: int
) -> list[list[str]]:
    found: list[list[str]] = []
    end = len(text.data) if start + size >= len(text.data) else text.data.rfind(b"\n", start, start + size)
    for line in text.data[start : max(end, start)].decode().split("\n"):
        if len(found) == most:
            break
        if is_skipped(line):
            continue
        try:
            fields = split_fields(text, 1, line, separator)
        except InputError:
            continue  # the reader names the line
        if len(fields) == columns:
            found.append(fields)
    return found
