"""One rule says whether a field is a number, and every reader of text files keeps to it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import InputError
from trueedge.files.number_fields import is_number_field
from trueedge.files.text import open_text
from trueedge.graph.feature_files import with_features
from trueedge.scorers.score_text import read_written
from trueedge.verdict.model_files import read_model

NUMBERS = ("0", "-1", "+2.5", ".5", "3.", "1e-7", "1E400", "nan", "inf", "-Infinity", " 7\t", "8\u00a0")
OTHERS = (
    "",
    " ",
    "x",
    "1_2",
    "1_000.5",
    "\u0661\u0662",
    "\uff11",
    "\u22121",
    "0x10",
    "1,5",
    "1 2",
    "1d5",
    "--1",
)
ODD = ("1_2", "\u0661\u0662", "\uff13")


@pytest.mark.parametrize("field", NUMBERS)
def test_a_number_is_what_every_program_reads_as_one(field: str) -> None:
    assert is_number_field(field)
    float(field)


@pytest.mark.parametrize("field", OTHERS)
def test_underscores_and_other_digits_make_no_number(field: str) -> None:
    assert not is_number_field(field)


def test_names_with_underscores_are_names_of_nodes_in_a_file_of_features(tmp_path: Path) -> None:
    names = ["1_0", "1_1", "2_0", "2_1"]
    graph = te.Graph.from_edges([("1_0", "1_1"), ("1_1", "2_0"), ("2_0", "2_1")])
    assert list(graph.labels or ()) == names
    path = tmp_path / "x.csv"
    path.write_text("2_1,4\n1_0,1\n2_0,3\n1_1,2\n9_9,5\n9_8,6\n")
    read = with_features(graph, path)
    assert read.features is not None
    assert read.features.tolist() == [[1], [2], [3], [4]]
    assert read.notes[-1].startswith("left out 2 rows of x.csv")


@pytest.mark.parametrize("field", ODD)
def test_no_reader_takes_an_odd_number_for_a_value(field: str, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    graph = te.Graph.from_edges(np.array([(0, 1), (1, 2)]))
    path.write_text(f"1,2\n3,{field}\n5,6\n")
    with pytest.raises(InputError, match=f"line 2: '{field}' is not a number"):
        with_features(graph, path)
    path.write_text(f"0,1,2,3\n1,4,{field},5\n2,6,7,8\n")
    with pytest.raises(InputError, match=f"line 2: '{field}' is not a number: a file of vectors has only"):
        read_model(path)
    path.write_text(f"0,1,0.5\n0,2,{field}\n")
    with pytest.raises(InputError, match=f"line 2: '{field}' is not a number"):
        read_written(open_text(path), 2)


def test_vectors_below_names_with_underscores_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("node_id,x_1,x_2,x_3\n1,4,5,6\n0,1,2, 3\u00a0\n")
    vectors, _ = read_model(path)
    assert vectors.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_a_relation_with_an_underscore_is_no_number_among_scores_of_links(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("0,1_2,1,0.5\n1,1_2,2,0.25\n")
    assert read_model(path, "typed", "typed-links")[1].endswith("holds scores of links")
