"""Node features from text files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.graph.feature_files import with_features

NAMED = Graph.from_edges(np.array([(0, 1), (1, 2)]), labels=["a", "b", "c"], name="mine")
NUMBERED = Graph.from_edges(np.array([(0, 1), (1, 2)]), name="mine")


@pytest.mark.parametrize(
    ("text", "graph"),
    [
        ("b,3,4\na,1,2\nc,5,6\n", NAMED),
        ("node\tx\ty\nc\t5\t6\nz\t9\t9\nb\t3\t4\na\t1\t2\n", NAMED),
        ("1,2\n3,4\n5,6\n", NUMBERED),
        ("x;y\n1;2\n3;4\n5;6\n", NAMED),
        ("id,x,y\n2,5,6\n0,1,2\n1,3,4\n", NUMBERED),
    ],
)
def test_rows_are_matched_by_name_or_else_in_order(text: str, graph: Graph, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text)
    assert with_features(graph, path).features.tolist() == [[1, 2], [3, 4], [5, 6]]


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("b,3,4\na,1,2\nc,5,6\n", ()),
        ("b,3,4\nz,9,9\na,1,2\nc,5,6\n", ("left out 1 row of x.csv: the graph has no node 'z' (line 2)",)),
        (
            "node,x,y\nb,3,4\ny,0,0\na,1,2\nz,9\nc,5,6\ny,1,x\n",
            ("left out 3 rows of x.csv: the graph has no such nodes, the first is 'y' (line 3)",),
        ),
    ],
)
def test_rows_of_other_nodes_are_left_out_with_a_note(
    text: str, notes: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text)
    graph = with_features(replace(NAMED, notes=("dropped 1 self-loop",)), path)
    assert graph.features.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert graph.notes == ("dropped 1 self-loop", *notes)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1,2\n3,4\n", "has 2 rows of features, but mine has 3 nodes"),
        ("1,2\n3,x\n5,6\n", "line 2: 'x' is not a number"),
        ("1,2\n3\n5,6\n", "line 2 has 1 number, not 2"),
        ("1,2\n3,nan\n5,6\n", "line 2: 'nan' is not a finite number"),
    ],
)
def test_a_wrong_file_is_refused(text: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=reason):
        with_features(NUMBERED, path)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a,1,2\nb,3,4\n", "has no row of features for the node 'c'; its first column holds names of nodes"),
        ("a,1,2\nz,3,4\ny,5,6\n", "has no row of features for the node 'b' and 1 other"),
        ("a,1,2\nb,3,4\na,5,6\n", "line 3: the node 'a' has a row already"),
    ],
)
def test_a_node_without_a_row_or_with_two_is_named(text: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=reason):
        with_features(NAMED, path)


def test_ids_that_are_numbers_are_not_read_as_a_feature_because_one_is_wrong(tmp_path: Path) -> None:
    ids = [10 * node for node in range(1, 41)]
    edges = tmp_path / "mine.csv"
    edges.write_text("".join(f"{one},{one + 10}\n" for one in ids[:-1]))
    graph = Graph.from_edges(edges)
    path = tmp_path / "x.csv"
    path.write_text("".join(f"{one},0.5\n" for one in [*ids[:-1], 7]))
    with pytest.raises(InputError, match="has no row of features for the node '400'"):
        with_features(graph, path)
    path.write_text("".join(f"{one},0.5\n" for one in [*ids[:-1], 20]))
    with pytest.raises(InputError, match="line 40: the node '20' has a row already"):
        with_features(graph, path)
    # Whole numbers that repeat are a feature.
    path.write_text("".join(f"{10 + one % 30},0.5\n" for one in ids))
    assert with_features(graph, path).features.shape == (40, 2)


def test_rows_of_other_nodes_are_left_out_however_many_they_are(tmp_path: Path) -> None:
    graph = Graph.from_edges([(str(node), str(node + 1)) for node in range(1, 34)])
    path = tmp_path / "x.csv"
    path.write_text("".join(f"{node},0.5\n" for node in range(1, 61)))
    found = with_features(graph, path)
    assert found.features.shape == (34, 1)
    assert found.notes[-1] == (
        "left out 26 rows of x.csv: the graph has no such nodes, the first is '35' (line 35)"
    )
