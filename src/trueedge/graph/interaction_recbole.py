"""Interactions in RecBole's atomic files: ``X.inter``, and a knowledge graph in ``X.kg`` and ``X.link``.

Zhao et al., RecBole: Towards a Unified, Comprehensive and Efficient Framework for Recommendation Algorithms,
CIKM 2021.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from trueedge.errors import InputError
from trueedge.files.named_columns import Column, NamedColumns, read_named_columns
from trueedge.files.text import open_text, shown
from trueedge.graph.interaction_tables import COLUMNS, ITEM, InteractionList, as_list
from trueedge.graph.item_entities import TRIPLE, items_first

ENDING = ".inter"
ENTITY = Column("entity", frozenset({"entity", "e"}), "entity")


def read_recbole(files: Mapping[str, Path], stem: str, name: str) -> InteractionList:
    """Read ``X.inter``, and ``X.kg`` with ``X.link`` if they are there.

    Items without a link are entities without triples, and all triples are kept.

    Args:
        files: the path of each file by its name.
        stem: X.
        name: the name of the data.
    """
    path = files[stem + ENDING]
    rows = read_named_columns(open_text(path), COLUMNS, header=True)
    found = as_list(rows)
    triples, link = f"{stem}.kg", f"{stem}.link"
    if triples not in files and link not in files:
        return found
    for one, other in ((triples, link), (link, triples)):
        if one not in files:
            raise InputError(f"{path.parent} has {other} but no {one}: a knowledge graph needs both")
    notes = [*found.notes]
    linked = _links(files[link], rows, notes)
    known = read_named_columns(open_text(files[triples]), TRIPLE, header=True)
    graph = items_first(rows.names["item"], linked, known, name)
    notes += [f"{triples}: {note}" for note in graph.notes]
    return replace(found, knowledge=graph, notes=tuple(notes))


def _links(path: Path, interactions: NamedColumns, notes: list[str]) -> dict[str, str]:
    """Return the entity of each item that has one."""
    rows = read_named_columns(open_text(path), (ITEM, ENTITY), header=True)
    for noun, other in (("item", "entity"), ("entity", "item")):
        _, first = np.unique(rows.ids[noun], return_index=True)
        again = np.ones(len(rows), dtype=np.bool_)
        again[first] = False
        if again.any():
            row = int(again.argmax())
            name = rows.names[noun][rows.ids[noun][row]]
            before = int((rows.ids[noun] == rows.ids[noun][row]).argmax())
            pair = (rows.names[other][rows.ids[other][one]] for one in (before, row))
            raise rows.error(
                row, f"the {noun} {shown(name)} has two {_many(other)}: {' and '.join(map(shown, pair))}"
            )
    items = (rows.names["item"][code] for code in rows.ids["item"])
    entities = (rows.names["entity"][code] for code in rows.ids["entity"])
    linked = dict(zip(items, entities, strict=True))
    every = set(interactions.names["item"])
    unknown = len(linked.keys() - every)
    if unknown == len(linked):
        raise InputError(f"{path}: none of its items is in {Path(interactions.title).name}")
    if unknown:
        who = "1 item has" if unknown == 1 else f"{unknown} items have"
        notes.append(f"{who} a link but no interaction, and {'is' if unknown == 1 else 'are'} left out")
    alone = len(every - linked.keys())
    if alone:
        notes.append(f"{'1 item has' if alone == 1 else f'{alone} items have'} no entity")
    return {item: entity for item, entity in linked.items() if item in every}


def _many(noun: str) -> str:
    return "entities" if noun == "entity" else f"{noun}s"
