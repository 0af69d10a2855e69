"""Checks of the parts of a typed graph: each names the culprit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, is_whole
from trueedge.graph.typed_parts import Labels, Relation
from trueedge.graph.validation import MAX_NODES, locked


def as_relations(relations: Sequence[Any]) -> tuple[Relation, ...]:
    """Return relations as such; each may be given as (name, source type, target type)."""
    found = []
    for one in relations:
        if not isinstance(one, tuple | list) or len(one) != 3 or not all(map(is_whole, one[1:])):
            raise InputError(
                f"a relation is (name, number of source type, number of target type), got {one!r}"
            )
        found.append(Relation(one[0], int(one[1]), int(one[2])))
    return tuple(found)


def check_type_names(node_types: Sequence[str], relations: Sequence[Any]) -> None:
    """Refuse a graph without node types or relations, repeated names, and relations of unknown types."""
    names = {"node type": list(node_types), "relation": [one.name for one in relations]}
    for noun, given in names.items():
        if not given:
            raise InputError(f"a typed graph needs at least one {noun}")
        for name, count in Counter(given).items():
            if not isinstance(name, str) or not name:
                raise InputError(f"the name of a {noun} must be a text, got {name!r}")
            if count > 1:
                raise InputError(f"two {noun}s are called {name!r}")
    for name, source, target in relations:
        for kind in (source, target):
            if not 0 <= kind < len(node_types):
                raise InputError(f"the relation {name!r} has an end of type {kind}, which does not exist")


def check_starts(starts: NDArray[np.int64], node_types: Sequence[str]) -> None:
    """Refuse type boundaries that do not rise from 0, one more than there are types."""
    if not isinstance(starts, np.ndarray) or starts.dtype != np.int64:
        raise InputError(f"starts must be an int64 array, got {_kind(starts)}")
    if starts.shape != (len(node_types) + 1,):
        raise InputError(f"starts must hold {len(node_types) + 1} whole numbers, got shape {starts.shape}")
    if starts[0] != 0 or (np.diff(starts) < 0).any() or not 0 < starts[-1] <= MAX_NODES:
        raise InputError(f"starts must rise from 0 to the number of nodes, got {starts.tolist()}")


def check_edges(
    starts: NDArray[np.int64], relations: Sequence[Any], edges: Sequence[NDArray[np.int32]]
) -> None:
    """Refuse edges whose ends have other types than their relation, that are not sorted, or occur twice."""
    if len(edges) != len(relations):
        raise InputError(f"there are {len(relations)} relations, but edges of {len(edges)}")
    for (name, *kinds), pairs in zip(relations, edges, strict=True):
        if not isinstance(pairs, np.ndarray):
            raise InputError(f"the edges of {name!r} must be an int32 array (m, 2), got {_kind(pairs)}")
        if pairs.dtype != np.int32 or pairs.ndim != 2 or pairs.shape[1] != 2:
            raise InputError(f"the edges of {name!r} must be int32 (m, 2), got {pairs.dtype} {pairs.shape}")
        for column, kind in enumerate(kinds):
            ends = pairs[:, column]
            wrong = (ends < starts[kind]) | (ends >= starts[kind + 1])
            if wrong.any():
                row = int(wrong.argmax())
                raise InputError(
                    f"the edges of {name!r}, row {row}: node {ends[row]} is not of the type that the relation"
                    f" {'leaves' if column == 0 else 'enters'}"
                )
        keys = pairs[:, 0].astype(np.int64) * starts[-1] + pairs[:, 1]
        if (np.diff(keys) <= 0).any():
            raise InputError(f"the edges of {name!r} must be sorted, each once")


def sorted_edges(pairs: NDArray[Any], num_nodes: int) -> tuple[NDArray[np.int32], int]:
    """Return edges sorted and each once, int32 (m, 2), and how many repeated ones were dropped."""
    keys = np.unique(pairs[:, 0].astype(np.int64) * num_nodes + pairs[:, 1])
    made = np.column_stack([keys // num_nodes, keys % num_nodes]).astype(np.int32)
    return made, len(pairs) - len(made)


def check_features(
    features: Sequence[Any], starts: NDArray[np.int64], node_types: Sequence[str]
) -> tuple[Any, ...]:
    """Return the features of each type, read-only: float32, dense or CSR, finite, a row for each node."""
    if len(features) != len(node_types):
        raise InputError(f"there are {len(node_types)} node types, but features of {len(features)}")
    counts = np.diff(starts).tolist()
    return tuple(map(_feature_table, node_types, features, counts))


def check_labels(labels: Labels | None, starts: NDArray[np.int64], node_types: Sequence[str]) -> None:
    """Refuse labels of nodes of another type, of a node twice, and classes that do not exist."""
    if labels is None:
        return
    if not isinstance(labels, Labels):
        raise InputError(f"labels must be of type Labels, got {_kind(labels)}")
    nodes, values, test = labels.nodes, labels.values, labels.test
    for name, array in (("nodes", nodes), ("values", values), ("test", test)):
        if not isinstance(array, np.ndarray) and (name != "test" or array is not None):
            raise InputError(f"the {name} of labels must be an array, got {_kind(array)}")
    if not is_whole(labels.type) or not 0 <= labels.type < len(node_types):
        raise InputError(f"labels are of the node type {labels.type!r}, which does not exist")
    if nodes.dtype != np.int32 or nodes.ndim != 1 or not len(nodes):
        raise InputError(f"the nodes of labels must be int32 (k,), got {nodes.dtype} {nodes.shape}")
    first, last = starts[labels.type : labels.type + 2]
    if nodes.min() < first or nodes.max() >= last:
        raise InputError(f"a node with a label is not of type {node_types[labels.type]!r}")
    if (np.diff(nodes) <= 0).any():
        raise InputError("the nodes of labels must be ascending, each once")
    for name, count in Counter(labels.classes).items():
        if count > 1 or not isinstance(name, str):
            what = "two classes are called" if count > 1 else "the name of a class must be a text, got"
            raise InputError(f"{what} {name!r}")
    classes = len(labels.classes)
    single = values.dtype == np.int32 and values.shape == nodes.shape
    if not single and (values.dtype != np.bool_ or values.shape != (len(nodes), classes)):
        wanted = f"int32 ({len(nodes)},) or bool ({len(nodes)}, {classes})"
        raise InputError(f"the values of labels must be {wanted}, got {values.dtype} {values.shape}")
    if single and (values.min() < 0 or values.max() >= classes):
        wrong = values[(values < 0) | (values >= classes)][0]
        raise InputError(f"a label is class {wrong}, but classes are numbered from 0 to {classes - 1}")
    if test is not None and (test.dtype != np.bool_ or test.shape != nodes.shape):
        raise InputError(
            f"the test part of labels must be bool ({len(nodes)},), got {test.dtype} {test.shape}"
        )


def _feature_table(name: str, table: Any, count: int) -> Any:
    """Return the features of one type."""
    if table is None:
        return None
    sparse = hasattr(table, "tocsr")
    if not sparse:
        try:
            table = np.asarray(table)
        except (TypeError, ValueError, RuntimeError):
            raise InputError(f"the features of {name!r} must be a table of numbers") from None
    if table.dtype.kind not in "biuf":
        raise InputError(f"the features of {name!r} must be numbers, got values of type {table.dtype}")
    if len(table.shape) != 2 or table.shape[0] != count or table.shape[1] == 0:
        wanted = f"({count}, d), for {count} nodes and one number or more each"
        raise InputError(f"the features of {name!r} must have the shape {wanted}, got {table.shape}")
    if sparse:
        return _sparse_table(name, table)
    with np.errstate(over="ignore"):
        made = np.ascontiguousarray(table, dtype=np.float32)
    _check_finite(name, made)
    return locked(made)


def _sparse_table(name: str, table: Any) -> Any:
    from scipy.sparse import csr_array

    with np.errstate(over="ignore"):
        made = csr_array(table, dtype=np.float32)
    try:
        made.check_format(full_check=True)
    except ValueError as error:
        raise InputError(f"the features of {name!r} are not a valid sparse matrix: {error}") from None
    writeable = any(part.flags.writeable for part in (made.data, made.indices, made.indptr))
    if writeable or not made.has_canonical_format:
        made = made.copy()  # whoever made the matrix may change it
        made.sum_duplicates()
        lock_sparse(made)
    _check_finite(name, made.data)
    return made


def _check_finite(name: str, values: NDArray[np.float32]) -> None:
    if not np.isfinite(values).all():
        raise InputError(f"the features of {name!r} hold a number that is not finite")


def lock_sparse(table: Any) -> None:
    """Make the arrays of a CSR matrix read-only."""
    for part in (table.data, table.indices, table.indptr):
        part.flags.writeable = False


def _kind(thing: object) -> str:
    return str(thing.dtype) if isinstance(thing, np.ndarray) else type(thing).__name__
