"""Differences of all pairs of many methods at once, the same as those of single pairs.

A leaderboard of a thousand entries has half a million pairs. Their variances come from one product of
matrices, and their degrees of freedom from the same formulas as those of single pairs
(:mod:`trueedge.statistics.standard_error`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.statistics.sample import Sample
from trueedge.statistics.standard_error import MOST_DEGREES, SEED_QUANTILES, TAIL_POWER, TAIL_RATIOS
from trueedge.statistics.tails import p_values, quantile
from trueedge.statistics.tie_groups import holm, letters, tie_groups

Array = NDArray[np.float64]
# Below this share of the methods' own variances, that of a difference is rounding, and is computed directly.
ROUNDING = 1e-12
# More methods than this have too many maximal groups to list.
MOST_LETTERED = 60
# Of fewer pairs, all p-values are computed.
MANY_PAIRS = 1000


@dataclass(frozen=True, eq=False)
class AllPairs:
    """The difference of each method to each other one.

    Attributes:
        means: float64 (n,), the mean of each method.
        std_error: float64 (n, n), that of a difference; 0 on the diagonal.
        df: float64 (n, n), the degrees of freedom of its quantile up to the 5 % level.
        tail_df: float64 (n, n), those beyond it (:mod:`.tails`).
        independent: how many independent values a difference is the mean of.
    """

    means: Array
    std_error: Array
    df: Array
    tail_df: Array
    independent: int

    @cached_property
    def p(self) -> Array:
        """Return the two-sided p-value of each pair, not corrected, float64 (n, n)."""
        rows, columns = np.triu_indices(len(self.means), 1)
        gaps = np.abs(self.means[rows] - self.means[columns])
        found = np.ones_like(self.std_error)
        found[rows, columns] = found[columns, rows] = self._tails(gaps, self._spread((rows, columns)))
        return found

    def among(self, places: Sequence[int]) -> AllPairs:
        """Return the differences of some of the methods: Holm's correction is for their pairs alone."""
        if list(places) == list(range(len(self.means))):
            return self
        return AllPairs(
            self.means[list(places)], *self._spread(np.ix_(places, places)), independent=self.independent
        )

    def p_of(self, first: int, second: int) -> float:
        """Return the two-sided p-value of one pair, not corrected."""
        gap = abs(self.means[first] - self.means[second])
        return float(self._tails(np.array([gap]), self._spread(([first], [second])))[0])

    def _spread(self, chosen: Any) -> tuple[Array, Array, Array]:
        """Return standard errors and degrees of freedom of some pairs."""
        return self.std_error[chosen], self.df[chosen], self.tail_df[chosen]

    def _tails(self, gaps: Array, spread: tuple[Array, Array, Array]) -> Array:
        """Return the two-sided p-values of differences (n,)."""
        error, *degrees = spread
        with np.errstate(divide="ignore", invalid="ignore"):
            tails = p_values(gaps / error, *degrees)
        # If all units differ by one number, the spread is unknown: the sign test decides.
        by_sign = np.where(gaps > 0, 2.0 ** (1 - min(self.independent, 1000)), 1.0)
        return np.where(error == 0, by_sign, np.minimum(tails, 1.0))

    @cached_property
    def p_holm(self) -> Array:
        """Return the p-values corrected for all pairs, float64 (n, n)."""
        above = np.triu(np.ones_like(self.std_error, dtype=np.bool_), 1)
        gaps = np.abs(np.subtract.outer(self.means, self.means))[above]
        corrected = self._holm(gaps, self._spread(above))
        found = np.ones_like(self.std_error)
        found[above] = corrected
        # Each pair is in both halves.
        found.T[above] = corrected
        return found

    def _holm(self, gaps: Array, spread: tuple[Array, Array, Array]) -> Array:
        """Return the corrected p-values of pairs, computing only those that can be below 1."""
        chosen = self._small(gaps, spread)
        if chosen is None:
            return holm(self._tails(gaps, spread))
        found = np.ones(len(gaps))
        error, df, tail_df = (one[chosen] for one in spread)
        # The others are larger than all of these, and the first of them, and so all, become 1.
        found[chosen] = holm(self._tails(gaps[chosen], (error, df, tail_df)), len(gaps))
        return found

    def _small(self, gaps: Array, spread: tuple[Array, Array, Array]) -> NDArray[np.bool_] | None:
        """Return which pairs have p-values that Holm's correction can leave below 1; None if any can.

        If k pairs have p-values of at least b, the smallest of these becomes k b or more. So with k b >= 1
        all of them become 1, and none has to be computed.
        """
        from scipy.special import stdtrit

        error, df, tail_df = spread
        if len(gaps) < MANY_PAIRS or error.min() == 0 or not ((df == df[0]) & (tail_df == df)).all():
            return None
        with np.errstate(invalid="ignore"):
            scores = gaps / error
        for bound in (4.0 / len(gaps), 1e-3, 0.05):
            # A little lower, so that rounding leaves out none.
            small: NDArray[np.bool_] = ~(scores < (1 - 1e-9) * -stdtrit(df[0], bound / 2))
            if (len(gaps) - np.count_nonzero(small)) * bound >= 1:
                return small
        return None

    def ends(self, first: int, second: int, level: float = 0.95) -> tuple[float, float]:
        """Return the ends of the interval of one difference."""
        gap, error = self.means.item(first) - self.means.item(second), self.std_error.item(first, second)
        degrees = self.df.item(first, second), self.tail_df.item(first, second)
        half = _quantile(0.5 + level / 2, *degrees) * error if error else 0.0
        return gap - half, gap + half

    def places(self, level: float = 0.95, higher_is_better: bool = True) -> NDArray[np.int64]:
        """Return the best and the worst place that each method can have, int64 (n, 2), from 1.

        A method comes after those that are significantly better, and before those that are worse.
        """
        distinct = self.p_holm < 1 - level
        ahead = (
            self.means[:, None] < self.means[None, :]
            if higher_is_better
            else self.means[:, None] > self.means[None, :]
        )
        better = (distinct & ahead).sum(axis=1)
        worse = (distinct & ahead.T).sum(axis=1)
        return np.column_stack([1 + better, len(self.means) - worse])

    def letters(self, order: Sequence[int], level: float = 0.95) -> list[tuple[str, ...]]:
        """Return the letters of each method, in a given order, best first.

        Methods with a shared letter do not differ significantly. Up to 60 methods, all that do not differ
        share one. Of more, these are groups of neighbours: some pairs that do not differ share none.
        """
        distinct = (self.p_holm < 1 - level)[np.ix_(order, order)]
        count = len(order)
        if count <= MOST_LETTERED:
            pairs = [(int(i), int(j)) for i, j in np.argwhere(np.triu(distinct, 1))]
            return letters(count, tie_groups(count, pairs))
        return letters(count, neighbour_groups(distinct))


_quantile = lru_cache(maxsize=1 << 16)(quantile)


def neighbour_groups(distinct: NDArray[np.bool_]) -> list[tuple[int, ...]]:
    """Return all maximal groups of neighbours without a significant difference; ``distinct`` is (n, n)."""
    count = len(distinct)
    above = np.triu(distinct, 1)
    first = np.where(above.any(axis=1), above.argmax(axis=1), count)
    ends = np.minimum.accumulate(first[::-1])[::-1]
    starts = [0, *(np.flatnonzero(ends[1:] > ends[:-1]) + 1).tolist()] if count else []
    return [tuple(range(start, int(ends[start]))) for start in starts]


def all_pairs(samples: Sequence[Sequence[Sample]]) -> AllPairs:
    """Compare all methods on the same tasks.

    Args:
        samples: for each method, its values on each task, in the same order of tasks. With one task, the
            differences are over its units and the methods' seeds, which are paired if all methods have the
            same splits (:meth:`.Sample.of_splits`); with several tasks, over the tasks.
    """
    counts = {len(one) for one in samples}
    if len(counts) != 1 or 0 in counts:
        raise InputError("all methods must have values of the same tasks, at least one")
    return _over_units([one[0] for one in samples]) if counts == {1} else _over_tasks(samples)


def _over_tasks(samples: Sequence[Sequence[Sample]]) -> AllPairs:
    means = np.array([[task.mean for task in one] for one in samples])
    error = np.sqrt(_variances_of_mean(means))
    df = np.full_like(error, means.shape[1] - 1.0)
    return AllPairs(means.mean(axis=1), error, df, df, means.shape[1])


def _variances_of_mean(means: Array) -> Array:
    """Return the variance of the mean difference of each pair over tasks or seeds; means are (n, tasks)."""
    count = means.shape[1]
    total = np.zeros((len(means), len(means)))
    middle = means.mean(axis=1)
    for place in range(count):
        gap = means[:, place] - middle
        total += (gap[:, None] - gap[None, :]) ** 2
    return np.asarray(total / (count - 1) / count)


def _over_units(samples: Sequence[Sample]) -> AllPairs:
    sizes = {len(one.edges) for one in samples}
    if len(sizes) != 1:
        raise InputError(f"both methods must have values of the same edges, got {sorted(sizes)}")
    units = sizes.pop()
    means = np.array([one.mean for one in samples])
    if units == 1:
        one = np.ones((len(means), len(means)))
        return AllPairs(means, np.inf * one, one, one, 1)
    splits = samples[0].by_split.keys()
    if len(splits) > 1 and all(one.by_split.keys() == splits for one in samples):
        return _over_units_and_splits(samples, list(splits), units)
    variance = _squares(np.array([one.edges for one in samples])) / ((units - 1) * units)
    columns = np.array([one.seed_part for one in samples], dtype=np.float64).T
    parts = [tuple(columns[:, :, None]), tuple(columns[:, None, :])]
    return AllPairs(means, *_standard_errors(variance, units, parts), independent=units)


def _over_units_and_splits(samples: Sequence[Sample], splits: Sequence[str], units: int) -> AllPairs:
    """Compare methods by their differences within each split, which are one sample of seeds."""
    count = len(splits)
    means = np.array([[one.by_split[name].mean for name in splits] for one in samples])
    middle, spread = np.zeros((len(samples), units)), np.zeros((len(samples),) * 2)
    for name in splits:
        edges = np.array([one.by_split[name].edges for one in samples])
        middle += edges / count
        spread += _squares(edges)
    shared = _squares(middle)
    # As in a sample of the differences: their spread that neither unit nor seed explains.
    rest = np.maximum(spread - count * shared, 0.0) / ((units - 1) * (count - 1) * units * count)
    part = (_variances_of_mean(means), rest, np.full_like(rest, count - 1.0))
    found = _standard_errors(shared / ((units - 1) * units), units, [part])
    return AllPairs(means.mean(axis=1), *found, independent=units)


def _squares(edges: Array) -> Array:
    """Return the sum of squares of each pair's centred differences, (n, n); edges are (n, units)."""
    centred = edges - edges.mean(axis=1)[:, None]
    own = np.einsum("ij,ij->i", centred, centred)
    sums = own[:, None] + own[None, :]
    found = sums - 2 * (centred @ centred.T)
    for first, second in np.argwhere(np.triu(found <= ROUNDING * sums, 1)):
        gap = edges[first] - edges[second]
        gap -= gap.mean()
        found[first, second] = found[second, first] = gap @ gap
    np.fill_diagonal(found, 0.0)
    return np.asarray(np.maximum(found, 0.0))


def _standard_errors(
    edges: Array, units: int, parts: Sequence[tuple[Array, ...]]
) -> tuple[Array, Array, Array]:
    """Return what ``standard_error`` gives for each pair.

    Args:
        edges: the variances of the edges, (n, n).
        units: the number of edges.
        parts: the variance of the seeds' means, rest and degrees of freedom, each (n, n), (n, 1) or (1, n):
            of both methods of a pair, or of their difference.
    """
    if not any((degrees > 0).any() for _, _, degrees in parts):
        # One seed each: nothing but the edges varies, and all pairs have the same degrees of freedom.
        df = np.full_like(edges, 1.0 / max(1.0 / (units - 1), 1.0 / MOST_DEGREES))
        return np.sqrt(edges), df, df
    total = edges
    for observed, rest, _ in parts:
        total = total + np.maximum(observed - rest, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = np.where(total > 0, (edges / total) ** 2 / (units - 1), 1.0 / (units - 1))
    varies = [
        (degrees > 0) & (np.maximum(observed, rest) > 1e-12 * total) for observed, rest, degrees in parts
    ]
    spread = np.where(total > 0, _inverse_of_seeds(total, edges, parts, varies), 0.0)
    beyond = np.where(total > 0, _inverse_of_tail(edges, parts, varies), 0.0)
    df, tail_df = (1.0 / np.maximum(inverse + one, 1.0 / MOST_DEGREES) for one in (spread, beyond))
    return np.sqrt(total), df, np.minimum(df, tail_df)


def _inverse_of_seeds(
    total: Array, edges: Array, parts: Sequence[tuple[Array, ...]], varies: Sequence[NDArray[np.bool_]]
) -> Array:
    """Return 1 / df_seeds of each pair; 0 if no variance of seeds was measured."""
    alone = np.sum(varies, axis=0) == 1
    seeds, squares = np.zeros_like(total), np.zeros_like(total)
    fewest, summed = np.full_like(total, np.inf), np.zeros_like(total)
    pair = np.zeros_like(alone)
    for (observed, rest, degrees), varying in zip(parts, varies, strict=True):
        # Two seeds of a single part count even where they differ by less than the rest.
        two = alone & varying & (degrees == 1) & (observed > 0)
        value = np.where(alone, observed, np.maximum(observed - rest, 0.0))
        value = np.where(varying & (two | (observed > rest)), value, 0.0)
        seeds += value
        squares += value**2 / np.maximum(degrees, 1.0)
        fewest = np.where(varying, np.minimum(fewest, degrees), fewest)
        summed += np.where(varying, degrees, 0.0)
        pair |= two
    known = seeds > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        nu = np.where(known, seeds**2 / squares, 1.0)
        ratio = np.where(known, np.where(pair, edges, np.maximum(0.0, total - seeds)) / seeds, 0.0)
    chances = np.where(known, np.minimum(summed, 2 * fewest), 1.0)
    return np.where(known, 1.0 / _seed_degrees(nu, chances, ratio), 0.0)


def _seed_degrees(nu: Array, chances: Array, ratio: Array) -> Array:
    known, scales, powers = SEED_QUANTILES.T
    scale = np.exp(np.interp(chances, known, np.log(scales)))
    power = np.interp(chances, known, powers)
    return np.asarray(nu * (1.0 + scale * np.power(np.minimum(ratio, 1e6), power)))


def _inverse_of_tail(
    edges: Array, parts: Sequence[tuple[Array, ...]], varies: Sequence[NDArray[np.bool_]]
) -> Array:
    """Return 1 / df_seeds of each pair beyond the 5 % level."""
    seeds, squares = np.zeros_like(edges), np.zeros_like(edges)
    for (observed, _, degrees), varying in zip(parts, varies, strict=True):
        value = np.where(varying, observed, 0.0)
        seeds += value
        squares += value**2 / np.maximum(degrees, 1.0)
    known, ratios, shares = TAIL_RATIOS.T
    with np.errstate(divide="ignore", invalid="ignore"):
        nu = np.where(seeds > 0, seeds**2 / squares, 1.0)
        bound = np.exp(np.interp(nu, known, np.log(ratios)))
        times = np.power(np.minimum(edges / seeds / bound, 1e6), TAIL_POWER)
        degrees = np.interp(nu, known, shares) * nu * (1.0 + times)
        return np.where(seeds > 0, 1.0 / degrees, 0.0)
