"""A knowledge graph as a folder: ``triples.npy``, and names and counts in ``graph.json``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.graph.graph_folders import load_graph, save_graph
from trueedge.graph.triples import as_triples, repeated, triple_order
from trueedge.graph.validation import check_labels

if TYPE_CHECKING:
    from trueedge.graph.knowledge import KnowledgeGraph

KIND = "knowledge graph"
Kind = TypeVar("Kind", bound="KnowledgeGraph")


def save(graph: KnowledgeGraph, folder: Path) -> None:
    """Write a knowledge graph into a folder."""
    card = {
        "hash": graph.hash,
        "name": graph.name,
        "notes": list(graph.notes),
        "entities": list(graph.entities),
        "relations": list(graph.relations),
    }
    save_graph(folder, KIND, card, {"triples": graph.triples})


def load(cls: type[Kind], folder: Path) -> Kind:
    """Read a knowledge graph that :func:`save` wrote."""

    def make(card: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Kind:
        names = [check_labels(card[key], len(card[key]), key) for key in ("entities", "relations")]
        triples = as_triples(arrays["triples"], len(names[0]), len(names[1]))
        if repeated(triples).any() or (triple_order(triples) != np.arange(len(triples))).any():
            raise InputError("triples.npy does not hold sorted triples, each once")
        return cls(triples, names[0], names[1], str(card["name"]), tuple(map(str, card["notes"])))

    return load_graph(folder, KIND, make)
