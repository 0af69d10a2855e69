"""Means and differences over test edges and seeds, with intervals, p-values and effect sizes.

The intervals use a standard error in closed form (:mod:`trueedge.statistics.standard_error`) instead of a
bootstrap over edges and seeds. Both methods share the edges and the negatives. Where seeds have splits of
their own, the methods are paired by split (:mod:`trueedge.statistics.sample`); otherwise the seeds of one are
independent of those of the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.errors import InputError, must_be
from trueedge.metrics.scores import as_scores
from trueedge.statistics.sample import Sample as Sample
from trueedge.statistics.sample import paired
from trueedge.statistics.shared_negatives import variance_over_draws
from trueedge.statistics.shared_nodes import independent_edges, variance_over_nodes
from trueedge.statistics.standard_error import (
    Part,
    SeedPart,
    Spread,
    standard_error,
    variance_of_mean,
)
from trueedge.statistics.tails import p_values, quantile

Array = NDArray[np.float64]
Ends = NDArray[np.int64]
# A few edges near one bound say little of how often others are at the other: the variance of a mean is taken
# as if so many further edges were at each bound. Chosen by ``python -m benchmarks.coverage_of_intervals``.
AT_BOUNDS = 0.1


@dataclass(frozen=True)
class Estimate:
    """A mean with its interval.

    Attributes:
        value: the mean.
        low: the interval's lower end; minus infinity for one edge.
        high: the interval's upper end.
        std_error: the standard error.
        df: the degrees of freedom of the quantile up to a level of 95 %.
        tail_df: those beyond it, where few seeds leave a heavier tail (:mod:`.tails`).
        over: what the interval holds for: new ``edges``, with ``negatives`` and ``seeds`` if these vary too,
            as in ``edges, negatives and seeds``; or new ``tasks`` (other splits of the same graph).
    """

    value: float
    low: float
    high: float
    std_error: float
    df: float
    tail_df: float
    over: str


@dataclass(frozen=True)
class Difference(Estimate):
    """A difference of two means over the same edges, with its interval, p-value and effect sizes.

    Attributes:
        p: the two-sided p-value, not corrected.
        better: the share of edges on which the first method's mean over seeds is larger.
        worse: the share of edges on which it is smaller. better - worse is Cliff's delta of pairs.
        standardised: the difference in standard deviations of the edges' differences (Cohen's d of pairs).
    """

    p: float
    better: float
    worse: float
    standardised: float


def mean_interval(
    values: Sample | ArrayLike, level: float = 0.95, span: tuple[float, float] = (-math.inf, math.inf)
) -> Estimate:
    """Return the mean of values (S, E) with an interval for new edges, shared negatives and seeds.

    Of a metric with two bounds, the interval is that of the log-odds (see :func:`mean_over_tasks`).

    Args:
        values: numbers (S, E), or a :class:`Sample` of them.
        level: the level of the interval.
        span: the bounds of the metric.
    """
    sample = _sample(values)
    value, count = sample.mean, len(sample.edges)
    edges = _edge_part(sample.edges, sample.ends)
    if math.isfinite(span[1] - span[0]):
        further = AT_BOUNDS * ((span[1] - value) ** 2 + (value - span[0]) ** 2) / count**2
        edges = Part(edges.variance + further, edges.degrees)
    drawn = variance_over_draws(sample.redraws)
    spread = standard_error([edges, *drawn], [sample.seed_part])
    low, high = _ends_within(span, value, spread, level)
    if math.isfinite(span[1] - span[0]) and value in span:
        # Clopper and Pearson's end: all edges are at the bound.
        reach = (span[1] - span[0]) * (1.0 - (1.0 - _tail(level)) ** (1.0 / count))
        low, high = min(low, value - reach), max(high, value + reach)
    return Estimate(value, low, high, *spread, _over(sample))


def difference(first: Sample | ArrayLike, second: Sample | ArrayLike, level: float = 0.95) -> Difference:
    """Return how much larger the mean of the first method (S, E) is than that of the second (S', E).

    The edges are the same, in the same order, and so are shared negatives. Samples that have splits in common
    (:meth:`Sample.of_splits`) are compared on these, paired by split. If all edges differ by the same number,
    the spread is unknown, and p comes from the sign test.
    """
    compared = _paired(first, second)
    gaps, ends = _gaps(compared)
    parts = [_edge_part(gaps, ends), *variance_over_draws(*(one.redraws for one in compared))]
    spread = standard_error(parts, [one.seed_part for one in compared])
    value = _value(compared)
    # Only the sign test needs to know how many edges are independent, which takes as long as all the rest.
    independent = len(gaps) if ends is None or spread.std_error else independent_edges(ends)
    p = _p_value(value, spread, independent)
    found = (value, *_ends(value, spread, level), *spread, _over(*compared))
    return Difference(*found, p, *_sizes_of_effect(gaps))


def mean_over_tasks(
    tasks: Iterable[Sample], level: float = 0.95, span: tuple[float, float] = (-math.inf, math.inf)
) -> Estimate:
    """Return the mean over at least two tasks of one graph, with Student's interval.

    Of a metric with two bounds, the interval is Student's on the scale of log-odds. Means near a bound are
    skewed away from it, and vary less the nearer they are: an interval that is as wide on both sides ends too
    early on the side of the middle.

    Args:
        tasks: the values of each task.
        level: the level of the interval.
        span: the bounds of the metric.
    """
    means = np.array([task.mean for task in tasks])
    spread = _spread_of_tasks(means)
    value = float(means.mean())
    return Estimate(value, *_ends_within(span, value, spread, level), *spread, "tasks")


def difference_over_tasks(pairs: Iterable[tuple[Sample, Sample]], level: float = 0.95) -> Difference:
    """Return how much larger the first method's mean is over at least two tasks, paired within each task."""
    compared = [_paired(*pair) for pair in pairs]
    means = np.array([_value(one) for one in compared])
    spread = _spread_of_tasks(means)
    value = float(means.mean())
    gaps = np.concatenate([_gaps(one)[0] for one in compared])
    p = _p_value(value, spread, len(means))
    return Difference(value, *_ends(value, spread, level), *spread, "tasks", p, *_sizes_of_effect(gaps))


def smallest_gap(
    first: Sample | ArrayLike,
    second: Sample | ArrayLike,
    edges: int | None = None,
    seeds: int | None = None,
    power: float = 0.8,
    level: float = 0.95,
) -> float:
    """Return the smallest true difference between two such methods that is detected with the given power.

    Args:
        first: numbers (S, E), or a :class:`Sample` of them, for the variances.
        second: numbers (S', E) on the same edges, or a :class:`Sample` of them.
        edges: the planned number of test edges; by default that of the values.
        seeds: the planned number of seeds of each method; by default that of the values.
        power: the chance to detect the difference.
        level: 1 - the error rate, for this one pair.
    """
    compared = _paired(first, second)
    for number, name in ((edges, "edges"), (seeds, "seeds")):
        if number is not None and number < (2 if name == "edges" else 1):
            raise must_be(name, "smallest_gap", "2 or more" if name == "edges" else "1 or more", number)
    given_gaps, ends = _gaps(compared)
    count = len(given_gaps)
    stretch = count / (edges or count)
    rest, parts = 0.0, []
    for sample in compared:
        given = seeds or len(sample.seeds)
        times = len(sample.seeds) / given
        rest += sample.rest
        # One seed says nothing about new seeds: the gap is then between these two fits.
        variance = sample.seed_variance * times if given > 1 else 0.0
        share = sample.rest * stretch * times
        parts.append(SeedPart(variance + share, share, given - 1))
    gaps = _edge_part(given_gaps, ends)
    steady = max(0.0, gaps.variance - rest) * stretch + sum(part.rest for part in parts)
    drawn = variance_over_draws(*(one.redraws for one in compared))
    return gap_at(standard_error([Part(steady, gaps.degrees / stretch), *drawn], parts), power, level)


def ends_at(estimate: Estimate, level: float) -> tuple[float, float]:
    """Return the ends of an estimate's interval at another level."""
    return _ends(estimate.value, spread_of(estimate), level)


def spread_of(estimate: Estimate) -> Spread:
    """Return the standard error of an estimate with its degrees of freedom."""
    return Spread(estimate.std_error, estimate.df, estimate.tail_df)


def gap_at(spread: Spread, power: float = 0.8, level: float = 0.95) -> float:
    """Return the true difference that a test with this standard error detects with the given power."""
    if not 0 < power < 1:
        raise must_be("power", "smallest_gap", "between 0 and 1", power)
    error, *degrees = spread
    if error == 0 or not math.isfinite(error):
        return error
    return (quantile(_tail(level), *degrees) + max(0.0, quantile(power, *degrees))) * error


def _edge_part(values: Array, ends: Ends | None) -> Part:
    """Return the variance of a mean over edges, which may share nodes, with its degrees of freedom."""
    if ends is None or len(values) < 2:
        return Part(variance_of_mean(values), max(len(values) - 1.0, 1.0))
    return Part(*variance_over_nodes(values, ends))


def _over(*samples: Sample) -> str:
    """Return what an interval of some methods holds for."""
    drawn = ["negatives"] if any(one.redraws is not None for one in samples) else []
    fitted = ["seeds"] if max(len(one.seeds) for one in samples) > 1 else []
    *others, last = ["edges", *drawn, *fitted]
    return f"{', '.join(others)} and {last}" if others else last


def _paired(first: Sample | ArrayLike, second: Sample | ArrayLike) -> tuple[Sample, ...]:
    """Return the sample of the differences, or both methods' samples, as :func:`.sample.paired` chooses."""
    one, other = _sample(first), _sample(second)
    if len(one.edges) != len(other.edges):
        raise InputError(
            f"both methods must have values of the same edges, got {len(one.edges)} and {len(other.edges)}"
        )
    return paired(one, other)


def _gaps(compared: tuple[Sample, ...]) -> tuple[Array, Ends | None]:
    """Return the difference on each edge, and which nodes the edges share."""
    one, *others = compared
    if not others:
        return one.edges, one.ends
    return one.edges - others[0].edges, one.ends if one.ends is not None else others[0].ends


def _value(compared: tuple[Sample, ...]) -> float:
    """Return the difference of the means."""
    one, *others = compared
    return one.mean - sum(other.mean for other in others)


def _sample(values: Sample | ArrayLike) -> Sample:
    return values if isinstance(values, Sample) else Sample.of(np.atleast_2d(as_scores(values, "values")))


def _spread_of_tasks(means: Array) -> Spread:
    if len(means) < 2:
        raise InputError(f"a mean over tasks needs at least two tasks, got {len(means)}")
    degrees = len(means) - 1.0
    return Spread(math.sqrt(variance_of_mean(means)), degrees, degrees)


def _ends(value: float, spread: Spread, level: float) -> tuple[float, float]:
    error, *degrees = spread
    half = quantile(_tail(level), *degrees) * error if error else 0.0
    return value - half, value + half


def _ends_within(
    span: tuple[float, float], value: float, spread: Spread, level: float
) -> tuple[float, float]:
    """Return the ends of an interval on the scale of log-odds, if there are two bounds."""
    from scipy.special import expit, logit

    low, width = span[0], span[1] - span[0]
    if not math.isfinite(width) or not spread.std_error or not span[0] < value < span[1]:
        return _ends(value, spread, level)
    share = (value - low) / width
    scaled = spread._replace(std_error=spread.std_error / width / (share * (1 - share)))
    ends = _ends(float(logit(share)), scaled, level)
    first, last = (low + width * float(expit(end)) for end in ends)
    return first, last


def _tail(level: float) -> float:
    if not 0 < level < 1:
        raise must_be("level", "an interval", "between 0 and 1", level)
    return 1.0 - (1.0 - level) / 2.0


def _p_value(value: float, spread: Spread, independent: int) -> float:
    error, *degrees = spread
    if error == 0:
        return 2.0 ** (1 - independent) if value else 1.0
    return p_values(*(np.array([one]) for one in (value / error, *degrees))).item()


def _sizes_of_effect(gaps: Array) -> tuple[float, float, float]:
    spread = math.sqrt(variance_of_mean(gaps) * len(gaps)) if len(gaps) > 1 else 0.0
    middle = float(gaps.mean())
    alone = 0.0 if middle == 0 else math.copysign(math.inf, middle)
    better = float(np.count_nonzero(gaps > 0)) / len(gaps)
    worse = float(np.count_nonzero(gaps < 0)) / len(gaps)
    return better, worse, middle / spread if spread > 0 else alone
