"""An index is made once for an array that cannot change."""

from __future__ import annotations

import numpy as np

from trueedge.kernels.arrays import kept_index
from trueedge.kernels.arrays.kept_index import KeptIndex


def counting() -> tuple[KeptIndex[float], list[int]]:
    made: list[int] = []

    def make(array: np.ndarray) -> float:
        made.append(len(array))
        return float(array.sum())

    return KeptIndex(make), made


def frozen(size: int) -> np.ndarray:
    array = np.ones(size)
    array.flags.writeable = False
    return array


def test_the_index_of_the_last_array_is_kept_until_it_is_gone() -> None:
    kept, made = counting()
    one = frozen(3)
    assert [kept.of(one), kept.of(one)] == [3.0, 3.0]
    assert made == [3]
    assert kept.of(frozen(5)) == 5.0
    assert kept.of(one) == 3.0
    assert made == [3, 5, 3]


def test_an_array_that_may_change_is_indexed_again() -> None:
    kept, made = counting()
    array = np.ones(2)
    kept.of(array)
    array[0] = 4.0
    assert kept.of(array) == 5.0
    assert made == [2, 2]


def test_a_large_index_is_not_kept(monkeypatch) -> None:
    monkeypatch.setattr(kept_index, "MOST_BYTES", 16)
    kept, made = counting()
    one = frozen(3)
    kept.of(one)
    kept.of(one)
    assert made == [3, 3]
