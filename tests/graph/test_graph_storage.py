"""Graphs in folders: what is saved comes back, and what is damaged does not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import trueedge.graph.storage
from trueedge.errors import InputError
from trueedge.graph import Graph


@pytest.fixture
def graph() -> Graph:
    """A graph with everything a graph can have."""
    return Graph.from_edges(
        [(0, 1), (3, 1), (1, 1)],
        features=np.arange(8).reshape(4, 2),
        labels=["a", "ß", "c/d", "\ud800"],
        edge_data={"year": [2001, 2002, 2003], "../weight": [0.5, 1.5, 2.5]},
        self_loops="drop",
        name="small",
    )


@pytest.mark.parametrize("mmap", [False, True])
def test_a_saved_graph_comes_back_whole(graph: Graph, mmap: bool, tmp_path: Path) -> None:
    graph.save(tmp_path / "new" / "g")
    again = Graph.load(tmp_path / "new" / "g", mmap=mmap)
    assert again.hash == graph.hash
    assert (again.labels, again.name, again.notes) == (graph.labels, "small", ("dropped 1 self-loop",))
    assert {key: column.tolist() for key, column in again.edge_data.items()} == {
        "year": [2001, 2002],
        "../weight": [0.5, 1.5],
    }
    assert type(again.edges) is np.ndarray
    with pytest.raises(ValueError, match="read-only"):
        again.edges[0] = 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new"]


@pytest.mark.parametrize("mmap", [False, True])
def test_a_graph_without_edges_comes_back(mmap: bool, tmp_path: Path) -> None:
    bare = Graph.from_edges([], num_nodes=1)
    bare.save(tmp_path)
    again = Graph.load(tmp_path, mmap=mmap)
    assert (again.hash, again.labels, again.features) == (bare.hash, None, None)


def test_mapped_arrays_stay_on_disk(graph: Graph, tmp_path: Path) -> None:
    graph.save(tmp_path)
    features = Graph.load(tmp_path, mmap=True).features
    assert features is not None
    assert isinstance(features.base, np.memmap)


def test_saving_again_replaces_the_graph_and_nothing_else(graph: Graph, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("stays")
    graph.save(tmp_path)
    bare = Graph.from_edges([(0, 1)])
    bare.save(tmp_path)
    assert Graph.load(tmp_path).hash == bare.hash
    assert sorted(path.name for path in tmp_path.iterdir()) == ["edges.npy", "graph.json", "mine.txt"]


def test_a_save_that_is_broken_off_leaves_no_graph(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph.save(tmp_path)

    def full(*args: object, **kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(trueedge.graph.storage.np, "save", full)
    with pytest.raises(InputError, match="cannot be written: No space left on device"):
        graph.save(tmp_path)
    monkeypatch.undo()
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".new")]
    with pytest.raises(InputError, match=r"is no saved graph: it has no graph\.json"):
        Graph.load(tmp_path)


def change(**values: object) -> Callable[[Path], None]:
    """A change of the description."""

    def apply(folder: Path) -> None:
        card = json.loads((folder / "graph.json").read_text())
        (folder / "graph.json").write_text(json.dumps({**card, **values}))

    return apply


def put(name: str, array: object) -> Callable[[Path], None]:
    """Another array in a file's place."""
    return lambda folder: np.save(folder / name, np.asarray(array), allow_pickle=True)


def forget(folder: Path) -> None:
    card = json.loads((folder / "graph.json").read_text())
    del card["labels"]
    (folder / "graph.json").write_text(json.dumps(card))


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda folder: (folder / "graph.json").unlink(), "is no saved graph: it has no graph.json"),
        (lambda folder: (folder / "graph.json").write_text("{"), "graph.json is not JSON"),
        (lambda folder: (folder / "graph.json").write_bytes(b"\xff\xfe"), "graph.json is not JSON"),
        (lambda folder: (folder / "graph.json").write_text("[" * 10**5), "graph.json is not JSON"),
        (lambda folder: (folder / "graph.json").write_text("[]"), "its graph.json is something else"),
        (change(format="other"), "its graph.json is something else"),
        (change(version=2), "has format version 2, this program reads 1"),
        (forget, "graph.json does not say 'labels'"),
        (change(num_nodes="4"), "num_nodes must be a whole number, got '4'"),
        (change(num_nodes=5), "features.npy does not have the shape (5, 2)"),
        (change(num_nodes=3), "is damaged"),
        (change(num_edges=None), "is damaged"),
        (change(edge_data=7), "is damaged"),
        (change(labels=["a", "b", "c", "c"]), "two nodes are called 'c'"),
        (change(labels=["a"]), "4 nodes, but 1 labels"),
        (change(edge_data=["year", "x", "y"]), "edge_data_2.npy is missing"),
        (change(hash="0"), "the hash differs"),
        (lambda folder: (folder / "edges.npy").unlink(), "edges.npy is missing"),
        (lambda folder: (folder / "edges.npy").write_bytes(b""), "edges.npy is not a whole .npy file"),
        (
            lambda folder: (folder / "edges.npy").write_bytes(b"PK\x03\x04"),
            "edges.npy is not a whole .npy file",
        ),
        (
            lambda folder: (folder / "features.npy").write_bytes((folder / "features.npy").read_bytes()[:-4]),
            "features.npy is not a whole .npy file",
        ),
        (put("edges.npy", np.array([[0, 1], [1, 3]], dtype=object)), "edges.npy is not a whole .npy file"),
        (put("edges.npy", np.array([[0, 1], [1, 3]])), "edges.npy holds values of type int64"),
        (put("edges.npy", np.zeros((3, 2), dtype=np.int32)), "edges.npy does not have the shape (2, 2)"),
        (put("edges.npy", np.int32([[0, 1], [1, 9]])), "does not hold sorted edges"),
        (put("edges.npy", np.int32([[0, 1], [-1, 3]])), "does not hold sorted edges"),
        (put("edges.npy", np.int32([[1, 3], [0, 1]])), "does not hold sorted edges"),
        (put("edges.npy", np.int32([[1, 1], [1, 3]])), "does not hold sorted edges"),
        (put("edges.npy", np.int32([[0, 1], [2, 3]])), "the hash differs"),
        (put("edge_data_0.npy", np.array(["a", "b"])), "edge_data_0.npy holds values of type <U1"),
    ],
)
@pytest.mark.parametrize("mmap", [False, True])
def test_a_damaged_folder_is_refused(
    damage: Callable[[Path], None], sentence: str, mmap: bool, graph: Graph, tmp_path: Path
) -> None:
    graph.save(tmp_path)
    damage(tmp_path)
    with pytest.raises(InputError) as caught:
        Graph.load(tmp_path, mmap=mmap)
    assert sentence in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_the_hash_is_not_looked_at_where_that_is_asked_for(graph: Graph, tmp_path: Path) -> None:
    graph.save(tmp_path)
    change(hash="0")(tmp_path)
    assert Graph.load(tmp_path, verify=False).hash == graph.hash


def test_arrays_of_the_other_byte_order_are_the_same_graph(graph: Graph, tmp_path: Path) -> None:
    graph.save(tmp_path)
    put("edges.npy", graph.edges.astype(">i4"))(tmp_path)
    assert Graph.load(tmp_path).edges.dtype == np.int32


def test_places_that_are_no_folder_are_refused(graph: Graph, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(InputError, match="file cannot be written"):
        graph.save(file)
    for place in (file, tmp_path / "nowhere"):
        with pytest.raises(InputError, match="is no saved graph"):
            Graph.load(place)


@pytest.mark.parametrize(
    "text",
    ['"num_edges": Infinity', '"num_edges": 1e999', '"num_edges": 2.5', f'"num_edges": {"9" * 5000}']
    + [f'"num_edges": {"9" * 4000}', '"num_features": Infinity', f'"notes": {"[" * 10**5}{"]" * 10**5}']
    + [f'"labels": {"[" * 900}{"]" * 900}', '"labels": true', '"notes": [1, {}]'],
    ids=lambda text: text[:24],
)
def test_a_description_with_absurd_values_is_refused(text: str, graph: Graph, tmp_path: Path) -> None:
    graph.save(tmp_path)
    whole = (tmp_path / "graph.json").read_text()
    # The last of two equal keys counts.
    (tmp_path / "graph.json").write_text(whole.rstrip().removesuffix("}") + f", {text}}}")
    if "notes" in text and "{}" in text:
        assert Graph.load(tmp_path).notes == ("1", "{}")
        return
    with pytest.raises(InputError, match="is damaged"):
        Graph.load(tmp_path)


def test_places_that_cannot_be_written_are_named(graph: Graph, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "link").symlink_to(tmp_path)
    graph.save(tmp_path / "link")
    assert Graph.load(tmp_path).hash == graph.hash
    for name in ("x" * 300, "loop", "loop/x", "dangling", "a\0b", "\ud800"):
        with pytest.raises(InputError, match="cannot be written: ") as caught:
            graph.save(tmp_path / name)
        assert str(tmp_path / name) in str(caught.value)
    (tmp_path / "graph.json").unlink()
    (tmp_path / "graph.json").mkdir()
    with pytest.raises(InputError, match="cannot be written: "):
        graph.save(tmp_path)
    with pytest.raises(InputError, match="save: a path is needed, got int"):
        graph.save(5)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"save: graph must be a trueedge.Graph, got 'karate'"):
        trueedge.graph.storage.save("karate", tmp_path)  # type: ignore[arg-type]


def test_a_folder_that_may_not_be_written_is_named(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(InputError, match="g cannot be written: Permission denied"):
        graph.save(tmp_path / "g")
