"""The bootstrap over test edges and seeds, to compare the closed form with.

A resample draws edges and, with several seeds, seeds. Its percentile and BCa intervals are too narrow for few
seeds; comparisons use :mod:`trueedge.statistics.significance`.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.errors import InputError, must_be
from trueedge.metrics.scores import as_scores
from trueedge.randomness import generator

Array = NDArray[np.float64]
Kind = Literal["percentile", "bca"]
NUMBERS_IN_A_BLOCK = 1 << 22


def bootstrap_interval(
    first: ArrayLike,
    second: ArrayLike | None = None,
    kind: Kind = "bca",
    resamples: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> tuple[float, float]:
    """Return the bootstrap interval of a mean, or of the difference of two means over the same edges.

    Args:
        first: numbers (S, E), a row for each seed.
        second: numbers (S', E) of another method on the same edges.
        kind: ``percentile``, or ``bca`` (corrected for bias and skewness, the latter by leaving out edges).
        resamples: the number of resamples.
        level: the level of the interval, between 0 and 1.
        seed: the seed of the draws.

    Efron, Better Bootstrap Confidence Intervals, JASA 1987.
    """
    from scipy.special import ndtr, ndtri

    if kind not in ("percentile", "bca"):
        raise must_be("kind", "bootstrap_interval", "'percentile' or 'bca'", kind)
    if not 0 < level < 1:
        raise must_be("level", "bootstrap_interval", "between 0 and 1", level)
    draws = resampled_means(first, second, resamples, seed)
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    if kind == "bca" and draws.min() < draws.max():
        edges = _table(first).mean(axis=0) - (0.0 if second is None else _table(second).mean(axis=0))
        below = np.mean(draws < edges.mean()) + 0.5 * np.mean(draws == edges.mean())
        bias = float(ndtri(np.clip(below, 0.5 / resamples, 1 - 0.5 / resamples)))
        centred = edges - edges.mean()
        spread = float((centred**2).sum())
        skew = float((centred**3).sum()) / (6 * spread**1.5) if spread > 0 else 0.0
        shifted = bias + ndtri(tails)
        tails = ndtr(bias + shifted / (1 - skew * shifted))
    low, high = np.quantile(draws, tails)
    return float(low), float(high)


def resampled_means(
    first: ArrayLike, second: ArrayLike | None = None, resamples: int = 2000, seed: int = 0
) -> Array:
    """Return the mean, or the difference of means, in each resample, float64 (resamples,).

    The arguments are those of :func:`bootstrap_interval`. The same edges are drawn for both methods, and the
    seeds of each independently.
    """
    tables = [_table(first)] if second is None else [_table(first), _table(second)]
    edges = tables[0].shape[1]
    if tables[-1].shape[1] != edges:
        raise InputError(f"both methods must have the same edges, got {edges} and {tables[-1].shape[1]}")
    if resamples < 1:
        raise must_be("resamples", "bootstrap", "1 or more", resamples)
    rng = generator(seed, "bootstrap")
    means = np.zeros(resamples)
    step = max(1, NUMBERS_IN_A_BLOCK // edges)
    for start in range(0, resamples, step):
        rows = slice(start, min(start + step, resamples))
        size = rows.stop - rows.start
        counts = rng.multinomial(edges, np.full(edges, 1 / edges), size=size) / edges
        for table, sign in zip(tables, (1.0, -1.0), strict=False):
            seeds = len(table)
            weights = rng.multinomial(seeds, np.full(seeds, 1 / seeds), size=size) / seeds
            means[rows] += sign * ((counts @ table.T) * weights).sum(axis=1)
    return means


def _table(values: ArrayLike) -> Array:
    table = np.atleast_2d(as_scores(values, "values")).astype(np.float64)
    if table.ndim != 2 or not table.size:
        raise InputError(f"values must have the shape (seeds, edges), got {table.shape}")
    return table
