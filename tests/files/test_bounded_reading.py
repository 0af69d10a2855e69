"""No file makes the reader set aside what is not in it."""

from __future__ import annotations

import gzip
import io
import os
import warnings
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from forged_files import FORGED, bomb, head, memory_below, zeros
from trueedge.errors import InputError
from trueedge.files import bounds
from trueedge.files.archives import read_archive
from trueedge.files.arrays import array_in, map_array, read_array
from trueedge.files.bounds import check_archive, check_gzip, gunzip
from trueedge.files.cards import MOST_BYTES, read_json
from trueedge.files.text import open_text
from trueedge.graph import Graph, storage


@pytest.mark.parametrize("content", [content for content, _ in FORGED])
def test_a_forged_array_is_not_mapped_or_holds_nothing(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "forged.npy"
    path.write_bytes(content)
    with memory_below(8e7), suppress(InputError):
        assert map_array(path).nbytes <= len(content)


def test_an_array_is_mapped_read_only(tmp_path: Path) -> None:
    path = tmp_path / "good.npy"
    np.save(path, np.arange(6).reshape(2, 3))
    mapped = map_array(path)
    assert mapped.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert not mapped.flags.writeable
    for place, said in (
        (tmp_path / "none.npy", "it: there is no such file"),
        (tmp_path, "it is a folder, not a file"),
    ):
        with pytest.raises(InputError, match=said):
            map_array(place, "it")


@pytest.mark.parametrize(("content", "sentence"), FORGED)
def test_a_forged_array_is_refused_before_it_is_allocated(
    tmp_path: Path, content: bytes, sentence: str
) -> None:
    path = tmp_path / "forged.npy"
    path.write_bytes(content)
    with memory_below(5e6), pytest.raises(InputError, match=rf"forged\.npy .*{sentence}"):
        read_array(path)
    with pytest.raises(InputError, match=rf"^it .*{sentence}"):
        read_array(path, "it")


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (5, 2), (300, 7, 500)])
def test_an_array_is_read_as_numpy_reads_it_and_can_be_written_to(
    tmp_path: Path, shape: tuple[int, ...], order: str
) -> None:
    array = np.asarray(np.random.default_rng(0).random(shape), order=order)  # type: ignore[call-overload]
    np.save(tmp_path / "a.npy", array)
    with memory_below(array.nbytes + 3e6):
        found = read_array(tmp_path / "a.npy")
    theirs = np.load(tmp_path / "a.npy")
    assert (found.dtype, found.shape) == (theirs.dtype, theirs.shape)
    assert found.flags.f_contiguous == theirs.flags.f_contiguous
    assert np.array_equal(found, theirs)
    assert found.flags.writeable


def test_a_head_that_speaks_of_less_than_there_is_gives_the_array_unless_it_must_be_the_whole(
    tmp_path: Path,
) -> None:
    content = head("(3, 2)", body=np.arange(8).tobytes())
    (tmp_path / "a.npy").write_bytes(content)
    assert read_array(tmp_path / "a.npy").tolist() == [[0, 1], [2, 3], [4, 5]]
    with pytest.raises(
        InputError, match=r"a member is damaged: its head announces 48 bytes .*, but 64 follow"
    ):
        array_in(io.BytesIO(content), len(content), "a member", whole=True)


def test_a_stream_that_is_shorter_than_its_size_is_refused() -> None:
    content = head("(5000, 2)", body=bytes(20_000))
    with pytest.raises(InputError, match="x is damaged: it ends after 20,000 of 80,000 bytes"):
        array_in(io.BytesIO(content), len(content) + 60_000, "x")


def test_an_array_of_more_than_the_memory_is_refused(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "sparse.npy"
    path.write_bytes(head("(1000000000,)", body=b""))
    # Eight as_size that take no room on the disk.
    os.truncate(path, path.stat().st_size + 8 * 10**9)
    monkeypatch.setattr(bounds, "free_memory", lambda: 4 * 10**9)
    with memory_below(5e6), pytest.raises(InputError, match=r"sparse\.npy needs 8\.0 GB of memory, but"):
        read_array(path)

    def none_left(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(bounds, "free_memory", lambda: None)
    monkeypatch.setattr("trueedge.files.arrays.np.empty", none_left)
    with pytest.raises(InputError, match=r"sparse\.npy needs 8,000,000,000 bytes of memory"):
        read_array(path)


def test_what_is_no_regular_file_or_may_not_be_read_is_refused(tmp_path: Path, monkeypatch) -> None:
    os.mkfifo(tmp_path / "pipe.npy")
    for name, sentence in {
        "pipe.npy": r"pipe\.npy is a pipe or a device",
        "none.npy": r"none\.npy: there is no such file",
        ".": "is a folder, not a file",
        "a\0b": r"a\\x00b' cannot be read: embedded null",
    }.items():
        with pytest.raises(InputError, match=sentence):
            read_array(tmp_path / name)
    np.save(tmp_path / "a.npy", np.arange(3))

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match=r"a\.npy cannot be read: Permission denied"):
        read_array(tmp_path / "a.npy")


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("content", [content for content, _ in FORGED])
def test_a_graph_with_a_forged_array_is_refused_without_the_memory(
    tmp_path: Path, content: bytes, mmap: bool
) -> None:
    Graph.from_edges([[0, 1], [1, 2], [2, 3], [3, 4]]).save(tmp_path)
    (tmp_path / "edges.npy").write_bytes(content)
    with memory_below(5e6), pytest.raises(InputError, match=r"is damaged: edges\.npy "):
        Graph.load(tmp_path, mmap=mmap)


def test_a_bomb_is_refused_and_none_of_it_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "bomb.txt.gz"
    path.write_bytes(bomb())
    said = (
        rf"bomb\.txt\.gz unpacks to more than {max(2**28, 100 * len(bomb())):,} bytes, from {len(bomb()):,}"
    )
    with memory_below(6e7), pytest.raises(InputError, match=said):
        open_text(path)


def test_a_bomb_of_one_member_is_refused_too_and_a_small_one_is_read(tmp_path: Path, monkeypatch) -> None:
    path, packed = tmp_path / "zeros.gz", zeros(40)
    path.write_bytes(packed)
    assert gunzip(packed, "zeros") == bytes(40 << 20)
    with pytest.raises(InputError, match="there is a NUL byte"):
        open_text(path)
    monkeypatch.setattr(bounds, "SMALL_TEXT", 1 << 25)
    with memory_below(4e7), pytest.raises(InputError, match=r"zeros\.gz unpacks to more than"):
        open_text(path)


def test_a_bomb_behind_honest_text_is_found(monkeypatch) -> None:
    monkeypatch.setattr(bounds, "SMALL_TEXT", 1 << 20)
    text = gzip.compress(np.random.default_rng(0).bytes(1000))
    with pytest.raises(InputError, match="late unpacks to more than"):
        gunzip(text + zeros(64), "late")


def test_of_honest_data_a_small_part_is_unpacked_to_see_that_it_is(monkeypatch) -> None:
    monkeypatch.setattr(bounds, "SMALL", 1 << 20)
    packed = gzip.compress(b"".join(b"%d %d\n" % (i, 7 * i) for i in range(600_000)), 1)
    stream = io.BytesIO(packed)
    check_gzip(stream, len(packed), "x")
    assert stream.tell() < 0.04 * len(packed) + 2 * bounds.PIECE
    stream = io.BytesIO(packed[:10_000])
    monkeypatch.setattr(bounds, "SMALL", 1 << 30)
    check_gzip(stream, 10_000, "x")
    assert stream.tell() == 0


@pytest.mark.parametrize(
    "parts", [[b"0 1\n"], [b""], [b"0 1\n", b"", b"1 2\n"], [b"0 1\n" * 10**5, b"2 3\n" * 10**5]]
)
@pytest.mark.parametrize("filled", [0, 1, 100_000])
def test_members_one_after_the_other_are_unpacked_as_gzip_does(
    tmp_path: Path, parts: list[bytes], filled: int
) -> None:
    data = b"".join(map(gzip.compress, parts)) + bytes(filled)
    assert gunzip(data, "x") == gzip.decompress(data) == b"".join(parts)
    (tmp_path / "x.gz").write_bytes(data)
    assert open_text(tmp_path / "x.gz").data == b"".join(parts)


def test_data_cut_anywhere_or_followed_by_others_is_damaged(tmp_path: Path) -> None:
    whole = gzip.compress(b"0 1\n1 2\n") + gzip.compress(b"2 3\n")
    path = tmp_path / "cut.gz"
    first = len(gzip.compress(b"0 1\n1 2\n"))
    for data in [whole[:end] for end in range(2, len(whole)) if end != first] + [whole + b"more"]:
        with pytest.raises((EOFError, zlib.error)):
            gunzip(data, "x")
        path.write_bytes(data)
        with pytest.raises(InputError, match=r"cut\.gz is a damaged gzip file: "):
            open_text(path)


def member(packed: int, unpacked: int, method: int = 8) -> SimpleNamespace:
    return SimpleNamespace(compress_size=packed, file_size=unpacked, compress_type=method)


def test_an_archive_is_refused_by_its_directory() -> None:
    check_archive([member(2 * 10**6, 10**9), member(10, 2**30 - 10**9)], 3 * 10**6, "x")
    check_archive([member(2 * 10**7, 10**10)], 3 * 10**7, "x")
    with pytest.raises(InputError, match=r"x unpacks to more than 1,073,741,824 bytes, from 20:"):
        check_archive([member(10, 2**29), member(10, 2**29 + 1)], 10**6, "x")
    with pytest.raises(
        InputError, match="x is a damaged archive: its members have 60 bytes, but the whole has 50"
    ):
        check_archive([member(30, 40), member(30, 40)], 50, "x")
    for method in (12, 14, 99):
        with pytest.raises(InputError, match="another compression than deflate"):
            check_archive([member(10, 10), member(10, 10, method)], 100, "x")


def read(path: Path) -> object:
    return read_json(path, absent="the folder is none", damaged="the folder is damaged: its card")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe\x00",
        b'{"a": "\xe9"}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a": ' + b"9" * 5000 + b"}",
    ],
    ids=["empty", "cut", "no text", "latin1", "brackets", "braces", "closed", "digits"],
)
def test_a_card_that_is_not_json_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "card.json").write_bytes(content)
    with memory_below(1e7), pytest.raises(InputError, match=r"^the folder is damaged: its card is not JSON$"):
        read(tmp_path / "card.json")


def test_a_card_that_is_absent_too_large_or_no_file_is_refused(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "card.json"
    for absent in (path, path / "below" / "card.json"):
        with pytest.raises(InputError, match=r"^the folder is none: it has no card\.json$"):
            read(absent)
    path.mkdir()
    with pytest.raises(InputError, match=r"card\.json cannot be read: Is a directory"):
        read(path)
    path.rmdir()
    os.mkfifo(path)
    with pytest.raises(InputError, match="its card is not a regular file"):
        read(path)
    path.unlink()
    path.write_bytes(b'{"a": 1}')
    os.truncate(path, 100_000_000)
    with (
        memory_below(1e6),
        pytest.raises(InputError, match="its card has 100,000,000 bytes, which is too large"),
    ):
        read(path)
    path.write_bytes(b'{"a": 1}'.ljust(MOST_BYTES))
    assert read(path) == {"a": 1}


def test_the_card_of_a_graph_may_be_large_for_its_labels_and_is_refused_beyond(
    tmp_path: Path, monkeypatch
) -> None:
    labels = [f"{'a long name of a node ' * 5}{node}" for node in range(50_000)]
    graph = Graph.from_edges([[0, 1]], num_nodes=len(labels), labels=labels)
    graph.save(tmp_path / "graph")
    assert (tmp_path / "graph" / "graph.json").stat().st_size > MOST_BYTES
    assert Graph.load(tmp_path / "graph").labels == graph.labels
    os.truncate(tmp_path / "graph" / "graph.json", storage.MOST_CARD + 1)
    with memory_below(1e6), pytest.raises(InputError, match=r"graph\.json has 1,073,741,825 bytes"):
        Graph.load(tmp_path / "graph")
    monkeypatch.setattr(storage, "MOST_CARD", MOST_BYTES)
    with pytest.raises(InputError, match="cannot be written: the labels have more than 4,194,304 bytes"):
        graph.save(tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_an_archive_with_two_arrays_of_one_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "twice.npz"
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w") as archive:
        warnings.simplefilter("ignore")
        for array in (np.arange(3.0), np.arange(3.0)[::-1].copy()):
            with archive.open("scores.npy", "w") as member:
                np.save(member, array)
    with pytest.raises(InputError, match="holds scores twice"):
        read_archive(path)
