"""Typed graphs from tables: dicts, frames, files and PyTorch Geometric."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import trueedge as te
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


def test_names_with_leading_zeros_stay_names(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('id,x\n007,1\n"0,8",2\n')
    graph = HeteroGraph.from_tables({"a": path}, {TO: [("007", "0,8")]})
    assert graph.names == ("007", "0,8")


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
    assert (graph.num_edges, graph.notes) == (1, (f"{path}: read as source 'who', target 'what'",))
    for text in ("a0,p7\na1,p1\n", "7,9\na1,p1\n"):
        path.write_text(text)
        with pytest.raises(InputError, match=r"writes.csv, line 1: the (source|target) .* is not a node"):
            HeteroGraph.from_tables(nodes, {("a", "writes", "p"): path})


@pytest.mark.parametrize("text", ["0,0\n1,2\n", "\n0;0\n1;2\n", " 0\t0\n1\t2"])
def test_a_first_line_may_be_an_edge_from_a_node_to_itself(tmp_path: Path, text: str) -> None:
    path = tmp_path / "knows.csv"
    path.write_text(text)
    graph = HeteroGraph.from_tables({"a": 3}, {TO: path})
    assert graph.edges[0].tolist() == [[0, 0], [1, 2]]
    assert graph.notes == (f"{path} has no header: its first line, '0,0', is an edge",)
    path.write_text("bob,bob\nann,bob\n")
    graph = HeteroGraph.from_tables({"a": {"id": ["ann", "bob"]}}, {TO: path})
    assert graph.edges[0].tolist() == [[0, 1], [1, 1]]
    path.write_text("who,who\nann,bob\n")
    with pytest.raises(InputError, match=r"knows\.csv: two columns are called 'who'"):
        HeteroGraph.from_tables({"a": {"id": ["ann", "bob"]}}, {TO: path})


def test_columns_of_edges_that_are_not_used_are_noted(tmp_path: Path) -> None:
    path = tmp_path / "w.csv"
    path.write_text("source,target,weight\n0,1,0.5\n")
    assert HeteroGraph.from_tables({"a": 2}, {TO: path}).notes == (
        f"the column 'weight' of {path} is not used",
    )


@pytest.mark.parametrize(
    "names",
    [("target", "src"), ("dst", "src"), ("to", "from"), ("Target", "Source"), ("paper", "author")]
    + [("Paper_ID", "author_id"), ("target_node", "source_node")],
)
def test_columns_of_ends_are_read_by_name_in_any_order(names: tuple[str, str], tmp_path: Path) -> None:
    columns = {names[0]: [3, 4], names[1]: [0, 1]}
    key = ("author", "writes", "paper")
    for table in (columns, {**columns, "w": [2.5, 1.5]}, write_csv(tmp_path / "e.csv", columns)):
        graph = HeteroGraph.from_tables({"author": 5, "paper": 5}, {key: table})
        assert graph.edges[0].tolist() == [[0, 8], [1, 9]]


@pytest.mark.parametrize("names", [("author", "paper"), ("src", "dst"), ("first author", "key"), ("x", "to")])
def test_columns_of_ends_in_the_usual_order_are_read_as_they_are(names: tuple[str, str]) -> None:
    table = {names[0]: [0, 1], names[1]: [3, 4]}
    graph = HeteroGraph.from_tables({"author": 5, "paper": 5}, {("author", "writes", "paper"): table})
    assert graph.edges[0].tolist() == [[0, 8], [1, 9]]


@pytest.mark.parametrize(
    "names",
    [("papers", "authors"), ("idx_paper", "idx_author"), ("paperIndex", "authorIndex"), ("pap", "auth")]
    + [("to_paper", "from_author"), ("PaperIDs", "writers author")],
)
@pytest.mark.parametrize("types", [("author", "paper"), ("Authors", "Papers")])
def test_names_that_resemble_the_types_say_which_end_a_column_has(
    names: tuple[str, str], types: tuple[str, str]
) -> None:
    table = {names[0]: [3, 4], names[1]: [0, 1]}
    graph = HeteroGraph.from_tables(dict.fromkeys(types, 5), {(types[0], "writes", types[1]): table})
    assert graph.edges[0].tolist() == [[0, 8], [1, 9]]
    assert graph.notes == ()


def test_a_column_that_resembles_the_target_alone_cannot_be_the_first() -> None:
    table = {"papers": [3, 4], "key": [0, 1]}
    with pytest.raises(InputError, match="the columns 'papers' and 'key' may not be source and target"):
        HeteroGraph.from_tables({"author": 5, "paper": 5}, {("author", "writes", "paper"): table})


@pytest.mark.parametrize(
    ("names", "noted"),
    [(("pid", "aid"), True), (("coauthor", "author2"), True), (("a", "b"), False), (("0", "1"), False)],
)
def test_two_columns_whose_names_may_say_something_else_are_noted(
    names: tuple[str, str], noted: bool
) -> None:
    table = {names[0]: [0, 1], names[1]: [3, 4]}
    graph = HeteroGraph.from_tables({"author": 5, "paper": 5}, {("author", "writes", "paper"): table})
    said = f"the edges of 'writes': read as source '{names[0]}', target '{names[1]}'"
    assert graph.notes == ((said,) if noted else ())
    assert graph.edges[0].tolist() == [[0, 8], [1, 9]]


def test_types_come_before_usual_names_of_ends() -> None:
    key = ("target", "bound_by", "drug")
    table = {"drug": [3, 4], "target": [0, 1]}
    graph = HeteroGraph.from_tables({"target": 5, "drug": 5}, {key: table})
    assert graph.edges[0].tolist() == [[0, 8], [1, 9]]


@pytest.mark.parametrize(
    "names", [("w", "source"), ("source", "weight"), ("x", "author"), ("cited", "citing"), ("node2", "node1")]
)
def test_two_columns_whose_names_contradict_their_order_are_refused(names: tuple[str, str]) -> None:
    table = {names[0]: [3, 4], names[1]: [0, 1]}
    said = (
        f"the edges of 'writes': the columns '{names[0]}' and '{names[1]}' may not be source and target, in"
        " this order; call them 'source' and 'target'"
    )
    with pytest.raises(InputError) as caught:
        HeteroGraph.from_tables({"author": 5, "paper": 5}, {("author", "writes", "paper"): table})
    assert str(caught.value) == said


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
    with pytest.raises(InputError, match="from_pyg: the HeteroData has no node types"):
        HeteroGraph.from_pyg(type(hetero_data)())
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


@pytest.mark.parametrize(
    ("column", "noted"),
    [(["a,b", "a", "b"], True), (["a|b", "c|d", "a|d"], True), (["x, y", "z", "z"], False)],
)
def test_texts_that_look_like_several_classes_are_noted(column: list[str], noted: bool) -> None:
    graph = HeteroGraph.from_tables({"a": {"y": column}}, {TO: [(0, 1)]}, label="y")
    assert (graph.labels.multi, graph.labels.num_classes) == (False, len(set(column)))
    said = "is one class; several classes of a node are a list in its cell"
    assert [one.endswith(said) for one in graph.notes] == [True] * noted


def test_a_single_class_is_noted_in_the_task() -> None:
    nodes = {"a": {"y": ["x"] * 20}}
    task = te.task(HeteroGraph.from_tables(nodes, {TO: [(0, 1)]}, label="y"))
    assert "all labelled nodes have the class 'x': nothing can be learned" in task.settings["notes"]
