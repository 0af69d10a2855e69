"""The most similar items of each item, and the sums of their similarities for users."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Float32s, Float64s, Int32s, Int64s
from trueedge.kernels.arrays.keyed_draws import draw_key
from trueedge.kernels.arrays.threads import even_blocks, run_blocks


class Lists(NamedTuple):
    """A list of numbers for each row: where each starts, int64 (rows + 1,), and the numbers, int32."""

    starts: Int64s
    members: Int32s


class SimilarItems(NamedTuple):
    """The most similar items of each item.

    Attributes:
        counts: int64 array (items,), how many there are of each.
        items: int32 array (items, k), of which the first ``counts`` count, in no order.
        values: float32 array (items, k), their similarities.
    """

    counts: Int64s
    items: Int32s
    values: Float32s


def similar_items(
    by_user: Lists, by_item: Lists, most: int, alpha: float, shrinkage: float, key: int
) -> SimilarItems:
    """Return the most similar items of each item.

    The similarity of items a and b with n(a), n(b) and n(a, b) users is
    ``n(a, b) / (n(a)^alpha * n(b)^(1 - alpha) + shrinkage)``; for alpha = 1/2, it is the cosine.

    Args:
        by_user: the items of each user.
        by_item: the users of each item.
        most: how many similar items are kept for each; of equally similar ones, random ones.
        alpha: see above.
        shrinkage: see above.
        key: for the choice among equals.
    """
    count = len(by_item.starts) - 1
    sizes = np.diff(by_item.starts).astype(np.float64)
    own, other = np.maximum(sizes, 1.0) ** alpha, np.maximum(sizes, 1.0) ** (1.0 - alpha)
    most = min(most, max(count - 1, 1))
    found = SimilarItems(
        np.zeros(count, dtype=np.int64),
        np.zeros((count, most), dtype=np.int32),
        np.zeros((count, most), dtype=np.float32),
    )

    def work(first: int, last: int, shared: Int32s) -> None:
        _find_similar(first, last, by_user, by_item, own, other, shrinkage, np.uint64(key), found, shared)

    run_blocks(work, count, even_blocks(count, 16), lambda: np.zeros(count, dtype=np.int32))
    return found


def summed_similarities(users: Int64s, by_user: Lists, similar: SimilarItems) -> Float32s:
    """Return for users and all items the sum of similarities to the users' items, float32 (n, items)."""
    table = np.zeros((len(users), len(similar.counts)), dtype=np.float32)

    def work(first: int, last: int, _: None) -> None:
        _add_up(users[first:last], by_user, similar, table[first:last])

    run_blocks(work, len(users), even_blocks(len(users), 16), lambda: None)
    return table


@njit(cache=True, nogil=True)
def _find_similar(  # type: ignore[no-untyped-def]
    first,
    last,
    by_user: Lists,
    by_item: Lists,
    own: Float64s,
    other: Float64s,
    shrinkage,
    key,
    found: SimilarItems,
    shared: Int32s,
):
    """Find the similar items of some items; ``shared``, int32 (items,), is zero before and after."""
    met = np.empty(len(shared), dtype=np.int32)
    most = found.items.shape[1]
    values, chances = np.empty(most, dtype=np.float64), np.empty(most, dtype=np.uint64)
    for item in range(first, last):
        count = _count_shared(item, by_user, by_item, shared, met)
        # An item is not similar to itself.
        shared[item] = 0
        heap, size = found.items[item], 0
        for k in range(count):
            near = met[k]
            if shared[near] > 0:
                value = shared[near] / (own[item] * other[near] + shrinkage)
                if size < most or value >= values[0]:
                    chance = draw_key(key, item, near)
                    size = _offer(heap, values, chances, size, near, value, chance)
            shared[near] = 0
        found.counts[item] = size
        for k in range(size):
            found.values[item, k] = values[k]


@njit(cache=True, nogil=True)
def _count_shared(item, by_user: Lists, by_item: Lists, shared: Int32s, met: Int32s):  # type: ignore[no-untyped-def]
    """Count the users that an item shares with others; return the number of items met."""
    starts, items = by_user
    count = 0
    for k in range(by_item.starts[item], by_item.starts[item + 1]):
        user = by_item.members[k]
        for place in range(starts[user], starts[user + 1]):
            near = items[place]
            if shared[near] == 0:
                met[count] = near
                count += 1
            shared[near] += 1
    return count


@njit(cache=True, nogil=True)
def _offer(heap, values, chances, size, item, value, chance):  # type: ignore[no-untyped-def]
    """Put an item on a heap whose least one is first, and drop that one if the heap is full."""
    if size < len(values):
        at = size
        while at > 0:
            parent = (at - 1) // 2
            if not _is_less(value, chance, values[parent], chances[parent]):
                break
            heap[at], values[at], chances[at] = heap[parent], values[parent], chances[parent]
            at = parent
        heap[at], values[at], chances[at] = item, value, chance
        return size + 1
    if _is_less(value, chance, values[0], chances[0]):
        return size
    at = 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and _is_less(
            values[child + 1], chances[child + 1], values[child], chances[child]
        ):
            child += 1
        if not _is_less(values[child], chances[child], value, chance):
            break
        heap[at], values[at], chances[at] = heap[child], values[child], chances[child]
        at = child
    heap[at], values[at], chances[at] = item, value, chance
    return size


@njit(cache=True, nogil=True)
def _is_less(value, chance, other_value, other_chance):  # type: ignore[no-untyped-def]
    return value < other_value or (value == other_value and chance < other_chance)


@njit(cache=True, nogil=True)
def _add_up(users: Int64s, by_user: Lists, similar: SimilarItems, table: Float32s) -> None:
    for row in range(len(users)):
        for place in range(by_user.starts[users[row]], by_user.starts[users[row] + 1]):
            item = by_user.members[place]
            for k in range(similar.counts[item]):
                table[row, similar.items[item, k]] += similar.values[item, k]
