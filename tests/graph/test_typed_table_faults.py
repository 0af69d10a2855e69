"""Faults in tables of typed graphs are refused with one sentence, and doubtful ids are noted."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trueedge.errors import InputError
from trueedge.graph import HeteroGraph

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
        "the features of 'a' must have the shape (2, d), for 2 nodes and one number or more each, got (3, 3)",
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
        " rows, 0 to 1, because no column of the nodes of 'a' is named 'id'; pass id=… to name another",
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


def test_a_wrong_cell_of_a_csv_file_is_named_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("source,target\n0,1\n\n0,ann\n")
    with pytest.raises(InputError, match=r"edges\.csv, line 4: the target 'ann' is not a node"):
        HeteroGraph.from_tables({"a": 2}, {TO: path})
    nodes = tmp_path / "nodes.csv"
    nodes.write_text("id,x\nann,1\nbob,\n")
    with pytest.raises(InputError, match=r"nodes\.csv, line 3: the feature 'x' is nan"):
        HeteroGraph.from_tables({"a": nodes}, {TO: [("ann", "bob")]})


def test_a_column_that_may_hold_ids_is_noted_if_ids_are_row_numbers() -> None:
    edges = {TO: [(0, 1)]}
    noted = HeteroGraph.from_tables({"a": {"number": [2, 0, 1]}}, edges).notes
    assert noted == (
        "no column of the nodes of 'a' is named 'id', so the ids of 'a' are the numbers of the rows, 0 to 2;"
        " if the column 'number' has them, pass id='number'",
    )
    assert "pass id='a_id'" in HeteroGraph.from_tables({"a": {"a_id": [7, 9]}}, edges).notes[0]
    for table in ({"age": [2, 0, 5]}, {"age": [0, 0, 1]}, {"id": [2, 0, 1], "rank": [0, 1, 2]}):
        assert HeteroGraph.from_tables({"a": table}, edges).notes == ()


@pytest.mark.parametrize(
    ("id", "author", "paper", "wanted", "advice"),
    [
        ("key", "key", "id", "key", "id={'author': 'key', 'paper': 'id'}"),
        ({"author": "key"}, "key", "nr_id", "id", "id={'author': 'key', 'paper': 'nr_id'}"),
        (None, "id", "nr_id", "id", "id={'paper': 'nr_id'}"),
        (None, "key", "nr_id", "id", "id='nr_id'"),
    ],
)
def test_what_is_said_of_ids_fits_the_tables(
    id: Any, author: str, paper: str, wanted: str, advice: str
) -> None:
    nodes = {"author": {author: ["ann", "bob"]}, "paper": {paper: ["x", "y", "z"]}}
    known = author == "key" and id is None
    sources = [0, 1] if known else ["ann", "bob"]
    title = ("author", "writes", "paper")
    notes = HeteroGraph.from_tables(nodes, {title: {"source": sources, "target": [0, 2]}}, id=id).notes
    told = f"no column of the nodes of 'paper' is named '{wanted}', so the ids of 'paper' are"
    assert [one for one in notes if one.startswith(told) and one.endswith(f"pass {advice}")], notes
    reason = f"because no column of the nodes of 'paper' is named '{wanted}'; pass {advice} to name another"
    with pytest.raises(InputError, match=re.escape(reason)):
        HeteroGraph.from_tables(nodes, {title: {"source": sources, "target": ["x", "z"]}}, id=id)
