"""How often intervals hold the truth where several splits have one published test part, in simulation.

python -m benchmarks.coverage_of_intervals --test-parts

Each seed divides the rest of the data in its own way, and is evaluated on the same test units, as for typed
graphs. A value is whether a node's class is found, or the reciprocal rank of a head's link. It depends on a
latent score: the method's level, how hard the unit is, what the split does to all methods and to this one,
and a rest of both kinds. Four fifths of what is true of a unit are shared by all methods.

The truth is the mean over new units, splits and trainings. Letters are wrong if any two of ten equal methods
get different ones.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trueedge.randomness import generator
from trueedge.statistics.all_pairs import all_pairs
from trueedge.statistics.significance import Sample, difference, mean_interval

Array = NDArray[np.float64]
UNIT, SHARED, REST, GAP = 1.3, 0.8, 0.3, 0.1
CANDIDATES = 1000
METHODS = 10


@dataclass(frozen=True)
class PartCase:
    """What is simulated.

    Attributes:
        metric: ``f1`` or ``mrr``.
        units: test units.
        seeds: splits.
        common: standard deviation of what a split does to all methods.
        own: standard deviation of what it does to each for itself.
        level: how good, or for reciprocal ranks how bad, the first method is.
    """

    metric: str
    units: int
    seeds: int
    common: float
    own: float
    level: float


@dataclass(frozen=True)
class PartCoverage:
    """Shares of simulations.

    Attributes:
        case: what was simulated.
        value: the first method's true mean.
        mean: the interval holds it.
        difference: the interval of the difference to another method holds the truth.
        letters: some of ten equal methods differ significantly; NaN for fewer than three seeds.
        repeats: simulations.
    """

    case: PartCase
    value: float
    mean: float
    difference: float
    letters: float
    repeats: int


def part_cases() -> Iterator[PartCase]:
    """Yield seeds that matter not at all to most, and means far from the bounds and near them."""
    spreads = ((0.0, 0.0), (0.0, 0.1), (0.3, 0.1), (0.0, 0.2), (0.1, 0.5))
    levels = (("f1", 0.8), ("f1", 2.6), ("mrr", 1.5), ("mrr", 4.0))
    for seeds, (metric, level), units, (common, own) in product((2, 3, 5, 10), levels, (200, 1000), spreads):
        yield PartCase(metric, units, seeds, common, own, level)


def draw_samples(case: PartCase, levels: list[float], rng: np.random.Generator) -> list[Sample]:
    """Return the values of some methods on the same splits."""
    shape = case.seeds, case.units
    unit = math.sqrt(SHARED) * UNIT * rng.standard_normal(case.units)
    split = case.common * rng.standard_normal((case.seeds, 1)) + REST * rng.standard_normal(shape)
    found = []
    for level in levels:
        own = math.sqrt(1 - SHARED) * UNIT * rng.standard_normal(case.units)
        seed = case.own * rng.standard_normal((case.seeds, 1)) + REST * rng.standard_normal(shape)
        latent = level + unit + split + own + seed
        ranks = np.clip(np.ceil(np.exp(latent)), 1, CANDIDATES)
        values = latent > 0 if case.metric == "f1" else 1 / ranks
        found.append(Sample.of_splits({str(place): [row] for place, row in enumerate(values)}))
    return found


def true_value(case: PartCase, level: float) -> float:
    """Return the mean over new units, splits and trainings."""
    from scipy.special import ndtr

    spread = math.sqrt(UNIT**2 + case.common**2 + case.own**2 + 2 * REST**2)
    if case.metric == "f1":
        return float(ndtr(level / spread))
    ranks = np.arange(1, CANDIDATES)
    at_least = ndtr((np.log(ranks) - level) / spread)
    return float(1 / CANDIDATES + ((1 / ranks - 1 / (ranks + 1)) * at_least).sum())


def measure_part(case: PartCase, repeats: int, seed: int = 0) -> PartCoverage:
    """Simulate a case and count."""
    rng = generator(seed, "test parts", "/".join(map(str, asdict(case).values())))
    truths = true_value(case, case.level), true_value(case, case.level + GAP)
    held = np.zeros(3)
    for _ in range(repeats):
        one, other = draw_samples(case, [case.level, case.level + GAP], rng)
        mean, gap = mean_interval(one, span=(0.0, 1.0)), difference(one, other)
        held[0] += mean.low <= truths[0] <= mean.high
        held[1] += gap.low <= truths[0] - truths[1] <= gap.high
        if case.seeds > 2:
            pairs = all_pairs([[sample] for sample in draw_samples(case, [case.level] * METHODS, rng)])
            held[2] += pairs.p_holm.min() < 0.05
    shares = held / repeats
    if case.seeds <= 2:
        shares[2] = math.nan
    return PartCoverage(case, truths[0], *map(float, shares), repeats)


def measure_parts(repeats: int, path: Path | None) -> None:
    """Print the coverage of all cases; those that the file has are not simulated again."""
    print(f"{repeats} simulations of each case; shares in %")
    print("metric units seeds common  own level  value |  mean difference letters")
    done = _read(path) if path is not None and path.exists() else {}
    for case in part_cases():
        if case not in done:
            done[case] = measure_part(case, repeats)
            if path is not None:
                path.write_text(json.dumps([_plain(row) for row in done.values()], indent=1) + "\n")
        row = done[case]
        shares = [100 * share for share in (row.mean, row.difference, row.letters)]
        print(
            f"{case.metric:6} {case.units:5} {case.seeds:5} {case.common:6.1f} {case.own:4.1f}"
            f" {case.level:5.1f} {row.value:6.3f} | {shares[0]:5.1f} {shares[1]:10.1f} {shares[2]:7.1f}",
            flush=True,
        )


def _plain(row: PartCoverage) -> dict[str, object]:
    found = asdict(row)
    return {**found, "letters": None if math.isnan(row.letters) else row.letters}


def _read(path: Path) -> dict[PartCase, PartCoverage]:
    rows = json.loads(path.read_text())
    for row in rows:
        row["case"] = PartCase(**row["case"])
        row["letters"] = math.nan if row["letters"] is None else row["letters"]
    return {row["case"]: PartCoverage(**row) for row in rows}
