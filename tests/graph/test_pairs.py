"""Arrays of pairs, and the numbers that stand for them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from trueedge.errors import InputError
from trueedge.graph import as_nodes, as_pairs, in_sorted, pair_keys


class Broken:
    """Says that it is an array, and is none."""

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        raise KeyError("nothing here")


def test_pairs_come_out_as_contiguous_int64() -> None:
    pairs = as_pairs(np.array([[1, 2], [3, 4]], dtype=np.uint8)[:, ::-1])
    assert pairs.tolist() == [[2, 1], [4, 3]]
    assert pairs.dtype == np.int64
    assert pairs.flags.c_contiguous


@pytest.mark.parametrize(
    "make",
    [
        lambda: zip([0, 1], [1, 2], strict=True),
        lambda: ((i, i + 1) for i in range(2)),
        lambda: np.array([[0, 1], [1, 2]], dtype=object),
        lambda: np.array([[0, 1], [1, 2]], dtype=np.float16),
        lambda: np.ma.array([[0, 1], [1, 2]], mask=False),
    ],
    ids=["zip", "generator", "objects", "half floats", "nothing masked"],
)
def test_pairs_may_come_in_many_ways(make: Callable[[], object]) -> None:
    pairs = as_pairs(make())
    assert (pairs.tolist(), pairs.dtype) == ([[0, 1], [1, 2]], np.int64)


def test_a_table_of_pandas_is_an_array_of_pairs() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    table = pandas.DataFrame({"u": [0, 1], "v": [1, 2]})
    assert as_pairs(table).tolist() == as_pairs(table.astype("Int64")).tolist() == [[0, 1], [1, 2]]
    with pytest.raises(InputError, match=r"row 1 has <NA>, which is not a node id"):
        as_pairs(pandas.DataFrame({"u": [0, None], "v": [1, 2]}, dtype="Int64"))


def test_nothing_is_no_pair_and_no_node() -> None:
    assert as_pairs([]).shape == (0, 2)
    assert as_pairs(np.empty((0, 2))).shape == (0, 2)
    assert as_nodes([], 3).shape == (0,)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (np.array([[0, np.inf]]), "has inf, which is not a node id"),
        (np.array([[0.0, 2.0**53]]), "which is not a node id"),
        (np.array([[0, 2**64 - 1]], dtype=np.uint64), "which is too large"),
        (np.array([[0, 10**30]]), f"row 0 has the node id {10**30}, which is too large"),
        (np.array([[0, 1], [None, 2]]), "row 1 has None, which is not a node id"),
        (np.array([[0, True]], dtype=object), "row 0 has True, which is not a node id"),
        (np.array([[True, False]]), "must hold whole numbers, got values of type bool"),
        (np.array([[0, 1], [1]], dtype=object), "got shape (2,)"),
        ([np.ma.array([0, 7], mask=[0, 1]), [1, 2]], "masked"),
        (np.ma.masked_values([[0, 1], [7, 2]], 7), "masked"),
        (5, "shape (n, 2), got int"),
        (np.array(5), "got shape ()"),
        ({(0, 1)}, "shape (n, 2), got set"),
        (((0, 1, 2) for _ in range(2)), "got shape (2, 3)"),
        (Broken(), "must be an array of whole numbers"),
        (np.zeros((2, 3, 2), dtype=int), "got shape (2, 3, 2)"),
        ([[0, 1], [2, 7]], "things: row 1 has the node id 7, outside 0..4"),
    ],
)
def test_bad_pairs_are_named(values: object, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        as_pairs(values, 5, "things")
    assert sentence in str(caught.value)
    assert str(caught.value).startswith("things")


def test_a_key_is_one_for_both_directions_and_one_pair_only() -> None:
    pairs = np.array([(u, v) for u in range(7) for v in range(7)], dtype=np.int32)
    keys = pair_keys(pairs, 7)
    assert (keys == pair_keys(pairs[:, ::-1], 7)).all()
    assert len(np.unique(keys)) == 7 * 8 // 2
    assert pair_keys(pairs.reshape(7, 7, 2), 7).shape == (7, 7)


def test_keys_of_small_integer_types_do_not_overflow() -> None:
    assert pair_keys(np.array([[100, 120]], dtype=np.int8), 121).tolist() == [100 * 121 + 120]


def test_membership_is_that_of_a_set() -> None:
    rng = np.random.default_rng(0)
    keys, known = rng.integers(0, 50, 200), np.unique(rng.integers(0, 50, 20))
    assert in_sorted(keys, known).tolist() == [key in set(known.tolist()) for key in keys.tolist()]
    assert not in_sorted(keys, known[:0]).any()
    assert in_sorted(keys.reshape(10, 20), known).shape == (10, 20)
