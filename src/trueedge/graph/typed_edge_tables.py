"""Edges of typed graphs from tables: one for each relation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.arrays import refuse_masked
from trueedge.files.columns import is_word
from trueedge.files.named_columns import Column, find_columns, word
from trueedge.files.tables import UNNAMED, Table, as_table
from trueedge.files.text import shown
from trueedge.graph.column_names import TIMES, WEIGHTS, end_pairs, plain_name, weak_pairs
from trueedge.graph.type_names import ends_like_types
from trueedge.graph.typed_ids import OWNER, NodeKind
from trueedge.graph.typed_parts import Relation
from trueedge.graph.typed_validation import sorted_edges

ENDS = ("source", "target")
# Usual names of the ends of any relation. Others, such as "citing", depend on the direction of the relation.
SOURCES = ("source", "src", "from", "origin", "head", "subject", "sender", "start")
TARGETS = ("target", "tgt", "dst", "dest", "destination", "to", "sink", "tail", "object", "receiver", "end")
AROUND = ("{}", "{}node", "node{}")
USUAL = tuple(
    Column(noun, frozenset(form.format(one) for one in words for form in AROUND))
    for noun, words in zip(ENDS, (SOURCES, TARGETS), strict=True)
)


def read_edges(
    edges: Mapping[tuple[str, str, str], Any],
    kinds: Sequence[NodeKind],
    starts: NDArray[np.int64],
    notes: list[str],
) -> tuple[tuple[Relation, ...], tuple[NDArray[np.int32], ...]]:
    """Return the relations and the edges of each, int32 (m, 2).

    Args:
        edges: the edges of each relation, a table or an array.
        kinds: the nodes of each type.
        starts: the first node of each type.
        notes: what was done to the edges is added to them.
    """
    numbers = {kind.name: number for number, kind in enumerate(kinds)}
    for key in edges:
        if not isinstance(key, tuple) or len(key) != 3 or not all(isinstance(part, str) for part in key):
            raise InputError(f"{OWNER}: a relation is (source type, name, target type), got {key!r}")
        for kind in (key[0], key[2]):
            if kind not in numbers:
                known = ", ".join(map(repr, numbers))
                raise InputError(
                    f"{OWNER}: the relation {key} has an end of type {kind!r}; types are: {known}"
                )
    names = Counter(name for _, name, _ in edges)
    relations, found = [], []
    for (source, name, target), given in edges.items():
        sides = (kinds[numbers[source]], kinds[numbers[target]])
        table, columns = _table_of_ends(given, f"the edges of {name!r}", sides, notes)
        pairs = np.column_stack(
            [
                side.numbers(table, column, noun) + starts[numbers[side.name]]
                for side, column, noun in zip(sides, columns, ENDS, strict=True)
            ]
        )
        once, again = sorted_edges(pairs, int(starts[-1]))
        if again:
            notes.append(f"dropped {again:,} repeated edge{'' if again == 1 else 's'} of {name!r}")
        alone = name if names[name] == 1 else f"{source}-{name}-{target}"
        relations.append(Relation(alone, numbers[source], numbers[target]))
        found.append(once)
    return tuple(relations), tuple(found)


def array_of(given: Any, title: str) -> NDArray[Any]:
    """Return a list, an array or a tensor as an array; masked values are refused."""
    refuse_masked(given, title)
    if hasattr(given, "detach"):
        given = given.detach().cpu()
        # numpy has no bfloat16; float32 holds all its values.
        given = given.float() if str(given.dtype) == "torch.bfloat16" else given
    try:
        return np.asarray(given)
    except ValueError:
        raise InputError(f"{title} must be a table whose rows have the same length") from None


def _table_of_ends(
    given: Any, title: str, sides: tuple[NodeKind, NodeKind], notes: list[str]
) -> tuple[Table, tuple[str, str]]:
    """Return a table of edges, and its columns of sources and targets."""
    if isinstance(given, (list, tuple, np.ndarray)) or hasattr(given, "detach"):
        pairs = array_of(given, title)
        if pairs.size == 0:
            pairs = np.empty((0, 2), dtype=np.int64)
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise InputError(f"{title} must have the shape (m, 2), got {pairs.shape}")
        return Table(title, dict(zip(ENDS, pairs.T, strict=True))), ENDS
    edge: list[str] = []

    def is_header(cells: Sequence[str]) -> bool:
        if len(cells) == 2 and set(cells) != set(ENDS) and _is_edge(cells, str(given), sides):
            edge.extend(cells)
        return not edge

    table = as_table(given, title, is_header)
    if edge:
        notes.append(f"{table.title} has no header: its first line, {','.join(edge)!r}, is an edge")
    columns = _ends_by_name(table, sides, notes)
    unused = [repr(name) for name in table.columns if name not in (*columns, *UNNAMED)]
    if unused:
        plural = "" if len(unused) == 1 else "s"
        verb = "is" if len(unused) == 1 else "are"
        notes.append(f"the column{plural} {', '.join(unused)} of {table.title} {verb} not used")
    return table, columns


def _ends_by_name(table: Table, sides: tuple[NodeKind, NodeKind], notes: list[str]) -> tuple[str, str]:
    """Return the columns of sources and targets.

    They are called ``source`` and ``target``, or as the two node types, or have usual names of ends, or names
    that resemble those of the types. Other names count only where they contradict the order of two columns;
    where they may say something else, a note says how they are read.
    """
    names = [name for name in table.columns if name not in UNNAMED]
    if set(ENDS) <= set(names):
        return ENDS
    types = [word(side.name) for side in sides]
    by_type = tuple(Column(noun, frozenset({one})) for noun, one in zip(ENDS, types, strict=True) if one)
    readings = [
        find_columns(names, wanted, {}, table.title)
        for wanted in (by_type if types[0] != types[1] else (), USUAL)
    ]
    readings.append(ends_like_types(names, (sides[0].name, sides[1].name)))
    for named in readings:
        if set(ENDS) <= set(named):
            return names[named["source"]], names[named["target"]]
    if len(names) != 2:
        table.column(ENDS[0])
        table.column(ENDS[1])
    found = next(filter(None, readings), {})
    pairs = [*end_pairs(names), *weak_pairs(names)]
    _refuse_other_order(table, names, found, pairs)
    if not found and not pairs and any(map(str.isalpha, "".join(names))):
        first, second = map(shown, names)
        notes.append(f"{table.title}: read as source {first}, target {second}")
    return names[0], names[1]


def _refuse_other_order(
    table: Table, names: Sequence[str], found: Mapping[str, int], pairs: Sequence[tuple[int, int]]
) -> None:
    """Raise an InputError if the names of two columns say that they are not a source and a target.

    Args:
        table: the table of edges.
        names: the names of its columns.
        found: the place of the one end that has a usual name, if there is one.
        pairs: pairs of columns with usual names of two ends.
    """
    wrong = any(
        ENDS[place] != noun or plain_name(names[1 - place]) in WEIGHTS | TIMES
        for noun, place in found.items()
    )
    if wrong or (pairs and (0, 1) not in pairs):
        first, second = map(shown, names)
        raise InputError(
            f"{table.title}: the columns {first} and {second} may not be source and target, in this order;"
            " call them 'source' and 'target'"
        )


def _is_edge(cells: Sequence[str], title: str, sides: tuple[NodeKind, NodeKind]) -> bool:
    """Return whether the two cells of a line are an edge: an end is a node, or is no word at all."""
    if not all(map(is_word, cells)):
        return True
    columns = {noun: np.array([cell], dtype=object) for noun, cell in zip(ENDS, cells, strict=True)}
    line = Table(title, columns, (1,))
    return any(
        side.find(line.columns[noun], line, noun)[0] >= 0 for side, noun in zip(sides, ENDS, strict=True)
    )
