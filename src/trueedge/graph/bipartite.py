"""Bipartite graphs: which nodes are on which side."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError

if TYPE_CHECKING:
    from trueedge.graph.graph import Graph

#: The side of a node whose side is not known.
NEITHER = -1
# Most graphs have a triangle on one of so many edges, and are then known not to be bipartite.
_LOOKED_AT = 256


def sides_of(graph: Graph) -> NDArray[np.int8] | None:
    """Return the side of each node, 0 or 1, int8 (n,), or None if the graph is not known to be bipartite.

    The sides are known if nodes are numbered side after side (as :func:`bipartite_edges` does), or if all
    edges are in one component whose nodes have two colours. In a graph of several components, each can be
    turned around, so nothing is known. A forest has two colours whatever its nodes are, so it is not taken
    for bipartite. A node without edges is on neither side (-1), unless the numbers tell.
    """
    if graph.num_edges == 0 or is_forest(graph):
        return None
    return known_sides(graph)


def known_sides(graph: Graph) -> NDArray[np.int8] | None:
    """Return the side of each node as :func:`sides_of` does, also for a forest."""
    by_number = _numbered_apart(graph)
    if by_number is not None:
        return by_number
    if has_triangle(graph):
        return None
    colours, components = coloured(graph)
    return colours if components == 1 else None


def check_sides(graph: Graph) -> NDArray[np.int8]:
    """Return the side of each node, int8 (n,), or raise an InputError that says why they are not known."""
    found = known_sides(graph)
    if found is not None:
        return found
    colours, components = coloured(graph)
    if colours is None:
        raise InputError(f"{graph.name} is not bipartite: {_odd_edge(graph)}")
    raise InputError(
        f"{graph.name} has two colours, but its edges are in {components:,} components, so it is not known"
        " which nodes are on the same side: read its two columns apart, with bipartite=True"
    )


def has_triangle(graph: Graph) -> bool:
    """Return whether a few edges, evenly chosen, are enough to see that a graph has a triangle."""
    rows = np.unique(np.linspace(0, max(graph.num_edges - 1, 0), _LOOKED_AT).astype(np.int64))
    chosen = graph.edges[rows[: graph.num_edges]].tolist()
    return any(
        len(np.intersect1d(graph.neighbors(u), graph.neighbors(v), assume_unique=True)) for u, v in chosen
    )


def is_forest(graph: Graph) -> bool:
    """Return whether a graph has no cycle."""
    if graph.num_edges >= graph.num_nodes:
        return False
    return graph.num_edges == graph.num_nodes - int(graph.components().max(initial=-1)) - 1


def coloured(graph: Graph) -> tuple[NDArray[np.int8] | None, int]:
    """Return two colours such that no edge joins equal ones, and the number of components with an edge.

    The colours are int8 (n,), 0 for the first node of each component and -1 for nodes without edges; None
    if a cycle has an odd length.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    # Node u on level 0 and on level 1: each edge changes the level, so a component has two colours if the two
    # levels of its nodes are not connected.
    size, (u, v) = graph.num_nodes, graph.edges.T.astype(np.int64)
    ends = np.concatenate([u, v]), np.concatenate([v + size, u + size])
    doubled = csr_array((np.ones(2 * len(u), dtype=np.int8), ends), shape=(2 * size, 2 * size))
    level = connected_components(doubled, directed=False)[1]
    lower, upper = level[:size], level[size:]
    alone = graph.degrees == 0
    components = len(np.unique(np.minimum(lower, upper)[~alone]))
    if (lower[~alone] == upper[~alone]).any():
        return None, components
    # scipy numbers components by their first node, and all lower levels come first.
    colours = (lower > upper).astype(np.int8)
    colours[alone] = NEITHER
    return colours, components


def bipartite_edges(
    pairs: Iterable[tuple[object, object]], prefixes: tuple[str, str] = ("source", "target")
) -> tuple[NDArray[np.int64], tuple[str, ...], NDArray[np.int8]]:
    """Number the names of two columns apart: user 1 and item 1 are two nodes.

    The names of the first column come first, then those of the second, both in order of appearance.

    Args:
        pairs: the edges, each with the name of a node of either side.
        prefixes: what stands before a name that occurs in both columns, such as ``user`` for ``user:1``.

    Returns:
        the edges as int64 (m, 2), the label of each node, and its side, int8 (n,).
    """
    first: dict[str, int] = {}
    second: dict[str, int] = {}
    rows = [(first.setdefault(str(u), len(first)), second.setdefault(str(v), len(second))) for u, v in pairs]
    edges = np.array(rows, dtype=np.int64).reshape(-1, 2)
    edges[:, 1] += len(first)
    labels: list[str] = []
    for names, others, prefix in ((first, second, prefixes[0]), (second, first, prefixes[1])):
        labels += [f"{prefix}:{name}" if name in others else name for name in names]
    if len(set(labels)) < len(labels):
        # A name such as "user:1" stands beside a user 1: then all names get their prefix.
        labels = [f"{prefixes[0]}:{name}" for name in first] + [f"{prefixes[1]}:{name}" for name in second]
    sides = np.repeat(np.array([0, 1], dtype=np.int8), [len(first), len(second)])
    return edges, tuple(labels), sides


def _numbered_apart(graph: Graph) -> NDArray[np.int8] | None:
    """Return the sides if each edge goes from a node of the first numbers to one of the last, else None."""
    if not graph.num_edges:
        return None
    last, first = int(graph.edges[:, 0].max()), int(graph.edges[:, 1].min())
    if last >= first:
        return None
    sides = np.full(graph.num_nodes, NEITHER, dtype=np.int8)
    sides[: last + 1], sides[first:] = 0, 1
    return sides


def _odd_edge(graph: Graph) -> str:
    """Return a sentence that names an edge on a cycle of odd length."""
    from collections import deque

    colours = np.full(graph.num_nodes, NEITHER, dtype=np.int8)
    for start in range(graph.num_nodes):
        if colours[start] != NEITHER:
            continue
        colours[start] = 0
        waiting = deque([start])
        while waiting:
            node = waiting.popleft()
            for other in graph.neighbors(node).tolist():
                if colours[other] == NEITHER:
                    colours[other] = 1 - colours[node]
                    waiting.append(other)
                elif colours[other] == colours[node]:
                    u, v = (i if graph.labels is None else graph.labels[i] for i in (node, other))
                    return f"the edge ({u}, {v}) closes a cycle of odd length"
    return "a cycle has an odd length"
