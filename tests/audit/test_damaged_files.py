"""Files that are pipes, damaged or forged: one sentence that names them, at once and without the memory."""

from __future__ import annotations

import os
import signal
import struct
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from planted import random_edges

from forged_files import head
from trueedge.audit.own_benchmark import own_benchmark
from trueedge.errors import InputError
from trueedge.files import bounds
from trueedge.files.archives import read_archive
from trueedge.files.arrays import read_array
from trueedge.graph import Graph
from trueedge.scorers.pair_files import listed_parts

WHOLE = Graph.from_edges(random_edges(3600), 400, name="whole")
KINDS = ("positives", "negatives", "features")


def give(path: object, kind: str) -> None:
    if kind == "features":
        own_benchmark(WHOLE, None, 0, {}, features=path)
    else:
        listed_parts(path, kind, WHOLE)


@pytest.fixture
def impatient() -> Iterator[None]:
    """Whatever waits for longer than a minute fails."""

    def late(*_: object) -> None:
        raise TimeoutError("it waits")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["pairs.csv", "pairs.npy", "pairs.npz", "pairs.pt", "pairs.txt.gz"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, kind: str, name: str, impatient) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / name).symlink_to("pipe")
    with pytest.raises(InputError, match=rf"{name} is a pipe or a device: a regular file is needed"):
        give(tmp_path / name, kind)


def test_a_pipe_among_several_files_or_in_a_folder_is_not_waited_for_either(
    tmp_path: Path, impatient
) -> None:
    os.mkfifo(tmp_path / "test.csv")
    (tmp_path / "valid.csv").write_text("0 1\n")
    with pytest.raises(InputError, match=r"test\.csv is a pipe"):
        give(f"{tmp_path}/valid.csv,{tmp_path}/test.csv", "positives")
    with pytest.raises(InputError, match="holds no test positives"):
        give(tmp_path, "positives")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["a\0b.npy", "n" * 300 + ".npy", "n" * 300 + ".npz", "n" * 300 + ".txt"])
def test_a_name_that_no_file_can_have_is_one_sentence(kind: str, name: str) -> None:
    with pytest.raises(InputError, match=r"\.(npy|npz|txt)' cannot be read"):
        give(name, kind)


def test_two_names_that_together_are_too_long_for_one_are_two(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for letter in "vt":
        Path(letter * 200).write_text("0 1\n")
    assert set(listed_parts("v" * 200 + "," + "t" * 200, "positives", WHOLE)) == {"valid", "test"}


@pytest.mark.parametrize("dtype", ["<i8", ">i4", "u1", "<f4", "?", "<U5", "S3", "<c16"])
@pytest.mark.parametrize("shape", [(), (0, 2), (7, 2), (3, 4, 2), (5000, 2)])
def test_what_numpy_wrote_is_what_is_read(tmp_path: Path, dtype: str, shape: tuple[int, ...]) -> None:
    values = np.random.default_rng(0).integers(0, 99, size=shape)
    for at, array in enumerate((values.astype(dtype), np.asfortranarray(values.astype(dtype)))):
        np.save(tmp_path / f"{at}.npy", array)
        np.savez(tmp_path / "plain.npz", one=array, two=array.T)
        np.savez_compressed(tmp_path / "packed.npz", one=array, two=array.T)
        found = [read_array(tmp_path / f"{at}.npy")]
        for name in ("plain.npz", "packed.npz"):
            arrays = read_archive(tmp_path / name)
            assert list(arrays) == ["one", "two"]
            found += [arrays["one"], arrays["two"].T]
        for one in found:
            assert one.dtype == array.dtype
            assert one.shape == array.shape
            assert (one == array).all()


def test_heads_of_every_version_are_read_and_what_follows_the_array_is_left(tmp_path: Path) -> None:
    for version in ((1, 0), (2, 0), (3, 0)):
        with (tmp_path / "a.npy").open("wb") as stream:
            np.lib.format.write_array(stream, np.arange(6).reshape(3, 2), version)
            stream.write(b"more")
        assert read_array(tmp_path / "a.npy").tolist() == [[0, 1], [2, 3], [4, 5]]


FORGED = [
    (head("(10**12, 2)"), "its head does not describe an array"),
    (head("(1000000000000, 2)"), r"announces 16,000,000,000,000 bytes .*, but 64 follow"),
    (head("(9223372036854775807, 2)"), "is damaged: its head announces"),
    (head("(50, 2)"), "announces 800 bytes .*, but 64 follow"),
    (head("(-1, 2)"), r"claims to be an array of the shape \(-1, 2\)"),
    (head("(1000000000000,)", "<U0"), "claims to be an array of the shape"),
    (head("(4, 2)", "|O"), "holds Python objects, not numbers"),
    (head("(4, 2"), "its head does not describe an array"),
    (head("(" * 5000), "its head does not describe an array"),
    (head("(4, 2)")[:40], "its head does not describe an array"),
    (b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**31) + bytes(100), "its head does not describe an array"),
    (b"\x93NUMPY\x09\x00" + bytes(100), "its head does not describe an array"),
    (b"\x93NUMPY", "its head does not describe an array"),
    (b"", r"is not a \.npy file of numbers$"),
    (b"0,1\n", r"is not a \.npy file of numbers$"),
    (b"PK\x03\x04" + bytes(50), r"is not a \.npy file of numbers: it is an archive"),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("content", "sentence"), FORGED)
def test_a_forged_array_is_refused_before_it_is_allocated(tmp_path, kind, content, sentence) -> None:
    path = tmp_path / "forged.npy"
    path.write_bytes(content)
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=rf"forged\.npy.* {sentence}|forged\.npy {sentence}"):
            give(path, kind)
        assert tracemalloc.get_traced_memory()[1] < 5e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (head("(1000000000, 2)"), "announces 16,000,000,000 bytes"),
        (head("(4, 2)", body=bytes(10**6)), "announces 64 bytes .*, but 1,000,000 follow"),
        (head("(4, 2)", "|O"), "holds Python objects"),
        (b"0,1\n", "its head does not describe an array"),
    ],
)
def test_a_member_that_is_not_what_its_head_says_is_refused(tmp_path: Path, content, sentence) -> None:
    with zipfile.ZipFile(tmp_path / "forged.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("test_negatives.npy", content)
    for kind in ("negatives", "features"):
        with pytest.raises(InputError, match=rf"forged\.npz, test_negatives .*{sentence}"):
            give(tmp_path / "forged.npz", kind)


def test_what_unpacks_to_more_than_memory_holds_is_refused(tmp_path: Path, monkeypatch) -> None:
    np.savez_compressed(tmp_path / "bomb.npz", test_negatives=np.zeros((10**6, 2), np.int64))
    np.save(tmp_path / "bomb.npy", np.zeros((10**6, 2), np.int64))
    monkeypatch.setattr(bounds, "LITTLE_MEMORY", 10**6)
    monkeypatch.setattr(bounds, "free_memory", lambda: 10**7)
    for name in ("bomb.npz", "bomb.npy"):
        with pytest.raises(InputError, match=rf"{name} needs 16 MB of memory, but 10 MB are free"):
            give(tmp_path / name, "negatives")
    monkeypatch.setattr(bounds, "free_memory", lambda: None)
    give(tmp_path / "bomb.npz", "negatives")


def test_an_archive_that_is_encrypted_or_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, test_negatives=[[0, 1]])
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"a\.npz, test_negatives is encrypted"):
        give(path, "negatives")
    path.write_bytes(b"PK\x03\x04" + b"x" * 50)
    for kind in KINDS:
        with pytest.raises(InputError, match=r"a\.npz is a damaged archive: 'File is not a zip file'"):
            give(path, kind)
    path.write_bytes(b"0,1\n")
    with pytest.raises(InputError, match=r"a\.npz is not a \.npz file of numbers"):
        give(path, "features")


@pytest.mark.parametrize("ending", [".npy", ".npz", ".packed.npz"])
def test_changed_bytes_are_read_or_refused_and_nothing_else(tmp_path: Path, ending: str) -> None:
    pairs, labels = np.arange(100).reshape(50, 2), np.array([str(node) for node in range(100)])
    path = tmp_path / f"a{ending}"
    if ending == ".npy":
        np.save(path, pairs)
    else:
        write = np.savez if ending == ".npz" else np.savez_compressed
        write(path, test_negatives=pairs, labels=labels)
    whole, rng, refused = path.read_bytes(), np.random.default_rng(0), []
    for _ in range(400):
        data = bytearray(whole[: rng.integers(len(whole))] if rng.random() < 0.2 else whole)
        for at in rng.integers(max(1, len(data)), size=rng.integers(1, 4)):
            data[at : at + 1] = rng.bytes(1)
        path.write_bytes(data)
        try:
            give(path, "negatives")
        except InputError as error:
            refused.append(str(error).replace(str(tmp_path), ""))
    assert len(refused) > 100
    assert all(f"a{ending}" in sentence and len(sentence) < 200 for sentence in refused)
    assert all(sentence.isprintable() for sentence in refused)


def test_names_of_arrays_are_told_few_and_plain(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", **{f"{at:02d}\x1b[31m": np.ones(1) for at in range(20)})
    with pytest.raises(InputError) as told:
        give(tmp_path / "a.npz", "negatives")
    assert str(told.value).isprintable()
    assert str(told.value).endswith("'07\\x1b[31m' and 12 more")
    (tmp_path / "a.npz").write_bytes(b"PK\x05\x06" + bytes(18))
    with pytest.raises(InputError, match="has no array 'test_negatives': it holds nothing"):
        give(tmp_path / "a.npz", "negatives")


@pytest.mark.parametrize("labels", [5, [["0", "1"]]])
def test_labels_that_are_no_list_are_refused(tmp_path: Path, labels: object) -> None:
    np.savez(tmp_path / "a.npz", test_negatives=[[0, 1]], labels=labels)
    with pytest.raises(InputError, match=r"a\.npz: labels must be a list of names, got the shape"):
        give(tmp_path / "a.npz", "negatives")


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (np.ones((9, 2)), "features have 9 rows, but the graph has 400 nodes"),
        (np.full((400, 2), np.nan), "features: row 0, column 0 is nan"),
        (np.full((400, 2), "a"), "got values of type <U1"),
        (np.ones(400), r"got shape \(400,\)"),
    ],
)
def test_features_that_do_not_fit_are_named_by_their_file(tmp_path: Path, table, sentence: str) -> None:
    np.save(tmp_path / "wrong.npy", table)
    np.savez(tmp_path / "wrong.npz", table)
    for name in ("wrong.npy", "wrong.npz"):
        with pytest.raises(InputError, match=rf"{name}: .*{sentence}"):
            give(tmp_path / name, "features")


def test_the_only_array_of_an_archive_is_the_table_and_one_of_several_is_not_guessed(tmp_path: Path) -> None:
    table = np.random.default_rng(0).random((400, 3)).astype(np.float32)
    np.savez(tmp_path / "one.npz", table)
    found = own_benchmark(WHOLE, None, 0, {}, features=tmp_path / "one.npz")
    assert (found.task.features == table).all()
    np.savez(tmp_path / "two.npz", a=table, b=table)
    with pytest.raises(InputError, match=r"two\.npz holds 2 arrays instead of one table of features"):
        give(tmp_path / "two.npz", "features")
    with pytest.raises(InputError, match="the path of the features is empty"):
        give("", "features")


@pytest.mark.parametrize("shape", [(0, 2), (20, 0, 2)])
def test_negatives_that_are_none_are_named_by_their_file(tmp_path: Path, shape: tuple[int, ...]) -> None:
    np.save(tmp_path / "none.npy", np.zeros(shape, int))
    with pytest.raises(InputError, match=r"none\.npy holds no pair: there are no test negatives in it"):
        give(tmp_path / "none.npy", "negatives")


def test_a_positive_of_a_node_with_itself_is_named_by_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "test.csv").write_text("# a comment\nu,v\n0,1\n\n4,4\n5,6\n")
    with pytest.raises(InputError, match=r"^test\.csv, line 5: this test positive joins a node to itself"):
        own_benchmark(WHOLE, "heart", 0, {"k": 4}, split=tmp_path / "test.csv")
    named = Graph.from_edges([[0, 1], [1, 2], [2, 3]], labels=list("abcd"))
    (tmp_path / "loops.txt").write_text("\nb b\nc c\n")
    with pytest.raises(InputError, match=r"^loops\.txt, line 2: this test positive joins .* as all of them"):
        own_benchmark(named, None, 0, {}, split=tmp_path / "loops.txt")
    np.save(tmp_path / "test.npy", [[0, 1], [7, 7]])
    with pytest.raises(InputError, match=r"^test\.npy, row 1: this test positive joins a node to itself"):
        own_benchmark(WHOLE, "heart", 0, {"k": 4}, split=tmp_path / "test.npy")
