"""Inner products of the rows of a feature table, most of whose entries may be zero."""

from __future__ import annotations

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Float32s, Float64s, Int32s, Int64s
from trueedge.kernels.arrays.kept_index import KeptIndex
from trueedge.kernels.arrays.threads import even_blocks, run_blocks

Table = Float32s

# With more entries than this share, an index of those that are not zero costs more than it saves.
SPARSE = 0.25
LEAST_PRODUCTS_PER_BLOCK = 65_536


def row_products(table: Table, pairs: Int64s) -> Float64s:
    """Return the inner product of the two rows each pair names, float64 (n,), added column by column.

    Args:
        table: float32 array (rows, columns), finite.
        pairs: int64 array (n, 2).
    """
    products = np.empty(len(pairs))
    size = even_blocks(len(pairs), LEAST_PRODUCTS_PER_BLOCK // max(table.shape[1], 1))
    entries = _entries.of(table)
    if entries is None:

        def work(first: int, last: int, _: None) -> None:
            _full_products(table, pairs[first:last], products[first:last])

    else:
        starts, columns = entries

        def work(first: int, last: int, _: None) -> None:
            _sparse_products(table, starts, columns, pairs[first:last], products[first:last])

    run_blocks(work, len(pairs), size, lambda: None)
    return products


def _find_entries(table: Table) -> tuple[Int64s, Int32s] | None:
    """Return where the entries of each row start, and their columns; None if most are not zero."""
    if np.count_nonzero(table) > SPARSE * table.size:
        return None
    starts = np.zeros(len(table) + 1, dtype=np.int64)
    np.cumsum(np.count_nonzero(table, axis=1), out=starts[1:])
    return starts, (np.flatnonzero(table) % max(table.shape[1], 1)).astype(np.int32)


_entries = KeptIndex(_find_entries)


@njit(cache=True, nogil=True)
def _full_products(table: Table, pairs: Int64s, products: Float64s) -> None:
    for p in range(len(pairs)):
        total = 0.0
        for column in range(table.shape[1]):
            total += np.float64(table[pairs[p, 0], column]) * np.float64(table[pairs[p, 1], column])
        products[p] = total


@njit(cache=True, nogil=True)
def _sparse_products(
    table: Table, starts: Int64s, columns: Int32s, pairs: Int64s, products: Float64s
) -> None:
    """Walk the columns of the row with fewer entries; the zeros left out would change no bit of the sum."""
    for p in range(len(pairs)):
        few, many = pairs[p, 0], pairs[p, 1]
        if starts[few + 1] - starts[few] > starts[many + 1] - starts[many]:
            few, many = many, few
        total = 0.0
        for place in range(starts[few], starts[few + 1]):
            column = columns[place]
            total += np.float64(table[few, column]) * np.float64(table[many, column])
        products[p] = total
