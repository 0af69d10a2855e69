"""Files of recommended lists that were made elsewhere."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.arrays import read_array
from trueedge.files.bounds import check_lines
from trueedge.files.columns import find_separator, split_fields
from trueedge.files.text import TextFile, as_path, open_text, readable, shown
from trueedge.scorers.named_ids import NamedIds

TEXT = (".txt", ".csv", ".tsv")
# What columns may be called, in lower case.
TITLES = {
    "user": ("user", "user_id", "userid", "uid", "user_name"),
    "item": ("item", "item_id", "itemid", "iid", "item_name", "product_id"),
    "score": ("score", "prediction", "pred", "relevance"),
    "rank": ("rank", "place", "position"),
}
COMMENTS = ("#", "%")
# The memory of a line until it is an entry of a list.
BYTES_A_LINE = 400


@dataclass(frozen=True, eq=False)
class ListScorer:
    """Scores the listed items of each user above all others, which are tied.

    Attributes:
        name: the file's name, for messages.
        starts: int64 (users + 1,), where the list of each user starts.
        items: int32, the listed items.
        values: float32, their scores: whole numbers from 1, a larger one for a better place.
        num_items: the number of items.
    """

    name: str
    starts: NDArray[np.int64]
    items: NDArray[np.int32]
    values: NDArray[np.float32]
    num_items: int

    def score_candidates(self, users: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the score of every item for each user, float32 (n, items); 0 for those not listed."""
        counts = np.diff(self.starts)[users]
        rows = np.repeat(np.arange(len(users)), counts)
        entries = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts - self.starts[users], counts)
        table = np.zeros((len(users), self.num_items), dtype=np.float32)
        table[rows, self.items[entries]] = self.values[entries]
        return table


def read_item_scores(path: str | Path, users: NamedIds, items: NamedIds) -> Any:
    """Read recommended lists, or an array of all scores.

    A ``.npy`` file holds an array (users, items). In a ``.txt``, ``.csv`` or ``.tsv`` file, plain or ``.gz``,
    each line has a user, an item and, if there are any, a score or a rank. A first line may name the columns
    in any order (``user``, ``item``, ``score``, ``rank``); others are ignored. Without such a line, the
    columns are user, item and score. Without scores and ranks, the items of a user are listed best first.

    Args:
        path: the file.
        users: the users, by name or number.
        items: the items, by name or number.
    """
    place = as_path(path, "a file of recommended lists")
    if not place.exists():
        raise InputError(f"there is no file of recommended lists at {place}")
    if place.suffix == ".npy":
        return read_array(place)
    plain = place.with_suffix("") if place.suffix == ".gz" else place
    if plain.suffix not in TEXT:
        kinds = ", ".join((".npy", *TEXT))
        raise InputError(f"{readable(place.name)}: a file of recommended lists must end in one of {kinds}")
    found = _Lines(open_text(place), users, items).read()
    return _scorer(readable(place.name), found, users, items)


@dataclass(frozen=True, eq=False)
class _Listed:
    """The entries of a file: user, item and how good the item is, and the line of each."""

    text: TextFile
    users: NDArray[np.int64]
    items: NDArray[np.int64]
    worth: NDArray[np.float64]
    lines: NDArray[np.int64]


class _Lines:
    """Reads the lines of a file."""

    def __init__(self, text: TextFile, users: NamedIds, items: NamedIds) -> None:
        self.text, self.ids = text, (users, items)
        self.columns: dict[str, int] = {}
        self.width = 0

    def read(self) -> _Listed:
        """Return all entries."""
        check_lines(self.text.data, self.text.packed, BYTES_A_LINE, str(self.text.path))
        users, items, worth, lines = array("q"), array("q"), array("d"), array("q")
        separator: str | None = None
        for number, line in enumerate(self.text.lines, start=1):
            if not line.strip() or line.lstrip().startswith(COMMENTS):
                continue
            if not self.width:
                separator = find_separator(line)
            fields = split_fields(self.text, number, line, separator)
            if not self.width and self._begin(number, fields):
                continue
            if len(fields) != self.width:
                what = f"{len(fields)} columns, where the first line has {self.width}"
                raise self.text.error(number, what)
            user, item, value = self._entry(number, fields, len(lines))
            users.append(user)
            items.append(item)
            worth.append(value)
            lines.append(number)
        if not lines:
            raise InputError(f"{self.text.path} lists no items")
        return _Listed(self.text, *(np.array(column) for column in (users, items, worth, lines)))

    def _begin(self, number: int, fields: Sequence[str]) -> bool:
        """Decide what the columns are; return whether the first line holds their names."""
        self.width = len(fields)
        known = [ids.find(field) is not None for ids, field in zip(self.ids, fields, strict=False)]
        names = [field.lower().partition(":")[0] for field in fields]
        for what, titles in TITLES.items():
            at = next((place for place, name in enumerate(names) if name in titles), None)
            if at is not None:
                self.columns[what] = at
        if {"user", "item"} <= set(self.columns) and not all(known):
            return True
        if self.width not in (2, 3):
            what = f"{self.width} columns: a line has a user, an item and, if there is one, a score"
            raise self.text.error(number, f"{what}; name the columns if there are others")
        self.columns = dict(zip(("user", "item", "score"), range(self.width), strict=False))
        return False

    def _entry(self, number: int, fields: Sequence[str], place: int) -> tuple[int, int, float]:
        """Return the user, the item and its worth: the higher, the better."""
        user, item = (self._id(number, ids, fields[self.columns[ids.noun]]) for ids in self.ids)
        if "score" in self.columns:
            return user, item, self._number(number, "score", fields)
        if "rank" in self.columns:
            return user, item, -self._number(number, "rank", fields)
        return user, item, -float(place)

    def _id(self, number: int, ids: NamedIds, text: str) -> int:
        found = ids.find(text)
        if found is None:
            raise self.text.error(number, f"there is no {ids.noun} {shown(text)}")
        return found

    def _number(self, number: int, what: str, fields: Sequence[str]) -> float:
        text = fields[self.columns[what]]
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or "_" in text:
            raise self.text.error(number, f"the {what} {shown(text)} is not a finite number")
        return value


def _scorer(name: str, found: _Listed, users: NamedIds, items: NamedIds) -> ListScorer:
    order = np.lexsort((found.worth, found.items, found.users))
    keys = found.users[order] * items.count + found.items[order]
    again = np.flatnonzero(keys[1:] == keys[:-1]) + 1
    if again.size:
        row = max(int(order[again[0]]), int(order[again[0] - 1]))
        user, item = users.name_of(int(found.users[row])), items.name_of(int(found.items[row]))
        raise found.text.error(int(found.lines[row]), f"user {user} has item {item} twice")
    order = np.lexsort((found.worth, found.users))
    listed, worth = found.users[order], found.worth[order]
    new_user = np.concatenate([[True], listed[1:] != listed[:-1]])
    # Equal scores of a user get equal values.
    steps = np.cumsum(new_user | np.concatenate([[True], worth[1:] != worth[:-1]]))
    first = np.maximum.accumulate(np.where(new_user, steps, 0))
    starts = np.zeros(users.count + 1, dtype=np.int64)
    np.cumsum(np.bincount(listed, minlength=users.count), out=starts[1:])
    values = (steps - first + 1).astype(np.float32)
    return ListScorer(name, starts, found.items[order].astype(np.int32), values, items.count)
