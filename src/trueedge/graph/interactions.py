"""Interactions of users with items, and what is known about the items."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.errors import InputError, must_be, whole_number
from trueedge.files.arrays import refuse_masked
from trueedge.graph import interaction_storage
from trueedge.graph.freezing import FrozenFields
from trueedge.graph.interaction_files import read_path
from trueedge.graph.interaction_tables import InteractionList, read_table
from trueedge.graph.knowledge import KnowledgeGraph
from trueedge.graph.validation import MAX_NODES, Handling, check_labels
from trueedge.html import facts_html, shortened

OWNER = "Interactions.from_pairs"


@dataclass(frozen=True, eq=False)
class Interactions(FrozenFields):
    """Which users interacted with which items. Make one with :meth:`from_pairs`.

    Attributes:
        pairs: int32 array (m, 2) of a user and an item, sorted, each once.
        num_users: the number of users.
        num_items: the number of items.
        users: the name of each user, or None.
        items: the name of each item, or None.
        ratings: float64 (m,), or None.
        times: float64 (m,), when each interaction happened, or None.
        test: bool (m,), the published test part, or None.
        knowledge: a knowledge graph whose first entities are the items, in the same order, or None.
        name: the name of the data.
        notes: what was done to the input, one sentence each.
    """

    pairs: NDArray[np.int32]
    num_users: int
    num_items: int
    users: tuple[str, ...] | None = None
    items: tuple[str, ...] | None = None
    ratings: NDArray[np.float64] | None = None
    times: NDArray[np.float64] | None = None
    test: NDArray[np.bool_] | None = None
    knowledge: KnowledgeGraph | None = None
    name: str = "interactions"
    notes: tuple[str, ...] = ()

    @classmethod
    def from_pairs(
        cls,
        pairs: ArrayLike,
        num_users: int | None = None,
        num_items: int | None = None,
        *,
        users: Iterable[object] | None = None,
        items: Iterable[object] | None = None,
        ratings: ArrayLike | None = None,
        times: ArrayLike | None = None,
        test: ArrayLike | None = None,
        knowledge: KnowledgeGraph | None = None,
        name: str = "interactions",
        repeats: Handling = "refuse",
    ) -> Self:
        """Build interactions from ids.

        Args:
            pairs: int array (m, 2): a user and an item each, both numbered from 0.
            num_users: the number of users; by default the largest id + 1.
            num_items: the number of items; by default the largest id + 1.
            users: the names of the users by id.
            items: the names of the items by id.
            ratings: numbers (m,), not negative.
            times: numbers (m,), when each interaction happened.
            test: bool (m,), which pairs are a published test part.
            knowledge: a knowledge graph whose first entities are the items, in the same order.
            name: the name of the data.
            repeats: ``"refuse"`` a pair that occurs again, or ``"drop"`` it: the latest one is kept if there
                are times, else the first one.
        """
        if repeats not in ("refuse", "drop"):
            raise must_be("repeats", OWNER, "'refuse' or 'drop'", repeats)
        ids = _as_ids(pairs)
        names = {"users": users, "items": items}
        labels: dict[str, Any] = {}
        counts = {}
        for column, (noun, asked) in enumerate({"users": num_users, "items": num_items}.items()):
            listed = names[noun]
            given = None if listed is None else tuple(map(str, listed))
            counts[noun] = _count(ids[:, column], noun, asked, given)
            labels[noun] = None if given is None else check_labels(given, counts[noun], noun)
        columns: dict[str, Any] = {
            "ratings": _numbers(ratings, len(ids), "ratings"),
            "times": _numbers(times, len(ids), "times"),
            "test": _marks(test, len(ids)),
        }
        _check_ratings(columns["ratings"])
        order, again = _order(ids, columns["times"], counts["items"])
        notes: tuple[str, ...] = ()
        if again.any():
            row = int(order[again].min())
            if repeats == "refuse":
                raise InputError(
                    f"row {row}: user {_said(ids[row, 0], labels['users'])} has item"
                    f" {_said(ids[row, 1], labels['items'])} twice; repeats='drop' keeps one of them"
                )
            count = int(again.sum())
            notes = (f"dropped {count} repeated interaction{'' if count == 1 else 's'}",)
        kept = order[~again]
        return cls(
            pairs=np.ascontiguousarray(ids[kept]),
            num_users=counts["users"],
            num_items=counts["items"],
            **labels,
            **{noun: None if column is None else column[kept] for noun, column in columns.items()},
            knowledge=knowledge,
            name=name,
            notes=notes,
        )

    @classmethod
    def from_table(
        cls,
        table: object,
        *,
        users: str | int | None = None,
        items: str | int | None = None,
        ratings: str | int | None = None,
        times: str | int | None = None,
        header: bool | None = None,
        name: str | None = None,
        repeats: Handling = "drop",
    ) -> Self:
        """Build interactions from a table with one interaction in each row; ids may be any text.

        >>> Interactions.from_table({"user": ["ann", "bob", "bob"], "item": ["tea", "tea", "rice"]})
        Interactions(interactions: 2 users, 2 items, 3 interactions)

        Args:
            table: a dict of columns, a data frame (pandas, polars, pyarrow), or the path of a csv, tsv or
                parquet file.
            users: the column of users, its name or its number from 0; by default the one with a usual name
                (``user``, ``user_id``, …). In a text file without a header, the columns are user, item,
                rating and time, or user, item and time.
            items: the column of items.
            ratings: the column of ratings, numbers that are not negative; it may be missing.
            times: the column of times, numbers or dates such as ``2020-01-31``; it may be missing.
            header: whether the first line of a text file names the columns; None detects it.
            name: the name of the data; by default the file's name.
            repeats: ``"refuse"`` a pair that occurs again, or ``"drop"`` it and keep the latest one.
        """
        if name is None:
            is_path = isinstance(table, (str, os.PathLike))
            name = Path(table).name.split(".")[0] if is_path else "interactions"  # type: ignore[arg-type]
        return cls.from_list(read_table(table, users, items, ratings, times, header), name, repeats)

    @classmethod
    def from_path(
        cls, path: str | os.PathLike[str], *, name: str | None = None, header: bool | None = None
    ) -> Self:
        """Read a file or a folder of interactions; repeated ones are dropped.

        A file is a table, see :meth:`from_table`, or RecBole's ``X.inter`` with ``X.kg`` and ``X.link`` next
        to it. A folder is one of these:

        - KGAT: ``train.txt`` and ``test.txt`` (a user and its items in each line), ``kg_final.txt`` and lists
          of names. The test part is kept. A pair that is in both is left out of the training part.
        - RecBole: ``X.inter``, with ``X.kg`` and ``X.link`` if there is a knowledge graph.
        - KGCN: a table such as ``ratings.csv``, with ``kg.txt`` and ``item_index2entity_id.txt`` if there is
          a knowledge graph. Items that are not in the map are left out.

        Args:
            path: the file or folder.
            name: the name of the data; by default that of the file or folder.
            header: whether the first line of a table names the columns; None detects it.
        """
        called, found = read_path(path, name, header)
        return cls.from_list(found, called)

    @classmethod
    def from_list(cls, found: InteractionList, name: str, repeats: Handling = "drop") -> Self:
        """Build interactions from what a reader of files found; its notes are kept."""
        given: dict[str, Any] = {**found.counts, **found.columns}
        made = cls.from_pairs(found.pairs, **given, knowledge=found.knowledge, name=name, repeats=repeats)
        return replace(made, notes=(*found.notes, *made.notes))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.knowledge is not None and self.knowledge.num_entities < self.num_items:
            raise InputError(
                f"{self.name}: the items are the first entities of its knowledge graph, but it has"
                f" {self.knowledge.num_entities} entities and {self.num_items} items"
            )

    @property
    def num_interactions(self) -> int:
        """Return the number of interactions."""
        return len(self.pairs)

    @property
    def num_entities(self) -> int:
        """Return the number of entities, items included."""
        return self.num_items if self.knowledge is None else self.knowledge.num_entities

    @cached_property
    def by_user(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return where the items of each user start, int64 (users + 1,), and the items, int32 (m,)."""
        return lists_of(self.pairs, self.num_users)

    @cached_property
    def user_counts(self) -> NDArray[np.int64]:
        """Return the number of items of each user, int64 (users,)."""
        return np.bincount(self.pairs[:, 0], minlength=self.num_users)

    @cached_property
    def item_counts(self) -> NDArray[np.int64]:
        """Return the number of users of each item, int64 (items,): its popularity."""
        return np.bincount(self.pairs[:, 1], minlength=self.num_items)

    def keep(self, kept: NDArray[np.bool_]) -> Self:
        """Return the same users, items and knowledge with some of the interactions, bool (m,)."""
        columns: dict[str, Any] = {
            noun: None if column is None else column[kept]
            for noun, column in (("ratings", self.ratings), ("times", self.times), ("test", self.test))
        }
        return replace(self, pairs=np.ascontiguousarray(self.pairs[kept]), **columns)

    @cached_property
    def hash(self) -> str:
        """Return a SHA-256 of the interactions, the knowledge graph and all names."""
        digest = hashlib.sha256(f"interactions {self.num_users} {self.num_items}".encode())
        for noun, array in interaction_storage.arrays_of(self).items():
            digest.update(f"|{noun}|{array.shape}|".encode())
            digest.update(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes())
        digest.update(json.dumps([self.users, self.items]).encode())
        digest.update(b"" if self.knowledge is None else self.knowledge.hash.encode())
        return digest.hexdigest()

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the interactions into a folder: arrays, ``graph.json`` and ``knowledge/``."""
        interaction_storage.save(self, Path(folder))

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Read interactions that :meth:`save` wrote, and compare them with their hash."""
        return interaction_storage.load(cls, Path(folder))

    def __repr__(self) -> str:
        known = "" if self.knowledge is None else f", {self.knowledge.num_triples:,} triples"
        return (
            f"Interactions({shortened(self.name)}: {self.num_users:,} users,"
            f" {self.num_items:,} items, {self.num_interactions:,} interactions{known})"
        )

    def _repr_html_(self) -> str:
        facts = {
            "users": self.num_users,
            "items": self.num_items,
            "interactions": self.num_interactions,
            "triples": None if self.knowledge is None else self.knowledge.num_triples,
            "times": None if self.times is None else "yes",
            "notes": "; ".join(self.notes),
        }
        return facts_html(f"Interactions {self.name}", facts)


def lists_of(pairs: NDArray[np.int32], count: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return where the second ids of each first id start, int64 (count + 1,), and those ids, ascending."""
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    starts = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(pairs[:, 0], minlength=count), out=starts[1:])
    return starts, np.ascontiguousarray(pairs[order, 1])


def check_pairs(pairs: NDArray[Any], data: Interactions, what: str) -> NDArray[np.int32]:
    """Return pairs of users and items, int32 (n, 2), or raise an InputError if they do not fit the data."""
    if pairs.dtype != np.int32 or pairs.ndim != 2 or pairs.shape[1] != 2 or not len(pairs):
        raise InputError(f"{what} must be int32 (n, 2), got {pairs.dtype} {pairs.shape}")
    for column, noun, count in ((0, "user", data.num_users), (1, "item", data.num_items)):
        wrong = (pairs[:, column] < 0) | (pairs[:, column] >= count)
        if wrong.any():
            raise InputError(
                f"{what}: there is no {noun} {pairs[wrong.argmax(), column]}, only {count} {noun}s"
            )
    return pairs


def _as_ids(pairs: ArrayLike) -> NDArray[np.int32]:
    refuse_masked(pairs, "pairs")
    try:
        ids = np.asarray(pairs)
    except (TypeError, ValueError, RuntimeError):
        raise must_be("pairs", OWNER, "an int array (m, 2)", type(pairs).__name__) from None
    if ids.ndim != 2 or ids.shape[1] != 2:
        raise InputError(f"{OWNER}: pairs must have the shape (m, 2), got {ids.shape}")
    if not len(ids):
        raise InputError("there are no interactions")
    if ids.dtype.kind not in "iu":
        raise InputError(f"{OWNER}: pairs must be whole numbers, got {ids.dtype}")
    wrong = ((ids < 0) | (ids >= MAX_NODES)).any(axis=1)
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(f"row {row}: ids go from 0 to {MAX_NODES - 1}, got {tuple(ids[row].tolist())}")
    return ids.astype(np.int32)


def _count(ids: NDArray[np.int32], noun: str, asked: int | None, names: tuple[str, ...] | None) -> int:
    largest = int(ids.max())
    count = largest + 1 if names is None else len(names)
    if asked is not None:
        count = whole_number(f"num_{noun}", OWNER, asked, 1, MAX_NODES)
    if largest >= count:
        row = int((ids >= count).argmax())
        raise InputError(f"row {row}: there is no {noun[:-1]} {ids[row]}, only {count} {noun}")
    return count


def _numbers(values: ArrayLike | None, count: int, noun: str) -> NDArray[np.float64] | None:
    if values is None:
        return None
    refuse_masked(values, noun)
    try:
        column = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, RuntimeError):
        raise InputError(f"{noun} must be numbers, one for each interaction") from None
    if column.shape != (count,):
        raise InputError(f"{noun} have the shape {column.shape}, but there are {count} interactions")
    wrong = ~np.isfinite(column)
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(f"row {row}: {noun[:-1]} {column[row]} is not a finite number")
    return column


def _check_ratings(ratings: NDArray[Any] | None) -> None:
    if ratings is not None and (ratings < 0).any():
        row = int((ratings < 0).argmax())
        raise InputError(f"row {row}: the rating {ratings[row]:g} is negative")


def _marks(values: ArrayLike | None, count: int) -> NDArray[np.bool_] | None:
    if values is None:
        return None
    marks = np.asarray(values)
    if marks.shape != (count,) or marks.dtype != np.bool_:
        raise InputError(f"test must be bool ({count},), got {marks.dtype} {marks.shape}")
    return marks


def _order(
    ids: NDArray[np.int32], times: NDArray[Any] | None, num_items: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the order of rows by user and item, and which of them occur again."""
    keys = ids[:, 0].astype(np.int64) * num_items + ids[:, 1]
    # Of repeated pairs, the latest comes first.
    order = np.argsort(keys, kind="stable") if times is None else np.lexsort((-times, keys))
    again = np.zeros(len(ids), dtype=np.bool_)
    again[1:] = keys[order[1:]] == keys[order[:-1]]
    return order, again


def _said(number: int, names: tuple[str, ...] | None) -> str:
    return str(number) if names is None else repr(names[number])
