"""How often the 95 % intervals hold the truth, in simulation.

python -m benchmarks.coverage_of_intervals                       every case, a table; --json FILE keeps it
python -m benchmarks.coverage_of_intervals --bootstrap           percentile and BCa beside ours (slow)
python -m benchmarks.coverage_of_intervals --calibrate           how a and m of the quantile were chosen
python -m benchmarks.coverage_of_intervals --splits              intervals over random splits of one graph

A value is 1 / rank among 500 negatives. The logarithm of the rank, before it is rounded up, is normal: the
method's level, the edge's difficulty (four fifths of it shared by both methods), the seed's effect, a rest.
So a quarter of the ranks are 1 where the mean reciprocal rank is 0.44, and a tenth where it is 0.21, and the
true mean is a finite sum and exact. With one seed the truth is that of this seed on new edges.

With ``--splits``, heuristics are run on many random splits of a generated graph. The truth is the mean over
all of them, and intervals are made from a few. Splits of one graph share edges, but given the graph they are
drawn independently, so nothing is to be corrected: the interval is about other random splits and negatives of
this graph. It is not about other graphs: ``graphs`` is the coverage of the mean over graphs of the same kind.
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

import trueedge as te
from trueedge import datasets
from trueedge.randomness import generator
from trueedge.statistics.bootstrap import bootstrap_interval
from trueedge.statistics.significance import (
    Sample,
    difference,
    difference_over_tasks,
    mean_interval,
    mean_over_tasks,
)
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


@dataclass(frozen=True)
class SplitCoverage:
    """Shares of intervals over splits that hold the mean over all splits.

    Attributes:
        graph: how the graph was generated.
        protocol: the protocol.
        metric: its headline.
        splits: the number of splits that an interval is made from.
        mean: the first method's mean.
        difference: its difference from the second method, paired by split.
        graphs: the mean over all graphs, by intervals of one graph; NaN where only one graph was made.
        repeats: intervals.
    """

    graph: str
    protocol: str
    metric: str
    splits: int
    mean: float
    difference: float
    graphs: float
    repeats: int


# Graphs with communities, with hubs, and with neither; and two methods, of which the second counts degrees.
GRAPHS = ("stochastic-block", "barabasi-albert", "erdos-renyi")
PAIR = ("ra", "pa")


def split_cases(
    pool: int, repeats: int, graphs: int = 4, protocols: tuple[str, ...] = ("existing", "uniform")
) -> Iterator[SplitCoverage]:
    """Measure intervals of 3, 5 and 10 splits on generated graphs.

    Args:
        pool: the number of splits of a graph; their mean is the truth.
        repeats: the number of intervals of each case.
        graphs: the number of graphs of each kind.
        protocols: the protocols.
    """
    for kind in GRAPHS:
        for protocol in protocols:
            made = [_values(kind, number, protocol, pool) for number in range(graphs)]
            metric = te.task(_graph(kind, 0), protocol).headline
            for splits in (3, 5, 10):
                rng = generator(0, "splits", f"{kind}/{protocol}/{splits}")
                yield _split_coverage(made, (kind, protocol, metric), splits, repeats, rng)


def _graph(kind: str, number: int) -> te.Graph:
    settings = {
        "stochastic-block": "sizes=40+40+40,p_in=0.12,p_out=0.01",
        "barabasi-albert": "nodes=150,attach=3",
        "erdos-renyi": "nodes=150,edges=450",
    }[kind]
    found = datasets.load(f"{kind}:{settings},seed={number}")
    assert isinstance(found, te.Graph)
    return found


def _values(kind: str, number: int, protocol: str, pool: int) -> Array:
    """Return the headline of both methods on each split of a graph, float64 (pool, 2)."""
    graph, found = _graph(kind, number), np.empty((pool, 2))
    for seed in range(pool):
        task = te.task(graph, protocol, seed=seed)
        for place, name in enumerate(PAIR):
            scorer = te.methods.get(name)().fit(task)
            found[seed, place] = task.evaluate(scorer, metrics=[task.headline])[task.headline]
    return found


def _split_coverage(
    made: list[Array], about: tuple[str, str, str], splits: int, repeats: int, rng: np.random.Generator
) -> SplitCoverage:
    everywhere = np.mean([values[:, 0].mean() for values in made])
    held = np.zeros(3)
    for number in range(repeats):
        values = made[number % len(made)]
        truth = values.mean(axis=0)
        drawn = [
            (Sample.of([[one]]), Sample.of([[other]]))
            for one, other in values[rng.integers(len(values), size=splits)]
        ]
        mean = mean_over_tasks((one for one, _ in drawn), span=(0.0, 1.0))
        gap = difference_over_tasks(drawn)
        held += [
            mean.low <= truth[0] <= mean.high,
            gap.low <= truth[0] - truth[1] <= gap.high,
            mean.low <= everywhere <= mean.high,
        ]
    shares = held / repeats
    if len(made) == 1:
        shares[2] = math.nan
    return SplitCoverage(*about, splits, *map(float, shares), repeats)


def measure_splits(pool: int, repeats: int, path: Path | None) -> None:
    """Print the coverage of intervals over splits."""
    print(f"{repeats} intervals of each case; coverage of 95 % intervals over splits in %")
    print("graph              protocol  metric splits |  mean difference | graphs")
    rows = []
    for row in split_cases(pool, repeats):
        rows.append(row)
        print(
            f"{row.graph:18} {row.protocol:9} {row.metric:6} {row.splits:6} | {100 * row.mean:5.1f}"
            f" {100 * row.difference:10.1f} | {100 * row.graphs:6.1f}",
            flush=True,
        )
    for name in ("mean", "difference"):
        found = 100 * np.array([getattr(row, name) for row in rows])
        inside = np.count_nonzero(np.abs(found - 95) <= 2)
        print(f"{name}: {found.min():.1f} to {found.max():.1f}; {inside} of {len(found)} within 95 ± 2")
    if path:
        path.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")


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
    parser.add_argument("--splits", action="store_true")
    parser.add_argument("--pool", type=int, default=500, help="splits of each graph")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args(arguments)
    if chosen.calibrate:
        calibrate()
        return
    if chosen.splits:
        measure_splits(chosen.pool, chosen.repeats, chosen.json)
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
