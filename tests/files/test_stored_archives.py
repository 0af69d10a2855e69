"""The quick reader of stored archives reads what the general one reads, or leaves it to that."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from trueedge.errors import InputError
from trueedge.files import archives
from trueedge.files.stored_archives import read_stored

ARRAYS = {
    "positive": np.linspace(0, 1, 5, dtype=np.float32),
    "negative": np.arange(12, dtype=np.float64).reshape(4, 3),
    "ids": np.array([3, -1], dtype=np.int64),
    "marks": np.array([True, False]),
    "single": np.array(2.5),
}


def content(save=np.savez, **arrays: np.ndarray) -> bytes:
    stream = io.BytesIO()
    save(stream, **arrays)
    return stream.getvalue()


def generally(path: Path, monkeypatch) -> dict[str, np.ndarray] | None:
    """Return what the general reader makes of a file; None if it refuses it."""
    with monkeypatch.context() as patch:
        patch.setattr(archives, "read_stored", lambda data: None)
        try:
            return archives.read_archive(path)
        except InputError:
            return None


def same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    return list(one) == list(other) and all(
        a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
        for a, b in zip(one.values(), other.values(), strict=True)
    )


def test_what_numpy_stores_is_read_and_can_be_changed() -> None:
    found = read_stored(content(**ARRAYS))
    assert found is not None
    assert same(found, ARRAYS)
    found["negative"][0, 0] = 7.0


def _with_comment(data: bytes) -> bytes:
    stream = io.BytesIO(data)
    with zipfile.ZipFile(stream, "a") as archive:
        archive.comment = b"hello"
    return stream.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PK\x05\x06",
        b"x" + content(**ARRAYS),
        content(**ARRAYS) + b"x",
        _with_comment(content(**ARRAYS)),
        content(np.savez_compressed, **ARRAYS),
        content(turned=np.asfortranarray(ARRAYS["negative"])),
        content(none=np.zeros((0, 3))),
        content(words=np.array(["a", "b"])),
    ],
    ids=["empty", "cut", "before", "after", "comment", "packed", "turned", "no numbers", "words"],
)
def test_anything_unusual_is_left_to_the_general_reader(data: bytes) -> None:
    assert read_stored(data) is None


def test_no_changed_byte_is_read_otherwise_than_by_the_general_reader(tmp_path: Path, monkeypatch) -> None:
    data = content(a=np.arange(3.0), b=np.arange(4, dtype=np.int32))
    path, accepted = tmp_path / "a.npz", 0
    rng = np.random.default_rng(0)
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= int(rng.integers(1, 256))
        found = read_stored(bytes(changed))
        if found is not None:
            accepted += 1
            path.write_bytes(changed)
            wanted = generally(path, monkeypatch)
            assert wanted is not None, f"byte {place}"
            assert same(found, wanted), f"byte {place}"
    # Times of files, and versions of the program that wrote them, may be anything.
    assert 0 < accepted < 60
