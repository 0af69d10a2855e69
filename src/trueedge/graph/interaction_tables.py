"""Interactions from tables: text files, parquet files and data frames with a column of users and of items."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, is_whole, must_be
from trueedge.files.columns import PLAIN_WORD, is_word, may_be_names
from trueedge.files.named_columns import (
    Column,
    NamedColumns,
    as_number,
    find_columns,
    first_fields,
    read_named_columns,
    word,
)
from trueedge.files.records import PARQUET_ENDINGS
from trueedge.files.tables import Table, as_table, is_missing
from trueedge.files.text import TextFile, open_text, plain, shown
from trueedge.graph.knowledge import KnowledgeGraph

OWNER = "Interactions.from_table"
USER = Column(
    "user",
    frozenset({"user", "u", "customer", "reviewer", "member", "visitor", "person"}),
    "user",
    others=frozenset({"buyer", "client", "shopper", "account", "subscriber", "listener", "viewer", "reader"}),
)
ITEM = Column(
    "item",
    frozenset({"item", "i", "movie", "artist", "book", "product", "track", "song", "business", "game"})
    | frozenset({"isbn", "asin", "news", "article"}),
    "item",
    others=frozenset({"sku", "film", "video", "recipe", "course", "app", "post", "venue", "offer", "title"}),
)
RATING = Column(
    "rating",
    frozenset({"rating", "ratings", "weight", "score", "stars", "overall", "bookrating", "count", "plays"}),
    needed=False,
    negative=False,
)
TIME = Column(
    "time",
    frozenset({"time", "timestamp", "times", "datetime", "unixreviewtime", "unixtime"}),
    needed=False,
    others=frozenset({"date", "ts", "when", "created", "createdat", "boughtat", "orderedat", "purchasedat"})
    | frozenset({"eventtime", "orderdate", "purchasedate"}),
    dates=True,
)
COLUMNS = (USER, ITEM, RATING, TIME)
# A third column with such values holds times, not ratings: seconds since 1970, from 1973 on, or dates.
FIRST_SECOND = 1e8


@dataclass(frozen=True, eq=False)
class InteractionList:
    """Interactions as a reader found them: arguments of ``Interactions.from_pairs``.

    Attributes:
        pairs: int64 (m, 2): a user and an item.
        counts: ``num_users`` and ``num_items``, where they are known.
        columns: what else is known: ``users``, ``items``, ``ratings``, ``times``, ``test``.
        knowledge: what is known about the items, or None.
        notes: decisions the user should know of.
    """

    pairs: NDArray[np.int64]
    counts: Mapping[str, int] = field(default_factory=dict)
    columns: Mapping[str, Any] = field(default_factory=dict)
    knowledge: KnowledgeGraph | None = None
    notes: tuple[str, ...] = ()


def read_table(
    given: object,
    users: str | int | None = None,
    items: str | int | None = None,
    ratings: str | int | None = None,
    times: str | int | None = None,
    header: bool | None = None,
) -> InteractionList:
    """Return the interactions of a table; see ``Interactions.from_table``."""
    return as_list(read_rows(given, _chosen(users, items, ratings, times), header))


def read_rows(
    given: object, chosen: Mapping[str, str] | None = None, header: bool | None = None
) -> NamedColumns:
    """Return the columns of users and items, and of ratings and times if there are any."""
    if isinstance(given, (str, os.PathLike)) and Path(given).suffix.lower() not in PARQUET_ENDINGS:
        found = _read_text(open_text(given), chosen or {}, header)
        return replace(found, notes=(*found.notes, *_said_of_columns(found, chosen or {})))
    return _from_frame(as_table(given, "the table"), chosen or {})


def _read_text(text: TextFile, chosen: Mapping[str, str], header: bool | None) -> NamedColumns:
    """Return the columns of a text file; the first two are users and items where names say nothing."""
    fields = first_fields(text)
    by_place = {USER.noun: "0", ITEM.noun: "1"}
    if header is True and not chosen and len(fields) == len(by_place) and not any(map(_is_usual, fields)):
        return read_named_columns(text, COLUMNS, by_place, header)
    try:
        found = read_named_columns(text, COLUMNS, chosen, header, _without_names)
    except InputError as error:
        if header is None and not chosen and not _is_header_or_row(fields):
            hint = "if this line names the columns, name those of users and items (--source, --target)"
            raise InputError(f"{error}; {hint}") from None
        raise
    if header is None and not chosen and not found.header:
        if len(fields) == len(by_place) and _is_above_numbers(found):
            return read_named_columns(text, COLUMNS, by_place, header=True)
        _refuse_names(found)
    return found


def _is_usual(name: str) -> bool:
    return any(word(name) in one.words | one.others for one in COLUMNS)


def _is_header_or_row(fields: Sequence[str]) -> bool:
    """Return whether the first row of a file names users and items, or has no word for a rating or time."""
    named = [any(word(name) in one.words | one.others for name in fields) for one in (USER, ITEM)]
    numbers = (name for name, one in zip(fields, _without_names(fields), strict=False) if not one.space)
    return all(named) or not any(map(PLAIN_WORD.fullmatch, numbers))


def _is_above_numbers(found: NamedColumns) -> bool:
    """Return whether the first row has words, and all others have numbers."""
    return all(
        is_word(names[0]) and len(names) > 1 and all(map(str.isdecimal, names[1:]))
        for names in found.names.values()
    )


def _without_names(fields: Sequence[str]) -> tuple[Column, ...]:
    """Return what the columns of a file are whose first row has these fields, and no names."""
    moment = as_number(fields[-1], dates=True) if len(fields) == 3 else None
    return (USER, ITEM, TIME) if moment is not None and moment >= FIRST_SECOND else COLUMNS


def _refuse_names(found: NamedColumns) -> None:
    """Raise an InputError for a first row that may name the columns by unusual names."""
    ids = [found.ids[one.noun] for one in (USER, ITEM)]
    first = [found.names[one.space][column[0]] for one, column in zip((USER, ITEM), ids, strict=True)]
    often = np.column_stack([(np.bincount(column) > 1)[column] for column in ids])
    if may_be_names(first, often, (name for names in found.names.values() for name in names)):
        raise found.error(
            0,
            f"{' and '.join(map(shown, first))} may be names of columns, since they do not come again: pass"
            " header=True (--header) to skip the line, or header=False (--no-header) if it is an interaction",
        )


def _said_of_columns(found: NamedColumns, chosen: Mapping[str, str]) -> tuple[str, ...]:
    """Return notes on columns that are not read, and on columns that no line names."""
    if found.header and not chosen and not any(map(_is_usual, found.header)):
        return ("no column has a usual name: {} is read as user and {} as item".format(*found.header),)
    if found.header:
        left = [name for name in found.header if name and name not in found.read]
        return (f"not read: {', '.join(map(plain, left))}",) if left else ()
    if chosen:
        return ()
    *others, last = [*found.ids, *found.numbers]
    return (f"no line names the columns, which are read as {', '.join(others)} and {last}",)


def as_list(rows: NamedColumns) -> InteractionList:
    """Return interactions whose users and items have the names in the rows."""
    numbers = {"ratings": rows.numbers.get("rating"), "times": rows.numbers.get("time")}
    return InteractionList(
        pairs=np.column_stack([rows.ids["user"], rows.ids["item"]]),
        columns={"users": rows.names["user"], "items": rows.names["item"], **numbers},
        notes=rows.notes,
    )


def names_users_and_items(names: Iterable[str]) -> bool:
    """Return whether the names of columns are usual ones of users and of items."""
    words = {word(name) for name in names}
    return "user" in words and not ITEM.words.isdisjoint(words)


def _chosen(
    users: str | int | None, items: str | int | None, ratings: str | int | None, times: str | int | None
) -> dict[str, str]:
    found: dict[str, str] = {}
    for argument, noun, name in (
        ("users", "user", users),
        ("items", "item", items),
        ("ratings", "rating", ratings),
        ("times", "time", times),
    ):
        if name is not None:
            if not isinstance(name, str) and not (is_whole(name) and name >= 0):
                raise must_be(argument, OWNER, "a column's name, or its number from 0", name)
            if str(name) in found.values():
                raise InputError(f"{OWNER}: two of users, items, ratings and times are the column {name!r}")
            found[noun] = str(name)
    return found


def _from_frame(table: Table, chosen: Mapping[str, str]) -> NamedColumns:
    names = list(table.columns)
    places = find_columns(names, COLUMNS, chosen, table.title)
    for column in (USER, ITEM):
        if column.noun not in places:
            there = ", ".join(map(shown, names)) or "none"
            raise InputError(
                f"{table.title}: no column has a usual name of {column.noun}s, there are {there};"
                f" {column.noun}s='…' names it"
            )
    if not len(table):
        raise InputError(f"{table.title} is empty: it has no rows")
    ids: dict[str, NDArray[np.int64]] = {}
    spaces: dict[str, tuple[str, ...]] = {}
    numbers: dict[str, NDArray[np.float64]] = {}
    for one in COLUMNS:
        if one.noun not in places:
            continue
        values = table.columns[names[places[one.noun]]]
        if values.ndim != 1:
            raise InputError(f"{table.title}: the column of {one.noun}s must hold one value in each row")
        if one.space:
            ids[one.noun], spaces[one.space] = _numbered(values, table.title, one.noun)
        else:
            numbers[one.noun] = _numbers(values, table.title, one.noun)
    return NamedColumns(table.title, ids, spaces, numbers).checked(COLUMNS)


def _numbered(values: NDArray[Any], title: str, noun: str) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return the place of each id, and the distinct ids as texts in the order of their first appearance."""
    if values.dtype.kind == "f":
        odd = ~(np.floor(values) == values) | ~(np.abs(values) < 2.0**53)
        if odd.any():
            row = int(odd.argmax())
            why = f"the {noun} is missing" if np.isnan(values[row]) else f"the {noun} {values[row]} is no id"
            raise InputError(f"{title}, row {row}: {why}")
        values = values.astype(np.int64)
    if values.dtype.kind in "iu":
        distinct, first, codes = np.unique(values, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        return rank[codes.reshape(-1)], tuple(map(str, distinct[order].tolist()))
    place: dict[str, int] = {}
    found = []
    for row, value in enumerate(values.tolist()):
        if is_missing(value):
            raise InputError(f"{title}, row {row}: the {noun} is missing")
        if isinstance(value, (bytes, list, tuple, dict, set, np.ndarray)):
            raise InputError(
                f"{title}, row {row}: the {noun} {shown(str(value))} is neither text nor a number"
            )
        found.append(place.setdefault(str(value).strip(), len(place)))
    return np.array(found, dtype=np.int64), tuple(place)


def _numbers(values: NDArray[Any], title: str, noun: str) -> NDArray[np.float64]:
    if values.dtype.kind == "M":
        missing = np.isnat(values)
        found = values.astype("datetime64[ns]").astype(np.int64) / 1e9
        found[missing] = np.nan
    else:
        try:
            found = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            read = [as_number(value, dates=noun == TIME.noun) for value in values.tolist()]
            found = np.array([np.nan if value is None else value for value in read])
    wrong = ~np.isfinite(found)
    if wrong.any():
        row = int(wrong.argmax())
        value = values[row]
        absent = is_missing(value) or str(value) == "NaT"
        why = f"the {noun} is missing" if absent else f"the {noun} {_said(value)} is not a number"
        raise InputError(f"{title}, row {row}: {why}")
    return found


def _said(value: object) -> str:
    return shown(value) if isinstance(value, str) else str(value)
