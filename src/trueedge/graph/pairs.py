"""Arrays of node pairs: what counts as one, and one number for each pair."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError

IntArray = NDArray[np.integer[Any]]


def as_pairs(values: object, num_nodes: int | None = None, what: str = "pairs") -> NDArray[np.int64]:
    """Check an array of node pairs and return it as a contiguous int64 array (n, 2).

    Args:
        values: anything numpy can read as an integer array (n, 2); an empty list is no pair.
        num_nodes: every id must be below this; None leaves it open.
        what: the noun for the error message.
    """
    array = np.asarray(values)
    if array.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise InputError(f"{what} must be an array of shape (n, 2), got shape {array.shape}")
    array = _whole_numbers(array, what)
    bad = array < 0
    if num_nodes is not None:
        bad = bad | (array >= num_nodes)
    if bad.any():
        row, column = (int(i) for i in np.argwhere(bad)[0])
        limit = "" if num_nodes is None else f", outside 0..{num_nodes - 1}"
        raise InputError(f"{what}: row {row} has the node id {array[row, column]}{limit or ', below 0'}")
    return np.ascontiguousarray(array, dtype=np.int64)


def _whole_numbers(array: NDArray[Any], what: str) -> NDArray[Any]:
    if array.dtype.kind in "iu":
        if array.dtype == np.uint64 and array.max() > np.iinfo(np.int64).max:
            raise InputError(f"{what}: the node id {array.max()} is too large")
        return array
    if array.dtype.kind == "f":
        bad = ~np.isfinite(array) | (array != np.floor(array)) | (np.abs(array) >= 2**53)
        if not bad.any():
            return array.astype(np.int64)
        row, column = (int(i) for i in np.argwhere(bad)[0])
        raise InputError(f"{what}: row {row} has {array[row, column]}, which is not a node id")
    raise InputError(f"{what} must hold whole numbers, got values of type {array.dtype}")


def pair_keys(pairs: IntArray, num_nodes: int) -> NDArray[np.int64]:
    """One int64 for each unordered pair, ``min * num_nodes + max``: equal for (u, v) and (v, u).

    Args:
        pairs: int array (n, 2).
        num_nodes: the number of nodes; ids must be below it.
    """
    low = np.minimum(pairs[..., 0], pairs[..., 1]).astype(np.int64)
    high = np.maximum(pairs[..., 0], pairs[..., 1]).astype(np.int64)
    return low * num_nodes + high


def in_sorted(keys: NDArray[np.int64], sorted_keys: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which keys occur in a sorted array of keys."""
    if sorted_keys.size == 0:
        return np.zeros(keys.shape, dtype=np.bool_)
    at = np.minimum(np.searchsorted(sorted_keys, keys), sorted_keys.size - 1)
    found: NDArray[np.bool_] = sorted_keys[at] == keys
    return found
