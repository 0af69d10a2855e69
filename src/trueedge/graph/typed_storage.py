"""A typed graph as a folder: an array for each part, and names and counts in ``graph.json``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.arrays import read_array
from trueedge.files.cards import read_json
from trueedge.files.writing import replacing
from trueedge.graph.typed_parts import Labels, Relation

if TYPE_CHECKING:
    from trueedge.graph.typed import HeteroGraph

FORMAT = "trueedge typed graph"
VERSION = 1
# It holds the names of the nodes: room for tens of millions.
MOST_CARD = 1 << 30
SPARSE = ("data", "indices", "indptr")


def arrays_of(graph: HeteroGraph) -> dict[str, NDArray[Any]]:
    """Return all arrays of a graph by name."""
    found: dict[str, NDArray[Any]] = {"starts": graph.starts}
    found |= {f"edges_{number}": pairs for number, pairs in enumerate(graph.edges)}
    for number, table in enumerate(graph.features):
        if hasattr(table, "indptr"):
            kinds = (np.float32, np.int32, np.int64)
            for part, kind in zip(SPARSE, kinds, strict=True):
                found[f"features_{number}_{part}"] = getattr(table, part).astype(kind, copy=False)
        elif table is not None:
            found[f"features_{number}"] = np.asarray(table)
    if graph.labels is not None:
        found |= {"label_nodes": graph.labels.nodes, "label_values": graph.labels.values}
        if graph.labels.test is not None:
            found["label_test"] = graph.labels.test
    return found


def save(graph: HeteroGraph, folder: Path) -> None:
    """Write a typed graph into a folder; the description is written last."""
    arrays = arrays_of(graph)
    card = {
        "format": FORMAT,
        "version": VERSION,
        "hash": graph.hash,
        "name": graph.name,
        "notes": list(graph.notes),
        "node_types": list(graph.node_types),
        "relations": [list(one) for one in graph.relations],
        "widths": [None if table is None else table.shape[1] for table in graph.features],
        "label_type": None if graph.labels is None else graph.labels.type,
        "classes": None if graph.labels is None else list(graph.labels.classes),
        "names": None if graph.names is None else list(graph.names),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "graph.json").unlink(missing_ok=True)
        for name, array in arrays.items():
            with replacing(folder / f"{name}.npy") as draft, draft.open("wb") as file:
                np.save(file, array, allow_pickle=False)
        with replacing(folder / "graph.json") as draft:
            draft.write_text(json.dumps(card, indent=1))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{folder} cannot be written: {reason}") from None


def load(cls: type[HeteroGraph], folder: Path) -> HeteroGraph:
    """Read a typed graph that :func:`save` wrote."""
    none, damaged = f"{folder} is not a saved typed graph", f"{folder} is damaged: graph.json"
    card = read_json(folder / "graph.json", absent=none, damaged=damaged, most=MOST_CARD)
    if not isinstance(card, dict) or card.get("format") != FORMAT:
        raise InputError(f"{none}: its graph.json is something else")
    if card.get("version") != VERSION:
        raise InputError(f"{folder} has format version {card.get('version')!r}, only {VERSION} can be read")
    try:
        graph = _graph(cls, card, {path.stem: read_array(path) for path in sorted(folder.glob("*.npy"))})
    except KeyError as error:
        raise InputError(f"{folder} is damaged: {error} is missing") from None
    except (InputError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise InputError(f"{folder} is damaged: {error}") from None
    if card.get("hash") != graph.hash:
        raise InputError(f"{folder} is damaged: its content is not what was saved (the hash differs)")
    return graph


def _graph(cls: type[HeteroGraph], card: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> HeteroGraph:
    from scipy.sparse import csr_array

    counts = np.diff(arrays["starts"])
    features: list[Any] = []
    for number, width in enumerate(card["widths"]):
        if width is None:
            features.append(None)
        elif f"features_{number}_data" in arrays:
            parts = tuple(arrays[f"features_{number}_{part}"] for part in SPARSE)
            features.append(csr_array(parts, shape=(int(counts[number]), int(width))))
        else:
            features.append(arrays[f"features_{number}"])
    labels = None
    if card["label_type"] is not None:
        labels = Labels(
            int(card["label_type"]),
            arrays["label_nodes"],
            arrays["label_values"],
            tuple(map(str, card["classes"])),
            arrays.get("label_test"),
        )
    relations = tuple(Relation(str(name), int(a), int(b)) for name, a, b in card["relations"])
    return cls(
        tuple(map(str, card["node_types"])),
        arrays["starts"],
        relations,
        tuple(arrays[f"edges_{number}"] for number in range(len(relations))),
        tuple(features),
        labels,
        None if card["names"] is None else tuple(map(str, card["names"])),
        str(card["name"]),
        tuple(map(str, card["notes"])),
    )
