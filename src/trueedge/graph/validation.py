"""Checks of a graph's parts: each returns the part in its final form, or an error that names the culprit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.errors import InputError, must_be
from trueedge.files.arrays import refuse_masked

#: Ids are int32 in the adjacency, and the key of a pair, at most n * n, is an int64.
MAX_NODES = 2**31 - 1
Handling = Literal["refuse", "drop"]
Array = TypeVar("Array", bound=np.ndarray[Any, Any])


def check_handling(self_loops: str, repeats: str, owner: str = "Graph.from_edges") -> None:
    """Check the options for self-loops and repeated edges."""
    for argument, value in (("self_loops", self_loops), ("repeats", repeats)):
        if value not in ("refuse", "drop"):
            raise must_be(argument, owner, "'refuse' or 'drop'", value)


def check_num_nodes(num_nodes: object, owner: str = "Graph.from_edges") -> int:
    """Return the number of nodes as an int, at least one."""
    if isinstance(num_nodes, (bool, np.bool_)) or not isinstance(num_nodes, (int, np.integer)):
        raise must_be("num_nodes", owner, "a whole number", num_nodes)
    if num_nodes < 1:
        raise InputError("the graph is empty: it has no node")
    if num_nodes > MAX_NODES:
        raise InputError(f"{owner}: {num_nodes} nodes are too many, a graph has at most {MAX_NODES}")
    return int(num_nodes)


def check_features(features: object, num_nodes: int) -> NDArray[np.float32]:
    """Return the features as a new float32 array (n, d), all finite.

    Args:
        features: numbers (n, d): an array, a list of lists or a scipy sparse matrix.
        num_nodes: the number of nodes n.
    """
    refuse_masked(features, "features")
    try:
        table = np.asarray(features.toarray() if hasattr(features, "toarray") else features)
    except (TypeError, ValueError, RuntimeError):
        raise InputError("features must be a table of numbers, one row per node") from None
    if table.dtype.kind not in "biuf":
        raise InputError(f"features must be a table of numbers, got values of type {table.dtype}")
    if table.ndim != 2 or table.shape[1] == 0:
        raise InputError(f"features must have shape (nodes, values), got shape {table.shape}")
    if len(table) != num_nodes:
        raise InputError(f"features have {len(table)} rows, but the graph has {num_nodes} nodes")
    with np.errstate(over="ignore"):
        array = np.array(table, dtype=np.float32, order="C")
    if not np.isfinite(array).all():
        row, column = (int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise InputError(
            f"features: row {row}, column {column} is {table[row, column]}, not a finite float32"
        )
    return array


def check_labels(labels: Iterable[object], num_nodes: int, noun: str = "nodes") -> tuple[str, ...]:
    """Return the names of n nodes, or of what the noun says, as strings, all different."""
    names = as_labels(labels)
    if len(names) != num_nodes:
        raise InputError(f"labels: the graph has {num_nodes} {noun}, but {len(names)} labels were given")
    if len(set(names)) != num_nodes:
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise InputError(f"labels: two {noun} are called {twice!r}")
    return names


def as_labels(labels: object) -> tuple[str, ...]:
    """Return names as strings, from a list, an array or an iterator."""
    if isinstance(labels, (str, bytes)):
        raise InputError(f"labels must be a list of names, got the one name {labels!r}")
    refuse_masked(labels, "labels")
    unordered = isinstance(labels, (set, frozenset))
    if unordered or not isinstance(labels, Iterable) or getattr(labels, "ndim", 1) != 1:
        raise InputError(f"labels must be a list of names, got {type(labels).__name__}")
    return tuple(map(str, labels))


def check_edge_data(edge_data: Mapping[str, ArrayLike], num_edges: int) -> dict[str, NDArray[Any]]:
    """Return the edges' further columns: arrays (m,) of finite numbers."""
    if not isinstance(edge_data, Mapping):
        raise InputError(f"edge_data must be a dict of columns, got {type(edge_data).__name__}")
    columns: dict[str, NDArray[Any]] = {}
    for key, values in edge_data.items():
        if not isinstance(key, str):
            raise InputError(f"edge_data: the name of a column must be a string, got {key!r}")
        refuse_masked(values, f"edge_data {key!r}")
        try:
            column = columns[key] = np.asarray(values)
        except (TypeError, ValueError, RuntimeError):
            raise InputError(f"edge_data {key!r} must hold one number per edge") from None
        if column.shape != (num_edges,):
            raise InputError(f"edge_data {key!r} has shape {column.shape}, but there are {num_edges} edges")
        if column.dtype.kind not in "biuf":
            raise InputError(f"edge_data {key!r} must hold numbers, got values of type {column.dtype}")
        if not np.isfinite(column).all():
            row = int(np.flatnonzero(~np.isfinite(column))[0])
            raise InputError(f"edge_data {key!r}: row {row} is {column[row]}")
    return columns


def dropped(count: int, what: str) -> str:
    """Return a note on what was left out."""
    return f"dropped {count} {what}{'' if count == 1 else 's'}"


def skipped_ids(listed: NDArray[np.int64], kept: NDArray[np.int32], num_nodes: int) -> tuple[str, ...]:
    """Return a note on nodes that have no edge because their ids were skipped.

    Args:
        listed: int64 array (m, 2), all pairs of the input.
        kept: int32 array (k, 2), those that became edges.
        num_nodes: the largest id + 1.
    """
    if _count_ids(listed) == num_nodes:
        return ()
    alone = num_nodes - _count_ids(kept)
    return (
        f"{alone:,} of {num_nodes:,} nodes {'has' if alone == 1 else 'have'} no edge;"
        f" num_nodes was not given, so every id up to {num_nodes - 1:,} is a node",
    )


def frozen(array: Array) -> Array:
    """Return a read-only array with the same content: a copy if the given array can still change."""
    return locked(array.copy()) if any(one.flags.writeable for one in _chain(array)) else array


def locked(array: Array) -> Array:
    """Make an array read-only and return it: for arrays that nothing else refers to."""
    for one in _chain(array):
        one.flags.writeable = False
    return array


def _chain(array: np.ndarray[Any, Any]) -> Iterator[np.ndarray[Any, Any]]:
    """Yield an array and those whose memory it shows, through which it could be changed."""
    one: object = array
    while isinstance(one, np.ndarray):
        yield one
        one = one.base


def _count_ids(pairs: NDArray[np.integer[Any]]) -> int:
    # A table of flags is fast, but one huge id would make it huge.
    largest = int(pairs.max(initial=-1))
    if largest < 8 * pairs.size:
        seen = np.zeros(largest + 1, dtype=np.bool_)
        seen[pairs] = True
        return int(np.count_nonzero(seen))
    return len(np.unique(pairs))
