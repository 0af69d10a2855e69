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


def test_columns_that_are_numbered_apart_tell_the_sides_of_all_components() -> None:
    edges, labels, sides = bipartite_edges([("1", "1"), ("1", "a"), ("2", "1"), ("2", "a"), ("b", "9")])
    assert labels == ("source:1", "2", "b", "target:1", "a", "9")
    assert edges.tolist() == [[0, 3], [0, 4], [1, 3], [1, 4], [2, 5]]
    assert sides_of(graph_of([tuple(pair) for pair in edges.tolist()])).tolist() == sides.tolist()


def test_a_prefix_is_given_to_all_names_if_it_would_make_two_equal() -> None:
    labels = bipartite_edges([(1, 1), ("user:1", 2)], ("user", "item"))[1]
    assert labels == ("user:1", "user:user:1", "item:1", "item:2")
