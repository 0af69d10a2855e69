"""Typed graphs from other libraries, none of which is imported here."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.graph.hgb_labels import MANY_CLASSES, empty_classes
from trueedge.graph.typed_edge_tables import array_of
from trueedge.graph.typed_parts import Labels
from trueedge.graph.typed_tables import from_tables
from trueedge.html import counted

if TYPE_CHECKING:
    from trueedge.graph.typed import HeteroGraph


def from_pyg(cls: type[HeteroGraph], data: Any, name: str = "typed graph") -> HeteroGraph:
    """Build a typed graph from a ``HeteroData`` object of PyTorch Geometric.

    For each node type, ``x`` becomes its features and ``num_nodes`` its size; ``y`` of one node type becomes
    the labels, without those below 0 or NaN: a class, or 0 or 1 for each class. With masks, labelled nodes
    are those in a mask, and ``test_mask`` is the published test part.

    Args:
        cls: the class to build.
        data: a ``HeteroData``, with an ``edge_index`` (2, m) for each edge type.
        name: the name of the graph.
    """
    if not all(hasattr(data, part) for part in ("node_types", "edge_types", "__getitem__")):
        raise InputError(f"from_pyg: a HeteroData of torch_geometric is needed, got {type(data).__name__}")
    for part in ("node_types", "edge_types"):
        if not len(getattr(data, part)):
            ends = [key[0] for key in data.edge_types] if part == "node_types" else []
            hint = (
                f": give the number of nodes of each type, data[{str(ends[0])!r}].num_nodes" if ends else ""
            )
            raise InputError(f"from_pyg: the {type(data).__name__} has no {part.replace('_', ' ')}{hint}")
    _refuse_unknown_types(data)
    nodes: dict[str, int] = {}
    features: dict[str, Any] = {}
    for kind in data.node_types:
        with warnings.catch_warnings():
            # PyG warns where it infers the number of nodes, and may be wrong: then edges are out of range.
            warnings.simplefilter("ignore")
            count = data[kind].num_nodes
        if count is None:
            raise InputError(
                f"from_pyg: {kind!r} has no x, so its size is unknown: give data[{kind!r}].num_nodes"
            )
        nodes[str(kind)] = int(count)
        table = getattr(data[kind], "x", None)
        if table is not None:
            features[str(kind)] = _features(table, str(kind))
    edges = {}
    unused = []
    for key in data.edge_types:
        index = getattr(data[key], "edge_index", None)
        if index is None:
            raise InputError(f"from_pyg: the edge type {key} has no edge_index")
        pairs = array_of(index, f"from_pyg: the edge_index of {key}")
        if pairs.ndim != 2 or len(pairs) != 2:
            raise InputError(
                f"from_pyg: the edge_index of {key} must have the shape (2, m), got {pairs.shape}"
            )
        source, relation, target = map(str, key)
        edges[source, relation, target] = pairs.T
        unused += [f"{one} of {key} is not used" for one in data[key].to_dict() if one != "edge_index"]
    graph = from_tables(cls, nodes, edges, features=features, name=name)
    graph = replace(graph, notes=(*graph.notes, *unused)) if unused else graph
    labelled = [kind for kind in data.node_types if getattr(data[kind], "y", None) is not None]
    if not labelled:
        return graph
    if len(labelled) > 1:
        names = " and ".join(map(repr, labelled[:2]))
        raise InputError(f"from_pyg: only one node type can have labels, but {names} have y")
    return _with_labels(graph, data, labelled[0])


def _refuse_unknown_types(data: Any) -> None:
    """Refuse ends of edges whose type has no entry, so that its size is unknown."""
    for source, _, target in data.edge_types:
        for kind in (source, target):
            if kind not in data.node_types:
                raise InputError(
                    f"from_pyg: no node has the type {kind!r}, but edges do: give data[{kind!r}].num_nodes"
                )


def _with_labels(graph: HeteroGraph, data: Any, kind: str) -> HeteroGraph:
    number = graph.type_number(str(kind))
    title = f"from_pyg: y of {kind!r}"
    values = array_of(data[kind].y, title)
    count = int(np.diff(graph.starts)[number])
    if values.ndim not in (1, 2) or len(values) != count or values.dtype.kind not in "biuf":
        raise InputError(f"{title} must hold a class for each of {count} nodes, got {values.shape}")
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    masks = {part: _mask(data[kind], f"{part}_mask", count) for part in ("train", "val", "test")}
    _refuse_overlap(masks, kind)
    used = [mask for mask in masks.values() if mask is not None]
    chosen = _have_labels(values)
    rows = np.flatnonzero(chosen & np.logical_or.reduce(used) if used else chosen)
    if not len(rows):
        raise InputError(f"from_pyg: no node of type {kind!r} has a label")
    known, classes = _classes(values[rows], title)
    notes = graph.notes
    if masks["val"] is not None and masks["val"].any():
        notes = (*notes, "val_mask is not kept: its nodes can be training or validation nodes")
    labels = Labels(
        number,
        (rows + graph.starts[number]).astype(np.int32),
        known,
        tuple(f"class {one}" for one in range(classes)),
        None if masks["test"] is None else masks["test"][rows],
    )
    return replace(graph, labels=labels, notes=(*notes, *empty_classes(labels)))


def _have_labels(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which nodes have a label, bool (n,): it is missing where all numbers are NaN or below 0."""
    return np.asarray((values >= 0).reshape(len(values), -1).any(axis=1))


def _classes(values: NDArray[Any], title: str) -> tuple[NDArray[Any], int]:
    """Return the classes of nodes as :class:`Labels` has them, and the number of classes."""
    if values.ndim == 2:
        if not np.isin(values, (0, 1)).all():
            raise InputError(f"{title} must hold 0 or 1 for each class")
        return values > 0, values.shape[1]
    if not (np.floor(values) == values).all():
        raise InputError(f"{title} must hold whole numbers")
    largest = int(values.max())
    if largest >= max(MANY_CLASSES, len(values)):
        raise InputError(f"{title} has the class {largest}, but {len(values)} nodes have a label")
    return values.astype(np.int32), largest + 1


def _refuse_overlap(masks: Mapping[str, NDArray[np.bool_] | None], kind: str) -> None:
    """Refuse test nodes that are training or validation nodes, too."""
    test = masks["test"]
    for part in ("train", "val"):
        other = masks[part]
        if test is None or other is None or not (test & other).any():
            continue
        both = np.flatnonzero(test & other)
        raise InputError(
            f"from_pyg: {counted(len(both), 'node')} of type {kind!r}, such as {both[0]}, are in test_mask"
            f" and in {part}_mask"
        )


def _mask(store: Any, name: str, count: int) -> NDArray[np.bool_] | None:
    given = getattr(store, name, None)
    if given is None:
        return None
    mask = array_of(given, f"from_pyg: {name}")
    if mask.dtype != np.bool_ or mask.shape != (count,):
        raise InputError(f"from_pyg: {name} must be bool ({count},), got {mask.dtype} {mask.shape}")
    return mask


def _features(table: Any, kind: str) -> Any:
    """Return features as an array, or as a CSR matrix if they are sparse."""
    if (
        hasattr(table, "to_sparse_csr")
        and getattr(table, "layout", None) is not None
        and "sparse" in str(table.layout)
    ):
        from scipy.sparse import csr_array

        sparse = table.detach().cpu().to_sparse_csr()
        parts = (sparse.values(), sparse.col_indices(), sparse.crow_indices())
        return csr_array(tuple(part.numpy() for part in parts), shape=tuple(sparse.shape))
    return table if hasattr(table, "tocsr") else array_of(table, f"from_pyg: the features of {kind!r}")
