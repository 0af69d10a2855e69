"""Pairs put in the order of a graph's edges by counting, in time linear in pairs and nodes.

Sorting 30 million keys is bound by memory, not by comparisons. So pairs are first dealt into ranges of their
smaller node, front to back, and each range is then sorted where it fits into the cache.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Int32s, Int64s
from trueedge.kernels.arrays.threads import run_blocks, thread_count

# A range of so many pairs, eight bytes each, and its copy are at home in a core's own cache.
PAIRS_PER_RANGE = 16_384
# More ranges than this are more streams of writing than a core can keep up.
MOST_RANGES = 4096
# Counts of a digit's values must stay in the innermost cache.
BITS_PER_DIGIT = 11
LEAST_PAIRS_PER_BLOCK = 65_536
HALF = 32
LOWER_HALF = (1 << HALF) - 1


def sorted_edges(pairs: Int64s, num_nodes: int) -> tuple[Int32s, int, int]:
    """Return each pair once, smaller node first, sorted; and the number of self-loops and of duplicates.

    Args:
        pairs: int64 array (m, 2), ids below ``num_nodes``.
        num_nodes: the number of nodes, at most 2^31 - 1.

    Returns:
        int32 array (k, 2), the number of self-loops, and that of repeats among the other pairs.
    """
    shift = range_bits(len(pairs), num_nodes)
    keys, starts = _dealt(pairs, num_nodes, shift)
    edges, repeats = _sorted(keys, starts, num_nodes, shift)
    loops = len(pairs) - len(keys)
    del keys
    return _without_repeats(edges, repeats) if repeats else edges, loops, repeats


def first_rows(pairs: Int64s, num_nodes: int) -> Int64s:
    """Return the first row that holds the same pair in either direction, for each row: int64 (m,).

    Args:
        pairs: int64 array (m, 2), ids below ``num_nodes``.
    """
    first: Int64s = _first_of_equals(pairs, edge_order(pairs, num_nodes))
    return first


@njit(cache=True, nogil=True)
def edge_order(pairs: Int64s, num_nodes: int) -> Int64s:
    """Return the rows of pairs by smaller node, then larger node, then row: int64 (m,).

    Args:
        pairs: int64 array (m, 2), ids below ``num_nodes``.
    """
    # Two stable passes of counting sort: by the larger node, then by the smaller one.
    cursor = np.zeros(num_nodes + 1, dtype=np.int64)
    for i in range(len(pairs)):
        cursor[max(pairs[i, 0], pairs[i, 1]) + 1] += 1
    for node in range(num_nodes):
        cursor[node + 1] += cursor[node]
    by_larger = np.empty(len(pairs), dtype=np.int64)
    for i in range(len(pairs)):
        node = max(pairs[i, 0], pairs[i, 1])
        by_larger[cursor[node]] = i
        cursor[node] += 1
    cursor[:] = 0
    for i in range(len(pairs)):
        cursor[min(pairs[i, 0], pairs[i, 1]) + 1] += 1
    for node in range(num_nodes):
        cursor[node + 1] += cursor[node]
    order = np.empty(len(pairs), dtype=np.int64)
    for row in by_larger:
        node = min(pairs[row, 0], pairs[row, 1])
        order[cursor[node]] = row
        cursor[node] += 1
    return order


def range_bits(num_pairs: int, num_nodes: int) -> int:
    """Return the number of bits by which a node is shifted to get its range."""
    wanted = min(MOST_RANGES, max(1, num_pairs // PAIRS_PER_RANGE))
    return max(0, int(num_nodes - 1).bit_length() - int(wanted).bit_length() + 1)


def block_size(num_pairs: int) -> int:
    """Return how many pairs a thread deals at a time; it changes nothing in what comes out."""
    return max(LEAST_PAIRS_PER_BLOCK, -(-num_pairs // (2 * thread_count())))


def ranges_per_block(ranges: int) -> int:
    """Return how many ranges a thread takes at a time: taking a block costs more than sorting one range."""
    return max(1, -(-ranges // (16 * thread_count())))


def _dealt(pairs: Int64s, num_nodes: int, shift: int) -> tuple[Int64s, Int64s]:
    """Keys of the pairs that are no self-loops, by ranges of the smaller node; and where ranges start."""
    size, ranges = block_size(len(pairs)), ((num_nodes - 1) >> shift) + 1
    counts = run_blocks(
        lambda first, last, _: _count(pairs[first:last], shift, ranges), len(pairs), size, lambda: None
    )
    table = np.array(counts, dtype=np.int64).reshape(len(counts), ranges)
    starts = np.zeros(ranges + 1, dtype=np.int64)
    np.cumsum(table.sum(axis=0), out=starts[1:])
    # Where each block writes its pairs of each range: after those of the blocks before it.
    cursors = np.cumsum(table, axis=0) - table + starts[:-1]
    keys = np.empty(starts[-1], dtype=np.int64)
    run_blocks(
        lambda first, last, _: _deal(pairs[first:last], shift, cursors[first // size], keys),
        len(pairs),
        size,
        lambda: None,
    )
    return keys, starts


def _sorted(keys: Int64s, starts: Int64s, num_nodes: int, shift: int) -> tuple[Int32s, int]:
    """Return the pairs of keys in their order, and how many of them repeat the one before."""
    edges = np.empty((len(keys), 2), dtype=np.int32)
    widest = int(np.diff(starts).max(initial=0))
    digits = _digits(shift, num_nodes)
    repeats = run_blocks(
        lambda first, last, spare: _sort_ranges(keys, starts, first, last, *digits, spare, edges),
        len(starts) - 1,
        ranges_per_block(len(starts) - 1),
        lambda: np.empty(widest, dtype=np.int64),
    )
    return edges, sum(repeats)


def _digits(shift: int, num_nodes: int) -> tuple[Int64s, Int64s]:
    """The digits a range is sorted by, the least first: the bits that each begins with, and how many it has.

    A key holds the larger node in its lower half and the smaller one, of which ``shift`` bits differ within a
    range, in its upper half.
    """
    begins, lengths = [], []
    for begin, bits in ((0, int(num_nodes - 1).bit_length()), (HALF, shift)):
        count = -(-bits // BITS_PER_DIGIT)
        for digit in range(count):
            at, end = digit * bits // count, (digit + 1) * bits // count
            begins.append(begin + at)
            lengths.append(end - at)
    return np.array(begins, dtype=np.int64), np.array(lengths, dtype=np.int64)


@njit(cache=True, nogil=True)
def _count(pairs: Int64s, shift: int, ranges: int) -> Int64s:
    counts = np.zeros(ranges, dtype=np.int64)
    for i in range(len(pairs)):
        u, v = pairs[i, 0], pairs[i, 1]
        if u != v:
            counts[min(u, v) >> shift] += 1
    return counts


@njit(cache=True, nogil=True)
def _deal(pairs: Int64s, shift: int, cursor: Int64s, keys: Int64s) -> None:
    for i in range(len(pairs)):
        u, v = pairs[i, 0], pairs[i, 1]
        if u != v:
            low, high = min(u, v), max(u, v)
            place = low >> shift
            keys[cursor[place]] = low << HALF | high
            cursor[place] += 1


@njit(cache=True, nogil=True)
def _sort_ranges(
    keys: Int64s,
    starts: Int64s,
    first: int,
    last: int,
    begins: Int64s,
    lengths: Int64s,
    spare: Int64s,
    edges: Int32s,
) -> int:
    """Sort some ranges into edges; how many repeats there are."""
    counts = np.empty(1 << BITS_PER_DIGIT, dtype=np.int64)
    repeats = 0
    for place in range(first, last):
        begin, end = starts[place], starts[place + 1]
        here, there = keys[begin:end], spare[: end - begin]
        for digit in range(len(begins)):
            _sort_by_digit(here, there, begins[digit], lengths[digit], counts)
            here, there = there, here
        before = np.int64(-1)
        for i in range(end - begin):
            key = here[i]
            repeats += key == before
            before = key
            edges[begin + i, 0] = key >> HALF
            edges[begin + i, 1] = key & LOWER_HALF
    return repeats


@njit(cache=True, nogil=True)
def _sort_by_digit(keys: Int64s, out: Int64s, begin: int, length: int, counts: Int64s) -> None:
    """One stable pass of counting sort."""
    mask = (1 << length) - 1
    counts[: mask + 1] = 0
    for i in range(len(keys)):
        counts[(keys[i] >> begin) & mask] += 1
    total = 0
    for value in range(mask + 1):
        here = counts[value]
        counts[value] = total
        total += here
    for i in range(len(keys)):
        value = (keys[i] >> begin) & mask
        out[counts[value]] = keys[i]
        counts[value] += 1


@njit(cache=True, nogil=True)
def _without_repeats(edges: Int32s, repeats: int) -> Int32s:
    kept = np.empty((len(edges) - repeats, 2), dtype=np.int32)
    count = 0
    for i in range(len(edges)):
        u, v = edges[i, 0], edges[i, 1]
        if i == 0 or u != edges[i - 1, 0] or v != edges[i - 1, 1]:
            kept[count, 0], kept[count, 1] = u, v
            count += 1
    return kept


@njit(cache=True, nogil=True)
def _first_of_equals(pairs: Int64s, order: Int64s) -> Int64s:
    first = np.empty(len(order), dtype=np.int64)
    head = 0
    for i in range(len(order)):
        here, there = order[i], order[head]
        low, high = min(pairs[here, 0], pairs[here, 1]), max(pairs[here, 0], pairs[here, 1])
        if low != min(pairs[there, 0], pairs[there, 1]) or high != max(pairs[there, 0], pairs[there, 1]):
            head = i
        first[here] = order[head]
    return first
