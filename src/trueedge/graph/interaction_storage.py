"""Interactions as a folder: an array for each column, names in ``graph.json``, and ``knowledge/``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from numpy.typing import NDArray

from trueedge.graph.graph_folders import load_graph, save_graph
from trueedge.graph.knowledge import KnowledgeGraph

if TYPE_CHECKING:
    from trueedge.graph.interactions import Interactions

KIND = "interactions"
COLUMNS = ("ratings", "times", "test")
Kind = TypeVar("Kind", bound="Interactions")


def arrays_of(data: Interactions) -> dict[str, NDArray[Any]]:
    """Return all arrays by name, those of the knowledge graph excepted."""
    found = {noun: getattr(data, noun) for noun in COLUMNS if getattr(data, noun) is not None}
    return {"pairs": data.pairs, **found}


def save(data: Interactions, folder: Path) -> None:
    """Write interactions into a folder."""
    if data.knowledge is not None:
        data.knowledge.save(folder / "knowledge")
    card = {
        "hash": data.hash,
        "name": data.name,
        "notes": list(data.notes),
        "num_users": data.num_users,
        "num_items": data.num_items,
        "users": None if data.users is None else list(data.users),
        "items": None if data.items is None else list(data.items),
        "knowledge": data.knowledge is not None,
    }
    save_graph(folder, KIND, card, arrays_of(data))


def load(cls: type[Kind], folder: Path) -> Kind:
    """Read interactions that :func:`save` wrote."""
    return load_graph(folder, KIND, partial(_data, cls, folder))


def _data(cls: type[Kind], folder: Path, card: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Kind:
    given: dict[str, Any] = {noun: arrays.get(noun) for noun in COLUMNS}
    given |= {
        noun: None if card[noun] is None else tuple(map(str, card[noun])) for noun in ("users", "items")
    }
    found = cls.from_pairs(
        arrays["pairs"],
        int(card["num_users"]),
        int(card["num_items"]),
        **given,
        knowledge=KnowledgeGraph.load(folder / "knowledge") if card["knowledge"] else None,
        name=str(card["name"]),
    )
    object.__setattr__(found, "notes", tuple(map(str, card["notes"])))
    return found
