"""Interactions in KGAT's format: ``train.txt``, ``test.txt``, and a knowledge graph of numbers.

Wang et al., KGAT: Knowledge Graph Attention Network for Recommendation, KDD 2019.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.number_rows import NumberRows, read_number_rows
from trueedge.files.text import open_text
from trueedge.graph.interaction_tables import InteractionList
from trueedge.graph.item_entities import Numbering, read_numbering
from trueedge.graph.knowledge import KnowledgeGraph
from trueedge.graph.pairs import in_sorted
from trueedge.graph.validation import MAX_NODES

TRAIN, TEST, TRIPLES = "train.txt", "test.txt", "kg_final.txt"
USERS, ENTITIES, RELATIONS = "user_list.txt", "entity_list.txt", "relation_list.txt"
#: The list of items, and the name KGCN has for it.
ITEMS = ("item_list.txt", "item_index2entity_id.txt")
#: Files that only such a folder has.
MARKS = (TRIPLES, USERS, *ITEMS)
# Without a list, a number far above the count of lines is a slip: it would make as many users or items.
MOST_TIMES, FEW = 64, 1 << 20


def read_kgat(files: Mapping[str, Path], name: str) -> InteractionList:
    """Read files in KGAT's format.

    A line of ``train.txt`` and ``test.txt`` is a user and any number of items. Items are the first entities
    of ``kg_final.txt`` (head, relation, tail), which may be missing, as may the lists of names. A pair that
    is also in the test part is left out of the training part.

    Args:
        files: the path of each file by its name.
        name: the name of the data.
    """
    lists = _Lists.of(files)
    parts = [_Part.read(files[file]) for file in (TRAIN, TEST)]
    counts = {
        "users": lists.count("users", [(part.rows, part.users, part.user_places) for part in parts]),
        "items": lists.count("items", [(part.rows, part.items, part.item_places) for part in parts]),
    }
    notes: list[str] = []
    train, test = (part.unique(counts["items"], notes) for part in parts)
    both = in_sorted(train, test)
    if both.all():
        raise InputError(f"{files[TRAIN]}: all its interactions are in {TEST} too")
    if both.any():
        count = int(both.sum())
        noun = "interaction" if count == 1 else "interactions"
        notes.append(f"left out {count} {noun} of {TRAIN} that {TEST} has too")
    train = train[~both]
    keys = np.concatenate([train, test])
    pairs = np.column_stack([keys // counts["items"], keys % counts["items"]])
    trained, tested = (
        np.bincount(part // counts["items"], minlength=counts["users"]) for part in (train, test)
    )
    cold = int(((tested > 0) & (trained == 0)).sum())
    if cold:
        users = "1 user has" if cold == 1 else f"{cold} users have"
        notes.append(f"{users} test items but no training items")
    columns = {noun: one.names for noun, one in (("users", lists.users), ("items", lists.items)) if one}
    knowledge = _knowledge(files.get(TRIPLES), lists, counts["items"], name, notes)
    return InteractionList(
        pairs=pairs,
        counts={f"num_{noun}": count for noun, count in counts.items()},
        columns={**columns, "test": np.arange(len(keys)) >= len(train)},
        knowledge=knowledge,
        notes=tuple(notes),
    )


@dataclass(frozen=True, eq=False)
class _Lists:
    """The lists of names that a folder has."""

    users: Numbering | None
    items: Numbering | None
    entities: Numbering | None
    relations: Numbering | None

    @classmethod
    def of(cls, files: Mapping[str, Path]) -> _Lists:
        found: dict[str, Numbering | None] = {}
        # Without triples, nothing refers to entities and relations.
        known = TRIPLES in files
        for key, noun, names in (
            ("users", "user", (USERS,)),
            ("items", "item", ITEMS),
            ("entities", "entity", (ENTITIES,) if known else ()),
            ("relations", "relation", (RELATIONS,) if known else ()),
        ):
            there = [files[name] for name in names if name in files]
            found[key] = read_numbering(there[0], noun) if there else None
        return cls(**found)

    def count(self, noun: str, parts: list[tuple[NumberRows, NDArray[np.int64], NDArray[np.int64]]]) -> int:
        """Return how many users or items there are; refuse ids beyond the list."""
        listed: Numbering | None = getattr(self, noun)
        largest = max(int(ids.max(initial=-1)) for _, ids, _ in parts)
        total = sum(len(ids) for _, ids, _ in parts)
        limit = min(MAX_NODES, max(FEW, MOST_TIMES * total)) if listed is None else len(listed)
        for rows, ids, places in parts:
            wrong = ids >= limit
            if wrong.any():
                place = int(wrong.argmax())
                why = (
                    f"the {noun[:-1]} {ids[place]} is too large: {noun} are numbered from 0"
                    if listed is None
                    else f"there is no {noun[:-1]} {ids[place]}, {listed.path.name} has {len(listed)} {noun}"
                )
                raise rows.error(int(places[place]), why)
        return largest + 1 if listed is None else len(listed)


@dataclass(frozen=True, eq=False)
class _Part:
    """The interactions of a file.

    Attributes:
        rows: the file.
        users: int64, the user of each line.
        user_places: where these are among the numbers of the file.
        items: int64, the items of all lines.
        item_places: where these are among the numbers of the file.
        of: int64, the user of each item.
    """

    rows: NumberRows
    users: NDArray[np.int64]
    user_places: NDArray[np.int64]
    items: NDArray[np.int64]
    item_places: NDArray[np.int64]
    of: NDArray[np.int64]

    @classmethod
    def read(cls, path: Path) -> _Part:
        rows = read_number_rows(open_text(path))
        places = rows.starts[:-1]
        users = rows.numbers[places]
        is_item = np.ones(len(rows.numbers), dtype=np.bool_)
        is_item[places] = False
        item_places = np.flatnonzero(is_item)
        if not len(item_places):
            raise InputError(f"{path} is empty: it has no interactions")
        of = np.repeat(users, np.diff(rows.starts) - 1)
        return cls(rows, users, places, rows.numbers[item_places], item_places, of)

    def unique(self, num_items: int, notes: list[str]) -> NDArray[np.int64]:
        """Return a number for each pair, sorted, each once."""
        # Sorting is faster than np.unique, which hashes.
        keys = np.sort(self.of * num_items + self.items)
        keys = keys[np.diff(keys, prepend=-1) > 0]
        again = len(self.items) - len(keys)
        if again:
            noun = "interaction" if again == 1 else "interactions"
            notes.append(f"dropped {again} repeated {noun} of {self.rows.text.path.name}")
        return keys


def _knowledge(
    path: Path | None, lists: _Lists, num_items: int, name: str, notes: list[str]
) -> KnowledgeGraph | None:
    if path is None:
        return None
    rows = read_number_rows(open_text(path))
    triples = rows.table(3, "head, relation and tail")
    if not len(triples):
        raise InputError(f"{path} is empty: it has no triples")
    entities, relations = lists.entities, lists.relations
    if entities is not None and len(entities) < num_items:
        raise InputError(
            f"{entities.path} has {len(entities)} entities, but there are {num_items} items, which come first"
        )
    _check_same(lists)
    counts = []
    for noun, columns, listed, least in (
        ("entity", (0, 2), entities, num_items),
        ("relation", (1,), relations, 0),
    ):
        ids = triples[:, columns]
        limit = min(MAX_NODES, max(FEW, MOST_TIMES * len(triples))) if listed is None else len(listed)
        wrong = (ids >= limit).any(axis=1)
        if wrong.any():
            row = int(wrong.argmax())
            bad = int(ids[row][ids[row] >= limit][0])
            many = "entities" if noun == "entity" else "relations"
            why = (
                f"the {noun} {bad} is too large: {many} are numbered from 0"
                if listed is None
                else f"there is no {noun} {bad}, {listed.path.name} has {len(listed)} {many}"
            )
            raise rows.error(3 * row, why)
        counts.append(max(int(ids.max()) + 1, least) if listed is None else len(listed))
    unused = counts[1] - len(np.unique(triples[:, 1]))
    if unused:
        notes.append("1 relation has no triples" if unused == 1 else f"{unused} relations have no triples")
    graph = KnowledgeGraph.from_triples(
        triples,
        counts[0],
        counts[1],
        entities=None if entities is None else entities.names,
        relations=None if relations is None else relations.names,
        name=name,
        repeats="drop",
    )
    notes += [f"{TRIPLES}: {note}" for note in graph.notes]
    return graph


def _check_same(lists: _Lists) -> None:
    """Refuse an item list whose third column names other entities than the list of entities."""
    if lists.items is None or lists.entities is None or lists.items.third is None:
        return
    for number, (mine, name) in enumerate(zip(lists.items.third, lists.entities.names, strict=False)):
        if mine != name:
            raise InputError(
                f"{lists.items.path}: the item {number} is the entity {mine!r}, but"
                f" {lists.entities.path.name} calls that entity {name!r}"
            )
