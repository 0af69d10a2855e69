"""How often the 95 % intervals hold the truth, in simulation.

python -m benchmarks.coverage_of_intervals                       every case, a table; --json FILE keeps it
python -m benchmarks.coverage_of_intervals --bootstrap           percentile and BCa beside ours (slow)
python -m benchmarks.coverage_of_intervals --calibrate           how a and m of the quantile were chosen

A value is 1 / rank among 500 negatives. The logarithm of the rank, before it is rounded up, is normal: the
method's level, the edge's difficulty (four fifths of it shared by both methods), the seed's effect, a rest.
So a quarter of the ranks are 1 where the mean reciprocal rank is 0.44, and a tenth where it is 0.21, and the
true mean is a finite sum and exact. With one seed the truth is that of this seed on new edges.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trueedge.randomness import generator
from trueedge.statistics.bootstrap import bootstrap_interval
from trueedge.statistics.significance import difference, mean_interval
from trueedge.statistics.standard_error import SEED_QUANTILES

NEGATIVES = 500
EDGE, SHARED = 1.6, 0.8  # the edges' spread, and how much of it two methods have in common
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """What is simulated.

    Attributes:
        edges: test edges.
        seeds: of each method.
        seed_spread: standard deviation of the seed's effect on the latent score.
        rest: standard deviation of what neither edge nor seed explains.
        level: mean of the logarithm of the rank: the mean reciprocal rank is 0.44 with 1, 0.21 with 2.5
            (and a rest of 1), 0.087 with 3.5, 0.037 with 4.5, 0.015 with 5.5.
        gap: how much better the second method's ranks are, on that scale.
    """

    edges: int
    seeds: int
    seed_spread: float
    rest: float
    level: float
    gap: float = 0.2


@dataclass(frozen=True)
class Coverage:
    """Shares of simulations whose interval holds the truth.

    Attributes:
        case: what was simulated.
        seed_share: the seeds' share in the variance of the mean.
        mean: of the first method's mean.
        difference: of the difference.
        percentile: of the difference, by the percentile bootstrap; NaN where it was not asked for.
        bca: of the difference, by the BCa bootstrap.
        repeats: simulations.
    """

    case: Case
    seed_share: float
    mean: float
    difference: float
    percentile: float
    bca: float
    repeats: int


def cases() -> Iterator[Case]:
    """200 to 2,000 edges, 1 to 10 seeds that matter not at all to most; and means near 0."""
    for edges in (200, 2000):
        for level in (3.5, 4.5, 5.5):
            yield Case(edges, 1, 0.1, 0.4, level)
        for seeds in (1, 2, 3, 5, 10):
            for spread in (0.0, 0.03, 0.1, 0.3) if seeds > 1 else (0.1,):
                for rest, level in ((0.4, 1.0), (1.0, 2.5)):
                    yield Case(edges, seeds, spread, rest, level)


def measure(case: Case, repeats: int, bootstrap: bool = False, seed: int = 0) -> Coverage:
    """Simulate a case and count."""
    text = "/".join(map(str, asdict(case).values()))
    rng = generator(seed, "coverage", text)
    held = np.zeros(4)
    means = np.empty((repeats, 2))
    for number in range(repeats):
        (one, other), (truth, gap) = _draw(case, rng)
        estimate, found = mean_interval(one), difference(one, other)
        means[number] = estimate.value, one.mean(axis=0).var(ddof=1) / case.edges
        held += [estimate.low <= truth <= estimate.high, found.low <= gap <= found.high, 0, 0]
        for place, kind in ((2, "percentile"), (3, "bca")) if bootstrap else ():
            low, high = bootstrap_interval(one, other, kind, 1000, seed=number)  # type: ignore[arg-type]
            held[place] += low <= gap <= high
    share = held / repeats
    seed_share = max(0.0, 1 - means[:, 1].mean() / means[:, 0].var(ddof=1)) if case.seeds > 1 else 0.0
    if not bootstrap:
        share[2:] = math.nan
    return Coverage(case, seed_share, *map(float, share), repeats)


def _draw(case: Case, rng: np.random.Generator) -> tuple[tuple[Array, Array], tuple[float, float]]:
    common = math.sqrt(SHARED) * rng.standard_normal(case.edges)
    values, truths = [], []
    for level in (case.level, case.level - case.gap):
        own = math.sqrt(1 - SHARED) * rng.standard_normal(case.edges)
        effects = case.seed_spread * rng.standard_normal((case.seeds, 1))
        rest = case.rest * rng.standard_normal((case.seeds, case.edges))
        values.append(_value(level + EDGE * (common + own) + effects + rest))
        variance = EDGE**2 + case.rest**2
        if case.seeds == 1:
            truths.append(_truth(level + float(effects[0, 0]), variance))
        else:
            truths.append(_truth(level, variance + case.seed_spread**2))
    return (values[0], values[1]), (truths[0], truths[0] - truths[1])


def _value(log_rank: Array) -> Array:
    return 1.0 / np.clip(np.ceil(np.exp(log_rank)), 1, NEGATIVES + 1)


def _truth(level: float, variance: float) -> float:
    """The sum over ranks r of the chance to be at r or better, times what r is worth more than r + 1."""
    from scipy.special import ndtr

    ranks = np.arange(1, NEGATIVES + 1)
    at_least = ndtr((np.log(ranks) - level) / math.sqrt(variance))
    return float(1.0 / (NEGATIVES + 1) + ((1.0 / ranks - 1.0 / (ranks + 1)) * at_least).sum())


def calibrate() -> None:
    """Print the a and m for each nu whose coverage is nearest to 95 % at the share of seeds that is worst."""
    from scipy.optimize import minimize
    from scipy.special import ndtr, stdtrit
    from scipy.stats import chi2

    shares = np.array([0.001, 0.01, 0.03, *np.arange(0.1, 0.91, 0.1), 0.95, 0.98, 0.99, 0.999])[:, None]
    for nu, scale, power in SEED_QUANTILES:
        drawn = shares * chi2.ppf((np.arange(1500) + 0.5) / 1500, nu) / nu
        total, ratio = 1 - shares + drawn, (1 - shares) / drawn

        def covered(factor: Array, nu=nu, total=total) -> Array:
            df = np.minimum(nu * factor, 1e8)
            held: Array = 100 * (2 * ndtr(stdtrit(df, 0.975) * np.sqrt(total)) - 1).mean(axis=1)
            return held

        def worst(point: Array, covered=covered, ratio=ratio) -> float:
            return float(np.abs(covered(1 + math.exp(point[0]) * ratio ** point[1]) - 95).max())

        best = minimize(worst, [math.log(scale), power], method="Nelder-Mead", options={"maxfev": 60})
        held, rule = covered(1 + scale * ratio**power), covered((1 + ratio) ** 2)
        print(
            f"nu {nu:.0f}: a {scale}, m {power} cover {held.min():.1f} to {held.max():.1f} %; best found "
            f"a {math.exp(best.x[0]):.2g}, m {best.x[1]:.2f}, off by {best.fun:.2f}; "
            f"Satterthwaite {rule.min():.1f} to {rule.max():.1f} %"
        )


def main(arguments: list[str] | None = None) -> None:
    """Run the simulation and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=4000)
    parser.add_argument("--bootstrap", action="store_true")
    parser.add_argument("--calibrate", action="store_true")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args(arguments)
    if chosen.calibrate:
        calibrate()
        return
    print(f"{chosen.repeats} simulations of each case; coverage of 95 % intervals in %")
    print("edges seeds spread rest level | share of seeds | mean  difference | percentile   BCa")
    rows = []
    for case in cases():
        row = measure(case, chosen.repeats, chosen.bootstrap)
        rows.append(row)
        held = [100 * share for share in (row.mean, row.difference, row.percentile, row.bca)]
        print(
            f"{case.edges:5} {case.seeds:5} {case.seed_spread:6.2f} {case.rest:4.1f} {case.level:5.1f} | "
            f"{row.seed_share:14.2f} | {held[0]:4.1f} {held[1]:11.1f} | {held[2]:10.1f} {held[3]:5.1f}",
            flush=True,
        )
    for name in ("mean", "difference"):
        found = 100 * np.array([getattr(row, name) for row in rows])
        inside = np.count_nonzero(np.abs(found - 95) <= 1.5)
        print(
            f"{name}: {found.min():.1f} to {found.max():.1f}; {inside} of {len(found)} cases within 95 ± 1.5"
        )
    if chosen.json:
        chosen.json.write_text(json.dumps([asdict(row) for row in rows], indent=1))


if __name__ == "__main__":
    main()
