"""Typed graphs from tables: dicts, frames, files and PyTorch Geometric."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from trueedge.errors import InputError
from trueedge.graph import HeteroGraph

AUTHORS = {
    "id": ["ann", "bob", "cid"],
    "age": [41, 30, 55],
    "field": ["db", "ml", ""],
    "city": ["x", "y", "z"],
}
WRITES = {"source": ["ann", "bob", "cid", "ann"], "target": [0, 2, 1, 1]}
EDGES = {
    ("author", "writes", "paper"): WRITES,
    ("paper", "cites", "paper"): np.array([[2, 0], [1, 0], [2, 0]]),
}


class Frame:
    """As much of a data frame as is needed: columns by name, each an array."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self.columns = list(columns)
        self._columns = {name: np.array(values, dtype=object) for name, values in columns.items()}

    def __getitem__(self, name: str) -> Any:
        return self._columns[name]


def test_tables_become_a_typed_graph() -> None:
    graph = HeteroGraph.from_tables({"author": AUTHORS, "paper": 3}, EDGES, label="field", name="mine")
    assert graph.name == "mine"
    assert graph.node_types == ("author", "paper")
    assert graph.starts.tolist() == [0, 3, 6]
    assert [tuple(one) for one in graph.relations] == [("writes", 0, 1), ("cites", 1, 1)]
    assert graph.edges[0].tolist() == [[0, 3], [0, 4], [1, 5], [2, 4]]
    assert graph.edges[1].tolist() == [[4, 3], [5, 3]]
    assert graph.features[0].tolist() == [[41], [30], [55]]
    assert graph.features[1] is None
    assert graph.names == ("ann", "bob", "cid", "0", "1", "2")
    assert graph.labels.classes == ("db", "ml")
    assert (graph.labels.nodes.tolist(), graph.labels.values.tolist()) == ([0, 1], [0, 1])
    assert graph.labels.test is None
    assert graph.notes == (
        "dropped 1 repeated edge of 'cites'",
        "the column 'city' of 'author' is not numeric and was left out",
    )


def write_csv(path: Path, columns: dict[str, Any], separator: str = ",") -> Path:
    rows = zip(*columns.values(), strict=True)
    lines = [separator.join(columns), *(separator.join(map(str, row)) for row in rows)]
    path.write_text("\r\n".join(lines) + "\r\n\r\n")
    return path


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_csv_files_frames_and_dicts_give_the_same_graph(tmp_path: Path, separator: str) -> None:
    plain = HeteroGraph.from_tables({"author": AUTHORS, "paper": 3}, EDGES, label="field")
    files = HeteroGraph.from_tables(
        {"author": write_csv(tmp_path / "authors.csv", AUTHORS, separator), "paper": 3},
        {**EDGES, ("author", "writes", "paper"): str(write_csv(tmp_path / "writes.csv", WRITES, separator))},
        label="field",
    )
    frames = HeteroGraph.from_tables(
        {"author": Frame(AUTHORS), "paper": 3},
        {**EDGES, ("author", "writes", "paper"): Frame(WRITES)},
        label="field",
    )
    assert plain.hash == files.hash == frames.hash


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_of_other_libraries_are_taken(library: str, tmp_path: Path) -> None:
    module = pytest.importorskip(library)
    make = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}[library]
    frame = getattr(module, make)(AUTHORS)
    plain = HeteroGraph.from_tables({"author": AUTHORS, "paper": 3}, EDGES, label="field")
    assert HeteroGraph.from_tables({"author": frame, "paper": 3}, EDGES, label="field").hash == plain.hash
    path = tmp_path / "authors.parquet"
    if library == "pyarrow":
        pytest.importorskip("pyarrow.parquet").write_table(frame, path)
    else:
        getattr(frame, "write_parquet", getattr(frame, "to_parquet", None))(path)
    assert HeteroGraph.from_tables({"author": path, "paper": 3}, EDGES, label="field").hash == plain.hash


def test_ids_that_are_numbers_match_however_they_are_stored() -> None:
    nodes = {"a": {"id": [10, 20, 30]}, "b": {"x": [1.5, 2.5]}}
    for ends in ([10, 30], [10.0, 30.0], ["10", "30"], np.array([10, 30], dtype=object)):
        graph = HeteroGraph.from_tables(nodes, {("a", "to", "b"): {"u": ends, "v": [0, 1]}})
        assert graph.edges[0].tolist() == [[0, 3], [2, 4]]
    assert graph.names == ("10", "20", "30", "0", "1")
    same = HeteroGraph.from_tables({"a": {"id": [0, 1], "x": [1, 2]}}, {("a", "to", "a"): [(0, 1)]})
    assert same.names is None
    assert same.features[0].tolist() == [[1], [2]]


def test_relations_of_one_name_are_told_apart() -> None:
    edges = {("a", "to", "b"): [(0, 0)], ("b", "to", "a"): [(0, 0)], ("a", "near", "a"): [(0, 0)]}
    graph = HeteroGraph.from_tables({"a": 1, "b": 1}, edges)
    assert [one.name for one in graph.relations] == ["a-to-b", "b-to-a", "near"]


def test_features_may_be_given_beside_the_tables_and_be_sparse() -> None:
    sparse = csr_array(np.eye(3))
    graph = HeteroGraph.from_tables({"author": AUTHORS, "paper": 3}, EDGES, features={"paper": sparse})
    assert isinstance(graph.features[1], csr_array)
    assert graph.features[1].toarray().tolist() == np.eye(3).tolist()
    wide = HeteroGraph.from_tables({"a": {"x": np.eye(2), "y": [7, 8]}}, {("a", "to", "a"): [(0, 1)]})
    assert wide.features[0].tolist() == [[1, 0, 7], [0, 1, 8]]


@pytest.mark.parametrize(
    "column", [[["x", "z"], ["y"], []], [["z", "x"], ("y",), None], [["x", "z"], {"y"}, float("nan")]]
)
def test_lists_of_classes_give_several_labels(column: Any) -> None:
    graph = HeteroGraph.from_tables({"a": {"kind": column}}, {("a", "to", "a"): [(0, 1)]}, label="kind")
    assert graph.labels.classes == ("x", "y", "z")
    assert graph.labels.nodes.tolist() == [0, 1]
    assert graph.labels.values.tolist() == [[True, False, True], [False, True, False]]


def test_a_column_for_each_class_gives_several_labels() -> None:
    table = np.array([[True, False, True], [False, True, False], [False, False, False]])
    graph = HeteroGraph.from_tables({"a": {"y": table}}, {("a", "to", "a"): [(0, 1)]}, label="y")
    assert graph.labels.multi
    assert graph.labels.nodes.tolist() == [0, 1]
    assert graph.labels.values.tolist() == table[:2].tolist()


def test_classes_that_are_numbers_are_in_their_order_and_the_test_part_is_kept() -> None:
    nodes = {"a": {"y": [10, 9, np.nan, 10], "part": [0, 1, 0, 1]}}
    graph = HeteroGraph.from_tables(nodes, {("a", "to", "a"): [(0, 1)]}, label="y", test="part")
    assert graph.labels.classes == ("9", "10")
    assert graph.labels.values.tolist() == [1, 0, 1]
    assert graph.labels.test.tolist() == [False, True, True]
    assert graph.features == (None,)


def test_a_column_of_the_test_part_is_a_feature_of_other_types() -> None:
    nodes = {"a": {"y": ["k", "l"], "part": [1, 0]}, "b": {"part": [7, 8]}}
    for test in ("part", {"a": "part"}):
        graph = HeteroGraph.from_tables(nodes, {("a", "to", "b"): [(0, 1)]}, label="y", test=test)
        assert graph.labels.test.tolist() == [True, False]
        assert graph.features[0] is None
        assert graph.features[1].tolist() == [[7], [8]]


def test_types_without_a_column_that_is_named_have_no_features() -> None:
    nodes = {"a": {"x": [1, 2], "y": [3, 4]}, "b": {"z": [5, 6]}, "c": 1}
    for features, wanted in (
        ("x", ([[1], [2]], None, None)),
        (["x", "z"], ([[1], [2]], [[5], [6]], None)),
        ({"a": [], "c": []}, (None, [[5], [6]], None)),
        ([], (None, None, None)),
    ):
        graph = HeteroGraph.from_tables(nodes, {("a", "to", "b"): [(0, 1)]}, features=features)
        assert tuple(None if one is None else one.tolist() for one in graph.features) == wanted


TO = ("a", "to", "a")
FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "no nodes": ({"nodes": {}}, "HeteroGraph.from_tables: nodes must be a dict that is not empty, got {}"),
    "edges that are a list": (
        {"edges": [(0, 1)]},
        "HeteroGraph.from_tables: edges must be a dict that is not empty, got [(0, 1)]",
    ),
    "a negative count": (
        {"nodes": {"a": -1}},
        "HeteroGraph.from_tables: 'a' must have 0 to 2,147,483,647 nodes, got -1",
    ),
    "no node at all": (
        {"nodes": {"a": 0}},
        "HeteroGraph.from_tables: there are 0 nodes, a graph has 1 to 2,147,483,647",
    ),
    "a type without a name": (
        {"nodes": {"": 1}},
        "HeteroGraph.from_tables: the name of a node type must be a text, got ''",
    ),
    "nodes that are a set": (
        {"nodes": {"a": {1, 2}}},
        "the nodes of 'a' must be a dict of columns, a data frame or the path of a file, got set",
    ),
    "a repeated id": (
        {"nodes": {"a": {"id": ["x", "x"]}}},
        "the nodes of 'a', row 1: the id 'x' occurs again",
    ),
    "a missing id": ({"nodes": {"a": {"id": ["x", None]}}}, "the nodes of 'a', row 1: the id is missing"),
    "an id that is a fraction": (
        {"nodes": {"a": {"id": [1, 2.5]}}},
        "the nodes of 'a', row 1: the id 2.5 is not an id",
    ),
    "columns of two lengths": (
        {"nodes": {"a": {"id": [1, 2], "x": [1]}}},
        "the nodes of 'a': the column 'x' has 1 rows, but 'id' has 2",
    ),
    "a relation that is a text": (
        {"edges": {"to": [(0, 1)]}},
        "HeteroGraph.from_tables: a relation is (source type, name, target type), got 'to'",
    ),
    "a relation of an unknown type": (
        {"edges": {("a", "to", "b"): [(0, 1)]}},
        "HeteroGraph.from_tables: the relation ('a', 'to', 'b') has an end of type 'b'; types are: 'a'",
    ),
    "an edge to an unknown node": (
        {"edges": {TO: [(0, 1), (0, 7)]}},
        "the edges of 'to', row 1: the target '7' is not a node of type 'a'",
    ),
    "an edge to an unknown name": (
        {"edges": {TO: {"source": ["0", "ann"], "target": ["1", "1"]}}},
        "the edges of 'to', row 1: the source 'ann' is not a node of type 'a'",
    ),
    "edges with three columns": (
        {"edges": {TO: {"u": [0], "v": [1], "w": [1]}}},
        "the edges of 'to': there is no column 'source', only 'u', 'v', 'w'",
    ),
    "edges of a wrong shape": (
        {"edges": {TO: np.zeros((2, 3), dtype=int)}},
        "the edges of 'to' must have the shape (m, 2), got (2, 3)",
    ),
    "a feature that is missing": (
        {"nodes": {"a": {"x": [1.0, np.nan]}}},
        "the nodes of 'a', row 1: the feature 'x' is nan, not a finite float32",
    ),
    "features of an unknown type": (
        {"features": {"b": np.eye(2)}},
        "HeteroGraph.from_tables: features of 'b' are given, which is not a node type",
    ),
    "features of another length": (
        {"features": {"a": np.eye(3)}},
        "the features of 'a' have shape (3, 3), for 2 nodes",
    ),
    "features that are texts": (
        {"features": {"a": [["x"], ["y"]]}},
        "HeteroGraph.from_tables: the features of 'a' must be numbers",
    ),
    "a label column that is missing": (
        {"label": "y"},
        "HeteroGraph.from_tables: label='y': no table of nodes has the column 'y'",
    ),
    "labels of two types": (
        {"nodes": {"a": {"y": [1, 2]}, "b": {"y": [1]}}, "label": "y"},
        "HeteroGraph.from_tables: only one node type can have labels, but 'a' has the column 'y', and 'b' the"
        " column 'y'; label={'a': 'y'} chooses one",
    ),
    "no label at all": (
        {"nodes": {"a": {"y": ["", ""]}}, "label": "y"},
        "the nodes of 'a': no node has a label in the column 'y'",
    ),
    "a test part without labels": (
        {"test": "part"},
        "HeteroGraph.from_tables: test='part' needs a column of labels: label=…",
    ),
    "a test part that is a word": (
        {"nodes": {"a": {"y": [1, 2], "part": ["yes", "no"]}}, "label": "y", "test": "part"},
        "the nodes of 'a', row 0: part must be true or false, got 'yes'",
    ),
}


TWO_TABLES: dict[str, Any] = {
    "nodes": {"a": {"y": [1, 2], "part": [1, 0]}, "b": {"part": [1, 0]}},
    "label": {"a": "y"},
}
FAULTS |= {
    "a test part of another type than that of labels": (
        {**TWO_TABLES, "test": {"b": "part"}},
        "HeteroGraph.from_tables: test must be a column of 'a' alone, the node type with labels, got"
        " {'b': 'part'}",
    ),
    "a test part of two types": (
        {**TWO_TABLES, "test": {"a": "part", "b": "part"}},
        "HeteroGraph.from_tables: test must be a column of 'a' alone, the node type with labels, got"
        " {'a': 'part', 'b': 'part'}",
    ),
    "a test part of no type": (
        {**TWO_TABLES, "test": {}},
        "HeteroGraph.from_tables: test must be a column of 'a' alone, the node type with labels, got {}",
    ),
    "features that are masked": (
        {"features": {"a": np.ma.masked_array([[1.0], [2.0]], [[True], [False]])}},
        "HeteroGraph.from_tables: the features of 'a': 1 value is masked; fill them in first",
    ),
    "an id column that no table has": (
        {"nodes": {"a": {"a_id": [1, 0]}}, "id": "aid"},
        "HeteroGraph.from_tables: id='aid': no table of nodes has the column 'aid'",
    ),
    "an id column of a type without one": (
        {"nodes": {"a": {"a_id": [1, 0]}}, "id": {"a": "aid"}},
        "the nodes of 'a': there is no column 'aid', only 'a_id'",
    ),
    "an id column of a type that is a count": (
        {"id": {"a": "aid"}},
        "HeteroGraph.from_tables: id names a column of 'a', which has no table",
    ),
    "an id that is a number": (
        {"id": 3},
        "HeteroGraph.from_tables: id must be the name of a column, or a dict with a name for some node types,"
        " got 3",
    ),
    "ids in a column of another name": (
        {"nodes": {"a": {"name": ["x", "y"]}}, "edges": {TO: [("x", "y")]}},
        "the edges of 'to', row 0: the source 'x' is not a node of type 'a': its ids are the numbers of its"
        " rows, 0 to 1, because no column of the nodes of 'a' is named 'id'; id=… names the column with the"
        " ids",
    ),
    "a label of an unknown type": (
        {"label": {"b": "y"}},
        "HeteroGraph.from_tables: label names a column of 'b', which is not a node type",
    ),
    "a feature that no table has": (
        {"features": "age"},
        "HeteroGraph.from_tables: features='age': no table of nodes has the column 'age'",
    ),
    "a feature that is a text": (
        {"nodes": {"a": {"age": ["x", "y"]}}, "features": "age"},
        "HeteroGraph.from_tables: the column 'age' of 'a' must hold numbers to be a feature",
    ),
    "a feature that is the label": (
        {"nodes": {"a": {"y": [1, 2]}}, "features": "y", "label": "y"},
        "HeteroGraph.from_tables: the column 'y' of 'a' has another use than features",
    ),
    "features that are a number": (
        {"features": 3},
        "HeteroGraph.from_tables: features must be the name of a column or a list of names, or a dict with"
        " them or an array for some node types, got 3",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_tables_gets_one_sentence(fault: str) -> None:
    changed, sentence = FAULTS[fault]
    given: dict[str, Any] = {"nodes": {"a": 2}, "edges": {TO: [(0, 1)]}, **changed}
    with pytest.raises(InputError) as caught:
        HeteroGraph.from_tables(**given)
    assert str(caught.value) == sentence


def test_faults_in_csv_files_are_named_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "authors.csv"
    for text, sentence in {
        "id,x\n1,2\n3\n": "authors.csv, line 3: 1 values, but 2 columns",
        "id,id\n1,2\n": "authors.csv: two columns are called 'id'",
        "\n\n": "authors.csv is empty",
    }.items():
        path.write_text(text)
        with pytest.raises(InputError, match=sentence):
            HeteroGraph.from_tables({"a": path}, {TO: [(0, 0)]})
    with pytest.raises(InputError, match="there is no such file"):
        HeteroGraph.from_tables({"a": tmp_path / "none.parquet"}, {TO: [(0, 0)]})


def test_names_with_leading_zeros_stay_names(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('id,x\n007,1\n"0,8",2\n')
    graph = HeteroGraph.from_tables({"a": path}, {TO: [("007", "0,8")]})
    assert graph.names == ("007", "0,8")


def test_a_column_that_may_hold_ids_is_noted_if_ids_are_row_numbers() -> None:
    edges = {TO: [(0, 1)]}
    noted = HeteroGraph.from_tables({"a": {"number": [2, 0, 1]}}, edges).notes
    assert noted == (
        "the nodes of 'a' have no column 'id', so the ids of 'a' are the numbers of the rows, 0 to 2; if the"
        " column 'number' has them, pass id='number'",
    )
    assert "pass id='a_id'" in HeteroGraph.from_tables({"a": {"a_id": [7, 9]}}, edges).notes[0]
    for table in ({"age": [2, 0, 5]}, {"age": [0, 0, 1]}, {"id": [2, 0, 1], "rank": [0, 1, 2]}):
        assert HeteroGraph.from_tables({"a": table}, edges).notes == ()


def test_each_type_may_name_its_own_columns() -> None:
    nodes = {
        "a": {"a_id": ["x", "y"], "age": [1.0, 2.0], "field": ["k", "l"], "rank": [5.0, 6.0]},
        "b": {"b_id": [9, 8], "age": [3, 4]},
    }
    edges = {("a", "to", "b"): [("x", "8"), ("y", "9")]}
    graph = HeteroGraph.from_tables(
        nodes, edges, id={"a": "a_id", "b": "b_id"}, label={"a": "field"}, features="age"
    )
    assert graph.names == ("x", "y", "9", "8")
    assert graph.edges[0].tolist() == [[0, 3], [1, 2]]
    assert [table.tolist() for table in graph.features] == [[[1.0], [2.0]], [[3.0], [4.0]]]
    assert graph.labels.classes == ("k", "l")
    other = HeteroGraph.from_tables(
        nodes, edges, id={"a": "a_id", "b": "b_id"}, features={"a": ["rank", "age"], "b": np.eye(2)}
    )
    assert [table.tolist() for table in other.features] == [[[5, 1], [6, 2]], [[1, 0], [0, 1]]]


def test_the_first_line_of_edges_without_a_header_is_an_edge(tmp_path: Path) -> None:
    path = tmp_path / "writes.csv"
    nodes = {"a": {"id": ["a0", "a1"]}, "p": {"id": ["p0", "p1"]}}
    path.write_text("a0,p0\na1,p1\n")
    graph = HeteroGraph.from_tables(nodes, {("a", "writes", "p"): path})
    assert graph.edges[0].tolist() == [[0, 2], [1, 3]]
    assert graph.notes == (f"{path} has no header: its first line, 'a0,p0', is an edge",)
    path.write_text("1,0\n0,1\n")
    assert HeteroGraph.from_tables({"a": 2}, {TO: path}).num_edges == 2
    path.write_text("who,what\na1,p1\n")
    graph = HeteroGraph.from_tables(nodes, {("a", "writes", "p"): path})
    assert (graph.num_edges, graph.notes) == (1, ())
    for text in ("a0,p7\na1,p1\n", "7,9\na1,p1\n"):
        path.write_text(text)
        with pytest.raises(InputError, match=r"writes.csv, line 1: the (source|target) .* is not a node"):
            HeteroGraph.from_tables(nodes, {("a", "writes", "p"): path})


def test_columns_of_edges_that_are_not_used_are_noted(tmp_path: Path) -> None:
    path = tmp_path / "w.csv"
    path.write_text("source,target,weight\n0,1,0.5\n")
    assert HeteroGraph.from_tables({"a": 2}, {TO: path}).notes == (
        f"the column 'weight' of {path} is not used",
    )


def test_a_wrong_cell_of_a_csv_file_is_named_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("source,target\n0,1\n\n0,ann\n")
    with pytest.raises(InputError, match=r"edges\.csv, line 4: the target 'ann' is not a node"):
        HeteroGraph.from_tables({"a": 2}, {TO: path})
    nodes = tmp_path / "nodes.csv"
    nodes.write_text("id,x\nann,1\nbob,\n")
    with pytest.raises(InputError, match=r"nodes\.csv, line 3: the feature 'x' is nan"):
        HeteroGraph.from_tables({"a": nodes}, {TO: [("ann", "bob")]})


def test_one_edge_is_written_in_the_singular() -> None:
    graph = HeteroGraph.from_tables({"a": 2}, {TO: [(0, 1)]})
    assert repr(graph) == "HeteroGraph(typed graph: 2 nodes of 1 type, 1 edge of 1 relation)"


@pytest.fixture
def hetero_data() -> Any:
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data").HeteroData()
    data["author"].x = torch.eye(3)[:, :2]
    data["author"].y = torch.tensor([1, 0, 2])
    data["paper"].num_nodes = 2
    data["author", "writes", "paper"].edge_index = torch.tensor([[0, 2, 1], [1, 0, 1]])
    data["paper", "rev_writes", "author"].edge_index = torch.tensor([[1, 0, 1], [0, 2, 1]])
    return data


def test_pyg_data_becomes_a_typed_graph(hetero_data: Any) -> None:
    graph = HeteroGraph.from_pyg(hetero_data, "mine")
    assert (graph.name, graph.node_types) == ("mine", ("author", "paper"))
    assert [tuple(one) for one in graph.relations] == [("writes", 0, 1), ("rev_writes", 1, 0)]
    assert graph.edges[0].tolist() == [[0, 4], [1, 4], [2, 3]]
    assert graph.features[0].tolist() == [[1, 0], [0, 1], [0, 0]]
    assert graph.features[1] is None
    assert graph.labels.values.tolist() == [1, 0, 2]
    assert graph.labels.classes == ("class 0", "class 1", "class 2")
    assert graph.labels.test is None


def test_pyg_masks_say_which_nodes_are_the_test_part(hetero_data: Any) -> None:
    import torch

    author = hetero_data["author"]
    author.train_mask = torch.tensor([True, False, False])
    author.test_mask = torch.tensor([False, False, True])
    graph = HeteroGraph.from_pyg(hetero_data)
    assert graph.labels.nodes.tolist() == [0, 2]
    assert graph.labels.test.tolist() == [False, True]
    author.val_mask = torch.tensor([False, True, False])
    author.y = torch.tensor([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    graph = HeteroGraph.from_pyg(hetero_data)
    assert graph.labels.values.tolist() == [[True, False], [True, True], [False, True]]
    assert graph.labels.test.tolist() == [False, False, True]
    assert graph.notes == ("val_mask is not kept: its nodes can be training or validation nodes",)


def test_sparse_features_of_pyg_stay_sparse(hetero_data: Any) -> None:
    hetero_data["author"].x = hetero_data["author"].x.to_sparse()
    graph = HeteroGraph.from_pyg(hetero_data)
    assert isinstance(graph.features[0], csr_array)
    assert graph.features[0].toarray().tolist() == [[1, 0], [0, 1], [0, 0]]


def test_pyg_data_that_does_not_fit_is_refused(hetero_data: Any) -> None:
    import torch

    with pytest.raises(InputError, match="from_pyg: a HeteroData of torch_geometric is needed, got int"):
        HeteroGraph.from_pyg(7)
    hetero_data["paper"].y = torch.tensor([0, 1])
    with pytest.raises(
        InputError, match="only one node type can have labels, but 'author' and 'paper' have y"
    ):
        HeteroGraph.from_pyg(hetero_data)
    del hetero_data["paper"].y
    hetero_data["author"].y = torch.tensor([0, 1])
    with pytest.raises(InputError, match="y of 'author' must hold a class for each of 3 nodes"):
        HeteroGraph.from_pyg(hetero_data)
    hetero_data["author"].y = torch.tensor([-1, -1, -1])
    with pytest.raises(InputError, match="no node of type 'author' has a label"):
        HeteroGraph.from_pyg(hetero_data)
    hetero_data["author", "writes", "paper"].edge_index = torch.tensor([[0], [9]])
    with pytest.raises(
        InputError, match="the edges of 'writes', row 0: the target '9' is not a node of type 'paper'"
    ):
        HeteroGraph.from_pyg(hetero_data)
