"""Interactions in KGCN's format: a file of interactions, ``kg.txt`` and a map from items to entities.

Wang et al., Knowledge Graph Convolutional Networks for Recommender Systems, WWW 2019.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from trueedge.errors import InputError
from trueedge.files.named_columns import read_named_columns
from trueedge.files.text import open_text
from trueedge.graph.interaction_tables import InteractionList, as_list, read_rows
from trueedge.graph.item_entities import TRIPLE, items_first, read_numbering

TRIPLES, MAP = "kg.txt", "item_index2entity_id.txt"
#: Files of interactions, by their usual names.
TABLES = (
    *(f"{stem}.{ending}" for stem in ("ratings", "interactions") for ending in ("csv", "dat", "tsv", "txt")),
    *("user_artists.dat", "BX-Book-Ratings.csv", "u.data"),
)


def read_kgcn(files: Mapping[str, Path], table: str, name: str) -> InteractionList:
    """Read files in KGCN's format.

    Every row of the table is an interaction. Items that are not in the map are left out, as KGCN does, and
    so are users without others.

    Args:
        files: the path of each file by its name.
        table: the file of interactions.
        name: the name of the data.
    """
    rows = read_rows(files[table])
    if TRIPLES not in files and MAP not in files:
        return as_list(rows)
    for one, other in ((TRIPLES, MAP), (MAP, TRIPLES)):
        if one not in files:
            folder = files[table].parent
            raise InputError(f"{folder} has {other} but no {one}: a knowledge graph needs both")
    items = read_numbering(files[MAP], "item")
    number_of = {item: number for number, item in enumerate(items.names)}
    known = np.array([number_of.get(item, -1) for item in rows.names["item"]], dtype=np.int64)
    item = known[rows.ids["item"]]
    kept = item >= 0
    if not kept.any():
        raise InputError(f"{files[table]}: none of its items is in {MAP}")
    notes = list(rows.notes)
    if not kept.all():
        left = int((known < 0).sum())
        users = len(np.unique(rows.ids["user"])) - len(np.unique(rows.ids["user"][kept]))
        notes.append(
            f"left out {_count(int((~kept).sum()), 'interaction')} with {_count(left, 'item')} not in {MAP}"
            + (f", and {_count(users, 'user')} without others" if users else "")
        )
    codes, user = np.unique(rows.ids["user"][kept], return_inverse=True)
    triples = read_named_columns(open_text(files[TRIPLES]), TRIPLE)
    linked = {name: str(number) for name, number in number_of.items()}
    graph = items_first(items.names, linked, triples, name)
    notes += [f"{TRIPLES}: {note}" for note in (*triples.notes, *graph.notes)]
    numbers = {f"{noun}s": values[kept] for noun, values in rows.numbers.items()}
    return InteractionList(
        pairs=np.column_stack([user.reshape(-1), item[kept]]),
        columns={
            "users": tuple(rows.names["user"][code] for code in codes.tolist()),
            "items": items.names,
            **numbers,
        },
        knowledge=graph,
        notes=tuple(notes),
    )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
