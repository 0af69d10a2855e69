"""Checks of the parts of a typed graph: each names the culprit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.graph.validation import MAX_NODES, locked


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
    if starts.dtype != np.int64 or starts.shape != (len(node_types) + 1,):
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
    found: list[Any] = []
    for name, table, count in zip(node_types, features, np.diff(starts), strict=True):
        if table is None:
            found.append(None)
            continue
        if len(table.shape) != 2 or table.shape[0] != count or table.shape[1] == 0:
            raise InputError(f"the features of {name!r} have shape {table.shape}, for {count} nodes")
        values = table.data if hasattr(table, "indptr") else table
        with np.errstate(over="ignore"):
            values = np.asarray(values, dtype=np.float32)
        if not np.isfinite(values).all():
            raise InputError(f"the features of {name!r} hold a number that is not finite")
        if hasattr(table, "indptr"):
            from scipy.sparse import csr_array

            table = csr_array(table, dtype=np.float32)
            table.sum_duplicates()
            for part in (table.data, table.indices, table.indptr):
                part.flags.writeable = False
            found.append(table)
        else:
            found.append(locked(np.ascontiguousarray(values)))
    return tuple(found)
