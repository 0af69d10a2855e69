"""Bayesian personalised ranking: vectors of users and items, such that known items score above others.

Users and items are divided into blocks. In each round every block of users works on another block of items,
positives and negatives, so threads never share a row, and the bits do not depend on their number. Items are
divided anew in every epoch, so all negatives occur.

Rendle, Freudenthaler, Gantner, Schmidt-Thieme: BPR: Bayesian Personalized Ranking from Implicit Feedback, UAI
2009. Blocks: Gemulla, Haas, Nijkamp, Sismanis: Large-Scale Matrix Factorization with Distributed Stochastic
Gradient Descent, KDD 2011.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from trueedge.kernels.arrays.dtypes import Float32s, Float64s, Int32s, Int64s
from trueedge.kernels.arrays.keyed_draws import draw_key
from trueedge.kernels.arrays.lanes import LANES, lane_dot
from trueedge.kernels.arrays.prefetch import prefetch
from trueedge.kernels.arrays.streams import next_below
from trueedge.kernels.arrays.threads import thread_count
from trueedge.kernels.recommend.known_items import KnownItems, is_known, known_items

BLOCKS = 4
# Fewer interactions are learned faster than threads are started.
FEWEST_FOR_BLOCKS = 1 << 16
# The standard deviation of the first vectors.
START = 0.1
# An item is drawn as a negative in proportion to a whole number; on average, it is this one.
_MEAN_WEIGHT = 8
# If the user has that many items in a row, the step is skipped: there may be no other in the block.
_TRIES = 64
# The logistic function is read from a table between -FAR and FAR.
FAR = 8.0
_CELLS = 4096
_STEPS_AHEAD = 6
# Factors of the loss whose product is certain to be a normal number: each is above exp(-FAR).
_FACTORS = 32
Int8s = NDArray[np.int8]
_LOW = 0xFFFFFFFF


class Rows(NamedTuple):
    """What a step changes; vectors lie one behind the other, each with zeros up to ``size``."""

    users: Float32s
    items: Float32s
    bias: Float32s
    size: int


class Epoch(NamedTuple):
    """The steps of an epoch.

    Attributes:
        cells: int64 array (blocks, blocks + 1): the steps of user block b and item block c are those from
            ``cells[b, c]`` to ``cells[b, c + 1]``.
        pairs: int64 array (m,), the user times 2^32 plus the positive item.
        negatives: int32 array (m,); -1: none was found.
    """

    cells: Int64s
    pairs: Int64s
    negatives: Int32s


class Bpr:
    """Vectors that learn from interactions.

    Args:
        starts: int64 array (users + 1,), where the items of each user start.
        items: int32 array (m,), those of a user ascending.
        num_items: the number of items.
        dim: numbers in a vector.
        bias: add a learned number to the score of each item.
        power: negatives are drawn by the number of users of an item to this power; 0: uniformly.
        key: what all draws depend on.
    """

    def __init__(
        self, starts: Int64s, items: Int32s, num_items: int, dim: int, bias: bool, power: float, key: int
    ) -> None:
        self.dim, self.has_bias, self.key, self.epochs = dim, bias, np.uint64(key), 0
        self.blocks = BLOCKS if len(items) >= FEWEST_FOR_BLOCKS else 1
        self.known = known_items(starts, items)
        rng = np.random.Generator(np.random.PCG64(key))
        # Zeros behind a vector stay zeros.
        size = -(-dim // LANES) * LANES
        first = [np.zeros((count, size), dtype=np.float32) for count in (len(starts) - 1, num_items)]
        for table in first:
            table[:, :dim] = START * rng.standard_normal((len(table), dim), dtype=np.float32)
        self._users, self._items = first
        self.bias = np.zeros(num_items, dtype=np.float32)
        self._pool = _negatives_to_draw(items, num_items, power)
        shares = np.arange(self.blocks + 1) * (len(items) / self.blocks)
        self._first_users = np.searchsorted(starts[:-1], shares).astype(np.int64)
        self._first_users[0], self._first_users[-1] = 0, len(starts) - 1
        cells = np.empty((self.blocks, self.blocks + 1), dtype=np.int64)
        self.epoch = Epoch(cells, np.empty(len(items), np.int64), np.empty(len(items), np.int32))
        places = (np.arange(_CELLS) + 0.5) * (2 * FAR / _CELLS) - FAR
        self._logistic = (1.0 / (1.0 + np.exp(places))).astype(np.float32)

    def learn(self, rates: Sequence[float], regularization: float) -> list[float]:
        """Learn for some epochs, and return the mean loss of each.

        Args:
            rates: the learning rate of each epoch.
            regularization: the weight of the squared numbers of a step's rows.
        """
        threads = min(thread_count(), self.blocks)
        if threads == 1:
            return [self._learn(rate, regularization, map) for rate in rates]
        with ThreadPoolExecutor(threads) as pool:
            return [self._learn(rate, regularization, pool.map) for rate in rates]

    def _learn(self, rate: float, regularization: float, each: Callable[..., Any]) -> float:
        self.draw(each)
        return self.step(rate, regularization, each)

    def draw(self, each: Callable[..., Any] = map) -> None:
        """Draw the order of the positives of an epoch, and a negative for each."""
        key = np.uint64(draw_key(self.key, 1, self.epochs))
        self.epochs += 1
        rng = np.random.Generator(np.random.PCG64(int(key)))
        block_of = (rng.permutation(len(self.bias)) % self.blocks).astype(np.int8)
        blocks = block_of[self._pool]
        pool = self._pool[np.argsort(blocks, kind="stable")]
        first_drawn = np.zeros(self.blocks + 1, dtype=np.int64)
        np.cumsum(np.bincount(blocks, minlength=self.blocks), out=first_drawn[1:])

        def prepare(block: int) -> None:
            first, last = self._first_users[block], self._first_users[block + 1]
            orders, draws = (np.uint64(draw_key(key, purpose, block)) for purpose in (1, 2))
            _arrange(first, last, self.known, block_of, self.epoch, block, orders)
            _draw_negatives(self.known, pool, first_drawn, self.epoch, block, draws)

        list(each(prepare, range(self.blocks)))

    def step(self, rate: float, regularization: float, each: Callable[..., Any] = map) -> float:
        """Take the drawn steps, and return the mean loss."""
        rows = Rows(self._users.reshape(-1), self._items.reshape(-1), self.bias, self._users.shape[1])
        keep = np.float32(1.0 - rate * regularization)
        rates = np.float32(rate), np.float32(rate if self.has_bias else 0.0)
        total, count = 0.0, 0
        for turn in range(self.blocks):

            def one(block: int, turn: int = turn) -> tuple[float, int]:
                at = (block + turn) % self.blocks
                steps = self.epoch.cells[block, at], self.epoch.cells[block, at + 1]
                found: tuple[float, int] = _take_steps(*steps, self.epoch, rows, *rates, keep, self._logistic)
                return found

            for loss, steps in each(one, range(self.blocks)):
                total, count = total + loss, count + steps
        return total / max(count, 1)

    @property
    def users(self) -> Float32s:
        """The vectors of the users so far, float32 (users, dim)."""
        return self._users[:, : self.dim].copy()

    @property
    def items(self) -> Float32s:
        """The vectors of the items so far, float32 (items, dim)."""
        return self._items[:, : self.dim].copy()


def _negatives_to_draw(items: Int32s, num_items: int, power: float) -> Int32s:
    """Return each item as often as is in proportion to its chance to be drawn, int32 (n,)."""
    everything = np.arange(num_items, dtype=np.int32)
    if power == 0:
        return everything
    weights: Float64s = np.maximum(np.bincount(items, minlength=num_items), 1.0) ** power
    return np.repeat(everything, np.maximum(1, np.rint(_MEAN_WEIGHT * weights / weights.mean())).astype(int))


@njit(cache=True, nogil=True)
def _arrange(  # type: ignore[no-untyped-def]
    first, last, known: KnownItems, block_of: Int8s, epoch: Epoch, block, key
):
    """Put the positives of some users into the cells of their items' blocks, in random order."""
    starts, items = known.starts, known.items
    cells, pairs, _ = epoch
    blocks = len(cells)
    free = np.zeros(blocks + 1, dtype=np.int64)
    for k in range(starts[first], starts[last]):
        free[block_of[items[k]] + 1] += 1
    free[0] = starts[first]
    for at in range(blocks):
        free[at + 1] += free[at]
    cells[block] = free
    for user in range(first, last):
        for k in range(starts[user], starts[user + 1]):
            at = block_of[items[k]]
            pairs[free[at]] = (user << 32) | np.int64(items[k])
            free[at] += 1
    state = key
    for at in range(blocks):
        low = cells[block, at]
        for k in range(cells[block, at + 1] - 1, low, -1):
            jump, state = next_below(state, k - low + 1)
            pairs[k], pairs[low + jump] = pairs[low + jump], pairs[k]


@njit(cache=True, nogil=True)
def _draw_negatives(  # type: ignore[no-untyped-def]
    known: KnownItems, pool: Int32s, first_drawn: Int64s, epoch: Epoch, block, key
):
    """Draw an item for each positive, from the same block, that the user does not have."""
    starts, items, first_words, shifts, words = known
    cells, pairs, negatives = epoch
    state = key
    for at in range(len(cells)):
        begin, count = first_drawn[at], first_drawn[at + 1] - first_drawn[at]
        for k in range(cells[block, at], cells[block, at + 1]):
            negatives[k] = -1
            user = pairs[k] >> 32
            for _ in range(_TRIES):
                place, state = next_below(state, count)
                item = pool[begin + place]
                if not is_known(starts, items, first_words, shifts, words, user, item):
                    negatives[k] = item
                    break


@njit(cache=True, nogil=True)
def _take_steps(  # type: ignore[no-untyped-def]
    first, last, epoch: Epoch, rows: Rows, rate, bias_rate, keep, logistic: Float32s
):
    """Take steps one after the other; return the sum of their losses, and their number."""
    users, items, bias, size = rows
    pairs, negatives = epoch.pairs, epoch.negatives
    far, cells = np.float32(FAR), np.float32(_CELLS / (2 * FAR))
    total, factor, count = 0.0, 1.0, 0
    for k in range(first, last):
        soon = min(k + _STEPS_AHEAD, last - 1)
        u, i, j = (pairs[soon] >> 32) * size, (pairs[soon] & _LOW) * size, np.int64(negatives[soon]) * size
        for line in range(0, size, LANES):
            prefetch(users, u + line)
            prefetch(items, i + line)
            prefetch(items, j + line)
        good, bad = pairs[k] & _LOW, np.int64(negatives[k])
        if bad < 0:
            continue
        u, i, j = (pairs[k] >> 32) * size, good * size, bad * size
        margin = lane_dot(users, u, items, i, size) - lane_dot(users, u, items, j, size)
        margin += bias[good] - bias[bad]
        # What is not a number is far below; the loss tells.
        near = min(margin, far) if margin > -far else -far
        slope = logistic[min(int((near + far) * cells), _CELLS - 1)]
        factor *= 1.0 - slope
        count += 1
        if count % _FACTORS == 0:
            total -= np.log(factor) if margin == margin else np.nan
            factor = 1.0
        step = slope * rate
        user, yes, no = users[u : u + size], items[i : i + size], items[j : j + size]
        for d in range(size):
            x, y, z = user[d], yes[d], no[d]
            user[d] = keep * x + step * (y - z)
            yes[d] = keep * y + step * x
            no[d] = keep * z - step * x
        bias[good] = keep * bias[good] + slope * bias_rate
        bias[bad] = keep * bias[bad] - slope * bias_rate
    return total - np.log(factor), count
