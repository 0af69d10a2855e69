"""Items among the entities of a knowledge graph: lists that number them, and graphs that begin with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from trueedge.errors import InputError
from trueedge.files.bounds import check_lines
from trueedge.files.named_columns import Column, NamedColumns
from trueedge.files.text import open_text, shown
from trueedge.graph.knowledge import KnowledgeGraph
from trueedge.graph.validation import MAX_NODES

HEAD = Column("head", frozenset({"head", "h", "subject"}), "entity")
RELATION = Column("relation", frozenset({"relation", "r", "predicate"}), "relation")
TAIL = Column("tail", frozenset({"tail", "t", "object"}), "entity")
TRIPLE = (HEAD, RELATION, TAIL)
# The memory a line takes until it is a name.
BYTES_A_LINE = 400


@dataclass(frozen=True, eq=False)
class Numbering:
    """The names of things that are numbered from 0.

    Attributes:
        path: the file they were read from.
        names: the name of each number.
        third: what the third column says of each, or None if there is none.
    """

    path: Path
    names: tuple[str, ...]
    third: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.names)


def read_numbering(path: Path, noun: str) -> Numbering:
    """Read lines of a name and a number, in any order; numbers go from 0 without gaps.

    Args:
        path: the file; its first line is a header if its second word is not a number.
        noun: what is numbered, for errors.
    """
    text = open_text(path)
    check_lines(text.data, text.packed, BYTES_A_LINE, str(path))
    names: dict[int, str] = {}
    lines: dict[int, int] = {}
    number_of: dict[str, int] = {}
    third: dict[int, str] = {}
    first = True
    for line, content in enumerate(text.lines, start=1):
        fields = [field.strip() for field in content.split("\t")] if "\t" in content else content.split()
        if not any(fields):
            continue
        header, first = first and len(fields) > 1 and not _is_number(fields[1]), False
        if header and not fields[1].lstrip("-").replace(".", "").isdigit():
            continue
        if len(fields) < 2 or not fields[0]:
            raise text.error(line, f"a line has a name and a number, this one is {shown(content.strip())}")
        name = fields[0]
        if not _is_number(fields[1]):
            raise text.error(
                line, f"the number of {noun} {shown(name)} is {shown(fields[1])}, not a number from 0"
            )
        number = int(fields[1]) if len(fields[1]) < len(str(MAX_NODES)) else MAX_NODES
        if number >= MAX_NODES:
            raise text.error(line, f"the number {shown(fields[1])} of {noun} {shown(name)} is too large")
        if number in names:
            both = f"{shown(names[number])} (line {lines[number]}) and {shown(name)}"
            raise text.error(line, f"{both} have the same number {number}")
        if name in number_of:
            raise text.error(line, f"{noun} {shown(name)} occurs again, after line {lines[number_of[name]]}")
        names[number], lines[number], number_of[name] = name, line, number
        if len(fields) > 2:
            third[number] = fields[2]
    if not names:
        raise InputError(f"{path} is empty: it has no rows")
    for number in range(len(names)):
        if number not in names:
            largest = max(names)
            raise text.error(
                lines[largest], f"numbers go up to {largest}, but none of the {len(names)} lines has {number}"
            )
    every = range(len(names))
    return Numbering(
        path,
        tuple(names[number] for number in every),
        tuple(third[number] for number in every) if len(third) == len(names) else None,
    )


def items_first(
    items: Sequence[str], linked: Mapping[str, str], triples: NamedColumns, name: str
) -> KnowledgeGraph:
    """Return a knowledge graph whose first entities are the items.

    An item without an entity is an entity without triples. Other entities come after the items, in the order
    of their first appearance.

    Args:
        items: the names of the items.
        linked: the entity of each item that has one.
        triples: heads, relations and tails.
        name: the name of the graph.
    """
    found = triples.names["entity"]
    code = {entity: place for place, entity in enumerate(found)}
    place = np.full(len(found), -1, dtype=np.int64)
    taken = {*found, *linked.values()}
    labels: list[str] = []
    for number, item in enumerate(items):
        entity = linked.get(item)
        if entity is None:
            entity = item
            while entity in taken:
                entity = f"item {entity}"
            taken.add(entity)
        elif entity in code:
            place[code[entity]] = number
        labels.append(entity)
    others = np.flatnonzero(place < 0)
    place[others] = len(items) + np.arange(len(others))
    labels += [found[one] for one in others.tolist()]
    ids = triples.ids
    table = np.column_stack([place[ids["head"]], ids["relation"], place[ids["tail"]]])
    return KnowledgeGraph.from_triples(
        table, entities=labels, relations=triples.names["relation"], name=name, repeats="drop"
    )


def _is_number(value: str) -> bool:
    return value.isascii() and value.isdigit()
