"""Do two answers to the same pairs order them alike? A change of the last digits can break every tie."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueedge.graph import pair_keys

# Each two pairs are compared, so that many pairs are looked at and no more.
MOST_PAIRS = 1500
# Scores spread out as a model's are lie close enough in a part of 1e-7 to 1e-5 of all comparisons.
MOVED_SHARE = 1e-3
# The last rows of a matrix product are summed in another order, which splits their ties with equal rows: in
# batches of 50 it was 18 % of a model's ties. What breaks ties on purpose splits half of them or all.
SPLIT_SHARE = 0.5
TIES_THAT_SHOW = 10
# Where all that moved is as close as rounding leaves it, ties must be many to show a purpose.
MOVED_SHARE_OF_NOISE = 1e-2
# Sixteen steps of a float32, and some thousands of a float64.
FLOAT32_NOISE, FLOAT64_NOISE = 2e-6, 1e-12


@dataclass(frozen=True)
class Reordering:
    """How two answers differ in the order they give.

    Attributes:
        compared: how many comparisons of two different pairs there are.
        moved: how many of them come out otherwise: won, tied or lost.
        tied: how many are ties in at least one answer.
        split: how many are ties in one answer and not in the other.
        is_noise: all that moved lies as close together as rounding leaves it.
    """

    compared: int
    moved: int
    tied: int
    split: int
    is_noise: bool

    @property
    def is_systematic(self) -> bool:
        """Whether more has moved than a model of fixed weights does where its batches are cut elsewhere."""
        are_split = self.tied >= TIES_THAT_SHOW and self.split >= SPLIT_SHARE * self.tied
        if self.is_noise:
            return are_split and self.moved >= MOVED_SHARE_OF_NOISE * self.compared
        return are_split or self.moved >= max(2, MOVED_SHARE * self.compared)

    def __str__(self) -> str:
        share = f"{self.moved / self.compared:.2g}" if self.compared else "0"
        ties = f", {self.split:,} of {self.tied:,} ties among them" if self.split else ""
        return f"{self.moved:,} of {self.compared:,} comparisons of two pairs ({share} of all{ties})"


def compare_orders(
    pairs: NDArray[np.int64],
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    scale: NDArray[np.float64],
) -> Reordering:
    """Compare the order of all pairs under two answers; a pair that occurs again counts once.

    Args:
        pairs: int64 (n, 2).
        first: float64 (n,), the scores of one answer.
        second: float64 (n,), those of the other.
        scale: float64 (n,), what the size of a change is measured by.
    """
    rows = np.unique(pair_keys(pairs, int(pairs.max(initial=0)) + 1), return_index=True)[1]
    rows = rows[np.isfinite(first[rows]) & np.isfinite(second[rows])]
    rows = rows[:: -(-len(rows) // MOST_PAIRS) or 1]
    a, b, size = first[rows], second[rows], scale[rows]
    with np.errstate(over="ignore"):
        before, after = a[:, None] - a, b[:, None] - b
        gap = np.maximum(np.abs(before), np.abs(after))
    # The difference of two numbers that are not equal is never 0 in IEEE arithmetic.
    moved = np.triu(np.sign(before) != np.sign(after))
    tied_before, tied_after = np.triu(before == 0, 1), np.triu(after == 0, 1)
    noise = FLOAT32_NOISE if _is_float32(a) and _is_float32(b) else FLOAT64_NOISE
    return Reordering(
        compared=len(rows) * (len(rows) - 1) // 2,
        moved=int(np.count_nonzero(moved)),
        tied=int(np.count_nonzero(tied_before | tied_after)),
        split=int(np.count_nonzero(tied_before ^ tied_after)),
        is_noise=bool((gap <= noise * np.maximum(size[:, None], size))[moved].all()),
    )


def _is_float32(scores: NDArray[np.float64]) -> bool:
    with np.errstate(over="ignore"):
        return bool((scores.astype(np.float32) == scores).all())
