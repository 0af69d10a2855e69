"""Typed graphs from data frames: their index, and labels as frames hold them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trueedge.errors import InputError
from trueedge.graph.typed import HeteroGraph

pandas = pytest.importorskip("pandas")
WRITES = ("author", "writes", "paper")


def graph_of(authors: Any, edges: Any = ((3, 0), (1, 1)), **options: Any) -> HeteroGraph:
    return HeteroGraph.from_tables({"author": authors, "paper": 2}, {WRITES: edges}, **options)


@pytest.mark.parametrize("form", ["frame", "parquet", "pyarrow"])
@pytest.mark.parametrize("ids", [[2, 3, 1], [1, 2, 3], [30, 10, 20]])
def test_an_index_with_a_name_has_the_ids_of_nodes(form: str, ids: list[int], tmp_path: Path) -> None:
    frame: Any = pandas.DataFrame({"number": ids, "age": [41.0, 30.0, 22.0]}).set_index("number")
    if form == "parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet(tmp_path / "authors.parquet")
        frame = tmp_path / "authors.parquet"
    elif form == "pyarrow":
        frame = pytest.importorskip("pyarrow").Table.from_pandas(frame)
    graph = graph_of(frame, [(ids[0], 0), (ids[2], 1)])
    assert graph.names is not None
    assert graph.names[:3] == tuple(map(str, ids))
    assert graph.edges[0].tolist() == [[0, 3], [2, 4]]
    assert graph.features[0].tolist() == [[41], [30], [22]]


@pytest.mark.parametrize("form", ["frame", "parquet", "csv"])
@pytest.mark.parametrize("index", [[2, 0, 1], range(1, 4), ["ann", "bob", "cid"]])
def test_an_index_without_a_name_that_may_be_ids_is_refused(form: str, index: Any, tmp_path: Path) -> None:
    frame: Any = pandas.DataFrame({"age": [41.0, 30.0, 22.0]}, index=index)
    path = tmp_path / f"authors.{form}"
    if form == "parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)
    elif form == "csv":
        frame.to_csv(path)
    title = "the nodes of 'author'" if form == "frame" else str(path)
    with pytest.raises(InputError) as caught:
        graph_of(frame if form == "frame" else path)
    assert str(caught.value) == (
        f"{title}: no column is named 'id', and the index is not 0, 1, 2, …: if it has the ids, give it the"
        " name 'id', otherwise leave it out"
    )


def test_the_index_that_pandas_writes_is_no_feature(tmp_path: Path) -> None:
    frame = pandas.DataFrame({"age": [41.0, 30.0], "papers": [3, 4]})
    frame.to_csv(tmp_path / "authors.csv")
    again = pandas.read_csv(tmp_path / "authors.csv")
    for given, title in ((tmp_path / "authors.csv", None), (again, "the nodes of 'author'")):
        graph = graph_of(given, [(0, 0), (1, 1)])
        assert graph.features[0].tolist() == [[41, 3], [30, 4]]
        name = "" if title is None else "Unnamed: 0"
        assert graph.notes == (f"the column {name!r} of {title or given} is an index and was left out",)


def test_the_index_that_pandas_writes_is_no_end_of_an_edge(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    pandas.DataFrame({"who": ["b", "a"], "what": [0, 1]}).to_csv(path)
    graph = graph_of({"id": ["a", "b"]}, path)
    assert graph.edges[0].tolist() == [[0, 3], [1, 2]]
    assert graph.notes == (f"{path}: read as source 'who', target 'what'",)
    # The index of a frame of edges that was filtered says nothing.
    frame = pandas.DataFrame({"source": ["a", "b"], "target": [0, 1]}, index=[7, 3])
    assert graph_of({"id": ["a", "b"]}, frame).notes == ()


@pytest.mark.parametrize("empty", [None, [0, 0, 0]])
def test_lists_of_zeros_and_ones_in_a_frame_have_a_number_for_each_class(empty: Any) -> None:
    frame = pandas.DataFrame({"label": [[0, 1, 1], [1, 0, 1], empty, [0, 0, 1]]})
    labels = graph_of(frame, label="label").labels
    assert labels is not None
    assert labels.nodes.tolist() == [0, 1, 3]
    assert labels.values.astype(int).tolist() == [[0, 1, 1], [1, 0, 1], [0, 0, 1]]


def test_a_table_of_labels_with_one_column_has_one_class_for_each_node() -> None:
    table = {"label": np.array([[2], [0], [1], [2]])}
    labels = graph_of(table, label="label").labels
    assert labels is not None
    assert labels.values.tolist() == [2, 0, 1, 2]


def test_a_label_of_minus_one_is_noted() -> None:
    graph = graph_of({"field": [0, 1, -1, -1]}, label="field")
    assert graph.notes == (
        "-1 in the column 'field' of the nodes of 'author' is a class; no label is a cell left empty",
    )


@pytest.mark.parametrize("number", [2.0**60, np.inf])
def test_an_id_that_a_float_cannot_hold_is_refused(number: float) -> None:
    with pytest.raises(InputError, match=r"row 1: the id .* is not an id"):
        graph_of({"id": [1.0, number]})
