"""A graph as a folder: an array for each part, and names and counts in ``graph.json``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.arrays import read_array
from trueedge.files.cards import read_json
from trueedge.files.writing import reason_of, replacing

VERSION = 1
# It holds the names of all nodes: room for tens of millions.
MOST_CARD = 1 << 30
#: The class whose ``load`` reads a folder, by the format that its ``graph.json`` names.
LOADERS = {
    "trueedge graph": "Graph",
    "trueedge knowledge graph": "KnowledgeGraph",
    "trueedge typed graph": "HeteroGraph",
    "trueedge interactions": "Interactions",
}
Kind = TypeVar("Kind", bound=Any)


def save_graph(folder: Path, kind: str, card: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays and a description into a folder; the description is written last.

    Args:
        folder: the folder; it is made if it does not exist.
        kind: what is saved: ``knowledge graph``.
        card: the description, with the graph's ``hash``.
        arrays: the arrays by name.
    """
    said = {"format": f"trueedge {kind}", "version": VERSION, **card}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "graph.json").unlink(missing_ok=True)
        for name, array in arrays.items():
            with replacing(folder / f"{name}.npy") as draft, draft.open("wb") as file:
                np.save(file, array, allow_pickle=False)
        with replacing(folder / "graph.json") as draft:
            draft.write_text(json.dumps(said, indent=1))
    except (OSError, ValueError) as error:
        raise InputError(f"{folder} cannot be written: {reason_of(error)}") from None


def load_graph(
    folder: Path, kind: str, make: Callable[[dict[str, Any], dict[str, NDArray[Any]]], Kind]
) -> Kind:
    """Read a folder that :func:`save_graph` wrote, and compare the graph with its hash.

    Args:
        folder: the folder.
        kind: what is saved.
        make: makes the graph from the description and the arrays; what is missing in them is a KeyError.
    """
    none, damaged = f"{folder} is not a saved {kind}", f"{folder} is damaged: graph.json"
    card = read_json(folder / "graph.json", absent=none, damaged=damaged, most=MOST_CARD)
    if not isinstance(card, dict) or card.get("format") != f"trueedge {kind}":
        raise InputError(f"{none}: {something_else(card)}")
    if card.get("version") != VERSION:
        raise InputError(f"{folder} has format version {card.get('version')!r}, only {VERSION} can be read")
    try:
        graph = make(card, {path.stem: read_array(path) for path in sorted(folder.glob("*.npy"))})
    except KeyError as error:
        raise InputError(f"{folder} is damaged: {error} is missing") from None
    except (InputError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise InputError(f"{folder} is damaged: {error}") from None
    if card.get("hash") != graph.hash:
        raise InputError(f"{folder} is damaged: its content is not what was saved (the hash differs)")
    return graph


def read_format(folder: Path) -> str:
    """Return the format that a ``graph.json`` names; empty if it names none.

    Args:
        folder: the folder of a saved graph.
    """
    none, damaged = f"{folder} is not a saved graph", f"{folder} is damaged: graph.json"
    card = read_json(folder / "graph.json", absent=none, damaged=damaged, most=MOST_CARD)
    named = card.get("format") if isinstance(card, dict) else None
    return named if isinstance(named, str) else ""


def something_else(card: Any) -> str:
    """Say of a ``graph.json`` in an unexpected format what reads it, if anything does."""
    named = card.get("format") if isinstance(card, dict) else None
    reader = LOADERS.get(named) if isinstance(named, str) else None
    return "its graph.json is something else" if reader is None else f"te.{reader}.load reads it"
