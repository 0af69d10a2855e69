"""Interactions from tables: text files, parquet files and data frames with a column of users and of items."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, must_be
from trueedge.files.named_columns import Column, NamedColumns, find_columns, read_named_columns, word
from trueedge.files.records import PARQUET_ENDINGS
from trueedge.files.tables import Table, as_table, is_missing
from trueedge.files.text import open_text, shown
from trueedge.graph.knowledge import KnowledgeGraph

OWNER = "Interactions.from_table"
USER = Column("user", frozenset({"user", "u", "customer", "reviewer", "member", "visitor", "person"}), "user")
ITEM = Column(
    "item",
    frozenset({"item", "i", "movie", "artist", "book", "product", "track", "song", "business", "game"})
    | frozenset({"isbn", "asin", "news", "article"}),
    "item",
)
RATING = Column(
    "rating",
    frozenset({"rating", "ratings", "weight", "score", "stars", "overall", "bookrating", "count", "plays"}),
    needed=False,
    negative=False,
)
TIME = Column(
    "time", frozenset({"time", "timestamp", "times", "datetime", "unixreviewtime", "unixtime"}), needed=False
)
COLUMNS = (USER, ITEM, RATING, TIME)


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
    users: str | None = None,
    items: str | None = None,
    ratings: str | None = None,
    times: str | None = None,
    header: bool | None = None,
) -> InteractionList:
    """Return the interactions of a table; see ``Interactions.from_table``."""
    return as_list(read_rows(given, _chosen(users, items, ratings, times), header))


def read_rows(
    given: object, chosen: Mapping[str, str] | None = None, header: bool | None = None
) -> NamedColumns:
    """Return the columns of users and items, and of ratings and times if there are any."""
    if isinstance(given, (str, os.PathLike)) and Path(given).suffix.lower() not in PARQUET_ENDINGS:
        return read_named_columns(open_text(given), COLUMNS, chosen, header)
    return _from_frame(as_table(given, "the table"), chosen or {})


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


def _chosen(users: str | None, items: str | None, ratings: str | None, times: str | None) -> dict[str, str]:
    found = {}
    for argument, noun, name in (
        ("users", "user", users),
        ("items", "item", items),
        ("ratings", "rating", ratings),
        ("times", "time", times),
    ):
        if name is not None:
            if not isinstance(name, str):
                raise must_be(argument, OWNER, "the name of a column", name)
            found[noun] = name
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
            found = np.array([_as_number(value) for value in values.tolist()])
    wrong = ~np.isfinite(found)
    if wrong.any():
        row = int(wrong.argmax())
        value = values[row]
        absent = is_missing(value) or str(value) == "NaT"
        why = f"the {noun} is missing" if absent else f"the {noun} {_said(value)} is not a number"
        raise InputError(f"{title}, row {row}: {why}")
    return found


def _as_number(value: object) -> float:
    if isinstance(value, datetime):  # as parquet files have them; without a zone, it is UTC
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def _said(value: object) -> str:
    return shown(value) if isinstance(value, str) else str(value)
