"""Files of recommended lists that were made elsewhere."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, with_article
from trueedge.files.arrays import read_array
from trueedge.files.bounds import check_lines
from trueedge.files.columns import find_separator, split_fields
from trueedge.files.named_columns import as_number, word
from trueedge.files.records import PARQUET_ENDINGS, read_json, read_parquet
from trueedge.files.tables import is_missing
from trueedge.files.text import TextFile, as_path, open_text, readable, shown
from trueedge.graph.column_names import end_pairs
from trueedge.graph.interaction_tables import ITEM, USER
from trueedge.metrics.units import plural
from trueedge.scorers.named_ids import NamedIds

TEXT = (".txt", ".csv", ".tsv")
JSON = (".json", ".jsonl", ".ndjson")
#: What the names of files of lists end in; besides, .gz may follow those of texts.
LISTS = (*TEXT, *JSON, *PARQUET_ENDINGS)
# What columns may be called, in lower case; those of nodes and their partners are of lists on plain graphs.
TITLES = {
    "user": ("user_name", "uid", "node"),
    "item": ("item_name", "iid", "partner", "friend", "candidate", "neighbor", "neighbour"),
    "score": ("score", "prediction", "pred", "relevance"),
    "rank": ("rank", "place", "position"),
}
WORDS = {"user": USER.words | USER.others, "item": ITEM.words | ITEM.others}
COMMENTS = ("#", "%")
# So many names of columns are told.
MOST_SHOWN = 8
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
        certain: whether the file says that it holds lists: by ranks, by names of columns, or by no score.
    """

    name: str
    starts: NDArray[np.int64]
    items: NDArray[np.int32]
    values: NDArray[np.float32]
    num_items: int
    certain: bool = True

    @property
    def users(self) -> NDArray[np.int64]:
        """Return the user of each listed item, int64."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

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

    A ``.npy`` file holds an array (users, items). In a text file (``.txt``, ``.csv``, ``.tsv``, plain or
    ``.gz``), JSON or Parquet, each row has a user, an item and, if there are any, a score or a rank. Names of
    the columns (``user``, ``item``, ``score``, ``rank``) come in any order; others are ignored. Without
    names, the columns are user, item and score. Without scores and ranks, the items of a user are listed best
    first.

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
    entries = _Entries(_rows(place), users, items)
    return replace(_scorer(readable(place.name), entries.read(), users, items), certain=entries.certain)


def holds_lists(path: Path) -> bool:
    """Return whether a file has a few columns, or names those of users and items: no vectors of nodes."""
    if path.suffix in (".npy", ".npz"):
        return False
    rows = _rows(path)
    first = rows.names if rows.names is not None else next((fields for _, fields in rows.rows), [])
    return len(first) <= 3 or {"user", "item"} <= set(columns_of(first))


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of a file: the number of each and its fields, and the names of the columns, if it has any."""

    title: str
    error: Callable[[int, str], InputError]
    rows: Iterable[tuple[int, list[str]]]
    names: list[str] | None = None


def _rows(path: Path) -> _Rows:
    plain = path.with_suffix("") if path.suffix == ".gz" else path
    if plain.suffix not in LISTS:
        kinds = ", ".join((".npy", *LISTS))
        raise InputError(f"{readable(path.name)}: a file of recommended lists must end in one of {kinds}")
    if plain.suffix in TEXT:
        text = open_text(path)
        check_lines(text.data, text.packed, BYTES_A_LINE, str(text.path))
        return _Rows(str(text.path), text.error, _fields(text))
    table = read_parquet(path) if plain.suffix in PARQUET_ENDINGS else read_json(open_text(path))
    columns = [["" if is_missing(value) else str(value) for value in column] for column in table.columns]
    rows = enumerate(map(list, zip(*columns, strict=True)))
    return _Rows(str(path), lambda row, what: InputError(f"{table.place(row)}: {what}"), rows, [*table.names])


def _fields(text: TextFile) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the fields of each line that is neither blank nor a comment."""
    separator, first = None, True
    for number, line in enumerate(text.lines, start=1):
        if not line.strip() or line.lstrip().startswith(COMMENTS):
            continue
        separator = find_separator(line) if first else separator
        first = False
        yield number, split_fields(text, number, line, separator)


def columns_of(names: Sequence[str]) -> dict[str, int]:
    """Return the places of the columns that have usual names."""
    found: dict[str, int] = {}
    for what, titles in TITLES.items():
        known = WORDS.get(what, frozenset())
        for place, name in enumerate(names):
            if word(name) in known or _plain(name) in titles:
                found.setdefault(what, place)
    return found


def _plain(name: str) -> str:
    return name.lower().partition(":")[0]


@dataclass(frozen=True, eq=False)
class _Listed:
    """The entries of a file: user, item and how good the item is, and the line of each."""

    error: Callable[[int, str], InputError]
    users: NDArray[np.int64]
    items: NDArray[np.int64]
    worth: NDArray[np.float64]
    lines: NDArray[np.int64]


class _Entries:
    """Reads the rows of a file."""

    def __init__(self, rows: _Rows, users: NamedIds, items: NamedIds) -> None:
        self.rows, self.ids = rows, {"user": users, "item": items}
        self.columns: dict[str, int] = {}
        self.width, self.named, self.listed = 0, False, False

    @property
    def certain(self) -> bool:
        """Return whether the file says that it holds lists."""
        return self.listed or "rank" in self.columns or "score" not in self.columns

    def read(self) -> _Listed:
        """Return all entries."""
        users, items, lines = array("q"), array("q"), array("q")
        worth, ranks = array("d"), array("d")
        if self.rows.names is not None:
            self._begin(0, self.rows.names, certain=True)
        for number, fields in self.rows.rows:
            if not self.width and self._begin(number, fields):
                continue
            if len(fields) != self.width:
                count = "1 column" if len(fields) == 1 else f"{len(fields)} columns"
                what = f"{count}, where the first line has {self.width}"
                raise self.rows.error(number, what)
            users.append(self._id(number, "user", fields))
            items.append(self._id(number, "item", fields))
            lines.append(number)
            if "rank" in self.columns:
                ranks.append(self._number(number, "rank", fields))
            worth.append(self._number(number, "score", fields) if "score" in self.columns else -len(lines))
        if not lines:
            raise InputError(f"{self.rows.title} lists no items")
        columns = [np.array(column) for column in (users, items, worth, lines)]
        found = _Listed(self.rows.error, *columns)
        if ranks:
            return self._by_rank(found, np.array(ranks))
        if "score" in self.columns and not self.named:
            self._refuse_ranks(found)
        return found

    def _by_rank(self, found: _Listed, ranks: NDArray[np.float64]) -> _Listed:
        """Return entries by their ranks; scores that put them in another order are refused."""
        if "score" in self.columns:
            order = np.lexsort((-found.worth, ranks, found.users))
            user, rank, worth = found.users[order], ranks[order], found.worth[order]
            wrong = (user[1:] == user[:-1]) & (rank[1:] > rank[:-1]) & (worth[1:] > worth[:-1])
            if wrong.any():
                row = int(order[int(wrong.argmax()) + 1])
                name = self.ids["user"].name_of(int(found.users[row]))
                what = f"ranks and scores of {self.ids['user'].noun} {name} disagree: leave out one of them"
                raise found.error(int(found.lines[row]), what)
        return replace(found, worth=-ranks)

    def _refuse_ranks(self, found: _Listed) -> None:
        """Raise an InputError for a third column without a name that counts the items of each user."""
        order = np.argsort(found.users, kind="stable")
        users = found.users[order]
        first = np.searchsorted(users, users)
        place = np.arange(len(users)) - first
        if place.any() and any(np.array_equal(found.worth[order], place + start) for start in (0, 1)):
            raise found.error(
                int(found.lines[0]),
                "the third column counts the items of each user, as ranks do, but without a name it is read"
                " as a score, where more is better: write a first line such as user,item,rank",
            )

    def _begin(self, number: int, fields: Sequence[str], certain: bool = False) -> bool:
        """Decide what the columns are; return whether the first line holds their names."""
        self.width = len(fields)
        known = [ids.find(field) is not None for ids, field in zip(self.ids.values(), fields, strict=False)]
        self.columns = columns_of(fields)
        self.listed = {"user", "item"} <= set(self.columns)
        ends = [] if self.listed else end_pairs([_plain(field) for field in fields])
        if len(ends) == 1:
            # As in a file of pairs.
            self.columns |= dict(zip(("user", "item"), ends[0], strict=True))
        if {"user", "item"} <= set(self.columns) and (certain or not all(known)):
            self.named = True
            return True
        if certain:
            there = ", ".join(map(shown, fields[:MOST_SHOWN])) + (", …" if len(fields) > MOST_SHOWN else "")
            nouns = " and ".join(f"a column of {plural(ids.noun)}" for ids in self.ids.values())
            raise self.rows.error(number, f"{nouns} are needed, there are {there}")
        if self.width not in (2, 3):
            count = "1 column" if self.width == 1 else f"{self.width} columns"
            first, second = (with_article(ids.noun) for ids in self.ids.values())
            second = "a partner" if second == first else second
            what = f"{count}: a line has {first}, {second} and, if there is one, a score"
            raise self.rows.error(number, f"{what}; name the columns if there are others")
        self.columns = dict(zip(("user", "item", "score"), range(self.width), strict=False))
        self.listed = False
        return False

    def _id(self, number: int, what: str, fields: Sequence[str]) -> int:
        ids, text = self.ids[what], fields[self.columns[what]]
        found = ids.find(text)
        if found is None:
            raise self.rows.error(number, f"there is no {ids.noun} {shown(text)}")
        return found

    def _number(self, number: int, what: str, fields: Sequence[str]) -> float:
        text = fields[self.columns[what]]
        found = as_number(text)
        if found is None:
            raise self.rows.error(number, f"the {what} {shown(text)} is not a finite number")
        return found


def _scorer(name: str, found: _Listed, users: NamedIds, items: NamedIds) -> ListScorer:
    order = np.lexsort((found.worth, found.items, found.users))
    keys = found.users[order] * items.count + found.items[order]
    again = np.flatnonzero(keys[1:] == keys[:-1]) + 1
    if again.size:
        row = max(int(order[again[0]]), int(order[again[0] - 1]))
        user, item = users.name_of(int(found.users[row])), items.name_of(int(found.items[row]))
        raise found.error(int(found.lines[row]), f"{users.noun} {user} has {items.noun} {item} twice")
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
