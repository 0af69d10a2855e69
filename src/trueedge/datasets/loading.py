"""Read data sets by name, and say where their files are not the published ones."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from trueedge.datasets.dataset import get, is_name, refuse_shadowed
from trueedge.datasets.other_kinds import holds_nothing, refuse_other_kinds, typed_folder_of
from trueedge.datasets.sources import NOT_PUBLISHED, altered_sentences, warn_altered
from trueedge.errors import InputError, must_be
from trueedge.graph import EdgeFormat, Graph, as_graph
from trueedge.graph.saved_graphs import is_saved_graph, load_saved_graph


def load(
    name: str | os.PathLike[str],
    *,
    header: bool | None = None,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | None = None,
    time: str | int | None = None,
    bipartite: bool | None = None,
) -> Any:
    """Read a data set by name, or an edge list or saved graph by path.

    A data set is a Graph, a KnowledgeGraph, a HeteroGraph or Interactions, with all parts; counts that differ
    from its card are an error. A file that is not the published one gives a :class:`trueedge.DataWarning`,
    and a note on the graph. Of an edge list, self-loops and repeated edges are dropped. A folder of triples,
    of a typed graph or of interactions is an error that names what reads it.

    Args:
        name: a data set's name (see :func:`trueedge.datasets.get`), the path of an edge list (text, JSON
            lines or Parquet), or a folder that ``save`` of a graph of any kind wrote.
        header: for an edge list: whether the first line names the columns; None to detect it.
        source: for an edge list: the column of the first end of an edge: its name, or its number from 0.
        target: for an edge list: the column of the second end.
        weight: for an edge list: the column to keep as ``edge_data["weight"]``.
        time: for an edge list: the column to keep as ``edge_data["time"]``.
        bipartite: for an edge list: whether its two columns hold two kinds of nodes, so that user 1 and item
            1 are two nodes; None to detect it.
    """
    if not isinstance(name, (str, os.PathLike)):
        raise must_be("name", "load", "a data set's name or a path", name)
    refuse_shadowed(name)
    asked = EdgeFormat(header, source, target, weight, time, bipartite)
    if not is_name(name):
        refuse_other_kinds(name)
    if not is_name(name) and os.path.isfile(name):
        return _edge_list(name, asked)
    if asked != EdgeFormat():
        given = next(iter(asked.columns), "header" if bipartite is None else "bipartite")
        raise InputError(f"{given} is for an edge list, but {os.fspath(name)} is not a file")
    if not is_name(name) and is_saved_graph(name):
        return load_saved_graph(name)
    if not is_name(name) and os.path.isdir(name):
        raise InputError(holds_nothing(name))
    if isinstance(name, os.PathLike) or "/" in name:
        raise InputError(f"there is no edge list and no saved graph at {os.fspath(name)}")
    return with_altered(get(name).load(), name)


def _edge_list(path: str | os.PathLike[str], asked: EdgeFormat) -> Graph:
    """Read an edge list; of a file that belongs to a typed graph, say so."""
    belongs = typed_folder_of(path)
    try:
        graph = as_graph(path, asked)
    except InputError as error:
        if not belongs:
            raise
        raise InputError(f"{error}; {belongs}") from None
    return replace(graph, notes=(*graph.notes, belongs)) if belongs else graph


def with_altered(graph: Any, name: str, released: str | None = None) -> Any:
    """Return a data set's graph with a note on each of its files that is not the published one, and warn.

    Args:
        graph: the graph, or the training graph of a split.
        name: the data set.
        released: the negatives of the released split that was read, if any.
    """
    notes = altered_sentences(name, released)
    warn_altered(notes, stacklevel=4)
    return replace(graph, notes=(*graph.notes, *notes)) if notes else graph


def altered_notes(graph: Any) -> tuple[str, ...]:
    """Return the notes of a graph on files that are not the published ones."""
    return tuple(note for note in graph.notes if note.endswith(NOT_PUBLISHED))


def without_checksum(name: str, released: str | None = None) -> tuple[str, ...]:
    """Return the files of a data set whose checksum is not known, as paths in a data folder.

    Args:
        name: the data set's name.
        released: the negatives whose released split is included; None for none.
    """
    return tuple(file.path for file in get(name).files_with(released) if file.sha256 is None)
