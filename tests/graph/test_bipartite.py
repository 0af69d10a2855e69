"""Two sides of a graph: found, refused, and numbered apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.graph.bipartite import bipartite_edges, check_sides, coloured, known_sides, sides_of

SQUARE = [(0, 1), (1, 2), (2, 3), (0, 3)]


def graph_of(edges: list[tuple[int, int]], nodes: int | None = None) -> Graph:
    return Graph.from_edges(np.array(edges).reshape(-1, 2), nodes, name="mine")


@given(
    st.integers(2, 9).flatmap(
        lambda n: st.tuples(
            st.just(n),
            st.lists(
                st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(
                    lambda pair: pair[0] < pair[1]
                ),
                unique=True,
                min_size=1,
            ),
        )
    )
)
def test_two_colours_are_found_where_there_are_two(case: tuple[int, list[tuple[int, int]]]) -> None:
    nodes, edges = case
    colours, components = coloured(graph_of(edges, nodes))
    # The twin tries all colours.
    possible = [
        sides for sides in range(2**nodes) if all((sides >> u & 1) != (sides >> v & 1) for u, v in edges)
    ]
    assert (colours is not None) == bool(possible)
    alone = set(range(nodes)) - {node for edge in edges for node in edge}
    if colours is not None:
        assert all({colours[u], colours[v]} == {0, 1} for u, v in edges)
        assert {node for node in range(nodes) if colours[node] == -1} == alone
        # Each component can be turned around, and a node without edges too.
        assert len(possible) == 2 ** (components + len(alone))


def test_a_connected_graph_of_two_colours_has_sides_and_others_do_not() -> None:
    assert sides_of(graph_of(SQUARE, 5)).tolist() == [0, 1, 0, 1, -1]
    assert sides_of(graph_of([*SQUARE, (0, 2)])) is None
    two = [*SQUARE, *((u + 4, v + 4) for u, v in SQUARE)]
    assert sides_of(graph_of(two)) is None
    with pytest.raises(InputError, match="in 2 components, so it is not known"):
        check_sides(graph_of(two))
    with pytest.raises(InputError, match=r"mine is not bipartite: the edge \(\d, \d\) closes a cycle"):
        check_sides(graph_of([*SQUARE, (0, 2)]))


def test_a_forest_has_sides_only_if_it_is_asked() -> None:
    star = graph_of([(0, 1), (0, 2), (0, 3)])
    assert sides_of(star) is None
    assert known_sides(star).tolist() == [0, 1, 1, 1]


def test_columns_that_share_an_id_are_numbered_apart() -> None:
    pairs = np.array([(1, 1), (1, 3), (2, 1), (2, 3), (0, 4)])
    edges, count, labels, sides = bipartite_edges(pairs, 5, ("b", "1", "2", "a", "9"), ("user", "item"))
    assert labels == ("user b", "user 1", "user 2", "item 1", "item a", "item 9")
    assert edges.tolist() == [[1, 3], [1, 4], [2, 3], [2, 4], [0, 5]]
    assert (count, sides.tolist()) == (6, [0, 0, 0, 1, 1, 1])
    assert sides_of(graph_of([tuple(pair) for pair in edges.tolist()])).tolist() == sides.tolist()


def test_columns_that_share_no_id_keep_their_numbers_and_names() -> None:
    pairs = np.array([(4, 1), (4, 3), (2, 1)])
    edges, count, labels, sides = bipartite_edges(pairs, 6)
    assert edges is pairs
    assert (count, labels) == (6, None)
    assert sides.tolist() == [-1, 1, 0, 1, 0, -1]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1))
def test_nodes_that_are_told_apart_are_the_distinct_ids_of_each_column(pairs: list[tuple[int, int]]) -> None:
    array = np.array(pairs)
    edges, count, labels, sides = bipartite_edges(array, 6)
    names = [str(node) for node in range(6)] if labels is None else list(labels)
    apart = bool({u for u, _ in pairs} & {v for _, v in pairs})
    expected = [(f"source {u}", f"target {v}") if apart else (str(u), str(v)) for u, v in pairs]
    assert [(names[u], names[v]) for u, v in edges.tolist()] == expected
    assert all(sides[u] == 0 and sides[v] == 1 for u, v in edges.tolist())
    assert count == len(sides) == len(names)
