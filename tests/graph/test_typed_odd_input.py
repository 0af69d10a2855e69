"""Typed graphs of odd input: each part that does not fit gets one clear sentence."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array

from trueedge.errors import InputError
from trueedge.graph.typed import HeteroGraph, Labels, Relation


def graph(**changes: Any) -> HeteroGraph:
    """Return two types with three nodes each, and a relation between them."""
    fields: dict[str, Any] = {
        "node_types": ("a", "b"),
        "starts": np.array([0, 3, 6]),
        "relations": (Relation("r", 0, 1),),
        "edges": (np.array([[0, 3], [1, 4], [2, 5]], dtype=np.int32),),
    }
    return HeteroGraph(**{**fields, **changes})


def labels(**changes: Any) -> Labels:
    """Return the classes of the three nodes of type a."""
    fields: dict[str, Any] = {
        "type": 0,
        "nodes": np.array([0, 1, 2], dtype=np.int32),
        "values": np.array([0, 1, 0], dtype=np.int32),
        "classes": ("x", "y"),
    }
    return Labels(**{**fields, **changes})


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"starts": [0, 3, 6]}, "starts must be an int64 array, got list"),
        ({"starts": np.array([0, 3, 6], dtype=np.int32)}, "starts must be an int64 array, got int32"),
        ({"node_types": "ab"}, "node_types must be the names"),
        ({"relations": (("r", "a", "b"),)}, "a relation is"),
        ({"edges": ([[0, 3]],)}, "the edges of 'r' must be an int32 array"),
        ({"features": (np.array([["one"]] * 3), None)}, "must be numbers"),
        ({"features": ([[1], [2], [3, 4]], None)}, "must be a table of numbers"),
        ({"features": (np.ones((3, 2)) * 1j, None)}, "must be numbers"),
    ],
)
def test_a_part_of_another_type_is_refused(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        graph(**changes)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"type": 9}, "node type 9, which does not exist"),
        ({"nodes": [0, 1, 2]}, "must be an array, got list"),
        ({"nodes": np.array([0, 1, 4], dtype=np.int32)}, "not of type 'a'"),
        ({"nodes": np.array([0, 1, 1], dtype=np.int32)}, "ascending, each once"),
        ({"values": np.array([0, 1, -1], dtype=np.int32)}, "class -1, but classes are numbered from 0 to 1"),
        ({"values": np.array([0, 1], dtype=np.int32)}, "values of labels must be"),
        ({"values": np.ones((3, 5), dtype=np.bool_)}, "values of labels must be"),
        ({"classes": ("x", "x")}, "two classes are called 'x'"),
        ({"test": np.array([True])}, "test part of labels must be bool"),
    ],
)
def test_labels_that_do_not_fit_the_graph_are_refused(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        graph(labels=labels(**changes))


def test_a_relation_may_be_a_plain_tuple_and_features_any_sparse_matrix() -> None:
    made = graph(relations=(("r", 0, 1),), features=(coo_array(np.eye(3, 2)), None))
    assert made.relations[0].name == "r"
    assert made.hash == graph(features=(csr_array(np.eye(3, 2)), None)).hash


def test_sparse_features_with_a_column_out_of_range_are_refused() -> None:
    table = csr_array((np.ones(1), np.array([0]), np.array([0, 1, 1, 1])), shape=(3, 2))
    table.indices[0] = 99
    with pytest.raises(InputError, match="not a valid sparse matrix"):
        graph(features=(table, None))


def test_sparse_features_cannot_be_changed_from_outside_nor_in_a_copy() -> None:
    table = csr_array(np.eye(3, 2, dtype=np.float32))
    made = graph(features=(table, None))
    table.data[0] = 5
    assert made.features[0].data[0] == 1
    assert not pickle.loads(pickle.dumps(made)).features[0].data.flags.writeable


@pytest.mark.parametrize(
    ("nodes", "edges", "options", "sentence"),
    [
        (3, [[0, 1], [2]], {}, "the edges of 'r' must be a table whose rows have the same length"),
        (3, [[0, 1]], {"features": {"a": [[1], [2, 3], [4]]}}, "rows have the same length"),
        (3, [[0, 1]], {"features": [1]}, "features must be the name of a column"),
    ],
)
def test_tables_with_uneven_rows_are_refused(nodes: Any, edges: Any, options: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        HeteroGraph.from_tables({"a": nodes, "b": 3}, {("a", "r", "b"): edges}, **options)


def test_rows_of_zeros_and_ones_are_read_as_a_column_for_each_class() -> None:
    table = {"y": np.array([[1, 0, 0], [0, 1, 1], [0, 0, 1]])}
    made = HeteroGraph.from_tables({"a": table, "b": 3}, {("a", "r", "b"): [[0, 1]]}, label="y")
    assert made.labels is not None
    np.testing.assert_array_equal(made.labels.values, table["y"].astype(bool))
