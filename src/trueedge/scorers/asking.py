"""Ask a scorer about positives and negatives so that only the pair itself can tell which it is.

Positives and negatives come mixed, in blocks of one size and in an order that depends on a seed. Each pair
has its smaller node first: in many benchmarks all positives have that, but not all negatives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from trueedge.randomness import derive, generator
from trueedge.scorers.scorer import ROWS_IN_A_BATCH, Scorer, check_answer

Item = TypeVar("Item")
Made = TypeVar("Made")
LISTS_AT_ONCE = 64
ORDERS = 128


def neutral_direction(pairs: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return pairs (…, 2) with the smaller node first, int64, in a new array."""
    neutral = np.empty(pairs.shape, dtype=np.int64)
    np.minimum(pairs[..., 0], pairs[..., 1], out=neutral[..., 0])
    np.maximum(pairs[..., 0], pairs[..., 1], out=neutral[..., 1])
    return neutral


def ask_mixed(
    scorer: Scorer,
    positives: NDArray[np.int32],
    negatives: NDArray[np.int32],
    seed: int = 0,
    block: int = ROWS_IN_A_BATCH,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the scores of positives, float64 (P,), and of negatives, float64 (M,) or (P, K).

    Args:
        scorer: the scorer.
        positives: int32 array (P, 2).
        negatives: int32 array (M, 2), shared, or (P, K, 2) for each positive.
        seed: for the order of the questions.
        block: the largest number of pairs in a call, unless a single list is longer.
    """
    ask = _ask_lists if negatives.ndim == 3 else _ask_shared
    return ask(scorer, positives, negatives, seed, block)


def _ask_shared(
    scorer: Scorer, positives: NDArray[np.int32], negatives: NDArray[np.int32], seed: int, block: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mix all pairs with each other."""
    pairs = np.concatenate([positives, negatives])
    order = generator(seed, "questions").permutation(len(pairs))
    scores = np.empty(len(pairs), dtype=np.float64)
    for rows in equal_blocks(order, block):
        scores[rows] = check_answer(scorer.score(neutral_direction(pairs[rows])), len(rows), scorer)
    return scores[: len(positives)], scores[len(positives) :]


def _ask_lists(
    scorer: Scorer, positives: NDArray[np.int32], negatives: NDArray[np.int32], seed: int, block: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mix each positive with its own negatives, and the lists with each other.

    The pairs of a list stay together: they share nodes, and kernels are faster on what they have just read.
    """
    length = negatives.shape[1] + 1
    random = generator(seed, "questions")
    order = random.permutation(len(positives))
    # A permutation for every list would cost more than reading it.
    orders = random.permuted(np.tile(np.arange(length, dtype=np.int32), (ORDERS, 1)), axis=1)
    key = np.uint64(derive(seed, "questions", "lists"))
    positive = np.empty(len(positives), dtype=np.float64)
    negative = np.empty(negatives.shape[:2], dtype=np.float64)
    blocks = equal_blocks(order, max(1, block // length))
    mixed = _ahead(lambda rows: _mixed(positives, negatives, rows, orders, key), blocks)
    # New arrays each time: a scorer may keep what it is given.
    for rows, (asked, places) in zip(blocks, mixed, strict=True):
        answer = check_answer(scorer.score(asked), len(asked), scorer)
        _sort_out(answer, rows, places, positive, negative)
    return positive, negative


def _mixed(
    positives: NDArray[np.int32],
    negatives: NDArray[np.int32],
    rows: NDArray[np.int64],
    orders: NDArray[np.int32],
    key: np.uint64,
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the pairs of some lists, int64 (n, 2), and the origin of each, int32 (r, K + 1)."""
    from trueedge.kernels.arrays.threads import run_blocks
    from trueedge.kernels.ranking.mixing import mix_lists

    length = negatives.shape[1] + 1
    asked = np.empty((len(rows), length, 2), dtype=np.int64)
    places = np.empty((len(rows), length), dtype=np.int32)

    def mix(first: int, last: int, _: object) -> None:
        part = slice(first, last)
        mix_lists(positives, negatives, rows[part], orders, key, asked[part], places[part])

    run_blocks(mix, len(rows), LISTS_AT_ONCE, lambda: None)
    return asked.reshape(-1, 2), places


def _sort_out(
    answer: NDArray[Any],
    rows: NDArray[np.int64],
    places: NDArray[np.int32],
    positive: NDArray[np.float64],
    negative: NDArray[np.float64],
) -> None:
    """Write the answers to mixed lists to the scores of positives and negatives."""
    from trueedge.kernels.arrays.threads import run_blocks
    from trueedge.kernels.ranking.mixing import sort_out_lists

    answers = np.ascontiguousarray(answer, dtype=np.float64).reshape(places.shape)

    def sort_out(first: int, last: int, _: object) -> None:
        part = slice(first, last)
        sort_out_lists(answers[part], rows[part], places[part], positive, negative)

    run_blocks(sort_out, len(rows), LISTS_AT_ONCE, lambda: None)


def _ahead(make: Callable[[Item], Made], items: Sequence[Item]) -> Iterator[Made]:
    """Yield what is made of each item; the next is made in another thread meanwhile."""
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(make, items[0])
        for item in items[1:]:
            made = waiting.result()
            waiting = pool.submit(make, item)
            yield made
        yield waiting.result()


def equal_blocks(order: NDArray[np.int64], most: int) -> list[NDArray[np.int64]]:
    """Divide an order into blocks of one size; the last is filled up from the start."""
    count = -(-len(order) // most)
    size = -(-len(order) // count)
    return [np.take(order, np.arange(at, at + size), mode="wrap") for at in range(0, len(order), size)]
