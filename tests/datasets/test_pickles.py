"""Pickles are read for their numbers, and never obeyed."""

from __future__ import annotations

import collections
import contextlib
import io
import pickle
import pickletools
import resource
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from trueedge.datasets.pickles import SparseRows, read_pickle
from trueedge.errors import InputError


def reading(content: bytes) -> object:
    return read_pickle(io.BytesIO(content), "some.file")


@pytest.mark.parametrize("dtype", ["<i8", "<i4", "<i2", "<i1", "<u1", "<f4", "<f8", ">i4", ">f8", "?"])
@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4])
def test_arrays_come_back_as_numpy_reads_them(dtype: str, protocol: int) -> None:
    array = (np.arange(12) % 2).astype(dtype).reshape(3, 4)
    for sent in (array, np.asfortranarray(array), array[:0]):
        read = reading(pickle.dumps(sent, protocol))
        assert isinstance(read, np.ndarray)
        np.testing.assert_array_equal(read, sent)
        assert read.dtype.newbyteorder("=") == sent.dtype.newbyteorder("=")
        assert read.flags.writeable
        assert read.flags.c_contiguous


def test_sparse_matrices_come_back_as_scipy_reads_them() -> None:
    matrix = scipy.sparse.random(20, 7, density=0.2, random_state=0, format="csr")
    read = reading(pickle.dumps(matrix, 2))
    assert isinstance(read, SparseRows)
    assert read.shape == (20, 7)
    np.testing.assert_allclose(read.dense(), matrix.toarray().astype(np.float32))


def test_containers_come_back_plain() -> None:
    lists = collections.defaultdict(list, {0: [1, 2], 1: []})
    ordered = collections.OrderedDict(a=np.arange(3), b=(1.5, "text", None, True))
    assert reading(pickle.dumps(lists, 2)) == {0: [1, 2], 1: []}
    read = reading(pickle.dumps(ordered, 2))
    assert type(read) is dict
    assert read["b"] == (1.5, "text", None, True)
    assert read["a"].tolist() == [0, 1, 2]


def test_shared_parts_are_read_once_and_stay_shared() -> None:
    array = np.arange(3)
    nested: list[object] = [array]
    for _ in range(25):
        nested = [nested, nested]
    deepest = reading(pickle.dumps(nested, 2))
    for _ in range(25):
        assert deepest[0] is deepest[1]  # type: ignore[index]
        deepest = deepest[0]  # type: ignore[index]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_that_calls_a_function_is_refused_and_nothing_is_called(
    tmp_path: Path, forged: object, protocol: int
) -> None:
    content = pickle.dumps(forged, protocol)
    with pytest.raises(InputError, match=r"some\.file asks for .*, which a file of arrays does not need"):
        reading(content)
    assert not (tmp_path / "owned").exists()
    pickle.loads(content)
    assert (tmp_path / "owned").exists(), "the forged pickle would have worked"


@pytest.mark.parametrize(
    ("module", "name"),
    [("os", "system"), ("builtins", "eval"), ("builtins", "getattr"), ("numpy", "load"), ("numpy", "memmap")],
)
def test_the_forbidden_name_is_named(module: str, name: str) -> None:
    with pytest.raises(InputError, match=f"asks for {module}.{name}"):
        reading(f"c{module}\n{name}\n(tR.".encode())


def test_names_are_not_looked_up_by_path() -> None:
    # Protocol 4 resolves dotted names, so "numpy" "dtype.__class__" must not slip through.
    content = b"\x80\x04\x8c\x05numpy\x8c\x0fdtype.__class__\x93."
    with pytest.raises(InputError, match=r"asks for numpy\.dtype\.__class__"):
        reading(content)


def array_pickle(dtype: bytes, shape: bytes, data: bytes) -> bytes:
    """A hand-made array in protocol 0: its dtype's code, its shape and its bytes as literals."""
    return (
        b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR(I1\n"
        + shape
        + b"cnumpy\ndtype\n(S'"
        + dtype
        + b"'\nI0\nI1\ntR(I3\nS'<'\nNNNI-1\nI-1\nI0\ntbI00\nS'"
        + data
        + b"'\ntb."
    )


def test_the_hand_made_array_is_a_good_one() -> None:
    pickletools.dis(array_pickle(b"i8", b"(I1\nt", b"12345678"), out=io.StringIO())
    read = reading(array_pickle(b"i8", b"(I1\nt", b"12345678"))
    assert read.tolist() == [int.from_bytes(b"12345678", "little")]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("dtype", "shape", "data"),
    [
        (b"O8", b"(I1\nt", b"12345678"),  # bytes that would be taken for a pointer
        (b"V8", b"(I1\nt", b"12345678"),
        (b"i8", b"(I2\nt", b"12345678"),  # more values than there are bytes
        (b"i8", b"(I-1\nt", b"12345678"),
        (b"i8", b"(I99999999999\nI99999999999\nt", b"12345678"),
        (b"i8", b"I1\n", b"12345678"),
        (b"i8", b"(I1\nt", b"1234567"),
    ],
)
def test_forged_arrays_are_refused(dtype: bytes, shape: bytes, data: bytes) -> None:
    with pytest.raises(InputError, match=r"some\.file is not a file of arrays"):
        reading(array_pickle(dtype, shape, data))


def test_arrays_of_objects_are_refused() -> None:
    with pytest.raises(InputError, match="not numbers"):
        reading(pickle.dumps(np.array([1, "a", None], dtype=object), 2))


@pytest.mark.parametrize(
    "change",
    [
        {"indices": np.array([0, 9])},
        {"indices": np.array([0, -1])},
        {"indices": np.array([0])},
        {"indptr": np.array([0, 1])},
        {"indptr": np.array([0, 3, 2])},
        {"indptr": np.array([0.0, 1.0, 2.0])},
        {"_shape": (2, 10**15)},
        {"_shape": (2, "3")},
        {"data": [1, 2]},
    ],
)
def test_forged_sparse_matrices_are_refused(change: dict[str, object]) -> None:
    matrix = scipy.sparse.csr_matrix((np.ones(2), np.array([0, 2]), np.array([0, 1, 2])), shape=(2, 3))
    assert isinstance(reading(pickle.dumps(matrix, 2)), SparseRows)
    matrix.__dict__.update(change)
    with pytest.raises(InputError, match=r"some\.file is not a file of arrays"):
        reading(pickle.dumps(matrix, 2))


def test_admitted_names_cannot_be_tampered_with() -> None:
    # BUILD with a state sets attributes of the object it is given; the stand-ins must not take any.
    for name in ("numpy\ndtype", "numpy\nndarray", "collections\nOrderedDict", "_codecs\nencode"):
        with pytest.raises(InputError):
            reading(b"c" + name.encode() + b"\n(N(dS'finish'\nI1\nstb.")
    assert reading(pickle.dumps(np.arange(2), 2)).tolist() == [0, 1]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "content",
    [
        b"c__builtin__\nlist\n(tR.",  # a call of what is only ever named
        b"ccollections\nOrderedDict\n(tRI1\nb.",  # a state for what has none
        b"cnumpy\nndarray\n(tR(I1\n(I1\ntI8\nI00\nS'12345678'\ntb.",  # a number for a dtype
    ],
)
def test_stand_ins_do_only_what_they_stand_for(content: bytes) -> None:
    with pytest.raises(InputError, match=r"some\.file is not a file of arrays"):
        reading(content)


def test_other_encodings_of_bytes_are_refused() -> None:
    with pytest.raises(InputError, match="encoding 'rot13'"):
        reading(b"c_codecs\nencode\n(Vabc\nVrot13\ntR.")


@pytest.mark.parametrize("content", [b"", b"plain text", b"\x80\x02", b"(lp0\n", bytes(range(64))])
def test_what_is_no_pickle_is_refused(content: bytes) -> None:
    with pytest.raises(InputError, match=r"some\.file"):
        reading(content)


def test_a_list_within_itself_is_refused() -> None:
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(InputError, match="deep"):
        reading(pickle.dumps(endless, 2))


def test_references_to_outside_are_refused() -> None:
    with pytest.raises(InputError, match="outside"):
        reading(b"Pkey\n.")


@pytest.mark.parametrize("number", [b"r\xff\xff\xff\x7f", b"p99999999999\n"])
def test_a_forged_number_of_an_object_asks_for_no_memory(number: bytes) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert reading(b"\x80\x02N" + number + b".") is None
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + 100_000


@settings(max_examples=1000, deadline=None)
@given(st.data())
def test_a_pickle_with_changed_bytes_is_read_or_refused(data: st.DataObject) -> None:
    matrix = scipy.sparse.csr_matrix((np.ones(2), np.array([0, 2]), np.array([0, 1, 2])), shape=(2, 3))
    content = bytearray(pickle.dumps({"matrix": matrix, "lists": collections.defaultdict(list, {0: [1]})}, 2))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(InputError):
        reading(bytes(content))


@settings(max_examples=500, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    with contextlib.suppress(InputError):
        reading(content)
