"""A knowledge graph as a folder: ``triples.npy``, and names and counts in ``graph.json``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from trueedge.errors import InputError
from trueedge.files.arrays import read_array
from trueedge.files.cards import read_json
from trueedge.files.writing import replacing
from trueedge.graph.triples import as_triples, repeated, triple_order
from trueedge.graph.validation import check_labels

if TYPE_CHECKING:
    from trueedge.graph.knowledge import KnowledgeGraph

FORMAT = "trueedge knowledge graph"
VERSION = 1
# It holds the names of the entities: room for tens of millions.
MOST_CARD = 1 << 30
Kind = TypeVar("Kind", bound="KnowledgeGraph")


def save(graph: KnowledgeGraph, folder: Path) -> None:
    """Write a knowledge graph into a folder; the description is written last."""
    card = {
        "format": FORMAT,
        "version": VERSION,
        "hash": graph.hash,
        "name": graph.name,
        "notes": list(graph.notes),
        "entities": list(graph.entities),
        "relations": list(graph.relations),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "graph.json").unlink(missing_ok=True)
        with replacing(folder / "triples.npy") as draft, draft.open("wb") as file:
            np.save(file, graph.triples, allow_pickle=False)
        with replacing(folder / "graph.json") as draft:
            draft.write_text(json.dumps(card, indent=1))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{folder} cannot be written: {reason}") from None


def load(cls: type[Kind], folder: Path) -> Kind:
    """Read a knowledge graph that :func:`save` wrote."""
    none, damaged = f"{folder} is not a saved knowledge graph", f"{folder} is damaged: graph.json"
    card = read_json(folder / "graph.json", absent=none, damaged=damaged, most=MOST_CARD)
    if not isinstance(card, dict) or card.get("format") != FORMAT:
        raise InputError(f"{none}: its graph.json is something else")
    if card.get("version") != VERSION:
        raise InputError(f"{folder} has format version {card.get('version')!r}, only {VERSION} can be read")
    try:
        names = [check_labels(card[key], len(card[key]), key) for key in ("entities", "relations")]
        triples = as_triples(read_array(folder / "triples.npy"), len(names[0]), len(names[1]))
        if repeated(triples).any() or (triple_order(triples) != np.arange(len(triples))).any():
            raise InputError("triples.npy does not hold sorted triples, each once")
        graph = cls(triples, names[0], names[1], str(card["name"]), tuple(map(str, card["notes"])))
    except KeyError as error:
        raise InputError(f"{folder} is damaged: graph.json does not say {error}") from None
    except (InputError, TypeError, ValueError) as error:
        raise InputError(f"{folder} is damaged: {error}") from None
    if card.get("hash") != graph.hash:
        raise InputError(f"{folder} is damaged: its content is not what was saved (the hash differs)")
    return graph
