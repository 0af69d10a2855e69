"""Typed graphs from other libraries, none of which is imported here."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.graph.typed_parts import Labels
from trueedge.graph.typed_tables import from_tables

if TYPE_CHECKING:
    from trueedge.graph.typed import HeteroGraph


def from_pyg(cls: type[HeteroGraph], data: Any, name: str = "typed graph") -> HeteroGraph:
    """Build a typed graph from a ``HeteroData`` object of PyTorch Geometric.

    For each node type, ``x`` becomes its features and ``num_nodes`` its size; ``y`` of one node type becomes
    the labels, without those below 0. With masks, labelled nodes are those in a mask, and ``test_mask`` is
    the published test part.

    Args:
        cls: the class to build.
        data: a ``HeteroData``, with an ``edge_index`` (2, m) for each edge type.
        name: the name of the graph.
    """
    if not all(hasattr(data, part) for part in ("node_types", "edge_types", "__getitem__")):
        raise InputError(f"from_pyg: a HeteroData of torch_geometric is needed, got {type(data).__name__}")
    for part in ("node_types", "edge_types"):
        if not len(getattr(data, part)):
            raise InputError(f"from_pyg: the {type(data).__name__} has no {part.replace('_', ' ')}")
    nodes: dict[str, int] = {}
    features: dict[str, Any] = {}
    for kind in data.node_types:
        with warnings.catch_warnings():
            # PyG warns where it infers the number of nodes, and may be wrong: then edges are out of range.
            warnings.simplefilter("ignore")
            count = data[kind].num_nodes
        if count is None:
            raise InputError(f"from_pyg: {kind!r} has no num_nodes and no x, so its size is unknown")
        nodes[str(kind)] = int(count)
        table = getattr(data[kind], "x", None)
        if table is not None:
            features[str(kind)] = _features(table)
    edges = {}
    for key in data.edge_types:
        index = getattr(data[key], "edge_index", None)
        if index is None:
            raise InputError(f"from_pyg: the edge type {key} has no edge_index")
        pairs = _array(index)
        if pairs.ndim != 2 or len(pairs) != 2:
            raise InputError(
                f"from_pyg: the edge_index of {key} must have the shape (2, m), got {pairs.shape}"
            )
        source, relation, target = map(str, key)
        edges[source, relation, target] = pairs.T
    graph = from_tables(cls, nodes, edges, features=features, name=name)
    labelled = [kind for kind in data.node_types if getattr(data[kind], "y", None) is not None]
    if not labelled:
        return graph
    if len(labelled) > 1:
        names = " and ".join(map(repr, labelled[:2]))
        raise InputError(f"from_pyg: only one node type can have labels, but {names} have y")
    return _with_labels(graph, data, labelled[0])


def _with_labels(graph: HeteroGraph, data: Any, kind: str) -> HeteroGraph:
    number = graph.type_number(str(kind))
    values = _array(data[kind].y)
    count = int(np.diff(graph.starts)[number])
    if len(values) != count or values.ndim > 2 or values.dtype.kind not in "biuf":
        raise InputError(
            f"from_pyg: y of {kind!r} must hold a class for each of {count} nodes, got {values.shape}"
        )
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    masks = {part: _mask(data[kind], f"{part}_mask", count) for part in ("train", "val", "test")}
    used = [mask for mask in masks.values() if mask is not None]
    chosen = np.logical_or.reduce(used) if used else np.ones(count, dtype=np.bool_)
    notes = graph.notes
    if values.ndim == 1:
        if values.dtype.kind == "f" and not (np.floor(values) == values).all():
            raise InputError(f"from_pyg: y of {kind!r} must hold whole numbers")
        chosen = chosen & (values >= 0)
    if not chosen.any():
        raise InputError(f"from_pyg: no node of type {kind!r} has a label")
    rows = np.flatnonzero(chosen)
    known: NDArray[Any] = values[rows] > 0 if values.ndim == 2 else values[rows].astype(np.int32)
    classes = known.shape[1] if known.ndim == 2 else int(known.max()) + 1
    test = None if masks["test"] is None else masks["test"][rows]
    if masks["val"] is not None and masks["val"].any():
        notes = (*notes, "val_mask is not kept: its nodes can be training or validation nodes")
    labels = Labels(
        number,
        (rows + graph.starts[number]).astype(np.int32),
        known,
        tuple(f"class {one}" for one in range(classes)),
        test,
    )
    return replace(graph, labels=labels, notes=notes)


def _mask(store: Any, name: str, count: int) -> NDArray[np.bool_] | None:
    given = getattr(store, name, None)
    if given is None:
        return None
    mask = _array(given)
    if mask.dtype != np.bool_ or mask.shape != (count,):
        raise InputError(f"from_pyg: {name} must be bool ({count},), got {mask.dtype} {mask.shape}")
    return mask


def _features(table: Any) -> Any:
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
    return table if hasattr(table, "tocsr") else _array(table)


def _array(values: Any) -> NDArray[Any]:
    return np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)
