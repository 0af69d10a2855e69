"""Sort edges and keep each once: few edges by sorting arrays, many by counting in a compiled kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.graph.pairs import pair_keys
from trueedge.graph.validation import Handling, dropped

# Below this, sorting takes less time than loading a compiled kernel.
EDGES_WORTH_COMPILING = 300_000
# Counting takes memory in proportion to the nodes: above this, sorting takes less.
NODES_PER_EDGE_WORTH_COUNTING = 8

Words = Callable[[int], str]


@dataclass(frozen=True)
class Cleaning:
    """What happens to self-loops and repeats, and the words for it.

    Attributes:
        self_loops: what to do with an edge from a node to itself.
        repeats: what to do with an edge that came before, in either direction; the first one stays.
        edge: words for the edge in a row and where it is, to begin an error message.
        place: words for where a row is.
    """

    self_loops: Handling
    repeats: Handling
    edge: Words
    place: Words


def tidy_edges(
    pairs: NDArray[np.int64], num_nodes: int, cleaning: Cleaning
) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Refuse or drop self-loops and repeats; return a graph's edges, and notes on what was dropped.

    Args:
        pairs: int64 array (m, 2), ids below ``num_nodes``.
        num_nodes: the number of nodes.
        cleaning: what to refuse and what to drop.
    """
    edges, loops, again = sorted_edges(pairs, num_nodes)
    if (loops and cleaning.self_loops == "refuse") or (again and cleaning.repeats == "refuse"):
        # The error names a row, which sorted edges no longer have.
        tidy(pairs, num_nodes, cleaning)
    return edges, _notes(loops, again)


def tidy(
    pairs: NDArray[np.int64], num_nodes: int, cleaning: Cleaning
) -> tuple[NDArray[np.int64], NDArray[np.int64], tuple[str, ...]]:
    """Refuse or drop self-loops and repeats; return the pairs left in their order, their rows, and notes.

    Arguments are those of :func:`tidy_edges`.
    """
    rows = np.arange(len(pairs))
    loops = pairs[:, 0] == pairs[:, 1]
    if loops.any():
        if cleaning.self_loops == "refuse":
            row = int(loops.argmax())
            raise InputError(
                f"{cleaning.edge(row)} joins a node to itself; self_loops='drop' would leave such edges out"
            )
        rows = rows[~loops]
        pairs = pairs[rows]
    again = sorted_edges(pairs, num_nodes)[2]
    if again:
        first = _first_rows(pairs, num_nodes)
        keep = first == np.arange(len(first))
        if cleaning.repeats == "refuse":
            repeated = int(keep.argmin())
            row, before = int(rows[repeated]), int(rows[first[repeated]])
            raise InputError(
                f"{cleaning.edge(row)} repeats the edge of {cleaning.place(before)};"
                " repeats='drop' would keep each edge once"
            )
        rows, pairs = rows[keep], pairs[keep]
    return pairs, rows, _notes(int(np.count_nonzero(loops)), again)


def sorted_edges(pairs: NDArray[np.int64], num_nodes: int) -> tuple[NDArray[np.int32], int, int]:
    """Return a graph's edges among pairs, and how many self-loops and repeats were left out.

    Args:
        pairs: int64 array (m, 2), ids below ``num_nodes``.
        num_nodes: the number of nodes.

    Returns:
        int32 array (k, 2), ``u < v``, sorted; the number of self-loops, and that of repeats.
    """
    if len(pairs) >= EDGES_WORTH_COMPILING:
        from trueedge.kernels.text import tidying

        return tidying.sorted_edges(pairs, num_nodes)
    other = pairs[:, 0] != pairs[:, 1]
    joined = pairs if other.all() else pairs[other]
    keys = pair_keys(joined, num_nodes)
    keys.sort()
    first = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    kept = keys if first.all() else keys[first]
    edges = np.empty((len(kept), 2), dtype=np.int32)
    edges[:, 0], edges[:, 1] = np.divmod(kept, num_nodes)
    return edges, len(pairs) - len(joined), len(keys) - len(kept)


def edge_order(pairs: NDArray[np.int64], num_nodes: int) -> NDArray[np.int64]:
    """Return the rows of pairs by smaller node, then larger node, then row: int64 (m,)."""
    if _is_worth_counting(pairs, num_nodes):
        from trueedge.kernels.text import tidying

        order: NDArray[np.int64] = tidying.edge_order(pairs, num_nodes)
        return order
    return np.argsort(pair_keys(pairs, num_nodes), kind="stable")


def ordered_edges(
    pairs: NDArray[np.int64], num_nodes: int, edge_data: Mapping[str, NDArray[Any]]
) -> tuple[NDArray[np.int32], dict[str, NDArray[Any]]]:
    """Return tidy pairs as a graph's edges, with their data."""
    if not edge_data:
        return sorted_edges(pairs, num_nodes)[0], {}
    order = edge_order(pairs, num_nodes)
    edges = np.sort(pairs[order], axis=1).astype(np.int32)
    return edges, {key: column[order] for key, column in edge_data.items()}


def neighbour_lists(edges: NDArray[np.int32], num_nodes: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return both directions of each edge in CSR: int64 (n + 1,) and int32 (2m,), sorted within a row.

    Args:
        edges: int32 array (m, 2), ``u < v``, sorted.
        num_nodes: the number of nodes n.
    """
    if len(edges) >= EDGES_WORTH_COMPILING:
        from trueedge.kernels.arrays import csr

        return csr.neighbour_lists(edges, num_nodes)
    indptr = np.zeros(num_nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(edges.ravel(), minlength=num_nodes), out=indptr[1:])
    u, v = edges[:, 0].astype(np.int64), edges[:, 1].astype(np.int64)
    keys = np.concatenate([u * num_nodes + v, v * num_nodes + u])
    keys.sort()
    return indptr, (keys % num_nodes).astype(np.int32)


def _first_rows(pairs: NDArray[np.int64], num_nodes: int) -> NDArray[np.int64]:
    """Return the first row that holds the same pair in either direction, for each row: int64 (m,)."""
    if _is_worth_counting(pairs, num_nodes):
        from trueedge.kernels.text import tidying

        return tidying.first_rows(pairs, num_nodes)
    _, first, group = np.unique(pair_keys(pairs, num_nodes), return_index=True, return_inverse=True)
    return first[group]


def _is_worth_counting(pairs: NDArray[np.int64], num_nodes: int) -> bool:
    return len(pairs) >= EDGES_WORTH_COMPILING and num_nodes <= NODES_PER_EDGE_WORTH_COUNTING * len(pairs)


def _notes(loops: int, repeats: int) -> tuple[str, ...]:
    named = ((loops, "self-loop"), (repeats, "repeated edge"))
    return tuple(dropped(count, what) for count, what in named if count)
