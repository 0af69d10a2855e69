"""Boolean products of sparse matrices: which entries are there, never how often."""

from __future__ import annotations

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Int32s, Int64s
from trueedge.kernels.arrays.threads import even_blocks, run_blocks

LEAST_ROWS = 64


def product_counts(left_starts: Int64s, left: Int32s, starts: Int64s, right: Int32s, columns: int) -> Int64s:
    """Return the number of entries in each row of the product of two CSR matrices, int64 (rows,).

    Args:
        left_starts, left: row starts and columns of the first matrix.
        starts, right: those of the second.
        columns: the number of columns of the second matrix.
    """
    rows = len(left_starts) - 1
    counts = np.zeros(rows, dtype=np.int64)

    def work(first: int, last: int, seen: Int32s) -> None:
        _count(left_starts, left, starts, right, first, last, seen, counts)

    run_blocks(work, rows, even_blocks(rows, LEAST_ROWS), lambda: np.full(columns, -1, dtype=np.int32))
    return counts


def product_columns(
    left_starts: Int64s, left: Int32s, starts: Int64s, right: Int32s, columns: int, counts: Int64s
) -> tuple[Int64s, Int32s]:
    """Return the row starts and the columns of a product, ascending within a row.

    Args:
        counts: what :func:`product_counts` returned for the same matrices.
    """
    rows = len(left_starts) - 1
    out_starts = np.zeros(rows + 1, dtype=np.int64)
    np.cumsum(counts, out=out_starts[1:])
    found = np.empty(out_starts[-1], dtype=np.int32)

    def work(first: int, last: int, seen: Int32s) -> None:
        _fill(left_starts, left, starts, right, first, last, seen, out_starts, found)

    run_blocks(work, rows, even_blocks(rows, LEAST_ROWS), lambda: np.full(columns, -1, dtype=np.int32))
    return out_starts, found


@njit(cache=True, nogil=True)
def _count(left_starts, left, starts, right, first, last, seen, counts):  # type: ignore[no-untyped-def]
    """A column is marked with the row that has seen it, so that nothing has to be cleared."""
    for row in range(first, last):
        found = 0
        for middle in left[left_starts[row] : left_starts[row + 1]]:
            for column in right[starts[middle] : starts[middle + 1]]:
                found += seen[column] != row
                seen[column] = row
        counts[row] = found


@njit(cache=True, nogil=True)
def _fill(left_starts, left, starts, right, first, last, seen, out_starts, found):  # type: ignore[no-untyped-def]
    for row in range(first, last):
        begin = place = out_starts[row]
        for middle in left[left_starts[row] : left_starts[row + 1]]:
            for column in right[starts[middle] : starts[middle + 1]]:
                if seen[column] != row:
                    seen[column] = row
                    found[place] = column
                    place += 1
        _ascend(found, begin, place, seen, row)


@njit(cache=True, nogil=True)
def _ascend(found, begin, end, seen, row):  # type: ignore[no-untyped-def]
    """Sort a row; one that holds a good part of all columns is read off the marks instead."""
    if (end - begin) * 8 > len(seen):
        place = begin
        for column in range(len(seen)):
            if seen[column] == row:
                found[place] = column
                place += 1
    else:
        found[begin:end].sort()
