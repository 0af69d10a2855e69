"""Graphs of networkx, scipy and PyTorch Geometric, there and back."""

from __future__ import annotations

from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from trueedge.errors import InputError
from trueedge.graph import Graph, to_networkx, to_pyg

pytestmark = pytest.mark.usefixtures("way")

COMPLETE = np.ones((3, 3)) - np.eye(3)


def test_networkx_nodes_keep_their_names_as_labels() -> None:
    other = nx.Graph([("b", "a"), ("a", (1, 2))], name="letters")
    other.add_node("alone")
    graph = Graph.from_networkx(other)
    assert graph.labels == ("b", "a", "(1, 2)", "alone")
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.name == "letters"


def test_networkx_nodes_that_are_numbers_from_zero_keep_their_numbers() -> None:
    other = nx.Graph([(2, 0), (3, 2)])
    other.add_node(1)
    graph = Graph.from_networkx(other, features=np.arange(4).reshape(4, 1))
    assert (graph.labels, graph.name) == (None, "graph")
    assert graph.edges.tolist() == [[0, 2], [2, 3]]
    assert graph.neighbors(1).tolist() == []


def test_networkx_nodes_that_only_look_like_numbers_are_names() -> None:
    assert Graph.from_networkx(nx.Graph([(0.0, 1.0)])).labels == ("0.0", "1.0")
    assert Graph.from_networkx(nx.Graph([("0", "1")])).labels == ("0", "1")


def test_the_karate_club_is_the_same_in_both_libraries() -> None:
    club = nx.karate_club_graph()
    graph = Graph.from_networkx(club)
    assert (graph.num_nodes, graph.num_edges) == (34, 78)
    assert graph.degrees.tolist() == [degree for _, degree in club.degree()]


def test_parallel_networkx_edges_are_refused_or_dropped() -> None:
    other = nx.MultiGraph([("a", "b"), ("b", "a"), ("b", "c")])
    with pytest.raises(InputError, match=r"\('a', 'b'\), repeats the edge of row 0"):
        Graph.from_networkx(other)
    graph = Graph.from_networkx(other, repeats="drop")
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.notes == ("dropped 1 repeated edge",)


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiDiGraph])
def test_a_directed_networkx_graph_with_each_edge_both_ways_is_taken(kind: type) -> None:
    graph = Graph.from_networkx(kind([(1, 0), (0, 1), (1, 2), (2, 1)]))
    assert (graph.edges.tolist(), graph.notes) == ([[0, 1], [1, 2]], ())


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiDiGraph])
def test_a_networkx_edge_in_one_direction_is_refused_unless_the_union_is_asked_for(kind: type) -> None:
    other = kind([("a", "b"), ("b", "a"), ("b", "c"), ("c", "c")])
    with pytest.raises(InputError, match=r"the edge \('b', 'c'\) is there and \('c', 'b'\) is not"):
        Graph.from_networkx(other)
    graph = Graph.from_networkx(other, directed="union", self_loops="drop")
    assert (graph.edges.tolist(), graph.labels) == ([[0, 1], [1, 2]], ("a", "b", "c"))
    assert graph.notes == ("direction is ignored: 1 of 2 edges goes one way only", "dropped 1 self-loop")


def test_parallel_directed_networkx_edges_are_refused_or_dropped() -> None:
    other = nx.MultiDiGraph([("a", "b"), ("a", "b"), ("b", "a")])
    with pytest.raises(InputError, match=r"the graph lists \('a', 'b'\) again at edge 1"):
        Graph.from_networkx(other)
    graph = Graph.from_networkx(other, repeats="drop")
    assert (graph.num_edges, graph.notes) == (1, ("dropped 1 repeated directed edge",))


def test_a_directed_networkx_graph_without_edges_is_a_graph() -> None:
    other = nx.DiGraph()
    other.add_nodes_from("ab")
    assert Graph.from_networkx(other).num_nodes == 2


def test_wrong_networkx_options_are_named() -> None:
    for kind in (nx.Graph, nx.DiGraph):
        with pytest.raises(InputError, match="from_networkx: directed must be 'refuse' or 'union', got 'x'"):
            Graph.from_networkx(kind([(0, 1)]), directed="x")
        with pytest.raises(InputError, match="from_networkx: repeats must be 'refuse' or 'drop', got 'x'"):
            Graph.from_networkx(kind([(0, 1)]), repeats="x")


def test_the_three_adapters_agree_on_a_graph_with_directions() -> None:
    arcs = [(0, 1), (1, 0), (2, 1)]
    matrix = sp.csr_array((np.ones(3), tuple(np.array(arcs).T)), shape=(3, 3))
    for make, other in (
        (Graph.from_networkx, nx.DiGraph(arcs)),
        (Graph.from_scipy, matrix),
        (Graph.from_pyg, data(arcs)),
    ):
        with pytest.raises(InputError, match=r"the edge \(2, 1\) is there and \(1, 2\) is not"):
            make(other)
        assert make(other, directed="union").edges.tolist() == [[0, 1], [1, 2]]


def test_networkx_self_loops_are_refused_or_dropped() -> None:
    other = nx.Graph([("a", "a"), ("a", "b")])
    with pytest.raises(InputError, match=r"\('a', 'a'\), joins a node to itself"):
        Graph.from_networkx(other)
    assert Graph.from_networkx(other, self_loops="drop").notes == ("dropped 1 self-loop",)


def test_two_networkx_nodes_with_one_name_are_refused() -> None:
    with pytest.raises(InputError, match="two nodes are called '1'"):
        Graph.from_networkx(nx.Graph([(1, "1")]))


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        (nx.Graph(), "the graph is empty"),
        ([(0, 1)], "a networkx graph is needed, got list"),
        (None, "NoneType"),
    ],
)
def test_what_is_no_networkx_graph_is_refused(other: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Graph.from_networkx(other)


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_matrix, sp.coo_matrix, sp.lil_array, sp.dok_array])
def test_scipy_matrices_of_every_format_are_taken(make: type) -> None:
    dense = np.zeros((4, 4))
    dense[0, 1] = dense[1, 0] = 2.5
    dense[3, 1] = dense[1, 3] = -1
    graph = Graph.from_scipy(make(dense), name="m")
    assert (graph.num_nodes, graph.edges.tolist(), graph.name) == (4, [[0, 1], [1, 3]], "m")


def test_explicit_zeros_and_entries_that_cancel_are_no_edges() -> None:
    rows, columns = [0, 1, 1, 2, 0, 2, 0, 2], [1, 0, 2, 1, 2, 0, 2, 0]
    values = [1.0, 1.0, 0.0, 0.0, 3.0, 3.0, -3.0, -3.0]
    graph = Graph.from_scipy(sp.coo_array((values, (rows, columns)), shape=(3, 3)))
    assert graph.edges.tolist() == [[0, 1]]
    # A CSR matrix may hold an entry in parts, too.
    parts = (np.array([1.0, 2, -2, 1, 2, -2]), np.array([1, 2, 2, 0, 0, 0]), np.array([0, 3, 4, 6]))
    assert Graph.from_scipy(sp.csr_array(parts, shape=(3, 3))).edges.tolist() == [[0, 1]]


def test_the_scipy_matrix_is_not_changed() -> None:
    matrix = sp.csr_array((np.ones(4), np.array([2, 1, 0, 0]), np.array([0, 2, 3, 4])), shape=(3, 3))
    before = matrix.indices.copy()
    Graph.from_scipy(matrix)
    assert (matrix.indices == before).all()


def test_a_matrix_that_is_not_symmetric_is_refused_unless_the_union_is_asked_for() -> None:
    upper = sp.csr_array(np.triu(COMPLETE))
    with pytest.raises(InputError, match=r"the edge \(0, 1\) is there and \(1, 0\) is not"):
        Graph.from_scipy(upper)
    assert Graph.from_scipy(upper, directed="union").edges.tolist() == [[0, 1], [0, 2], [1, 2]]
    mixed = sp.csr_array(np.array([[0, 1, 0], [1, 0, 0], [1, 0, 0]]))
    assert Graph.from_scipy(mixed, directed="union").edges.tolist() == [[0, 1], [0, 2]]


@pytest.mark.parametrize(
    ("matrix", "options", "sentence"),
    [
        (sp.csr_array(np.ones((2, 3))), {}, r"has shape \(2, 3\)"),
        (sp.csr_array(np.array([[0, np.nan], [1, 0]])), {}, r"the entry \(0, 1\) is nan"),
        (sp.csr_array(np.array([[0, np.inf], [1, 0]])), {}, r"the entry \(0, 1\) is inf"),
        (sp.csr_array(np.array([[0, 1j], [1j, 0]])), {}, "values of type complex128"),
        (sp.csr_array(np.eye(2)), {}, r"\(0, 0\), joins a node to itself"),
        (sp.csr_array((0, 0)), {}, "the graph is empty"),
        (sp.csr_array(COMPLETE), {"directed": "both"}, "directed must be 'refuse' or 'union', got 'both'"),
        (sp.csr_array(COMPLETE), {"features": [[1]]}, "features have 1 rows"),
        (COMPLETE, {}, "a scipy sparse matrix is needed, got ndarray"),
        (sp.coo_array([0, 1]), {}, "a scipy sparse matrix is needed"),
    ],
)
def test_bad_matrices_are_named(matrix: object, options: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Graph.from_scipy(matrix, **options)


def test_a_diagonal_can_be_dropped() -> None:
    graph = Graph.from_scipy(sp.csr_array(np.ones((3, 3))), self_loops="drop")
    assert (graph.num_edges, graph.notes) == (3, ("dropped 3 self-loops",))


def data(columns: list[tuple[int, int]], num_nodes: int | None = None, x: object = None) -> SimpleNamespace:
    """What the adapter needs to see of PyG's ``Data``."""
    index = np.array(columns, dtype=np.int64).reshape(-1, 2).T
    return SimpleNamespace(edge_index=index, num_nodes=num_nodes, x=x)


def test_an_edge_index_in_both_directions_is_each_edge_once() -> None:
    graph = Graph.from_pyg(data([(1, 0), (2, 1), (0, 1), (1, 2)], num_nodes=4, x=np.eye(4)), name="p")
    assert (graph.num_nodes, graph.edges.tolist(), graph.name) == (4, [[0, 1], [1, 2]], "p")
    assert graph.features is not None
    assert Graph.from_pyg(data([(1, 0), (0, 1)])).num_nodes == 2


@pytest.mark.parametrize(
    ("columns", "options", "sentence"),
    [
        ([(0, 1), (1, 0), (2, 1)], {}, r"the edge \(2, 1\) is there and \(1, 2\) is not"),
        ([(0, 1), (1, 0), (0, 1), (1, 0)], {}, r"lists \(0, 1\) again at column 2"),
        ([(0, 1), (1, 0), (1, 1)], {}, r"\(1, 1\), joins a node to itself"),
        ([(0, -1)], {}, "row 0 has the node id -1"),
        ([(0, 1)], {"directed": True}, "directed must be 'refuse' or 'union', got True"),
        ([(0, 1)], {"repeats": "keep"}, "repeats must be 'refuse' or 'drop', got 'keep'"),
        ([], {}, "the graph is empty"),
    ],
)
def test_a_bad_edge_index_is_named(
    columns: list[tuple[int, int]], options: dict[str, object], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        Graph.from_pyg(data(columns), **options)


def test_a_bad_edge_index_is_taken_where_it_is_asked_for() -> None:
    columns = [(0, 1), (1, 0), (2, 1), (2, 1), (2, 2)]
    graph = Graph.from_pyg(data(columns), directed="union", repeats="drop", self_loops="drop")
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.notes == (
        "dropped 1 repeated directed edge",
        "direction is ignored: 1 of 2 edges goes one way only",
        "dropped 1 self-loop",
    )


@pytest.mark.parametrize(
    "other", [SimpleNamespace(), data([]).edge_index, SimpleNamespace(edge_index=np.zeros(4))]
)
def test_what_has_no_edge_index_is_refused(other: object) -> None:
    with pytest.raises(InputError, match=r"needs an edge_index of shape \(2, e\)"):
        Graph.from_pyg(other)


def test_pyg_graphs_go_there_and_back() -> None:
    pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
    from torch_geometric.data import Data, HeteroData

    graph = Graph.from_edges([(0, 3), (1, 2)], 5, np.arange(10).reshape(5, 2))
    other = to_pyg(graph)
    assert other.is_undirected()
    assert Graph.from_pyg(other).hash == graph.hash
    bare = Graph.from_edges([(0, 3)], 5)
    assert Graph.from_pyg(to_pyg(bare)).hash == bare.hash
    assert Graph.from_pyg(Data(edge_index=other.edge_index)).num_nodes == 4
    with pytest.raises(InputError, match="needs an edge_index"):
        Graph.from_pyg(HeteroData())


def test_edge_data_goes_along_to_networkx() -> None:
    graph = Graph.from_edges([(1, 2), (0, 1)], labels=["a", "b", "c"], edge_data={"year": [5, 6]})
    other = to_networkx(graph)
    assert dict(other.edges) == {("a", "b"): {"year": 6}, ("b", "c"): {"year": 5}}
