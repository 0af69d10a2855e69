"""Random graphs: what is built is what the edges say, however they come."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from naive_reader import RefusedError, tidy

from trueedge.errors import InputError
from trueedge.graph import Graph, to_networkx

pytestmark = pytest.mark.usefixtures("way")

HANDLING = st.sampled_from(["refuse", "drop"])
QUICK = {
    "deadline": None,
    "suppress_health_check": [
        HealthCheck.too_slow,
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
    ],
}
NODE = st.integers(0, 7)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """A small graph, with or without labels and features."""
    num_nodes = draw(st.integers(1, 8))
    node = st.integers(0, num_nodes - 1)
    return Graph.from_edges(
        draw(st.lists(st.tuples(node, node), max_size=15)),
        num_nodes,
        draw(st.sampled_from([None, np.arange(num_nodes * 2).reshape(-1, 2)])),
        labels=draw(st.sampled_from([None, [f"n{i}" for i in range(num_nodes)]])),
        self_loops="drop",
        repeats="drop",
    )


@settings(max_examples=700, **QUICK)
@given(
    st.lists(st.tuples(st.integers(-1, 7), NODE), max_size=10),
    st.sampled_from([None, None, 0, 1, 5, 8, 20]),
    HANDLING,
    HANDLING,
)
def test_a_graph_is_what_its_edges_say(
    pairs: list[tuple[int, int]], num_nodes: int | None, self_loops: str, repeats: str
) -> None:
    options = {"self_loops": self_loops, "repeats": repeats}
    limit = num_nodes if num_nodes is not None else max(map(max, pairs), default=-1) + 1
    try:
        if limit < 1 or any(not 0 <= node < limit for pair in pairs for node in pair):
            raise RefusedError
        edges = tidy(pairs, self_loops, repeats)
    except RefusedError:
        with pytest.raises(InputError):
            Graph.from_edges(pairs, num_nodes, **options)  # type: ignore[arg-type]
        return
    numbers = list(range(len(pairs)))
    graph = Graph.from_edges(pairs, num_nodes, edge_data={"row": numbers}, **options)  # type: ignore[arg-type]
    assert graph.num_nodes == limit
    assert graph.edges.tolist() == sorted(sorted(edge) for edge in edges)
    around: dict[int, set[int]] = {node: set() for node in range(limit)}
    for u, v in edges:
        around[u].add(v)
        around[v].add(u)
    assert [graph.neighbors(node).tolist() for node in range(limit)] == [
        sorted(around[i]) for i in range(limit)
    ]
    assert graph.degrees.tolist() == [len(around[node]) for node in range(limit)]
    everything = [(u, v) for u in range(limit) for v in range(limit)]
    assert graph.has_edges(everything).tolist() == [v in around[u] for u, v in everything]
    for edge, row in zip(graph.edges.tolist(), graph.edge_data["row"].tolist(), strict=True):
        assert sorted(pairs[row]) == edge
        assert all(sorted(pair) != edge for pair in pairs[:row])


@settings(max_examples=200, **QUICK)
@given(graphs(), st.randoms(use_true_random=False))
def test_the_order_and_direction_of_edges_do_not_matter(graph: Graph, random: object) -> None:
    rows = [edge[:: random.choice([1, -1])] for edge in graph.edges.tolist()]  # type: ignore[attr-defined]
    random.shuffle(rows)  # type: ignore[attr-defined]
    again = Graph.from_edges(rows, graph.num_nodes, graph.features, labels=graph.labels)
    assert again.hash == graph.hash


@settings(max_examples=150, **QUICK)
@given(graphs())
def test_a_graph_goes_to_networkx_and_back(graph: Graph) -> None:
    again = Graph.from_networkx(to_networkx(graph), features=graph.features)
    assert (again.hash, again.labels, again.name) == (graph.hash, graph.labels, graph.name)


@settings(max_examples=150, **QUICK)
@given(graphs(), st.sampled_from(["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]))
def test_a_graph_goes_to_scipy_and_back(graph: Graph, form: str) -> None:
    again = Graph.from_scipy(graph.adjacency().asformat(form), features=graph.features)
    assert again.hash == graph.hash_without_labels
    upper = sp.triu(graph.adjacency())
    same = Graph.from_scipy(upper, features=graph.features, directed="union")
    assert same.hash == graph.hash_without_labels


@settings(max_examples=100, **QUICK)
@given(graphs())
def test_a_graph_goes_to_pyg_and_back(graph: Graph) -> None:
    pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
    from trueedge.graph import to_pyg

    assert Graph.from_pyg(to_pyg(graph)).hash == graph.hash_without_labels


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("random-graph")


@settings(max_examples=100, **QUICK)
@given(graphs(), st.booleans())
def test_a_graph_goes_to_disk_and_back(folder: Path, graph: Graph, mmap: bool) -> None:
    graph.save(folder)
    again = Graph.load(folder, mmap=mmap)
    assert (again.hash, again.labels, again.notes) == (graph.hash, graph.labels, graph.notes)


@settings(max_examples=300, **QUICK)
@given(
    st.sampled_from(["graph.json", "edges.npy", "features.npy", "edge_data_0.npy"]),
    st.integers(0, 200),
    st.binary(min_size=1, max_size=3),
    st.integers(0, 3),
    st.booleans(),
)
def test_a_folder_with_wrong_bytes_is_the_same_graph_or_refused(
    folder: Path, name: str, at: int, noise: bytes, length: int, mmap: bool
) -> None:
    graph = Graph.from_edges(
        [(0, 1), (1, 2)], features=np.eye(3), labels=list("abc"), edge_data={"year": [1, 2]}
    )
    graph.save(folder)
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(data[:at] + noise + data[at + length :])
    try:
        again = Graph.load(folder, mmap=mmap)
    except InputError:
        return
    assert again.hash == graph.hash
