"""Cosine similarity of one node's features with everybody's, through the columns it has a value in.

All sums run in a fixed order in float64, without a matrix library, whose sums differ between machines.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from trueedge.kernels.arrays.dtypes import Bools, Float32s, Float64s, Int32s, Int64s
from trueedge.kernels.arrays.kept_index import KeptIndex

NONZEROS_PER_BLOCK = 1 << 22
# With more values than this share, an index of those that are not zero costs more than it saves.
SPARSE = 0.25
# Sums that are worked on at a time: they and a stretch of a column stay in the nearest cache.
NODES_PER_BLOCK = 2048


class FeatureIndex(NamedTuple):
    """Node features by row and by column, values that are not zero only; or all of them, if they are many.

    Attributes:
        row_starts: int64 array (n + 1,).
        row_columns: int32 array (values,), ascending within a row.
        row_values: float32 array (values,).
        column_starts: int64 array (d + 1,).
        column_nodes: int32 array (values,), ascending within a column.
        column_values: float32 array (values,).
        squares: float64 array (n,), the squared length of each row.
        table: float32 array (d, n), all values by column where most are not zero, and nothing above; else
            (0, 0).
    """

    row_starts: Int64s
    row_columns: Int32s
    row_values: Float32s
    column_starts: Int64s
    column_nodes: Int32s
    column_values: Float32s
    squares: Float64s
    table: Float32s


def feature_index(features: Float32s) -> FeatureIndex:
    """Index a table of features by its rows and its columns.

    Args:
        features: float32 array (n, d), finite.
    """
    return _kept.of(features)


def _index(features: Float32s) -> FeatureIndex:
    rows, columns = features.shape
    if np.count_nonzero(features) > SPARSE * features.size:
        return _full_index(features)
    step = max(1, NONZEROS_PER_BLOCK // max(columns, 1))
    parts = [np.nonzero(features[first : first + step]) for first in range(0, max(rows, 1), step)]
    node = np.concatenate([part[0] + i * step for i, part in enumerate(parts)])
    column = np.concatenate([part[1] for part in parts])
    values = features[node, column]
    by_column = np.argsort(column, kind="stable")
    return FeatureIndex(
        _starts(node, rows),
        column.astype(np.int32),
        values,
        _starts(column, columns),
        node[by_column].astype(np.int32),
        values[by_column],
        _squares(_starts(node, rows), values),
        np.empty((0, 0), dtype=np.float32),
    )


_kept = KeptIndex(_index)


def _full_index(features: Float32s) -> FeatureIndex:
    rows, columns = features.shape
    starts, ids, values = np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.float32)
    row_starts = np.arange(rows + 1, dtype=np.int64) * columns
    squares = _squares(row_starts, np.ascontiguousarray(features).reshape(-1))
    return FeatureIndex(starts, ids, values, starts, ids, values, squares, np.ascontiguousarray(features.T))


def _starts(keys: NDArray[Any], count: int) -> Int64s:
    starts = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(keys, minlength=count), out=starts[1:])
    return starts


@njit(cache=True, nogil=True)
def _squares(starts: Int64s, values: Float32s) -> Float64s:
    squares = np.zeros(len(starts) - 1)
    for node in range(len(squares)):
        for i in range(starts[node], starts[node + 1]):
            squares[node] += np.float64(values[i]) * np.float64(values[i])
    return squares


@njit(cache=True, nogil=True)
def similarity_row(index: FeatureIndex, source: int, row: Float64s, touched: Int32s, seen: Bools) -> int:
    """Return the squared cosine, times the source's squared length, of every node whose cosine is above zero.

    That orders nodes as the cosine does and needs no root: where features are whole numbers every sum is
    exact, so nodes of equal cosine get the very same score.

    Args:
        index: from :func:`feature_index`.
        source: the node whose row is computed.
        row: float64 array (n,), all zero; filled with the scores, which the caller clears where touched.
        touched: int32 array (n,), filled with the nodes that may have a score, the others have none.
        seen: bool array (n,), all false; given back so.

    Returns:
        How many nodes are touched.
    """
    if len(index.table):
        return int(_full_row(index.table, index.squares, source, row, touched))
    count = 0
    for i in range(index.row_starts[source], index.row_starts[source + 1]):
        column, value = index.row_columns[i], np.float64(index.row_values[i])
        for j in range(index.column_starts[column], index.column_starts[column + 1]):
            node = index.column_nodes[j]
            if not seen[node]:
                seen[node] = True
                touched[count] = node
                count += 1
            row[node] += value * np.float64(index.column_values[j])
    for node in touched[:count]:
        seen[node] = False
        dot = row[node]
        row[node] = dot * dot / index.squares[node] if dot > 0.0 else 0.0
    return count


@njit(cache=True, nogil=True)
def _full_row(table: Float32s, squares: Float64s, source: int, row: Float64s, touched: Int32s) -> int:
    """The same from the whole table: products with zero add nothing, so sums are the same to the bit."""
    nodes = len(row)
    for first in range(0, nodes, NODES_PER_BLOCK):
        dots = row[first : min(first + NODES_PER_BLOCK, nodes)]
        for column in range(len(table)):
            value = np.float64(table[column, source])
            others = table[column, first : min(first + NODES_PER_BLOCK, nodes)]
            for i in range(len(dots)):
                dots[i] += value * np.float64(others[i])
    count = 0
    for node in range(nodes):
        dot = row[node]
        row[node] = 0.0
        if dot > 0.0:
            row[node] = dot * dot / squares[node]
            touched[count] = node
            count += 1
    return count
