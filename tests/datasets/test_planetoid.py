"""Planetoid's files, real ones and small ones of the same format."""

from __future__ import annotations

import collections
import pickle
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from trueedge import datasets
from trueedge.errors import InputError

COUNTS = {"citeseer": (3327, 4552, 3703), "pubmed": (19717, 44324, 500), "planetoid-cora": (2708, 5278, 1433)}


@pytest.mark.parametrize("name", COUNTS)
def test_the_real_files_have_the_known_counts(data_folder: Path, name: str) -> None:
    graph = datasets.load(name)
    assert graph.features is not None
    assert (graph.num_nodes, graph.num_edges, graph.features.shape[1]) == COUNTS[name]
    assert {check.state for check in datasets.verify(name)[:4]} == {"ok"}


def test_citeseer_keeps_its_isolated_nodes_and_gives_bare_ones_zeros(data_folder: Path) -> None:
    graph = datasets.load("citeseer")
    assert graph.features is not None
    assert (graph.degrees == 0).sum() == 48
    assert (~graph.features.any(axis=1)).sum() == 15
    assert graph.notes == (
        "dropped 124 self-loops",
        "15 of 3327 nodes, which have no features in the files, got a row of zeros",
    )
    assert datasets.load("pubmed").notes == ("dropped 3 self-loops",)


@pytest.mark.parametrize("corpus", ["cora", "citeseer", "pubmed"])
def test_the_real_files_read_as_torch_geometric_reads_them(data_folder: Path, corpus: str) -> None:
    io = pytest.importorskip("torch_geometric.io")
    theirs = io.read_planetoid_data(str(data_folder / "planetoid" / corpus), corpus)
    graph = datasets.load("planetoid-cora" if corpus == "cora" else corpus)
    assert graph.features is not None
    np.testing.assert_array_equal(graph.features, theirs.x.numpy())
    both = theirs.edge_index.numpy().T
    one = np.unique(both[both[:, 0] < both[:, 1]], axis=0)
    np.testing.assert_array_equal(graph.edges, one)


def small() -> dict[str, object]:
    """Seven nodes: 0..2 known; 4, 5, 3 the test rows in that order; 6 has a self-loop and no features."""
    known = scipy.sparse.csr_matrix(np.array([[1, 0], [0, 1], [1, 1]], dtype=np.float32))
    test = scipy.sparse.csr_matrix(np.array([[4, 0], [5, 0], [3, 0]], dtype=np.float32))
    lists = collections.defaultdict(list, {0: [1, 2, 2], 1: [0], 2: [0], 3: [4], 4: [3, 5], 5: [4], 6: [6]})
    return {"allx": known, "tx": test, "graph": lists, "test.index": "4\n5\n3\n"}


def lay_out(folder: Path, content: dict[str, object], put: Callable[..., Path]) -> None:
    for part, value in content.items():
        data = value if isinstance(value, (str, bytes)) else pickle.dumps(value, 2)
        put(folder / "planetoid" / "citeseer" / f"ind.citeseer.{part}", data)


def test_test_rows_are_put_in_their_places(own_data: Path, put: Callable[..., Path]) -> None:
    lay_out(own_data, small(), put)
    graph = datasets.get("citeseer").read()
    assert graph.features is not None
    assert graph.features.tolist() == [[1, 0], [0, 1], [1, 1], [3, 0], [4, 0], [5, 0], [0, 0]]
    assert graph.edges.tolist() == [[0, 1], [0, 2], [3, 4], [4, 5]]
    assert graph.notes == (
        "dropped 1 self-loop",
        "1 of 7 nodes, which have no features in the files, got a row of zeros",
    )
    with pytest.raises(InputError, match="citeseer: the files hold 7 nodes, the data set has 3327"):
        datasets.load("citeseer")


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("test.index", "4\n5\n", "lists 2 test nodes, but ind.citeseer.tx has 3 rows"),
        ("test.index", "4\n5\n5\n", "test nodes must differ and lie in 3..6"),
        ("test.index", "4\n5\n7\n", "test nodes must differ and lie in 3..6"),
        ("test.index", "4\n5\n2\n", "test nodes must differ and lie in 3..6"),
        ("test.index", "4\n5\nx\n", "line 3 has 'x'"),
        ("graph", {0: [1], 1: [0], 3: []}, "the nodes must be 0..2"),
        (
            "graph",
            {0: [9], 1: [], **{i: [] for i in range(2, 7)}},
            "a neighbour is not one of the nodes 0..6",
        ),
        ("graph", {0: ["1"], **{i: [] for i in range(1, 7)}}, "a neighbour is not one of the nodes 0..6"),
        ("graph", [[1], [0]], "does not contain a dict of neighbour lists"),
        ("graph", {0: 1}, "does not contain a dict of neighbour lists"),
        ("allx", np.ones((3, 2)), "does not contain a sparse matrix"),
        ("tx", scipy.sparse.csr_matrix(np.ones((3, 5))), "features of 2 and of 5 columns"),
        ("tx", b"garbage", "is not a file of arrays"),
    ],
)
def test_files_that_do_not_fit_are_refused(
    own_data: Path, put: Callable[..., Path], part: str, value: object, said: str
) -> None:
    lay_out(own_data, small() | {part: value}, put)
    with pytest.raises(InputError, match=re.escape(said)):
        datasets.get("citeseer").read()


def test_a_forged_file_is_refused(
    own_data: Path, put: Callable[..., Path], tmp_path: Path, forged: object
) -> None:
    lay_out(own_data, small() | {"allx": forged}, put)
    with pytest.raises(InputError, match=r"ind\.citeseer\.allx asks for "):
        datasets.get("citeseer").read()
    assert not (tmp_path / "owned").exists()
