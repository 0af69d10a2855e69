"""HGB's format: what is read equals what a plain reader finds, in every shape the files come in."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

import trueedge as te
from trueedge.errors import InputError
from trueedge.graph.hgb_files import is_hgb, read_hgb

NODES = "0\tann\t0\t1,0.5\n1\tbob\t0\t0,2.5\n2\tp\t1\n3\tq\t1\n4\tr\t1\n"
LINKS = "0\t2\t0\t1\n1\t3\t0\t1.0\n1\t4\t0\t1\n2\t3\t1\t1\n"
INFO = """{"node.dat": {"node type": {"0": "author", "1": "paper"}},
"link.dat": {"link type": {"0": {"start": "0", "end": "1", "meaning": "writes"},
                           "1": {"start": 1, "end": 1, "meaning": "cites"}}},
"label.dat": {"node type": {"1": {"0": "x", "1": "y", "2": "z"}}}}"""
LABELS = "2\tp\t1\t0\n4\tr\t1\t2\n"
GOOD = {
    "node.dat": NODES,
    "link.dat": LINKS,
    "info.dat": INFO,
    "label.dat": LABELS,
    "label.dat.test": "3\tq\t1\t1\n",
}


def write(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_bytes(text.encode())
    return folder


def pack(path: Path, files: dict[str, str], folder: str = "") -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(folder + name, text)
    return path


def test_a_folder_becomes_a_typed_graph(tmp_path: Path) -> None:
    data = read_hgb(write(tmp_path / "mine", GOOD))
    graph = data.graph
    assert (graph.name, data.notes) == ("mine", ())
    assert graph.node_types == ("author", "paper")
    assert graph.starts.tolist() == [0, 2, 5]
    assert [tuple(one) for one in graph.relations] == [("writes", 0, 1), ("cites", 1, 1)]
    assert [pairs.tolist() for pairs in graph.edges] == [[[0, 2], [1, 3], [1, 4]], [[2, 3]]]
    assert graph.features[0].tolist() == [[1, 0.5], [0, 2.5]]
    assert graph.features[1] is None
    assert graph.names == ("ann", "bob", "p", "q", "r")
    assert graph.labels.classes == ("x", "y", "z")
    assert graph.labels.nodes.tolist() == [2, 3, 4]
    assert graph.labels.values.tolist() == [0, 1, 2]
    assert graph.labels.test.tolist() == [False, True, False]
    assert (data.test_links, data.test_pairs, data.valid_pairs) == ({}, {}, {})
    assert te.HeteroGraph.from_hgb(tmp_path / "mine").hash == graph.hash


@pytest.mark.parametrize("folder", ["", "Mine/", "a/b/"])
def test_an_archive_gives_what_its_folder_gives(tmp_path: Path, folder: str) -> None:
    path = pack(tmp_path / "mine.zip", GOOD, folder)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("__MACOSX/Mine/._link.dat", b"\0\5")
        archive.writestr(f"{folder}.DS_Store", b"\0\1")
        archive.writestr(f"{folder}meta.dat", "{}")
    assert is_hgb(path)
    assert read_hgb(path).graph.hash == read_hgb(write(tmp_path / "mine", GOOD)).graph.hash
    assert read_hgb(path).graph.name == "mine"


def test_line_ends_marks_and_blank_lines_change_nothing(tmp_path: Path) -> None:
    plain = read_hgb(write(tmp_path / "plain", GOOD)).graph
    odd = {name: "\ufeff" + text.replace("\n", "\r\n") + "\r\n\n" for name, text in GOOD.items()}
    assert read_hgb(write(tmp_path / "odd", odd)).graph.hash == plain.hash
    cut = {name: text.rstrip("\n") for name, text in GOOD.items()}
    assert read_hgb(write(tmp_path / "cut", cut)).graph.hash == plain.hash


def test_nodes_may_come_in_any_order(tmp_path: Path) -> None:
    plain = read_hgb(write(tmp_path / "plain", GOOD)).graph
    turned = {**GOOD, "node.dat": "\n".join(reversed(NODES.strip().split("\n")))}
    assert read_hgb(write(tmp_path / "turned", turned)).graph.hash == plain.hash


def test_without_info_types_relations_and_classes_have_numbers(tmp_path: Path) -> None:
    graph = read_hgb(write(tmp_path / "mine", {k: v for k, v in GOOD.items() if k != "info.dat"})).graph
    assert graph.node_types == ("type 0", "type 1")
    assert [one.name for one in graph.relations] == ["relation 0", "relation 1"]
    assert graph.labels.classes == ("class 0", "class 1", "class 2")


def test_info_may_list_types_directly_and_repeat_names(tmp_path: Path) -> None:
    info = """{"node.dat": {"0": "user", "1": "item"},
    "link.dat": {"0": {"start": 0, "end": 1, "meaning": "likes"}, "1": {"meaning": "likes"}}}"""
    graph = read_hgb(write(tmp_path / "mine", {**GOOD, "info.dat": info})).graph
    assert graph.node_types == ("user", "item")
    assert [one.name for one in graph.relations] == ["likes", "likes (1)"]


def test_without_nodes_types_follow_from_the_links(tmp_path: Path) -> None:
    files = {k: v for k, v in GOOD.items() if k != "node.dat"}
    data = read_hgb(write(tmp_path / "mine", files))
    assert data.graph.starts.tolist() == [0, 2, 5]
    assert data.notes == (
        "there is no node.dat: node types follow from the links, and there are no features",
    )
    gap = {
        **files,
        "link.dat": "0\t2\t0\t1\n1\t4\t0\t1\n",
        "label.dat": "2\t\t1\t0\n",
        "label.dat.test": "4\t\t1\t1\n",
    }
    assert read_hgb(write(tmp_path / "gap", gap)).graph.starts.tolist() == [0, 2, 5]


def test_one_node_with_two_labels_makes_all_labels_lists(tmp_path: Path) -> None:
    graph = read_hgb(write(tmp_path / "mine", {**GOOD, "label.dat": "2\tp\t1\t0,2\n"})).graph
    assert graph.labels.multi
    assert graph.labels.values.tolist() == [[True, False, True], [False, True, False]]
    assert graph.labels.test.tolist() == [False, True]
    alone = {k: v for k, v in GOOD.items() if k != "label.dat.test"}
    assert read_hgb(write(tmp_path / "alone", alone)).graph.labels.test is None


def test_weights_and_repeated_links_are_left_out_and_said(tmp_path: Path) -> None:
    links = "0\t2\t0\t225\n0\t2\t0\t1\n1\t3\t0\t0.5e-40\n2\t3\t1\t1\n"
    data = read_hgb(write(tmp_path / "mine", {**GOOD, "link.dat": links}))
    said = "2 links have a weight other than 1; weights are not used, and the links stay"
    assert data.notes == ("dropped 1 repeated link", said)
    assert data.graph.edges[0].tolist() == [[0, 2], [1, 3]]


def test_test_links_and_published_pairs_are_read(tmp_path: Path) -> None:
    files = {
        **GOOD,
        "link.dat.test": "0\t4\t0\t1\n1\t4\t0\t1\n",
        "mine_ini_0_label.txt": "0 0 1\n4 3 2\n1 0 0\n",
    }
    data = read_hgb(write(tmp_path / "mine", files))
    assert {key: pairs.tolist() for key, pairs in data.test_links.items()} == {0: [[0, 4], [1, 4]]}
    pairs, truth = data.test_pairs[0]
    assert pairs.tolist() == [[0, 4], [0, 3], [1, 2]]
    assert truth.tolist() == [True, False, False]
    leak = "is in link.dat, too, and stays in the training graph: see 'trueedge audit'"
    assert data.notes == (f"1 link of link.dat.test {leak}",)


def test_a_relation_that_holds_all_test_links_of_another_is_noted(tmp_path: Path) -> None:
    info = {"link.dat": {"link type": {str(n): {"start": 0, "end": 1, "meaning": f"r{n}"} for n in (0, 1)}}}
    files = {
        "node.dat": "0\ta\t0\n1\tb\t0\n2\tp\t1\n3\tq\t1\n",
        "info.dat": json.dumps(info),
        "link.dat": "0\t2\t0\t1\n0\t3\t1\t1\n1\t2\t1\t1\n",
        "link.dat.test": "0\t3\t0\t1\n1\t2\t0\t1\n",
    }
    said = "the links of 'r1' are all test links of 'r0' and more, and stay in the training graph: see"
    (note,) = read_hgb(write(tmp_path / "mine", files)).notes
    assert note.startswith(said)
    assert read_hgb(write(tmp_path / "some", {**files, "link.dat.test": "1\t3\t0\t1\n"})).notes == ()


def test_repeated_test_links_are_left_out_and_said(tmp_path: Path) -> None:
    data = read_hgb(write(tmp_path / "mine", {**GOOD, "link.dat.test": "0\t4\t0\t1\n0\t4\t0\t1\n"}))
    assert data.notes == ("dropped 1 repeated link of link.dat.test",)
    assert data.test_links[0].tolist() == [[0, 4]]


def test_classes_without_a_node_are_noted(tmp_path: Path) -> None:
    labels = {"label.dat": "2\tp\t1\t0\n", "label.dat.test": "3\tq\t1\t77\n"}
    plain = {name: text for name, text in GOOD.items() if name != "info.dat"} | labels
    data = read_hgb(write(tmp_path / "mine", plain))
    assert data.notes == ("classes 1 to 76 have no node: there are 78 classes, 0 to 77",)
    several = {**plain, "label.dat": "2\tp\t1\t0,2\n", "label.dat.test": "3\tq\t1\t4\n"}
    data = read_hgb(write(tmp_path / "several", several))
    assert data.notes == ("classes 1, 3 have no node: there are 5 classes, 0 to 4",)


def test_labels_whose_nodes_have_the_names_of_others_are_noted(tmp_path: Path) -> None:
    shifted = {"label.dat": "3\tp\t1\t0\n4\tr\t1\t2\n", "label.dat.test": "2\tq\t1\t1\n"}
    data = read_hgb(write(tmp_path / "shifted", {**GOOD, **shifted}))
    said = "in line 1, node 3 is called 'p', which is node 2 in node.dat"
    assert data.notes == (f"label.dat may have wrong ids (2 names): {said}",)
    other = {"label.dat": "2\t\t1\t0\n4\tsomebody\t1\t2\n"}
    assert read_hgb(write(tmp_path / "other", {**GOOD, **other})).notes == ()


@pytest.mark.parametrize("content", [b"hello", b""])
def test_a_file_called_zip_is_not_read_as_an_edge_list(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "mine.zip"
    path.write_bytes(content)
    with pytest.raises(InputError, match="is neither a folder nor a zip archive"):
        te.task(path)


def test_a_folder_of_nothing_says_what_a_folder_may_hold(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no task\.json .*no link\.dat .*no train\.txt"):
        te.task(tmp_path)


def test_an_info_that_contradicts_the_links_is_noted(tmp_path: Path) -> None:
    info = INFO.replace('"start": 1, "end": 1', '"start": 0, "end": 1')
    data = read_hgb(write(tmp_path / "mine", {**GOOD, "info.dat": info}))
    assert data.notes == (
        "info.dat says that relation 1 leads from type 0 to 1, but its links lead from type 1 to 1",
    )


def test_features_equal_those_of_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trueedge.files.text_folders.BLOCK", 1000)
    rng = np.random.default_rng(3)
    numbers = rng.standard_normal((200, 7)) * 10.0 ** rng.integers(-36, 36, (200, 7))
    words = [[repr(float(one)) for one in row] for row in numbers]
    words += [
        ["0", "0.0", "-0.0", "0.", ".5", "+1.25", "1E3"],
        ["1e-60", " 2", "0e5", "00", "7e+2", "-.5e1", "3."],
    ]
    words += [
        ["16777217", "16777217.0000000000000000001", "0.1000000014901161193847656250000001"] + ["0"] * 4
    ]
    words += [[f"1.{digits:07d}" for digits in rng.integers(0, 10**7, 7)] for _ in range(300)]
    lines = [f"{n}\tnode {n}\t0\t{','.join(row)}" for n, row in enumerate(words)]
    text = {"node.dat": "\n".join(lines) + "\n", "link.dat": "0\t1\t0\t1\n"}
    found = read_hgb(write(tmp_path / "mine", text)).graph.features[0]
    expected = np.array([[float(word) for word in row] for row in words]).astype(np.float32)
    assert np.array_equal(found, expected)


def test_features_that_are_mostly_zero_are_sparse(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = rng.integers(1, 9, (50, 40)) * (rng.random((50, 40)) < 0.05)
    lines = [f"{n}\t\t0\t{','.join(map(str, row))}" for n, row in enumerate(table.tolist())]
    lines += [f"{50 + n}\t\t1\t{n},1,0" for n in range(5)]
    found = read_hgb(write(tmp_path / "m", {"node.dat": "\n".join(lines), "link.dat": "0\t50\t0\t1\n"})).graph
    assert isinstance(found.features[0], csr_array)
    assert np.array_equal(found.features[0].toarray(), table)
    assert found.features[0].dtype == np.float32
    assert isinstance(found.features[1], np.ndarray)
    assert found.names is None


@pytest.mark.parametrize("size", [7, 64, 300])
def test_the_size_of_blocks_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    folder = write(tmp_path / "mine", GOOD)
    whole = read_hgb(folder).graph.hash
    monkeypatch.setattr("trueedge.files.text_folders.BLOCK", size)
    assert read_hgb(folder).graph.hash == whole


def test_other_paths_are_not_hgb(tmp_path: Path) -> None:
    (tmp_path / "edges.txt").write_text("0 1\n")
    (tmp_path / "empty").mkdir()
    np.savez(tmp_path / "arrays.npz", edges=np.eye(2))
    for path in ("edges.txt", "empty", "arrays.npz", "nothing", "x" * 5000):
        assert not is_hgb(tmp_path / path)
    assert not is_hgb(7)  # type: ignore[arg-type]
    (tmp_path / "cut.zip").write_bytes(pack(tmp_path / "whole.zip", GOOD).read_bytes()[:200])
    assert is_hgb(tmp_path / "cut.zip")


@pytest.mark.data("hgb")
@pytest.mark.rotating(1)
@pytest.mark.parametrize(
    ("name", "sizes"), [("ACM", (10942, 547872)), ("IMDB", (21420, 86642)), ("DBLP", (26128, 239566))]
)
def test_published_archives_equal_a_plain_reader(
    name: str, sizes: tuple[int, int], data_folder: Path
) -> None:
    path = data_folder / "hgb" / f"{name}.zip"
    graph = read_hgb(path).graph
    assert (graph.num_nodes, graph.num_edges) == sizes
    with zipfile.ZipFile(path) as archive, archive.open(f"{name}/node.dat") as stream:
        for number, raw in enumerate(stream):
            fields = raw.decode().rstrip("\r\n").split("\t")
            kind = int(fields[2])
            assert graph.types[number] == kind
            # Every hundredth row: parsing them all with Python takes half a minute.
            if len(fields) < 4 or number % 100:
                continue
            row = graph.features[kind][[number - graph.starts[kind]]]
            dense = row.toarray() if hasattr(row, "toarray") else row
            assert np.array_equal(
                dense[0], np.array(fields[3].split(","), dtype=np.float64).astype(np.float32)
            )


@pytest.mark.data("hgb")
def test_reading_180_megabytes_of_features_takes_little_memory(data_folder: Path) -> None:
    script = (
        "import re, sys\n"
        "from trueedge.graph.hgb_files import read_hgb\n"
        "read_hgb(sys.argv[1])\n"
        # Not ru_maxrss: that counts the process that started this one too.
        "print(int(re.search(r'VmHWM:\\s*(\\d+)', open('/proc/self/status').read())[1]) // 1024)"
    )
    command = [sys.executable, "-c", script, str(data_folder / "hgb" / "IMDB.zip")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    # MiB: half of it is numba and scipy.
    assert int(done.stdout) < 500
