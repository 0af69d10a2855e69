"""OGB's files: the real ogbl-ddi, and small files of the formats of the others."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from trueedge import datasets, splits
from trueedge.errors import InputError

torch = pytest.importorskip("torch")


def published(name: str) -> splits.Release:
    release = splits.published(name)
    assert release is not None
    return release


def test_the_real_ddi_is_read_whole(data_folder: Path) -> None:
    graph = datasets.load("ogbl-ddi")
    assert (graph.num_nodes, graph.num_edges) == (4267, 1_334_889)
    assert graph.features is None
    assert graph.notes == ()
    assert {check.state for check in datasets.verify("ogbl-ddi")} == {"ok"}


def test_the_real_ddi_is_released_as_torch_reads_it(data_folder: Path) -> None:
    release = published("ogbl-ddi")
    split = release.split
    assert split.train.num_edges == 1_067_911
    folder = data_folder / "ogb/ogbl-ddi/split/target"
    for part, positives, negatives in (
        ("valid", split.valid, release.negatives["valid"]),
        ("test", split.test, release.negatives["test"]),
    ):
        theirs = torch.load(folder / f"{part}.pt", weights_only=False)
        np.testing.assert_array_equal(positives, theirs["edge"])
        np.testing.assert_array_equal(negatives, theirs["edge_neg"])
        assert positives.dtype == np.int32
        assert len(positives) == 133_489
        assert not split.train.has_edges(positives).any()


Files = dict[str, object]


def lay_out(folder: Path, name: str, files: Files, put: Callable[..., Path]) -> None:
    for path, content in files.items():
        place = folder / "ogb" / name / path
        if isinstance(content, dict):
            place.parent.mkdir(parents=True, exist_ok=True)
            torch.save(content, place, _use_new_zipfile_serialization=path.endswith("test.pt"))
        elif isinstance(content, str):
            put(place, gzip.compress(content.encode()))


def table(rows: np.ndarray) -> str:
    return "\n".join(",".join(str(value) for value in row) for row in rows.tolist()) + "\n"


def collab() -> Files:
    """Authors 0..4; 0 and 1 wrote together in three years, the last of them in the validation part."""
    return {
        "raw/num-node-list.csv.gz": "5\n",
        "raw/node-feat.csv.gz": table(np.arange(5 * 128).reshape(5, 128) / 8),
        "split/time/train.pt": {
            "edge": np.array([[1, 0], [2, 3], [0, 1], [3, 4]]),
            "weight": np.array([2, 1, 5, 1]),
            "year": np.array([2001, 2003, 1999, 2004]),
        },
        "split/time/valid.pt": {
            "edge": np.array([[0, 1], [4, 2]]),
            "weight": np.array([1, 3]),
            "year": np.array([2018, 2018]),
            "edge_neg": np.array([[0, 3], [1, 3], [2, 2]]),
        },
        "split/time/test.pt": {
            "edge": np.array([[4, 0]]),
            "weight": np.array([1]),
            "year": np.array([2019]),
            "edge_neg": np.array([[1, 2]]),
        },
    }


def test_collab_merges_rows_and_keeps_weights_and_years(own_data: Path, put: Callable[..., Path]) -> None:
    lay_out(own_data, "ogbl-collab", collab(), put)
    graph = datasets.get("ogbl-collab").read()
    assert graph.edges.tolist() == [[0, 1], [0, 4], [2, 3], [2, 4], [3, 4]]
    assert graph.edge_data["weight"].tolist() == [8, 1, 1, 3, 1]
    assert graph.edge_data["year"].tolist() == [2018, 2019, 2003, 2018, 2004]
    assert graph.notes == ("7 rows are 5 edges: weights were added up and the latest year was kept",)
    assert graph.features is not None
    np.testing.assert_array_equal(graph.features, np.arange(5 * 128).reshape(5, 128) / 8)


def test_collab_s_release_keeps_the_files_rows(own_data: Path, put: Callable[..., Path]) -> None:
    lay_out(own_data, "ogbl-collab", collab(), put)
    release = published("ogbl-collab")
    assert release.split.train.edges.tolist() == [[0, 1], [2, 3], [3, 4]]
    assert release.split.train.edge_data["weight"].tolist() == [7, 1, 1]
    assert release.split.train.edge_data["year"].tolist() == [2001, 2003, 2004]
    assert release.split.valid.tolist() == [[0, 1], [4, 2]]
    assert release.split.test.tolist() == [[4, 0]]
    assert release.negatives["valid"].tolist() == [[0, 3], [1, 3], [2, 2]]
    assert datasets.get("ogbl-collab").rules.valid_in_test


def test_counts_of_other_files_than_ogb_s_are_refused_by_load(
    own_data: Path, put: Callable[..., Path]
) -> None:
    lay_out(own_data, "ogbl-collab", collab(), put)
    with pytest.raises(InputError, match="ogbl-collab: the files hold 5 nodes, the data set has 235868"):
        datasets.load("ogbl-collab")


def test_ppa_is_read_with_its_species(own_data: Path, put: Callable[..., Path]) -> None:
    species = np.zeros((4, 58), dtype=int)
    species[np.arange(4), [0, 57, 3, 3]] = 1
    files: Files = {
        "raw/num-node-list.csv.gz": "4\n",
        "raw/node-feat.csv.gz": table(species),
        "split/throughput/train.pt": {"edge": torch.tensor([[0, 1], [2, 1]])},
        "split/throughput/valid.pt": {"edge": np.array([[3, 0]]), "edge_neg": np.array([[0, 2]])},
        "split/throughput/test.pt": {"edge": np.array([[3, 1]]), "edge_neg": np.array([[3, 2]])},
    }
    lay_out(own_data, "ogbl-ppa", files, put)
    card = datasets.get("ogbl-ppa")
    graph = card.read()
    assert graph.edges.tolist() == [[0, 1], [0, 3], [1, 2], [1, 3]]
    assert graph.features is not None
    np.testing.assert_array_equal(graph.features, species)
    assert graph.edge_data == {}
    assert published("ogbl-ppa").split.train.edges.tolist() == [[0, 1], [1, 2]]


def citation() -> Files:
    """Papers 0..4; 0 and 1 cite each other."""
    return {
        "raw/num-node-list.csv.gz": "5\n",
        "raw/node-feat.csv.gz": table(np.ones((5, 128))),
        "split/time/train.pt": {"source_node": np.array([0, 1, 3]), "target_node": np.array([1, 0, 2])},
        "split/time/valid.pt": {
            "source_node": np.array([4]),
            "target_node": np.array([1]),
            "target_node_neg": np.array([[0, 2, 3]]),
        },
        "split/time/test.pt": {
            "source_node": np.array([4, 3]),
            "target_node": np.array([0, 1]),
            "target_node_neg": np.array([[1, 2], [4, 0]]),
        },
    }


def test_citation2_has_no_direction_and_negatives_for_each_positive(
    own_data: Path, put: Callable[..., Path]
) -> None:
    lay_out(own_data, "ogbl-citation2", citation(), put)
    card = datasets.get("ogbl-citation2")
    graph = card.read()
    assert graph.edges.tolist() == [[0, 1], [0, 4], [1, 3], [1, 4], [2, 3]]
    assert graph.notes == ("dropped 1 repeated edge",)
    release = published("ogbl-citation2")
    assert release.split.train.edges.tolist() == [[0, 1], [2, 3]]
    assert release.split.test.tolist() == [[4, 0], [3, 1]]
    assert release.negatives["valid"].tolist() == [[[4, 0], [4, 2], [4, 3]]]
    assert release.negatives["test"].tolist() == [[[4, 1], [4, 2]], [[3, 4], [3, 0]]]
    assert release.negatives["test"].dtype == np.int32


@pytest.mark.parametrize(
    ("path", "content", "said"),
    [
        ("raw/num-node-list.csv.gz", "5\n6\n", "must hold one number"),
        ("raw/num-node-list.csv.gz", "0\n", "must hold one number"),
        ("raw/num-node-list.csv.gz", "x\n", "line 1 has 'x'"),
        ("raw/node-feat.csv.gz", table(np.ones((4, 128))), "has 4 rows, but there are 5 nodes"),
        ("raw/node-feat.csv.gz", table(np.ones((5, 12))), "line 1 has 12 values, not 128"),
        ("split/time/train.pt", {"weight": np.ones(2)}, "has no 'edge', only weight"),
        ("split/time/train.pt", {}, "has no 'edge', only nothing"),
        ("split/time/train.pt", {"edge": np.array([[0, 5]])}, "row 0 has the node id 5"),
        (
            "split/time/train.pt",
            {"edge": np.array([[0, 1]]), "year": np.ones(3)},
            "3 values of 'year' for 1 edges",
        ),
        ("split/time/valid.pt", {"edge": np.array([0, 1])}, "must be an array of shape (n, 2)"),
        (
            "split/time/test.pt",
            {"edge": np.array([[0, 1]]), "edge_neg": np.array([[0, -1]])},
            "'edge_neg': row 0 has the node id -1",
        ),
    ],
)
def test_collab_files_that_do_not_fit_are_refused(
    own_data: Path, put: Callable[..., Path], path: str, content: object, said: str
) -> None:
    lay_out(own_data, "ogbl-collab", collab() | {path: content}, put)
    with pytest.raises(InputError, match=re.escape(said)):
        datasets.get("ogbl-collab").read()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"source_node": np.array([1])}, "has no 'target_node', only source_node"),
        ({"source_node": np.array([1, 2]), "target_node": np.array([1])}, "2 citing and 1 cited papers"),
        ({"source_node": np.array([1]), "target_node": np.array([7])}, "row 0 has the node id 7"),
        (
            {
                "source_node": np.array([1]),
                "target_node": np.array([2]),
                "target_node_neg": np.array([[1], [2]]),
            },
            "has the shape (2, 1) for 1 citations",
        ),
        (
            {"source_node": np.array([1]), "target_node": np.array([2]), "target_node_neg": np.array([[9]])},
            "must hold node ids within 0..4",
        ),
    ],
)
def test_citation2_files_that_do_not_fit_are_refused(
    own_data: Path, put: Callable[..., Path], content: object, said: str
) -> None:
    lay_out(own_data, "ogbl-citation2", citation() | {"split/time/test.pt": content}, put)
    with pytest.raises(InputError, match=re.escape(said)):
        datasets.get("ogbl-citation2").read()
