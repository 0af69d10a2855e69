"""How often one split's interval holds the mean over all splits, on a real graph that is split again.

python -m benchmarks.coverage_of_intervals --redraws cora --pool 100

Each split has its own test edges, negatives and fit, and makes an interval from its own record, as the table
of a run with one seed does. The truth is the mean over all splits, and over the other draws of negatives in
their records. ``units`` are intervals that take test edges as independent and negatives as given.
``jackknife`` adds the variance over negatives that leaving out one after the other shows in a single draw.
"""

from __future__ import annotations

import json
import math
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import trueedge as te
from trueedge.metrics import PairScores
from trueedge.statistics.significance import Sample, difference, mean_interval
from trueedge.tasks.redraws import with_redraws

Array = NDArray[np.float64]
METHODS = ("ppr", "katz", "ra", "lrw", "cosine")
SPAN = (0.0, 1.0)
QUANTILE = 1.96


@dataclass(frozen=True)
class Redrawn:
    """What one split's intervals of a method, or of a difference, hold.

    Attributes:
        dataset: the data set.
        protocol: the protocol.
        metric: the metric.
        what: the method, or two with a minus between.
        truth: the mean over splits.
        std: the standard deviation over splits.
        error: the root of the mean squared standard error of one split.
        error_units: that of intervals that take test edges as independent and negatives as given.
        covered: the share of splits whose interval holds the truth.
        covered_units: that of intervals that take test edges as independent and negatives as given.
        covered_jackknife: that of intervals with a jackknife over negatives; NaN for differences, for other
            metrics than the MRR, and where negatives are not shared.
        splits: the number of splits.
    """

    dataset: str
    protocol: str
    metric: str
    what: str
    truth: float
    std: float
    error: float
    error_units: float
    covered: float
    covered_units: float
    covered_jackknife: float
    splits: int


def redrawn_cases(
    dataset: str, protocol: str, splits: int, metrics: tuple[str, ...], jobs: int = 1
) -> list[Redrawn]:
    """Measure the intervals of each method, and of each pair of methods."""
    made: dict[tuple[str, str], list[Sample]] = {}
    jackknives: dict[str, list[float]] = {name: [] for name in METHODS}
    with ProcessPoolExecutor(jobs) as pool:
        for samples, variances in pool.map(partial(_on_split, dataset, protocol, metrics), range(splits)):
            for key, sample in samples.items():
                made.setdefault(key, []).append(sample)
            for name, variance in variances.items():
                jackknives[name].append(variance)
    rows = []
    for metric in metrics:
        for name in METHODS:
            by_jackknife = jackknives[name] if metric == "mrr" else [math.nan]
            found = _measured([(one,) for one in made[metric, name]], by_jackknife)
            rows.append(Redrawn(dataset, protocol, metric, name, *found, splits))
        for first, second in combinations(METHODS, 2):
            both = list(zip(made[metric, first], made[metric, second], strict=True))
            found = _measured(both, [math.nan])
            rows.append(Redrawn(dataset, protocol, metric, f"{first} - {second}", *found, splits))
    return rows


def _on_split(
    dataset: str, protocol: str, metrics: tuple[str, ...], seed: int
) -> tuple[dict[tuple[str, str], Sample], dict[str, float]]:
    """Return the values of each metric and method on a split, and the variance that a jackknife finds."""
    task = te.task(te.load(dataset), protocol, seed=seed)
    samples, variances = {}, {}
    for name in METHODS:
        scorer = te.methods.get(name)().fit(task)
        scores = task.scores(scorer)
        units = with_redraws(task, scorer, task.evaluate_scores(scores, metrics=metrics).units)
        variances[name] = _jackknife(scores)
        for metric in metrics:
            drawn = None if units.redraws is None else units.redraws[metric]
            samples[metric, name] = Sample.of([units.values[metric]], ends=units.ends, redraws=[drawn])
    return samples, variances


def _measured(splits: list[tuple[Sample, ...]], jackknives: list[float]) -> tuple[float, ...]:
    """Return the fields of :class:`Redrawn` from ``truth`` on, for a method or two on each split."""
    values = np.array([_signed([one.mean for one in samples]) for samples in splits])
    draws = [
        _signed([one.redraws for one in samples]) for samples in splits if samples[0].redraws is not None
    ]
    truth = float(np.concatenate([values, *draws]).mean())
    held, errors = np.zeros(3), np.zeros(2)
    for samples, value, variance in zip(splits, values, np.resize(jackknives, len(splits)), strict=True):
        plain = [Sample.of([one.edges]) for one in samples]
        ours, old = (
            mean_interval(given[0], span=SPAN) if len(given) == 1 else difference(*given)
            for given in (samples, plain)
        )
        # As intervals without shared nodes and negatives were: as wide on both sides.
        half = QUANTILE * math.sqrt(old.std_error**2 + variance)
        held += [
            ours.low <= truth <= ours.high,
            abs(value - truth) <= QUANTILE * old.std_error,
            abs(value - truth) <= half,
        ]
        errors += [ours.std_error**2, old.std_error**2]
    shares = held / len(splits)
    if math.isnan(jackknives[0]):
        shares[2] = math.nan
    found = np.concatenate([np.sqrt(errors / len(splits)), shares])
    return (truth, float(values.std(ddof=1)), *map(float, found))


def _signed(both: list) -> Array:
    return np.asarray(both[0] - both[1] if len(both) == 2 else both[0])


def _jackknife(scores: PairScores) -> float:
    """Return the variance of the MRR over shared negatives by leaving out each once; NaN without such."""
    if scores.layout != "shared":
        return math.nan
    negatives = scores.negative
    order = np.argsort(-negatives)
    without = np.empty(len(negatives))
    for place, one in enumerate(order):
        # Below the highest hundred, a negative hardly matters.
        kept = np.delete(negatives, one) if place < 100 else None
        without[place] = (
            (1.0 / PairScores(scores.positive, kept).ranks.mean).mean() if place < 100 else math.nan
        )
    influence = without - np.nanmean(1.0 / scores.ranks.mean)
    return float(np.nansum(influence**2))


def measure_redraws(dataset: str, protocol: str, splits: int, path: Path | None, jobs: int = 1) -> None:
    """Print the coverage of one split's intervals on redrawn splits."""
    print(f"{splits} splits of {dataset} under {protocol}; coverage of one split's 95 % intervals in %")
    print("metric what               mean     std  error (units) | covered (units, jackknife)")
    rows = redrawn_cases(dataset, protocol, splits, ("mrr", "auc"), jobs)
    for row in rows:
        print(
            f"{row.metric:6} {row.what:16} {100 * row.truth:6.2f} {100 * row.std:7.2f} {100 * row.error:6.2f}"
            f" ({100 * row.error_units:5.2f}) | {100 * row.covered:7.1f}"
            f" ({100 * row.covered_units:5.1f}, {100 * row.covered_jackknife:5.1f})"
        )
    if path:
        path.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
