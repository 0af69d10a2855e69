"""Find constant, tied and saturated scores."""

from __future__ import annotations

import numpy as np

from trueedge.metrics import PairScores
from trueedge.metrics.scores import row_blocks

TIES_TO_MENTION = 0.10
SATURATION_TO_MENTION = 0.01
# The last float32 below 1: a sigmoid saturates at logits above 16.6, in float64 above 36.7.
BELOW_ONE = 1 - 2**-24
# The last numbers before a float32 and a float64 underflow; Katz scores reach 0.005**19 without saturation.
ABOVE_ZERO, ABOVE_ZERO_DOUBLE = 1e-35, 1e-300
# Scores with so few decimals may have been rounded, if that makes some of them tie.
MOST_DECIMALS, ROUNDED_TIES, MOST_VALUES = 4, 0.01, 100_000
NARROW = 1e-5
NEAR = 1e-6
COMPARED = "a positive with a negative"


def quick_check(positive: object, negative: object) -> list[str]:
    """Return warnings about scores of positives (P,) and negatives (M,) or (P, K), one sentence each."""
    return remarks(PairScores.check(positive, negative))


def remarks(scores: PairScores) -> list[str]:
    """Return warnings about checked scores, one sentence each."""
    same = constant(scores)
    if same:
        return [same]
    return [sentence for sentence in (narrow(scores), ties(scores), saturation(scores)) if sentence]


def constant(scores: PairScores) -> str | None:
    """Return a sentence if all scores are equal."""
    low, high = scores.range
    # Adding 0 makes 0 of -0.
    return f"all scores are {low + 0.0:g}: they separate nothing" if low == high else None


def narrow(scores: PairScores) -> str | None:
    """Return a sentence if all scores are so close together that rounding may decide their order."""
    low, high = scores.range
    if not low < high <= low + NARROW * max(abs(low), abs(high)):
        return None
    return f"all scores lie between {low:.9g} and {high:.9g}, so close that rounding may decide their order"


def ties(scores: PairScores, compared: str = COMPARED) -> str | None:
    """Return a sentence if positives are often tied with negatives, or with what ``compared`` calls them."""
    share = tie_share(scores)
    if share < TIES_TO_MENTION:
        return None
    return f"{share:.0%} of the comparisons of {compared} are ties; each counts half"


def near_ties(scores: PairScores, compared: str = COMPARED) -> str | None:
    """Return a sentence if many comparisons are decided by differences far below the size of the scores."""
    size = max(map(abs, scores.range)) * NEAR
    if size < np.finfo(np.float64).tiny:
        # Numbers this small have too few digits to be divided by.
        return None
    near = PairScores(np.round(scores.positive / size), np.round(scores.negative.astype(np.float64) / size))
    share = tie_share(near) - tie_share(scores)
    if share < TIES_TO_MENTION:
        return None
    return (
        f"{share:.0%} of the comparisons of {compared} are decided by less than a millionth"
        " of the largest score: were ties broken?"
    )


def rounding(scores: PairScores) -> str | None:
    """Return a sentence if all scores have few decimals, and ties because of that."""
    if tie_share(scores) < ROUNDED_TIES:
        return None
    values = np.unique(np.concatenate([scores.positive, scores.negative.ravel()[:MOST_VALUES]]))
    size = float(np.abs(values).max())
    for digits in range(MOST_DECIMALS + 1):
        if np.allclose(values, np.round(values, digits), rtol=0, atol=1e-7 * size):
            # Whole numbers are counts of something, and 0 and 1 are saturation.
            step = f"{10.0**-digits:.{digits}f}"
            return f"all scores are multiples of {step}: pass them before rounding" if digits else None
    return None


def tie_share(scores: PairScores) -> float:
    """Return the share of the positive-negative comparisons that are ties."""
    tied = scores.ranks.pessimistic - scores.ranks.optimistic
    return float(tied.mean() / scores.sizes.negatives)


def saturation(scores: PairScores) -> str | None:
    """Return a sentence if scores between 0 and 1 pile up at an end, as those of a sigmoid do."""
    low, high = scores.range
    if low < 0 or high > 1 or (low > 0 and high < BELOW_ONE):
        return None
    ends = _Ends()
    ends.add(scores.positive)
    for rows in row_blocks(scores.negative.shape):
        ends.add(scores.negative[rows].astype(np.float64))
    if ends.zeros + ends.ones == ends.count:
        return "all scores are 0 or 1: pass raw scores, before rounding or a sigmoid"
    ones = ends.ones + (ends.limit if ends.single else 0)
    for share, end, is_tail in (
        (ones / ends.count, "1", ends.near_one > 0),
        (ends.zeros / ends.count, "0", ends.smallest < (ABOVE_ZERO if ends.single else ABOVE_ZERO_DOUBLE)),
    ):
        if share >= SATURATION_TO_MENTION and is_tail:
            return f"{share:.0%} of the scores are {end}, where a sigmoid saturates: pass the logits instead"
    return None


class _Ends:
    """Counts of scores at and near 0 and 1."""

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
        # Ratios such as Jaccard's reach 1 too, but have no values this close to it.
        self.near_one += int(np.count_nonzero((block > 0.999) & (block < 1)))
        self.smallest = min(self.smallest, float(block[block > 0].min(initial=1.0)))
        self.single &= bool((block.astype(np.float32) == block).all())
