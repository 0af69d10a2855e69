"""MUSAE's Wikipedia graphs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from trueedge import datasets
from trueedge.errors import InputError

COUNTS = {"chameleon": (2277, 31371, 3132), "squirrel": (5201, 198353, 3148)}


@pytest.mark.parametrize("name", COUNTS)
def test_the_real_files_have_the_known_counts_and_geom_gcn_s_edges(data_folder: Path, name: str) -> None:
    graph = datasets.load(name)
    assert graph.features is not None
    assert (graph.num_nodes, graph.num_edges, graph.features.shape[1]) == COUNTS[name]
    assert len(graph.notes) == 2
    assert {check.state for check in datasets.verify(name)} == {"ok"}
    theirs = np.loadtxt(data_folder / "wikipedia" / name / "out1_graph_edges.txt", dtype=int, skiprows=1)
    theirs = np.sort(theirs[theirs[:, 0] != theirs[:, 1]], axis=1)
    np.testing.assert_array_equal(graph.edges, np.unique(theirs, axis=0))


@pytest.mark.parametrize("name", COUNTS)
def test_features_are_the_words_of_each_node(data_folder: Path, name: str) -> None:
    graph = datasets.load(name)
    words = json.loads((data_folder / "wikipedia" / name / f"{name}_features.json").read_text())
    assert graph.features is not None
    assert graph.features.sum() == sum(len(set(ids)) for ids in words.values())
    for node in (0, 1, graph.num_nodes - 1):
        assert set(np.flatnonzero(graph.features[node])) == set(words[str(node)])


def lay_out(folder: Path, put: Callable[..., Path], edges: str, features: str) -> None:
    put(folder / "wikipedia/chameleon/chameleon_edges.csv", edges)
    put(folder / "wikipedia/chameleon/chameleon_features.json", features)


def test_small_files_are_read(own_data: Path, put: Callable[..., Path]) -> None:
    lay_out(own_data, put, "id1,id2\n0,1\n1,0\n2,2\n2,0\n", '{"2": [], "0": [1, 3], "1": [0]}')
    graph = datasets.get("chameleon").read()
    assert graph.edges.tolist() == [[0, 1], [0, 2]]
    assert graph.features is not None
    assert graph.features.tolist() == [[0, 1, 0, 1], [1, 0, 0, 0], [0, 0, 0, 0]]
    assert [note.split()[1] for note in graph.notes] == ["1", "1"]


@pytest.mark.parametrize(
    ("edges", "features", "said"),
    [
        ("id1,id2\n0,5\n", '{"0": [1], "1": [0]}', "row 0 has the node id 5, outside 0..1"),
        ("id1,id2\n0\n", '{"0": [1], "1": [0]}', "line 2 has 1 values, not 2"),
        ("id1,id2\n0,1\n", '{"0": [1], "2": [0]}', "the nodes must be 0, 1, 2, … without a gap"),
        ("id1,id2\n0,1\n", "{}", "the nodes must be 0, 1, 2, … without a gap"),
        ("id1,id2\n0,1\n", '{"0": [1], "1": [-1]}', "-1 is not the id of a word"),
        ("id1,id2\n0,1\n", '{"0": [1], "1": [1000000000000]}', "1000000000000 is not the id of a word"),
        ("id1,id2\n0,1\n", '{"0": [1], "1": [0.5]}', "0.5 is not the id of a word"),
        ("id1,id2\n0,1\n", '{"0": [1], "1": ["a"]}', "'a' is not the id of a word"),
        ("id1,id2\n0,1\n", '{"0": [1], "1": [[1], [2, 3]]}', "[1] is not the id of a word"),
        ("id1,id2\n0,1\n", '{"0": [1], "1": 3}', "is not a JSON object"),
        ("id1,id2\n0,1\n", '{"0": [1], "x": [1]}', "is not a JSON object"),
        ("id1,id2\n0,1\n", "[1, 2]", "is not a JSON object"),
        ("id1,id2\n0,1\n", "{", "is not a JSON object"),
    ],
)
def test_files_that_do_not_fit_are_refused(
    own_data: Path, put: Callable[..., Path], edges: str, features: str, said: str
) -> None:
    lay_out(own_data, put, edges, features)
    with pytest.raises(InputError, match=re.escape(said)):
        datasets.get("chameleon").read()
