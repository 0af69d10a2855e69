"""The graph: what it accepts, what it refuses, and what it says about itself."""

from __future__ import annotations

import copy
import dataclasses
import os
import pickle
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.sparse

from trueedge.errors import InputError
from trueedge.graph import Graph, check_graph

pytestmark = pytest.mark.usefixtures("way")

EDGES = [(3, 0), (1, 2), (0, 1)]


def test_edges_come_out_sorted_once_and_with_the_smaller_end_first() -> None:
    graph = Graph.from_edges(EDGES, num_nodes=5)
    assert graph.edges.tolist() == [[0, 1], [0, 3], [1, 2]]
    assert graph.edges.dtype == np.int32
    assert (graph.num_nodes, graph.num_edges) == (5, 3)


def test_the_adjacency_holds_each_edge_in_both_directions() -> None:
    graph = Graph.from_edges(EDGES, num_nodes=5)
    assert graph.indptr.tolist() == [0, 2, 4, 5, 6, 6]
    assert graph.indices.tolist() == [1, 3, 0, 2, 1, 0]
    assert (graph.indptr.dtype, graph.indices.dtype) == (np.int64, np.int32)
    assert graph.degrees.tolist() == [2, 2, 1, 1, 0]
    assert [graph.neighbors(node).tolist() for node in range(5)] == [[1, 3], [0, 2], [1], [0], []]
    dense = np.zeros((5, 5))
    for u, v in EDGES:
        dense[u, v] = dense[v, u] = 1
    assert (graph.adjacency().toarray() == dense).all()


def test_one_node_without_edges_is_a_graph() -> None:
    graph = Graph.from_edges([], num_nodes=1)
    assert (graph.num_nodes, graph.num_edges) == (1, 0)
    assert graph.edges.shape == (0, 2)
    assert graph.indptr.tolist() == [0, 0]
    assert graph.components().tolist() == [0]
    assert graph.largest_component() is graph
    assert graph.has_edges([(0, 0)]).tolist() == [False]
    assert len(graph.hash) == 64


def test_num_nodes_defaults_to_the_largest_id_plus_one() -> None:
    assert Graph.from_edges([(0, 7)]).num_nodes == 8
    assert Graph.from_edges([(0, 1)], labels=["a", "b", "c"]).num_nodes == 3


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"edges": []}, "the graph is empty: it has no node"),
        ({"edges": [(0, 1)], "num_nodes": 0}, "the graph is empty: it has no node"),
        ({"edges": [(0, 1)], "num_nodes": -4}, "the graph is empty: it has no node"),
        ({"edges": [(0, 1)], "num_nodes": "3"}, "num_nodes must be a whole number, got '3'"),
        ({"edges": [(0, 1)], "num_nodes": 2.0}, "num_nodes must be a whole number, got 2.0"),
        ({"edges": [(0, 1)], "num_nodes": True}, "num_nodes must be a whole number, got True"),
        ({"edges": [(0, 1)], "num_nodes": 2**31}, "2147483648 nodes are too many"),
        ({"edges": [(0, 2**40)]}, "1099511627777 nodes are too many"),
        ({"edges": [(0, 2**63 - 1)]}, "9223372036854775808 nodes are too many"),
        ({"edges": [(0, 2**63)]}, "row 0 has 9.223372036854776e+18, which is not a node id"),
        (
            {"edges": np.array([(0, 2**63)], dtype=np.uint64)},
            "the node id 9223372036854775808, which is too large",
        ),
        ({"edges": [(0, 1), (2, -1)]}, "row 1 has the node id -1, below 0"),
        ({"edges": [(0, 1), (2, 5)], "num_nodes": 5}, "row 1 has the node id 5, outside 0..4"),
        ({"edges": [(0, 9)], "labels": ["a", "b"]}, "row 0 has the node id 9, outside 0..1"),
        ({"edges": [(0, 1), (1, np.nan)]}, "row 1 has nan, which is not a node id"),
        ({"edges": [(0, 1.5)]}, "row 0 has 1.5, which is not a node id"),
        ({"edges": [(0, 1), (2,)]}, "all rows of one length"),
        ({"edges": [(0, 1, 2)]}, "shape (n, 2), got shape (1, 3)"),
        ({"edges": np.zeros((0, 3))}, "shape (n, 2), got shape (0, 3)"),
        ({"edges": [("a", "b")], "num_nodes": 2}, "must hold whole numbers"),
        ({"edges": [("a", None)]}, "row 0 has None, which is not a node id"),
        ({"edges": [("a", 1.5)]}, "row 0 has 1.5, which is not a node id"),
        ({"edges": [("a", "")]}, "row 0 has an empty name"),
        ({"edges": [("a", "x")], "labels": ["a", "b"]}, "row 0 has 'x', which is not among the labels"),
        ({"edges": [(True, False)]}, "must hold whole numbers, got values of type bool"),
        ({"edges": None}, "shape (n, 2), got NoneType"),
        ({"edges": [(0, 1), (2, 2)]}, "row 1, (2, 2), joins a node to itself"),
        ({"edges": [(0, 1), (2, 1), (1, 0)]}, "row 2, (1, 0), repeats the edge of row 0"),
        (
            {"edges": [(0, 0), (1, 2), (2, 1)], "self_loops": "drop"},
            "row 2, (2, 1), repeats the edge of row 1",
        ),
        ({"edges": [(0, 0)], "labels": ["a", "b"]}, "row 0, ('a', 'a'), joins a node to itself"),
        ({"edges": [(0, 1)], "self_loops": "keep"}, "self_loops must be 'refuse' or 'drop', got 'keep'"),
        ({"edges": [(0, 1)], "repeats": True}, "repeats must be 'refuse' or 'drop', got True"),
        ({"edges": [(0, 1)], "labels": ["a"], "num_nodes": 2}, "2 nodes, but 1 labels"),
        ({"edges": [(0, 1)], "labels": ["a", "a"]}, "two nodes are called 'a'"),
        ({"edges": [(0, 1)], "labels": "ab"}, "labels must be a list of names"),
        ({"edges": [(0, 1)], "features": [[1], [2], [3]]}, "features have 3 rows, but the graph has 2 nodes"),
        ({"edges": [(0, 1)], "features": [1, 2]}, "got shape (2,)"),
        ({"edges": [(0, 1)], "features": np.zeros((2, 0))}, "got shape (2, 0)"),
        ({"edges": [(0, 1)], "features": [[1], [2, 3]]}, "features must be a table of numbers"),
        ({"edges": [(0, 1)], "features": [["1"], ["2"]]}, "features must be a table of numbers"),
        ({"edges": [(0, 1)], "features": [[1, 2], [3, np.nan]]}, "row 1, column 1 is nan"),
        ({"edges": [(0, 1)], "features": [[1.0], [1e300]]}, "row 1, column 0 is 1e+300"),
        ({"edges": [(0, 1)], "features": [[1j], [1]]}, "got values of type complex128"),
        ({"edges": [(0, 1)], "edge_data": {"year": [1, 2]}}, "'year' has shape (2,), but there are 1 edges"),
        ({"edges": [(0, 1)], "edge_data": {"year": [np.inf]}}, "'year': row 0 is inf"),
        ({"edges": [(0, 1)], "edge_data": {"year": ["x"]}}, "'year' must hold numbers"),
    ],
)
def test_bad_input_gets_one_sentence_that_names_it(arguments: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        Graph.from_edges(**arguments)  # type: ignore[arg-type]
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_nodes_that_only_skipped_ids_make_are_said() -> None:
    skipped = "num_nodes was not given, so every id up to"
    assert Graph.from_edges([(1001, 1002), (1003, 1001)]).notes == (
        f"1,001 of 1,004 nodes have no edge; {skipped} 1,003 is a node",
    )
    assert Graph.from_edges([(0, 2)]).notes == (f"1 of 3 nodes has no edge; {skipped} 2 is a node",)
    loops = Graph.from_edges([(0, 0), (1, 3)], self_loops="drop")
    assert loops.notes == ("dropped 1 self-loop", f"2 of 4 nodes have no edge; {skipped} 3 is a node")
    assert len(Graph.from_edges([(0, 2_000_000_000)]).notes) == 1


def test_isolated_nodes_that_were_asked_for_need_no_note() -> None:
    assert Graph.from_edges([(1, 2)], num_nodes=9).notes == ()
    assert Graph.from_edges([(1, 2)], labels=["a", "b", "c"]).notes == ()
    assert Graph.from_edges([(0, 1), (2, 2)], self_loops="drop").notes == ("dropped 1 self-loop",)
    assert Graph.from_edges([(2, 1), (0, 1)]).notes == ()


def test_dropped_edges_are_counted() -> None:
    rows = [(0, 1), (1, 1), (1, 0), (2, 1), (0, 1)]
    graph = Graph.from_edges(rows, self_loops="drop", repeats="drop")
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.notes == ("dropped 1 self-loop", "dropped 2 repeated edges")


def test_edge_data_follows_its_edge_and_the_first_of_repeats_stays() -> None:
    rows = [(2, 1), (1, 1), (0, 1), (1, 0)]
    graph = Graph.from_edges(rows, self_loops="drop", repeats="drop", edge_data={"year": [10, 20, 30, 40]})
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.edge_data["year"].tolist() == [30, 10]


def test_the_largest_possible_graph_has_no_key_overflow() -> None:
    top = 2**31 - 2
    pairs = np.array([(top, 0), (top - 1, top)])
    # Only the edges are looked at: an adjacency of this size would not fit the memory.
    graph = Graph.from_edges(pairs, num_nodes=top + 1)
    assert graph.edges.tolist() == [[0, top], [top - 1, top]]
    assert (graph.edge_keys > 0).all()
    assert graph.has_edges([(top, top - 1), (0, top), (0, 1)]).tolist() == [True, True, False]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64, np.float32, np.float64])
def test_ids_of_any_numeric_type_are_the_same_ids(dtype: type) -> None:
    pairs = np.array([(3, 0), (1, 2)], dtype=dtype)
    assert Graph.from_edges(pairs).hash == Graph.from_edges([(0, 3), (1, 2)]).hash


def test_features_of_ints_bools_and_sparse_matrices_become_float32() -> None:
    table = [[1, 0], [0, 1], [1, 1]]
    made = [
        Graph.from_edges([(0, 1)], 3, features)
        for features in (table, np.array(table, dtype=bool), scipy.sparse.csr_array(np.array(table)))
    ]
    assert all(graph.features is not None and graph.features.dtype == np.float32 for graph in made)
    assert len({graph.hash for graph in made}) == 1


def test_the_callers_arrays_stay_writable_and_apart() -> None:
    edges = np.array([(0, 1), (1, 2)])
    features = np.ones((3, 2), dtype=np.float32)
    year = np.array([1, 2])
    graph = Graph.from_edges(edges, features=features, edge_data={"year": year})
    before = graph.hash
    edges[0] = features[0] = year[0] = 2
    assert dataclasses.replace(graph).hash == before


def test_the_bare_constructor_does_not_lock_the_callers_arrays() -> None:
    edges = np.array([(0, 1)], dtype=np.int32)
    graph = Graph(2, edges)
    edges[0, 0] = 1
    assert graph.edges.tolist() == [[0, 1]]


@pytest.mark.parametrize("part", ["edges", "features", "indptr", "indices", "degrees", "edge_keys"])
def test_no_array_of_a_graph_can_be_written(part: str, random_graph: Callable[..., Graph]) -> None:
    graph = random_graph(0, features=3)
    for same in (graph, copy.deepcopy(graph), pickle.loads(pickle.dumps(graph))):
        with pytest.raises(ValueError, match="read-only"):
            getattr(same, part)[0] = 1


def test_a_graph_survives_pickling(random_graph: Callable[..., Graph]) -> None:
    graph = Graph.from_edges([(0, 1)], 2, [[1.0], [2.0]], labels=["a", "b"], edge_data={"w": [3]}, name="x")
    again = pickle.loads(pickle.dumps(graph))
    assert (again.hash, again.labels, again.name, again.notes) == (graph.hash, ("a", "b"), "x", ())
    with pytest.raises(TypeError):
        again.edge_data["w"] = np.zeros(1)


def test_the_hash_is_of_the_content_and_not_of_the_name_of_the_graph() -> None:
    plain = Graph.from_edges([(0, 1), (1, 2)])
    same = Graph.from_edges([(2, 1), (1, 0), (0, 1), (1, 1)], name="other", self_loops="drop", repeats="drop")
    assert same.notes
    assert same.hash == plain.hash


def test_the_hash_differs_where_the_content_does() -> None:
    one = [[0.0], [0.0], [0.0]]
    graphs = [
        Graph.from_edges([(0, 1), (1, 2)]),
        Graph.from_edges([(0, 1), (1, 2)], num_nodes=4),
        Graph.from_edges([(0, 1), (0, 2)]),
        Graph.from_edges([(0, 1), (1, 2)], features=one),
        Graph.from_edges([(0, 1), (1, 2)], features=[[0.0], [0.0], [1.0]]),
        Graph.from_edges([(0, 1), (1, 2)], edge_data={"weight": [1, 2]}),
        Graph.from_edges([(0, 1), (1, 2)], edge_data={"year": [1, 2]}),
        Graph.from_edges([(0, 1), (1, 2)], edge_data={"year": [2, 1]}),
        Graph.from_edges([(0, 1), (1, 2)], labels=["a", "b", "c"]),
        Graph.from_edges([(0, 1), (1, 2)], labels=["c", "b", "a"]),
        Graph.from_edges([(0, 1), (1, 2)], labels=['a", "b', "c", "d"]),
        Graph.from_edges([(0, 1), (1, 2)], labels=["a", 'b", "c', "d"]),
    ]
    assert len({graph.hash for graph in graphs}) == len(graphs)


def test_without_labels_the_hash_is_that_of_the_graph_without_them() -> None:
    plain = Graph.from_edges([(0, 1), (1, 2)])
    named = Graph.from_edges([(0, 1), (1, 2)], labels=["a", "b", "c"])
    assert named.hash_without_labels == plain.hash_without_labels == plain.hash != named.hash


def test_an_array_that_could_change_through_another_one_is_copied() -> None:
    edges = np.int32([[0, 1], [1, 2]])
    shown = edges[:]
    shown.flags.writeable = False
    graph = Graph(3, shown)
    before = graph.hash
    edges[0] = (0, 2)
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert dataclasses.replace(graph).hash == before


def test_the_hash_is_the_same_on_every_machine() -> None:
    graph = Graph.from_edges(
        [(0, 1), (1, 2)], 4, np.arange(8).reshape(4, 2), edge_data={"year": np.int64([7, 9])}
    )
    assert graph.hash == "55cb66bccebb3ea00231c4342a6208d9babe7aaf15aad5d6b49219ddb2a75c18"
    named = dataclasses.replace(graph, labels=("a", "ß", "c d", "\ud800"))
    assert named.hash == "e077e47a975bb63216d984c235ff19130a731f50a7e8b5173dc6fe6740bd8a0b"


@pytest.mark.parametrize("seed", range(5))
def test_components_are_those_of_networkx_numbered_by_their_first_node(
    seed: int, random_graph: Callable[..., Graph]
) -> None:
    graph = random_graph(seed, nodes=40, edges=25)
    other = nx.Graph(graph.edges.tolist())
    other.add_nodes_from(range(40))
    expected = np.empty(40, dtype=int)
    for number, nodes in enumerate(sorted(nx.connected_components(other), key=min)):
        expected[list(nodes)] = number
    assert graph.components().tolist() == expected.tolist()
    largest = graph.largest_component()
    best = max(nx.connected_components(other), key=lambda nodes: (len(nodes), -min(nodes)))
    assert largest.labels == tuple(str(node) for node in sorted(best))
    assert largest.num_edges == other.subgraph(best).number_of_edges()


def test_a_subgraph_takes_features_labels_and_edge_data_along() -> None:
    graph = Graph.from_edges(
        [(0, 1), (1, 2), (2, 3)],
        features=[[0], [1], [2], [3]],
        labels=list("abcd"),
        edge_data={"year": [5, 6, 7]},
    )
    part = graph.subgraph([3, 2, 1])
    assert part.edges.tolist() == [[0, 1], [1, 2]]
    assert part.features is not None
    assert part.features.ravel().tolist() == [3, 2, 1]
    assert part.labels == ("d", "c", "b")
    assert part.edge_data["year"].tolist() == [7, 6]
    assert part.notes == ("kept 3 of 4 nodes",)
    assert part.subgraph([2]).labels == ("b",)


@pytest.mark.parametrize(
    ("nodes", "sentence"),
    [
        ([0, 9], "row 1 has the node id 9, outside 0..3"),
        ([-1], "row 0 has the node id -1"),
        ([2, 1, 2], "node 2 is listed twice"),
        ([1.5], "row 0 has 1.5, which is not a node id"),
        ([True, False, True, False], "must hold whole numbers"),
        ([[0, 1]], "shape (k,), got shape (1, 2)"),
        ([], "the graph is empty"),
    ],
)
def test_a_bad_choice_of_nodes_is_named(nodes: list[object], sentence: str) -> None:
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 3)])
    with pytest.raises(InputError) as caught:
        graph.subgraph(nodes)  # type: ignore[arg-type]
    assert sentence in str(caught.value)


@pytest.mark.parametrize("node", [-1, 4, 1.5, "a", None])
def test_neighbors_of_a_node_that_is_not_there_are_refused(node: object) -> None:
    with pytest.raises(InputError, match="has no node"):
        Graph.from_edges([(0, 3)]).neighbors(node)  # type: ignore[arg-type]


def test_other_edges_keep_the_nodes_and_their_features() -> None:
    graph = Graph.from_edges([(0, 1), (1, 2)], 4, np.eye(4), labels=list("abcd"), edge_data={"w": [1, 2]})
    more = graph.with_edges([(3, 0), (1, 0), (2, 2)])
    assert more.edges.tolist() == [[0, 1], [0, 3], [1, 2]]
    less = graph.only_edges([(2, 1)])
    assert less.edges.tolist() == [[1, 2]]
    none = graph.only_edges([])
    assert (none.num_nodes, none.num_edges) == (4, 0)
    for other in (more, less, none):
        assert other.features is graph.features
        assert (other.labels, dict(other.edge_data)) == (graph.labels, {})
    with pytest.raises(InputError, match=r"pairs: row 0 has the node id 9, outside 0\.\.3"):
        graph.with_edges([(9, 0)])


def test_has_edges_answers_in_the_order_of_the_pairs_and_in_both_directions() -> None:
    graph = Graph.from_edges([(0, 1), (1, 2)], num_nodes=4)
    assert graph.has_edges([(2, 1), (0, 2), (0, 1), (3, 3), (1, 0)]).tolist() == [
        True,
        False,
        True,
        False,
        True,
    ]
    assert graph.has_edges([]).tolist() == []
    assert Graph.from_edges([], num_nodes=2).has_edges([(0, 1)]).tolist() == [False]


def test_scipy_may_use_the_adjacency_without_touching_the_graph() -> None:
    graph = Graph.from_edges([(0, 1), (1, 2)])
    matrix = graph.adjacency()
    matrix.data[:] = 7
    assert (matrix @ matrix).sum() == 6 * 49
    assert graph.adjacency().sum() == 4


def test_a_graph_says_what_it_is() -> None:
    graph = Graph.from_edges([(0, 1)], features=np.ones((2, 1433)), name="cora")
    assert repr(graph) == "Graph(cora: 2 nodes, 1 edge, 1,433 features)"


def test_masked_values_are_refused_with_their_number() -> None:
    masked = np.ma.array([[1.0], [2.0], [3.0]], mask=[[1], [0], [1]])
    with pytest.raises(InputError, match="features: 2 values are masked"):
        Graph.from_edges([(0, 1)], 3, masked)
    with pytest.raises(InputError, match="edge_data 'year': 1 value is masked"):
        Graph.from_edges([(0, 1)], edge_data={"year": np.ma.array([1], mask=[1])})
    with pytest.raises(InputError, match="edges: 1 value is masked"):
        Graph.from_edges(np.ma.array([[0, 1]], mask=[[0, 1]]))


def test_columns_of_edge_data_have_names() -> None:
    with pytest.raises(InputError, match="the name of a column must be a string, got 1"):
        Graph.from_edges([(0, 1)], edge_data={1: [1], "1": [2]})  # type: ignore[dict-item]
    for wrong in ("ab", "", 7, [1]):
        with pytest.raises(InputError, match="edge_data must be a dict of columns, got"):
            Graph.from_edges([(0, 1)], edge_data=wrong)  # type: ignore[arg-type]


def test_labels_come_in_anything_that_has_an_order() -> None:
    assert Graph.from_edges([(0, 1)], labels=(name for name in "xyz")).labels == ("x", "y", "z")
    assert Graph.from_edges([(0, 1)], labels=np.array(["x", "y"])).num_nodes == 2
    for wrong in (5, {"x", "y"}, np.array("x"), b"xy"):
        with pytest.raises(InputError, match="labels must be a list of names, got"):
            Graph.from_edges([(0, 1)], labels=wrong)  # type: ignore[arg-type]


def test_a_name_that_is_not_utf8_is_made_so(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.txt")
    path.write_text("0 1\n")
    graph = Graph.from_edges(path)
    assert graph.name == "caf?"
    assert dataclasses.replace(graph, notes=("\udce9",)).notes == ("?",)


def test_what_is_no_graph_is_refused_by_name() -> None:
    with pytest.raises(
        InputError, match=r"here: graph must be a trueedge.Graph, got 'karate'; trueedge.load"
    ):
        check_graph("karate", "here")
    with pytest.raises(InputError, match=r"here: graph must be a trueedge.Graph, got NoneType$"):
        check_graph(None, "here")
