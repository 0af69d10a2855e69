"""Graphs in folders: what is saved comes back, and what is damaged does not."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import trueedge.graph.storage
from trueedge.errors import InputError
from trueedge.graph import Graph, tidying


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


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch, random_graph: Callable[..., Graph]) -> Graph:
    """A graph that counts as a large one."""
    monkeypatch.setattr(tidying, "EDGES_WORTH_COMPILING", 0)
    return random_graph(3, 2_000, 20_000)


def test_what_is_derived_from_a_large_graph_is_mapped_too(large: Graph, tmp_path: Path) -> None:
    large.save(tmp_path)
    again = Graph.load(tmp_path, mmap=True)
    for name in ("edges", "indptr", "indices", "edge_keys"):
        array = getattr(again, name)
        assert isinstance(array.base, np.memmap), name
        assert Path(array.base.filename) == tmp_path / f"{name}.npy"
        assert type(array) is np.ndarray
        assert not array.flags.writeable
        assert np.array_equal(array, getattr(large, name))
    assert np.array_equal(again.degrees, large.degrees)
    assert again.has_edges(large.edges[:3]).all()


def test_a_large_graph_in_memory_derives_for_itself(large: Graph, tmp_path: Path) -> None:
    large.save(tmp_path)
    (tmp_path / "indices.npy").unlink()
    assert np.array_equal(Graph.load(tmp_path).indices, large.indices)


def test_a_folder_without_derived_arrays_is_mapped(large: Graph, tmp_path: Path) -> None:
    large.save(tmp_path)
    card = json.loads((tmp_path / "graph.json").read_text())
    del card["derived"]
    (tmp_path / "graph.json").write_text(json.dumps(card))
    for name in ("indptr", "indices", "edge_keys"):
        (tmp_path / f"{name}.npy").unlink()
    assert np.array_equal(Graph.load(tmp_path, mmap=True).indices, large.indices)


def test_a_small_graph_in_a_large_ones_place_leaves_nothing_of_it(
    large: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large.save(tmp_path)
    monkeypatch.undo()
    Graph.from_edges([(0, 1)]).save(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["edges.npy", "graph.json"]


SHARE = """
import json, re, sys
from pathlib import Path
from trueedge.graph import Graph
def memory(folder):
    entries = re.split(r"(?m)^(?=[0-9a-f]+-[0-9a-f]+ )", Path("/proc/self/smaps").read_text())
    found = {}
    for entry in filter(None, entries):
        path = Path(entry.split("\\n", 1)[0].split(maxsplit=5)[-1].strip())
        if path.parent == folder:
            found[path.name] = {key: int(kb) for key, kb in re.findall(r"(\\w+): +(\\d+) kB", entry)}
    return found
folder = Path(sys.argv[1])
graph = Graph.load(folder, mmap=True)
total = sum(int(getattr(graph, name).sum()) for name in ("edges", "indptr", "indices", "edge_keys"))
print("ready", flush=True)
sys.stdin.readline()
print(json.dumps(memory(folder)), flush=True)
sys.stdin.readline()
"""


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="the system does not tell of its memory")
def test_processes_that_map_a_graph_share_its_memory(large: Graph, tmp_path: Path) -> None:
    place = tmp_path.resolve() / "graph"
    large.save(place)
    command = [sys.executable, "-c", SHARE, str(place)]
    pipe = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipe) as one, subprocess.Popen(command, **pipe) as other:
        for process in (one, other):
            assert process.stdout.readline() == "ready\n"
        for process in (one, other):
            process.stdin.write("\n")
            process.stdin.flush()
            memory = json.loads(process.stdout.readline())
            assert set(memory) == {"edges.npy", "indptr.npy", "indices.npy", "edge_keys.npy"}
            for name, kinds in memory.items():
                assert kinds["Private_Dirty"] == kinds["Private_Clean"] == 0, name
                shared = kinds["Shared_Clean"] + kinds["Shared_Dirty"]
                assert 1024 * shared >= (place / name).stat().st_size, name
        for process in (one, other):
            process.communicate("\n")


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda folder: (folder / "indices.npy").unlink(), "indices.npy: there is no such file"),
        (lambda folder: flip(folder, "edge_keys", 7), "edge_keys.npy is not what was saved"),
        (lambda folder: flip(folder, "indices", 7), "indices.npy is not what was saved"),
        (lambda folder: flip(folder, "indices", 10**6), "do not hold the neighbours"),
        (lambda folder: flip(folder, "indices", -1), "do not hold the neighbours"),
        (lambda folder: flip(folder, "indptr", 10**9), "do not hold the neighbours"),
        (lambda folder: np.save(folder / "indptr.npy", np.arange(5)), "does not have the shape (2001,)"),
        (lambda folder: change(derived=7)(folder), "is damaged"),
        (lambda folder: change(derived={})(folder), "indptr.npy is not what was saved"),
    ],
)
def test_damaged_derived_arrays_are_refused(
    damage: Callable[[Path], None], sentence: str, large: Graph, tmp_path: Path
) -> None:
    large.save(tmp_path)
    damage(tmp_path)
    with pytest.raises(InputError) as caught:
        Graph.load(tmp_path, mmap=True)
    assert sentence in str(caught.value)


def test_derived_arrays_are_safe_to_read_even_where_no_hash_is_looked_at(
    large: Graph, tmp_path: Path
) -> None:
    large.save(tmp_path)
    flip(tmp_path, "indices", 7)
    assert Graph.load(tmp_path, mmap=True, verify=False).indices[3] == 7
    flip(tmp_path, "indices", 10**6)
    with pytest.raises(InputError, match="do not hold the neighbours"):
        Graph.load(tmp_path, mmap=True, verify=False)


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_edges_are_checked_across_blocks(
    size: int, random_graph: Callable[..., Graph], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trueedge.graph.storage, "EDGES_PER_CHECK", size)
    graph = random_graph(1, 9, 12)
    graph.save(tmp_path)
    assert Graph.load(tmp_path).hash == graph.hash
    for row in range(graph.num_edges - 1):
        swapped = graph.edges.copy()
        swapped[[row, row + 1]] = swapped[[row + 1, row]]
        np.save(tmp_path / "edges.npy", swapped)
        with pytest.raises(InputError, match="does not hold sorted edges"):
            Graph.load(tmp_path)


def flip(folder: Path, name: str, value: int) -> None:
    """Another value in the fourth place of an array."""
    array = np.load(folder / f"{name}.npy")
    array[3] = value
    np.save(folder / f"{name}.npy", array)


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
    with pytest.raises(InputError, match=r"is not a saved graph: it has no graph\.json"):
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
        (lambda folder: (folder / "graph.json").unlink(), "is not a saved graph: it has no graph.json"),
        (lambda folder: (folder / "graph.json").write_text("{"), "graph.json is not JSON"),
        (lambda folder: (folder / "graph.json").write_bytes(b"\xff\xfe"), "graph.json is not JSON"),
        (lambda folder: (folder / "graph.json").write_text("[" * 10**5), "graph.json is not JSON"),
        (lambda folder: (folder / "graph.json").write_text("[]"), "its graph.json is something else"),
        (change(format="other"), "its graph.json is something else"),
        (change(version=3), "has format version 3, but only 1 to 2 can be read"),
        (change(version=0), "has format version 0, but only 1 to 2 can be read"),
        (change(version=True), "has format version True, but only 1 to 2 can be read"),
        (forget, "graph.json does not say 'labels'"),
        (change(num_nodes="4"), "num_nodes must be a whole number, got '4'"),
        (change(num_nodes=5), "features.npy does not have the shape (5, 2)"),
        (change(num_nodes=3), "is damaged"),
        (change(num_edges=None), "is damaged"),
        (change(edge_data=7), "is damaged"),
        (change(labels=["a", "b", "c", "c"]), "two nodes are called 'c'"),
        (change(labels=["a"]), "4 nodes, but 1 labels"),
        (change(edge_data=["year", "x", "y"]), "edge_data_2.npy: there is no such file"),
        (change(hash="0"), "the hash differs"),
        (change(labels=["ß", "a", "c/d", "\ud800"]), "the hash differs"),
        (lambda folder: (folder / "edges.npy").unlink(), "edges.npy: there is no such file"),
        (lambda folder: (folder / "edges.npy").write_bytes(b""), "edges.npy is damaged: it is not a whole"),
        (
            lambda folder: (folder / "edges.npy").write_bytes(b"PK\x03\x04"),
            "edges.npy is damaged: it is not a whole",
        ),
        (
            lambda folder: (folder / "features.npy").write_bytes((folder / "features.npy").read_bytes()[:-4]),
            "features.npy is damaged: it is not a whole",
        ),
        (
            put("edges.npy", np.array([[0, 1], [1, 3]], dtype=object)),
            "edges.npy is damaged: it is not a whole",
        ),
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


def test_a_graph_of_the_first_format_loads_with_a_note_that_its_labels_were_not_sealed(
    graph: Graph, tmp_path: Path
) -> None:
    graph.save(tmp_path)
    change(version=1, hash=graph.hash_without_labels)(tmp_path)
    again = Graph.load(tmp_path)
    assert (again.hash, again.labels) == (graph.hash, graph.labels)
    assert again.notes == (*graph.notes, trueedge.graph.storage.UNSEALED)
    change(version=1, hash=graph.hash)(tmp_path)
    with pytest.raises(InputError, match="the hash differs"):
        Graph.load(tmp_path)


def test_a_graph_of_the_first_format_without_labels_loads_without_a_note(tmp_path: Path) -> None:
    bare = Graph.from_edges([(0, 1)])
    bare.save(tmp_path)
    change(version=1)(tmp_path)
    assert Graph.load(tmp_path).notes == ()


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
        with pytest.raises(InputError, match="is not a saved graph"):
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
        trueedge.graph.save("karate", tmp_path)  # type: ignore[arg-type]


def test_a_folder_that_may_not_be_written_is_named(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(InputError, match="g cannot be written: Permission denied"):
        graph.save(tmp_path / "g")
