"""Graphs from whatever holds one, and back: nothing is lost on the way, and what is left out is said."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import trueedge as te
from trueedge.errors import InputError
from trueedge.graph import Graph, as_graph, to_scipy
from trueedge.graph.any_graph import holds_graph

NAMES = st.text("abcdefgh", min_size=1, max_size=3)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """A graph in which every node has an edge, with or without names, weights and times."""
    pairs = draw(
        st.lists(
            st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda pair: pair[0] < pair[1]), min_size=1
        )
    )
    edges = np.unique(np.array(pairs), axis=0)
    _, flat = np.unique(edges, return_inverse=True)
    edges = flat.reshape(-1, 2)
    count = int(edges.max()) + 1
    labels = draw(st.none() | st.lists(NAMES, min_size=count, max_size=count, unique=True))
    numbers = st.lists(st.integers(1, 2**40).map(float), min_size=len(edges), max_size=len(edges))
    keys = draw(st.sampled_from([(), ("weight",), ("weight", "time")]))
    return Graph.from_edges(edges, count, labels=labels, edge_data={key: draw(numbers) for key in keys})


def content(graph: Graph) -> dict[frozenset[str], dict[str, float]]:
    """Each edge by its nodes' names, with its data."""
    names = graph.labels or tuple(map(str, range(graph.num_nodes)))
    data = {key: column.tolist() for key, column in graph.edge_data.items()}
    return {
        frozenset((names[u], names[v])): {key: column[row] for key, column in data.items()}
        for row, (u, v) in enumerate(graph.edges.tolist())
    }


@settings(max_examples=150)
@given(graphs())
def test_networkx_there_and_back_is_the_same_graph(graph: Graph) -> None:
    assert as_graph(graph.to_networkx()).hash == graph.hash


@settings(max_examples=150)
@given(graphs())
def test_scipy_there_and_back_is_the_same_graph(graph: Graph) -> None:
    bare = Graph.from_edges(graph.edges, graph.num_nodes)
    assert as_graph(graph.to_scipy()).hash == bare.hash
    if "weight" in graph.edge_data:
        found = as_graph(graph.to_scipy("weight"))
        weights = graph.edge_data["weight"]
        assert found.edges.tolist() == graph.edges.tolist()
        assert found.edge_data.get("weight", np.ones(len(weights))).tolist() == weights.tolist()


@settings(max_examples=50)
@given(graphs())
def test_pyg_there_and_back_is_the_same_graph(graph: Graph) -> None:
    pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
    bare = Graph.from_edges(graph.edges, graph.num_nodes, edge_data=dict(graph.edge_data))
    assert as_graph(graph.to_pyg()).hash == bare.hash


@settings(max_examples=150)
@given(graphs())
def test_pandas_there_and_back_is_the_same_graph(graph: Graph) -> None:
    pytest.importorskip("pandas", reason="pandas is not installed")
    found = Graph.from_pandas(graph.to_pandas())
    assert content(found) == content(graph)
    assert as_graph(graph.to_pandas()).hash == found.hash


class Frame:
    """What is read of a frame of pandas."""

    def __init__(self, **columns: list[Any]) -> None:
        self.columns = list(columns)
        self.iloc = self
        self.values = [np.asarray(column) for column in columns.values()]

    def __getitem__(self, place: tuple[slice, int]) -> Any:
        return SimpleNamespace(to_numpy=lambda: self.values[place[1]])


def test_a_frame_is_read_like_a_file() -> None:
    frame = Frame(weight=[0.5, 1.5], target=["b", "c"], source=["a", "b"])
    graph = Graph.from_pandas(frame)
    assert (graph.labels, graph.edges.tolist()) == (("a", "b", "c"), [[0, 1], [1, 2]])
    assert graph.edge_data["weight"].tolist() == [0.5, 1.5]
    assert Graph.from_pandas(Frame(u=[0, 1], v=[1, 2]), features=np.eye(3)).features is not None
    assert Graph.from_pandas(Frame(u=[7, 9], v=[9, 12])).labels == ("7", "9", "12")
    assert Graph.from_pandas(Frame(u=[1.0, 2.0], v=[0, 1])).edges.tolist() == [[0, 1], [1, 2]]
    moments = np.array(["1970-01-01T00:00:05", "1970-01-02"], dtype="datetime64[s]")
    times = Graph.from_pandas(Frame(u=[0, 1], v=[1, 2], when=moments)).edge_data["time"]
    assert times.tolist() == [5.0, 86400.0]


@pytest.mark.parametrize(
    ("frame", "options", "sentence"),
    [
        ([(0, 1)], {}, "a data frame is needed, got list"),
        (Frame(a=[1], b=[2], c=[3]), {}, "the data frame has the columns a, b, c; no two of them"),
        (Frame(u=[1], v=[np.nan]), {}, "the data frame, row 0: an id is missing"),
        (Frame(u=[1, 2], v=[2, np.nan]), {}, "the data frame, row 1: an id is missing"),
        (Frame(u=["a"], v=[None]), {}, "the data frame, row 0: an id is missing"),
        (Frame(u=[1], v=[0.5]), {}, "the data frame, row 0: '0.5' is not a node id"),
        (Frame(u=[1], v=[-3]), {}, "the data frame, row 0: the id -3 is below 0"),
        (Frame(u=[], v=[]), {}, "the data frame is empty: it has no edges"),
        (Frame(u=[1], v=[2]), {"weight": "w"}, "the data frame has no column 'w' for weight"),
        (Frame(u=[1], v=[2], w=["x"]), {"weight": "w"}, "row 0: the weight is 'x', not a number"),
        (Frame(u=[1], v=[2]), {"num_nodes": 2}, "row 0: the id 2 is outside 0..1"),
        (Frame(u=["a"], v=["b"]), {"num_nodes": 2}, "row 0: 'a' is not a whole number"),
        (Frame(u=[1, 2], v=[2, 1]), {}, "row 1: ('2', '1') repeats the edge of the data frame, row 0"),
    ],
)
def test_what_is_wrong_with_a_frame_is_named(frame: Any, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        Graph.from_pandas(frame, **options)
    assert sentence in str(caught.value)


def test_pairs_of_names_are_edges() -> None:
    graph = Graph.from_edges([("b", "a"), ("a", "c")], edge_data={"weight": [2, 1]})
    assert (graph.labels, graph.edges.tolist()) == (("b", "a", "c"), [[0, 1], [1, 2]])
    assert graph.edge_data["weight"].tolist() == [2, 1]
    assert Graph.from_edges(iter([("b", "a")])).labels == ("b", "a")
    assert Graph.from_edges(np.array([("b", "a")])).labels == ("b", "a")
    assert Graph.from_edges([("ann", 7), ("bob", 7)]).labels == ("ann", "7", "bob")
    known = Graph.from_edges([("b", "a")], labels=["a", "b", "alone"])
    assert (known.num_nodes, known.edges.tolist()) == (3, [[0, 1]])


def karate() -> dict[str, Any]:
    """The same graph in every form."""
    graph = te.load("karate")
    other = nx.Graph()
    other.add_nodes_from(range(34))
    other.add_edges_from(graph.edges.tolist())
    return {
        "networkx": other,
        "directed networkx": nx.DiGraph(graph.edges.tolist()),
        "scipy": graph.to_scipy(),
        "upper half of scipy": sp.coo_matrix(np.triu(graph.to_scipy().toarray())),
        "array": np.asarray(graph.edges),
        "list": graph.edges.tolist(),
    }


@pytest.mark.rotating(10)
@pytest.mark.parametrize("form", karate())
def test_tasks_runs_and_audits_take_every_form(form: str) -> None:
    thing = karate()[form]
    expected = te.task("karate", "existing", seed=1)
    assert te.task(thing, "existing", seed=1).test.positives.tolist() == expected.test.positives.tolist()
    if form in ("networkx", "list"):
        assert te.run(thing, "existing", "cn", seed=1).test == te.run("karate", "existing", "cn", seed=1).test
        found = te.audit.audit(thing)
        assert found.sizes == te.audit.audit("karate").sizes
        assert te.task(thing).protocol == "heart"


def test_a_pyg_graph_and_its_features_make_a_task() -> None:
    pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
    graph = te.load("karate")
    features = np.arange(34 * 2, dtype=np.float32).reshape(34, 2)
    data = Graph.from_edges(graph.edges, 34, features).to_pyg()
    made = te.task(data, "existing")
    assert made.graph.features is not None
    assert (made.graph.features == features).all()


@pytest.mark.parametrize("form", ["directed networkx", "upper half of scipy"])
def test_direction_that_is_dropped_is_said(form: str) -> None:
    assert "direction is ignored: 78 of 78 edges go one way only" in as_graph(karate()[form]).notes


@pytest.mark.parametrize(
    ("thing", "sentence"),
    [
        (7, "a graph is needed: a networkx graph, .* got int"),
        (np.zeros((3, 3)), r"edges must be an array of shape \(n, 2\), got shape \(3, 3\)"),
        ([], "the graph is empty"),
        ({"a": ["b"]}, "got dict"),
    ],
)
def test_what_holds_no_graph_is_refused(thing: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        as_graph(thing)


def test_columns_are_not_named_for_other_things() -> None:
    with pytest.raises(InputError, match="columns can be named for a file or a data frame"):
        as_graph([(0, 1)], te.graph.EdgeFormat(weight=2))


def test_a_task_of_something_else_is_refused() -> None:
    with pytest.raises(InputError, match="or a graph of networkx, scipy, PyG or pandas, got"):
        te.task({"a": ["b"]})
    assert not holds_graph("karate")


def test_a_matrix_of_weights_has_no_zero() -> None:
    graph = Graph.from_edges([(0, 1), (1, 2)], edge_data={"weight": [0.0, 2.0]})
    with pytest.raises(
        InputError, match=r"the weight of the edge \(0, 1\) is 0, which is no edge in a matrix"
    ):
        to_scipy(graph, "weight")
    with pytest.raises(InputError, match="no edge data of graph is called 'weigth'; did you mean 'weight'"):
        graph.to_scipy("weigth")


def test_load_reads_files_and_saved_graphs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "net.csv"
    path.write_text("3,a,b\n5,b,c\n5,b,b\n")
    graph = te.load(path, source=1, target=2, weight=0)
    assert (graph.labels, graph.edge_data["weight"].tolist()) == (("a", "b", "c"), [3.0, 5.0])
    graph.save(tmp_path / "saved")
    assert te.load(tmp_path / "saved").hash == graph.hash
    monkeypatch.chdir(tmp_path)
    assert te.load("net.csv", source="1", target="2", weight="0").hash == graph.hash
    with pytest.raises(InputError, match="there is no edge list and no saved graph at"):
        te.load(tmp_path / "nothing")
    with pytest.raises(InputError, match="source is for an edge list, but karate is not a file"):
        te.load("karate", source=0, target=1)
    with pytest.raises(InputError, match="no data set is called 'karat'; did you mean 'karate'"):
        te.load("karat")


def test_no_library_is_imported_for_a_list_of_pairs() -> None:
    script = """
import sys
import trueedge as te
graph = te.graph.as_graph([("a", "b")])
print(graph.num_edges, *(name for name in ("torch", "networkx", "pandas", "scipy") if name in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1"]
