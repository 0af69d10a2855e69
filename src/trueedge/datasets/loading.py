"""Read data sets by name, and say where their files are not the published ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from trueedge.datasets.dataset import get, refuse_shadowed
from trueedge.datasets.sources import NOT_PUBLISHED, altered_sentences, warn_altered


def load(name: str) -> Any:
    """Read a data set by name: a Graph, a KnowledgeGraph, a HeteroGraph or Interactions, with all parts.

    Counts that differ from its card are an error.

    A file that is not the published one gives a :class:`trueedge.DataWarning`, and a note on the graph.

    Args:
        name: see :func:`trueedge.datasets.get`.
    """
    refuse_shadowed(name)
    return with_altered(get(name).load(), name)


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
    """Return the files of a data set whose checksum is not known, as paths in a data folder."""
    return tuple(file.path for file in get(name).files_with(released) if file.sha256 is None)
