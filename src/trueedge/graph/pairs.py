"""Arrays of nodes and of node pairs: checks, and one number for each pair."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.arrays import refuse_masked

IntArray = NDArray[np.integer[Any]]


def as_pairs(values: object, num_nodes: int | None = None, what: str = "pairs") -> NDArray[np.int64]:
    """Check an array of node pairs and return it as a contiguous int64 array (n, 2).

    Args:
        values: anything numpy can read as an integer array (n, 2), or an iterator of pairs; an empty list is
            no pair.
        num_nodes: every id must be below this; None leaves it open.
        what: the noun for the error message.
    """
    array = _as_array(values, what)
    if array.shape in ((0,), (0, 2)):
        return np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        turned = ": give its transpose" if array.ndim == 2 and len(array) == 2 else ""
        raise InputError(f"{what} must be an array of shape (n, 2), got {_shape(array, values)}{turned}")
    return _as_ids(array, num_nodes, what)


def as_nodes(values: object, num_nodes: int, what: str = "nodes") -> NDArray[np.int64]:
    """Check an array of node ids and return it as a contiguous int64 array (k,).

    Args:
        values: anything numpy can read as an integer array (k,); an empty list is no node.
        num_nodes: every id must be below this.
        what: the noun for the error message.
    """
    array = _as_array(values, what)
    if array.shape == (0,):
        return np.empty(0, dtype=np.int64)
    if array.ndim != 1:
        raise InputError(f"{what} must be an array of shape (k,), got {_shape(array, values)}")
    return _as_ids(array, num_nodes, what)


def pair_keys(pairs: IntArray, num_nodes: int) -> NDArray[np.int64]:
    """Return one int64 for each unordered pair, ``min * num_nodes + max``: equal for (u, v) and (v, u).

    Args:
        pairs: int array (..., 2).
        num_nodes: the number of nodes, at most 2^31 - 1 so that no key overflows; ids must be below it.
    """
    low = np.minimum(pairs[..., 0], pairs[..., 1]).astype(np.int64)
    high = np.maximum(pairs[..., 0], pairs[..., 1]).astype(np.int64)
    return low * num_nodes + high


def from_one(ids: IntArray, num_nodes: int) -> str:
    """Return a hint for an error, if ids are from 1 to the number of nodes; else nothing."""
    counted = ids.min() >= 1 and ids.max() == num_nodes
    return "; do they start at 1? Node numbers start at 0" if counted else ""


def in_sorted(keys: NDArray[np.int64], sorted_keys: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which of ``keys`` occur in ``sorted_keys``: bool array of the shape of ``keys``."""
    if sorted_keys.size == 0:
        return np.zeros(keys.shape, dtype=np.bool_)
    at = np.minimum(np.searchsorted(sorted_keys, keys), sorted_keys.size - 1)
    found: NDArray[np.bool_] = sorted_keys[at] == keys
    return found


def _as_array(values: object, what: str) -> NDArray[Any]:
    if isinstance(values, Iterator):
        values = list(values)
    refuse_masked(values, what)
    try:
        return np.asarray(values)
    except Exception:  # an object that says it is an array may raise anything
        raise InputError(f"{what} must be an array of whole numbers, all rows of one length") from None


def _shape(array: NDArray[Any], values: object) -> str:
    """Describe what was given instead: its shape, or its type where numpy sees no array."""
    known = array.ndim > 0 or isinstance(values, np.ndarray)
    return f"shape {array.shape}" if known else type(values).__name__


def _as_ids(array: NDArray[Any], num_nodes: int | None, what: str) -> NDArray[np.int64]:
    array = _whole_numbers(array, what)
    # The usual case is that all is well: two passes without a temporary array.
    if array.min() < 0 or (num_nodes is not None and array.max() >= num_nodes):
        bad = array < 0
        if num_nodes is not None:
            bad |= array >= num_nodes
        limit = "below 0" if num_nodes is None else f"outside 0..{num_nodes - 1}"
        limit += "" if num_nodes is None else from_one(array, num_nodes)
        first = _first(bad)
        raise InputError(f"{what}: row {first[0]} has the node id {array[first]}, {limit}")
    return np.ascontiguousarray(array, dtype=np.int64)


def _whole_numbers(array: NDArray[Any], what: str) -> NDArray[Any]:
    if array.dtype.kind in "iu":
        if array.dtype == np.uint64 and array.max() > np.iinfo(np.int64).max:
            first = _first(array > np.iinfo(np.int64).max)
            raise InputError(f"{what}: row {first[0]} has the node id {array[first]}, which is too large")
        return array
    if array.dtype.kind == "f":
        # Past 2^53 a float no longer names one whole number.
        bad = ~np.isfinite(array) | (array != np.floor(array)) | (np.abs(array.astype(np.float64)) >= 2**53)
        if not bad.any():
            return array.astype(np.int64)
        first = _first(bad)
        raise InputError(f"{what}: row {first[0]} has {array[first]}, which is not a node id")
    if array.dtype.kind == "O":
        return _whole_objects(array, what)
    raise InputError(f"{what} must hold whole numbers, got values of type {array.dtype}")


def _whole_objects(array: NDArray[Any], what: str) -> NDArray[np.int64]:
    """Return whole numbers that came as Python objects, as in a table with gaps."""
    for first, value in np.ndenumerate(array):
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
            raise InputError(f"{what}: row {first[0]} has {value!r}, which is not a node id")
        if abs(int(value)) > np.iinfo(np.int64).max:
            raise InputError(f"{what}: row {first[0]} has the node id {value}, which is too large")
    return array.astype(np.int64)


def _first(bad: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(bad)[0])
