"""A graph as a folder: arrays as ``.npy`` files, the rest in ``graph.json``.

The folder of a large graph also holds what is derived from its edges, so that processes that map it into
memory share that too, and none has to compute it.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.arrays import map_array
from trueedge.files.cards import read_json
from trueedge.files.text import as_path
from trueedge.files.writing import reason_of, replacing
from trueedge.graph import tidying
from trueedge.graph.graph_folders import something_else
from trueedge.graph.pairs import pair_keys
from trueedge.graph.validation import check_labels, check_num_nodes, locked

if TYPE_CHECKING:
    from trueedge.graph.graph import Graph

FORMAT = "trueedge graph"
VERSION = 2
# The hash of this version did not cover labels.
UNSEALED_VERSION = 1
UNSEALED = "its labels were not sealed when it was saved: the hash of that format does not cover them"
DERIVED = ("indptr", "indices", "edge_keys")
# It holds the labels of the nodes, about fifteen bytes each: room for seventy million.
MOST_CARD = 1 << 30
# Edges are checked in blocks of this size, so that a mapped graph stays on disk.
EDGES_PER_CHECK = 1 << 20


def save(graph: Graph, folder: str | os.PathLike[str]) -> None:
    """Write a graph into a folder; a graph that was there is replaced, other files stay.

    The description is written last, so that a half-written folder is not taken for a graph.
    """
    place = as_path(folder, "save")
    card = {
        "format": FORMAT,
        "version": VERSION,
        "hash": graph.hash,
        "num_nodes": graph.num_nodes,
        "num_edges": graph.num_edges,
        "num_features": 0 if graph.features is None else graph.features.shape[1],
        "edge_data": list(graph.edge_data),
        "name": graph.name,
        "notes": list(graph.notes),
        "labels": None if graph.labels is None else list(graph.labels),
    }
    if graph.sides is not None:
        card["sides"] = True
    derived: dict[str, NDArray[Any]] = {}
    if graph.num_edges >= tidying.EDGES_WORTH_COMPILING:
        derived = {key: getattr(graph, key) for key in DERIVED}
        card["derived"] = {key: _digest(array) for key, array in derived.items()}
    described = json.dumps(card, indent=1).encode()
    if len(described) > MOST_CARD:
        raise InputError(f"{place} cannot be written: the labels have more than {MOST_CARD:,} bytes")
    try:
        place.mkdir(parents=True, exist_ok=True)
        (place / "graph.json").unlink(missing_ok=True)
        optional = (place / f"{key}.npy" for key in ("features", "sides", *DERIVED))
        for old in (*optional, *place.glob("edge_data_*.npy")):
            old.unlink(missing_ok=True)
        for key, array in {"edges": graph.edges, **derived}.items():
            _write(place / f"{key}.npy", array)
        if graph.features is not None:
            _write(place / "features.npy", graph.features)
        if graph.sides is not None:
            _write(place / "sides.npy", graph.sides)
        for number, column in enumerate(graph.edge_data.values()):
            _write(place / f"edge_data_{number}.npy", column)
        _write(place / "graph.json", described)
    except (OSError, ValueError) as error:  # a name with a NUL in it is a ValueError
        raise InputError(f"{place} cannot be written: {reason_of(error)}") from None


def load(
    cls: type[Graph], folder: str | os.PathLike[str], *, mmap: bool = False, verify: bool = True
) -> Graph:
    """Read a graph that :func:`save` wrote.

    Args:
        cls: the class to build.
        folder: the folder of the graph.
        mmap: leave the arrays on disk and read what is used; processes share them.
        verify: compare the content with its saved hash; this reads all of it.
    """
    place = as_path(folder, "load")
    card = _read_card(place)
    try:
        count, num_edges = check_num_nodes(card["num_nodes"]), card["num_edges"]
        if type(num_edges) is not int:
            raise InputError(f"graph.json has {num_edges!r} for num_edges")
        edges = _read_array(place / "edges.npy", np.int32, (num_edges, 2), mmap)
        _check_edges(edges, count)
        features = None
        if card["num_features"]:
            features = _read_array(place / "features.npy", np.float32, (count, card["num_features"]), mmap)
        columns = {
            str(key): _read_array(place / f"edge_data_{number}.npy", None, (num_edges,), mmap)
            for number, key in enumerate(card["edge_data"])
        }
        labels = None if card["labels"] is None else check_labels(card["labels"], count)
        unsealed = card["version"] == UNSEALED_VERSION
        notes = tuple(card["notes"]) + ((UNSEALED,) if unsealed and labels is not None else ())
        sides = _read_array(place / "sides.npy", np.int8, (count,), mmap) if card.get("sides") else None
        graph = cls(count, edges, features, labels, columns, str(card["name"]), notes, sides)
        if mmap and "derived" in card:
            _attach_derived(graph, place, dict(card["derived"]) if verify else None)
    except KeyError as error:
        raise InputError(f"{place} is damaged: graph.json does not say {error}") from None
    except (InputError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise InputError(f"{place} is damaged: {error}") from None
    if verify and card.get("hash") != (graph.hash_without_labels if unsealed else graph.hash):
        raise InputError(f"{place} is damaged: its content is not what was saved (the hash differs)")
    return graph


def _write(path: Path, content: NDArray[Any] | bytes) -> None:
    with replacing(path) as draft, draft.open("wb") as file:
        if isinstance(content, bytes):
            file.write(content)
        else:
            np.save(file, content, allow_pickle=False)


def _read_card(place: Path) -> dict[str, Any]:
    none = f"{place} is not a saved graph"
    damaged = f"{place} is damaged: graph.json"
    card = read_json(place / "graph.json", absent=none, damaged=damaged, most=MOST_CARD)
    if not isinstance(card, dict) or card.get("format") != FORMAT:
        raise InputError(f"{none}: {something_else(card)}")
    version = card.get("version")
    if type(version) is not int or not UNSEALED_VERSION <= version <= VERSION:
        raise InputError(f"{place} has format version {version!r}, but only 1 to {VERSION} can be read")
    return card


def _read_array(path: Path, dtype: type | None, shape: tuple[int, ...], mmap: bool) -> NDArray[Any]:
    # A map first, whatever is asked for: it checks that the file is as long as its head says.
    mapped = map_array(path, path.name)
    if mapped.shape != shape:
        raise InputError(f"{path.name} does not have the shape {shape}")
    native = mapped.dtype.newbyteorder("=")
    if native.kind not in "biuf" or (dtype is not None and native != dtype):
        raise InputError(f"{path.name} holds values of type {mapped.dtype}")
    # A memory map is a subclass that compiled code does not know: hand out the plain view of it.
    plain = np.asarray(mapped, dtype=native, order="C") if mmap else np.array(mapped, dtype=native, order="C")
    return locked(plain)


def _check_edges(edges: NDArray[np.int32], num_nodes: int) -> None:
    # Compiled code trusts these arrays: an id out of range would read foreign memory.
    good = edges.min(initial=0) >= 0 and edges.max(initial=0) < num_nodes
    for first in range(0, len(edges), EDGES_PER_CHECK):
        # One edge of the next block too: blocks must be in order.
        block = edges[first : first + EDGES_PER_CHECK + 1]
        keys = pair_keys(block, num_nodes)
        good &= bool((block[:, 0] < block[:, 1]).all() and (keys[1:] > keys[:-1]).all())
    if not good:
        raise InputError("edges.npy does not hold sorted edges of that graph")


def _attach_derived(graph: Graph, place: Path, digests: dict[str, Any] | None) -> None:
    """Let a graph use the arrays that were derived from its edges when it was saved."""
    ends = 2 * graph.num_edges
    shapes: tuple[tuple[type, int], ...] = (
        (np.int64, graph.num_nodes + 1),
        (np.int32, ends),
        (np.int64, graph.num_edges),
    )
    found = {
        key: _read_array(place / f"{key}.npy", dtype, (length,), mmap=True)
        for key, (dtype, length) in zip(DERIVED, shapes, strict=True)
    }
    indptr, indices, keys = found.values()
    rows = indptr[0] == 0 and indptr[-1] == ends and bool((indptr[1:] >= indptr[:-1]).all())
    if not rows or indices.min(initial=0) < 0 or indices.max(initial=0) >= graph.num_nodes:
        raise InputError("indptr.npy and indices.npy do not hold the neighbours in that graph")
    for key, array in found.items():
        if digests is not None and digests.get(key) != _digest(array):
            raise InputError(f"{key}.npy is not what was saved (the hash differs)")
    # Where the graph would keep what it derives itself.
    graph.__dict__.update(_csr=(indptr, indices), edge_keys=keys)


def _digest(array: NDArray[Any]) -> str:
    plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return hashlib.sha256(plain.reshape(-1).view(np.uint8).data).hexdigest()
