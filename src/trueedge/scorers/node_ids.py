"""Ids in files of arrays: the numbers of nodes, or names that are whole numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.graph import Graph

NAMES = "its ids are read as names of nodes, as in a text file"
NUMBERS = "its ids are read as node numbers: not all of them are names of nodes"
AS_NUMBERS = "its ids are read as node numbers, although all of them are names of nodes too"


def are_names(arrays: Mapping[str, NDArray[Any]], graph: Graph, names: Mapping[str, int]) -> bool:
    """Return whether the ids in files of arrays are names of nodes, and not their numbers.

    A text file holds names. The same ids in an array must mean the same nodes: ids that could be either are
    refused.

    Args:
        arrays: the arrays by the names of their files.
        graph: the graph; its nodes have names.
        names: the number of each name.
    """
    found = {what: _distinct(array) for what, array in arrays.items()}
    if not found:
        return False
    ids = np.unique(np.concatenate(list(found.values())))
    as_names = all_names(ids, names)
    as_numbers = ids.size > 0 and ids[0] >= 0 and int(ids[-1]) < graph.num_nodes
    if as_names and as_numbers:
        raise InputError(
            f"{next(iter(found))}: its ids {ids[0]} to {ids[-1]} could be names of nodes of {graph.name} or"
            f" node numbers from 0 to {graph.num_nodes - 1}: write names to a text file, or numbers to a .npz"
            " file with an array 'labels' of the nodes' names"
        )
    return as_names


def all_names(ids: NDArray[Any], names: Mapping[str, int]) -> bool:
    """Return whether all ids, whole numbers, are names of nodes."""
    return ids.size > 0 and all(str(value) in names for value in ids.tolist())


def by_name(array: NDArray[Any], names: Mapping[str, int]) -> NDArray[np.int64]:
    """Return the node numbers of names that are whole numbers, int64 of the same shape."""
    values, places = np.unique(array, return_inverse=True)
    numbers = np.array([names[str(int(value))] for value in values.tolist()], dtype=np.int64)
    return numbers[places].reshape(array.shape)


def _distinct(array: NDArray[Any]) -> NDArray[np.int64]:
    """Return the distinct whole numbers in an array; none for an array that holds anything else."""
    values = np.unique(array) if array.dtype.kind in "iuf" else np.empty(0)
    safe = values.size > 0 and abs(values[0]) < 2**53 and abs(values[-1]) < 2**53
    whole = values.astype(np.int64) if safe else np.empty(0, dtype=np.int64)
    return whole if (whole == values[: len(whole)]).all() else whole[:0]
