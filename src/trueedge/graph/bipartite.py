"""Bipartite graphs: which nodes are on which side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError

if TYPE_CHECKING:
    from trueedge.graph.graph import Graph

#: The nodes of either side by name.
NamesBySide = tuple[dict[str, int], dict[str, int]]
#: The side of a node whose side is not known.
NEITHER = -1
# Most graphs have a triangle on one of so many edges, and are then known not to be bipartite.
_LOOKED_AT = 256


def sides_of(graph: Graph) -> NDArray[np.int8] | None:
    """Return the side of each node, 0 or 1, int8 (n,), or None if the graph is not known to be bipartite.

    The sides are known if the graph says so (``graph.sides``), if nodes are numbered side after side, or if
    all edges are in one component whose nodes have two colours. In a graph of several components, each can be
    turned around, so nothing is known. A forest has two colours whatever its nodes are, so it is not taken
    for bipartite. A node without edges is on neither side (-1), unless the numbers tell.
    """
    if graph.sides is not None:
        return graph.sides
    if graph.num_edges == 0 or is_forest(graph):
        return None
    return known_sides(graph)


def known_sides(graph: Graph) -> NDArray[np.int8] | None:
    """Return the side of each node as :func:`sides_of` does, also for a forest."""
    if graph.sides is not None:
        return graph.sides
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
    pairs: NDArray[np.int64],
    num_nodes: int,
    labels: Sequence[str] | None = None,
    prefixes: tuple[str, str] = ("source", "target"),
) -> tuple[NDArray[np.int64], int, tuple[str, ...] | None, NDArray[np.int8]]:
    """Number the nodes of two columns apart: user 1 and item 1 are two nodes.

    If no id is in both columns, all nodes keep their numbers and names. Otherwise those of the first column
    come first, then those of the second, and each name has a prefix: ``user 1``, ``item 1``.

    Args:
        pairs: int64 array (m, 2), the edges, numbered as if the columns were of one kind.
        num_nodes: the number of nodes n.
        labels: the names of the nodes, n of them; None if they are their numbers.
        prefixes: what stands before the names of either column.

    Returns:
        The edges, the number of nodes, their names, and the side of each node, int8 (n,).
    """
    seen = np.zeros((2, num_nodes), dtype=np.bool_)
    seen[0, pairs[:, 0]] = seen[1, pairs[:, 1]] = True
    if not (seen[0] & seen[1]).any():
        sides = np.full(num_nodes, NEITHER, dtype=np.int8)
        sides[seen[0]], sides[seen[1]] = 0, 1
        return pairs, num_nodes, None if labels is None else tuple(labels), sides
    columns = [np.flatnonzero(side) for side in seen]
    place = np.cumsum(seen, axis=1) - 1
    place[1] += len(columns[0])
    edges = np.column_stack([place[0][pairs[:, 0]], place[1][pairs[:, 1]]])
    named = tuple(
        f"{prefix} {node if labels is None else labels[node]}"
        for prefix, nodes in zip(prefixes, columns, strict=True)
        for node in nodes.tolist()
    )
    sides = np.repeat(np.array([0, 1], dtype=np.int8), [len(nodes) for nodes in columns])
    return edges, len(named), named, sides


def marked_sides(marks: Sequence[object], edges: NDArray[np.int32]) -> NDArray[np.int8] | None:
    """Return the sides that marks of nodes tell, int8 (n,), if all are 0 or 1 and each edge joins the sides.

    Args:
        marks: a mark for each node, n of them.
        edges: int32 array (m, 2).
    """
    if not len(edges) or not all(isinstance(mark, int) and mark in (0, 1) for mark in marks):
        return None
    sides = np.array(marks, dtype=np.int8)
    return sides if (sides[edges[:, 0]] != sides[edges[:, 1]]).all() else None


def names_by_side(graph: Graph) -> NamesBySide | None:
    """Return the nodes of either side by their names without a prefix: ``1`` for ``user 1``.

    Returns None if the names of a side have no prefix in common.
    """
    if graph.sides is None or graph.labels is None:
        return None
    found: NamesBySide = ({}, {})
    firsts: tuple[set[str], set[str]] = (set(), set())
    for node, (label, side) in enumerate(zip(graph.labels, graph.sides.tolist(), strict=True)):
        prefix, space, name = label.partition(" ")
        if not space or side == NEITHER:
            return None
        found[side][name] = node
        firsts[side].add(prefix)
    return found if all(len(one) == 1 for one in firsts) else None


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
