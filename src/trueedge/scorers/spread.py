"""Do scores tell pairs apart? A constant, ties and saturation, seen from the scores alone."""

from __future__ import annotations

import numpy as np

from trueedge.metrics import PairScores
from trueedge.metrics.scores import row_blocks

TIES_TO_MENTION = 0.10
SATURATION_TO_MENTION = 0.01
# Where float32 cannot go on between this and 1, a sigmoid of logits above 16.6 ends; in float64 above 36.7.
BELOW_ONE = 1 - 2**-24
# The last numbers before a float32 and a float64 underflow; Katz, for one, comes to 0.005**19 unsaturated.
ABOVE_ZERO, ABOVE_ZERO_DOUBLE = 1e-35, 1e-300
NARROW = 1e-5


def quick_check(positive: object, negative: object) -> list[str]:
    """What deserves a look about scores, one sentence each; nothing for good ones.

    Args:
        positive: numbers (P,).
        negative: numbers (M,) shared by all positives, or (P, K) each positive's own.
    """
    return remarks(PairScores.check(positive, negative))


def remarks(scores: PairScores) -> list[str]:
    """What deserves a look about checked scores, one sentence each."""
    same = constant(scores)
    if same:
        return [same]
    return [sentence for sentence in (narrow(scores), ties(scores), saturation(scores)) if sentence]


def constant(scores: PairScores) -> str | None:
    """A sentence if all scores are one and the same."""
    low, high = scores.range
    return f"all scores are {low:g}: they separate nothing" if low == high else None


def narrow(scores: PairScores) -> str | None:
    """A sentence if all scores are so close together that rounding may order them."""
    low, high = scores.range
    if low < high <= low + NARROW * max(abs(low), abs(high)):
        return (
            f"all scores lie between {low:.9g} and {high:.9g}, so close that rounding may decide their order"
        )
    return None


def ties(scores: PairScores) -> str | None:
    """A sentence if a positive often has the very score of a negative."""
    share = tie_share(scores)
    if share < TIES_TO_MENTION:
        return None
    return f"{share:.0%} of the comparisons of a positive with a negative are ties; each counts half"


def tie_share(scores: PairScores) -> float:
    """The share of the comparisons of a positive with a negative that are ties."""
    tied = scores.ranks.pessimistic - scores.ranks.optimistic
    return float(tied.mean() / scores.sizes.negatives)


def saturation(scores: PairScores) -> str | None:
    """A sentence if scores between 0 and 1 pile up at an end, as a sigmoid's do."""
    low, high = scores.range
    if low < 0 or high > 1 or (low > 0 and high < BELOW_ONE):
        return None
    ends = _Ends()
    ends.add(scores.positive)
    for rows in row_blocks(scores.negative.shape):
        ends.add(scores.negative[rows].astype(np.float64))
    if ends.zeros + ends.ones == ends.count:
        return "all scores are 0 or 1: if they were rounded or saturated, give those from before"
    ones = ends.ones + (ends.limit if ends.single else 0)
    for share, end, is_tail in (
        (ones / ends.count, "1", ends.near_one > 0),
        (ends.zeros / ends.count, "0", ends.smallest < (ABOVE_ZERO if ends.single else ABOVE_ZERO_DOUBLE)),
    ):
        if share >= SATURATION_TO_MENTION and is_tail:
            return f"{share:.0%} of the scores are {end}, where a sigmoid saturates: give the logits instead"
    return None


class _Ends:
    """How scores between 0 and 1 lie at both ends."""

    def __init__(self) -> None:
        self.count = self.zeros = self.ones = self.limit = self.near_one = 0
        self.smallest = 1.0
        self.single = True

    def add(self, block: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> None:
        """Count some more scores."""
        self.count += block.size
        self.zeros += int(np.count_nonzero(block == 0))
        self.ones += int(np.count_nonzero(block == 1))
        self.limit += int(np.count_nonzero(block == BELOW_ONE))
        # Ratios such as Jaccard's reach 1 too, but do not come this close before.
        self.near_one += int(np.count_nonzero((block > 0.999) & (block < 1)))
        self.smallest = min(self.smallest, float(block[block > 0].min(initial=1.0)))
        self.single &= bool((block.astype(np.float32) == block).all())
