"""Exact uniform draws that are the same bytes on every machine and numpy version.

Only the raw words of the bit generator are promised to stay the same between numpy versions; the methods of
``Generator`` are not. So splits and negatives draw from the words, by integer arithmetic alone.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Bools, Int64s, UInt64s

# Bounds below this are drawn from half a word each.
_HALF = 1 << 32
# A shuffle costs the whole range, a draw with redraws costs a sort of what is drawn. Another value gives a
# seed other numbers.
_SHUFFLE_UP_TO = 8


def words(rng: np.random.Generator, count: int) -> UInt64s:
    """Return raw random words, uint64 (count,)."""
    return np.asarray(rng.bit_generator.random_raw(count), dtype=np.uint64)


def below(rng: np.random.Generator, bound: int | Int64s, count: int) -> Int64s:
    """Return whole numbers, each uniform on ``0..bound-1``: int64 (count,).

    Args:
        bound: one bound for all of them, 1 to 2^62, or int64 (count,) with values from 1 to 2^32 - 1.
    """
    if isinstance(bound, (int, np.integer)) and bound >= _HALF:
        return _below_large(rng, int(bound), count)
    limit = np.asarray(bound, dtype=np.uint64)
    drawn, good = _scaled(rng, limit, count)
    while not good.all():
        again = np.flatnonzero(~good)
        drawn[again], good[again] = _scaled(rng, limit[again] if limit.ndim else limit, len(again))
    return drawn


def distinct(rng: np.random.Generator, size: int, count: int) -> Int64s:
    """Return distinct numbers of ``0..size-1``, every ordered choice equally likely: int64 (count,).

    Args:
        size: how many there are to choose from, up to 2^62.
        count: how many are chosen, at most ``size``.
    """
    if size <= max(_SHUFFLE_UP_TO * count, 1) and size < _HALF:
        places = np.arange(count, dtype=np.int64)
        chosen: Int64s = shuffled_prefix(size, places + below(rng, size - places, count))
        return chosen
    kept = np.empty(0, dtype=np.int64)
    while len(kept) < count:
        missing = count - len(kept)
        kept = first_occurrences(np.concatenate([kept, below(rng, size, missing + missing // 8 + 8)]))
    return kept[:count]


def distinct_in_rows(rng: np.random.Generator, sizes: Int64s, counts: Int64s) -> Int64s:
    """Return :func:`distinct` for many rows at once: int64 (sum of counts,), row after row.

    Args:
        sizes: int64 (rows,), how many there are to choose from in each row, below 2^32.
        counts: int64 (rows,), how many are chosen, at most the size.
    """
    indptr = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=indptr[1:])
    places = np.arange(indptr[-1]) - np.repeat(indptr[:-1], counts)
    picks = places + below(rng, np.repeat(sizes, counts) - places, len(places))
    chosen: Int64s = shuffled_prefixes(int(sizes.max(initial=0)), indptr, picks)
    return chosen


def first_occurrences(values: Int64s) -> Int64s:
    """Return the values without those that occurred before, in their order."""
    return values[np.sort(np.unique(values, return_index=True)[1])]


@njit(cache=True, nogil=True)
def shuffled_prefix(size: int, picks: Int64s) -> Int64s:
    """Return the first places of ``0..size-1`` after swapping, for each i, place i with ``picks[i] >= i``.

    Args:
        size: the length of the range.
        picks: int64 (k,), uniform on ``i..size-1``: then every ordered choice of k is equally likely.
    """
    items = np.arange(size).astype(np.int64)
    for i in range(len(picks)):
        j = picks[i]
        items[i], items[j] = items[j], items[i]
    return items[: len(picks)].copy()


@njit(cache=True, nogil=True)
def shuffled_prefixes(size: int, indptr: Int64s, picks: Int64s) -> Int64s:
    """:func:`shuffled_prefix` for many rows of picks, each on a range of its own: int64, beside the picks.

    Args:
        size: the length of the longest range.
        indptr: int64 (rows + 1,), where the picks of each row start.
        picks: int64; in a row the i-th is uniform on ``i..n-1`` for the row's own n, at most ``size``.
    """
    items = np.arange(size).astype(np.int64)
    prefixes = np.empty(len(picks), dtype=np.int64)
    for row in range(len(indptr) - 1):
        start, stop = indptr[row], indptr[row + 1]
        for at in range(start, stop):
            i, j = at - start, picks[at]
            items[i], items[j] = items[j], items[i]
            prefixes[at] = items[i]
        # Swapping back in reverse costs as many steps, a new range would cost its length.
        for at in range(stop - 1, start - 1, -1):
            i, j = at - start, picks[at]
            items[i], items[j] = items[j], items[i]
    return prefixes


def _scaled(rng: np.random.Generator, limit: UInt64s, count: int) -> tuple[Int64s, Bools]:
    """Half words scaled to the limit, and which of them are fair: the others must be drawn again."""
    raw = words(rng, (count + 1) // 2).astype("<u8", copy=False)
    product = raw.view("<u4")[:count].astype(np.uint64) * limit
    low = product & np.uint64(_HALF - 1)
    good = low >= limit
    doubtful = np.flatnonzero(~good)
    if len(doubtful):
        bound = limit[doubtful] if limit.ndim else limit
        # 2^32 mod bound of the half words would make some numbers likelier (Lemire 2019, "Fast random
        # integer generation in an interval").
        good[doubtful] = low[doubtful] >= np.uint64(_HALF) % bound
    return (product >> np.uint64(32)).astype(np.int64), good


def _below_large(rng: np.random.Generator, bound: int, count: int) -> Int64s:
    """Numbers below a bound of more than 32 bits: as many bits as it has, drawn again where they pass it."""
    shift = np.uint64(64 - (bound - 1).bit_length())
    drawn = (words(rng, count) >> shift).astype(np.int64)
    while (again := np.flatnonzero(drawn >= bound)).size:
        drawn[again] = (words(rng, len(again)) >> shift).astype(np.int64)
    return drawn
