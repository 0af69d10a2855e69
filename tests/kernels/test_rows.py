"""Inner products of rows against a dense product."""

from __future__ import annotations

import numpy as np
import pytest

from trueedge.kernels.arrays.rows import _full_products, row_products


def all_pairs(rows: int) -> np.ndarray:
    return np.stack(np.meshgrid(np.arange(rows), np.arange(rows)), axis=-1).reshape(-1, 2)


@pytest.mark.parametrize("share", [0.0, 0.05, 0.2, 0.6, 1.0])
def test_products_equal_a_dense_product(share):
    rng = np.random.default_rng(5)
    table = (rng.normal(size=(15, 30)) * (rng.random((15, 30)) < share)).astype(np.float32)
    pairs = all_pairs(15)
    wide = table.astype(np.float64)
    expected = (wide @ wide.T)[pairs[:, 0], pairs[:, 1]]
    np.testing.assert_allclose(row_products(table, pairs), expected, rtol=1e-12, atol=1e-12)


def test_leaving_zeros_out_changes_no_bit_and_neither_does_direction():
    rng = np.random.default_rng(6)
    table = (rng.normal(size=(20, 40)) * (rng.random((20, 40)) < 0.2)).astype(np.float32)
    pairs = all_pairs(20)
    full = np.empty(len(pairs))
    _full_products(table, pairs, full)
    sparse = row_products(table, pairs)
    assert sparse.tobytes() == full.tobytes()
    assert row_products(table, pairs[:, ::-1].copy()).tobytes() == sparse.tobytes()


def test_a_sum_of_float32_is_taken_in_float64():
    table = np.array([[1e30, 1.0], [1e-30, 1.0]], dtype=np.float32)
    expected = float(table[0, 0]) * float(table[1, 0]) + 1.0
    assert row_products(table, np.array([[0, 1]])).tolist() == [expected]


def test_no_pair_and_no_column_are_fine():
    assert row_products(np.ones((3, 2), dtype=np.float32), np.empty((0, 2), dtype=np.int64)).shape == (0,)
    assert row_products(np.ones((3, 0), dtype=np.float32), np.array([[0, 1]])).tolist() == [0.0]
