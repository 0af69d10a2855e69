"""How often the 95 % intervals hold the truth, in simulation and on redrawn splits.

python -m benchmarks.coverage_of_intervals                       one split, simulated; --json FILE keeps it
python -m benchmarks.coverage_of_intervals --bootstrap           percentile and BCa beside ours (slow)
python -m benchmarks.coverage_of_intervals --calibrate           how a and m of the quantile were chosen
python -m benchmarks.coverage_of_intervals --redraws cora        one split of a real graph, split again
python -m benchmarks.coverage_of_intervals --splits              intervals over random splits of one graph
python -m benchmarks.coverage_of_intervals --test-parts          several splits with one published test part

What is simulated is in :mod:`benchmarks.coverage_draws`, redrawn splits are in
:mod:`benchmarks.coverage_of_redraws`, several splits in :mod:`benchmarks.coverage_of_splits`, and those with
one test part in :mod:`benchmarks.coverage_of_test_parts`.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.coverage_draws import Case, draw
from benchmarks.coverage_of_redraws import measure_redraws
from benchmarks.coverage_of_splits import measure_splits
from benchmarks.coverage_of_test_parts import measure_parts
from trueedge.randomness import generator
from trueedge.statistics.bootstrap import bootstrap_interval
from trueedge.statistics.significance import difference, mean_interval
from trueedge.statistics.standard_error import SEED_QUANTILES

Array = NDArray[np.float64]
# The range of the simulated values, reciprocal ranks.
SPAN = (0.0, 1.0)


@dataclass(frozen=True)
class Coverage:
    """Shares of simulations whose interval holds the truth.

    Attributes:
        case: what was simulated.
        value: the first method's mean over simulations.
        mean: of the first method's mean.
        difference: of the difference.
        percentile: of the difference, by the percentile bootstrap; NaN where it was not asked for.
        bca: of the difference, by the BCa bootstrap.
        repeats: simulations.
    """

    case: Case
    value: float
    mean: float
    difference: float
    percentile: float
    bca: float
    repeats: int


# Whether negatives are shared, the share of nodes in an edge's difficulty, and the number of edges.
SETTINGS = (
    (False, 0.0, 200),
    (False, 0.5, 200),
    (False, 0.5, 1000),
    (True, 0.0, 200),
    (True, 0.5, 200),
)


def cases() -> Iterator[Case]:
    """Yield 1 to 10 seeds that matter not at all to most, means near 0, shared nodes and shared negatives."""
    for shared, nodes, edges in SETTINGS:
        for seeds in (1, 3):
            for level in (3.5, 4.5, 5.5)[: 2 if shared else 3]:
                yield Case(edges, seeds, 0.1, 0.4, level, shared, nodes)
        for seeds in (1, 2, 3, 5, 10):
            for spread in (0.0, 0.3) if seeds > 1 else (0.1,):
                for rest, level in ((0.4, 1.0), (1.0, 2.0 if shared else 2.5)):
                    yield Case(edges, seeds, spread, rest, level, shared, nodes)


def measure(case: Case, repeats: int, bootstrap: bool = False, seed: int = 0) -> Coverage:
    """Simulate a case and count."""
    text = "/".join(map(str, asdict(case).values()))
    rng = generator(seed, "coverage", text)
    held = np.zeros(4)
    total = 0.0
    for number in range(repeats):
        (one, other), (truth, gap) = draw(case, rng)
        estimate, found = mean_interval(one, span=SPAN), difference(one, other)
        total += estimate.value
        held += [estimate.low <= truth <= estimate.high, found.low <= gap <= found.high, 0, 0]
        for place, kind in ((2, "percentile"), (3, "bca")) if bootstrap else ():
            rows = [sample.edges + sample.seeds[:, None] - sample.mean for sample in (one, other)]
            low, high = bootstrap_interval(*rows, kind, 1000, seed=number)  # type: ignore[arg-type]
            held[place] += low <= gap <= high
    share = held / repeats
    if not bootstrap:
        share[2:] = math.nan
    return Coverage(case, total / repeats, *map(float, share), repeats)


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
    """Run a simulation and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=2000)
    parser.add_argument("--bootstrap", action="store_true")
    parser.add_argument("--calibrate", action="store_true")
    parser.add_argument("--splits", action="store_true")
    parser.add_argument("--test-parts", action="store_true")
    parser.add_argument("--pool", type=int, default=500, help="splits of each graph")
    parser.add_argument("--redraws", metavar="DATASET")
    parser.add_argument("--protocol", default="existing", help="of redrawn splits")
    parser.add_argument("--negatives", choices=("own", "shared"), help="simulate such negatives alone")
    parser.add_argument("--jobs", type=int, default=1, help="the number of processes")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args(arguments)
    if chosen.calibrate:
        calibrate()
    elif chosen.splits:
        measure_splits(chosen.pool, chosen.repeats, chosen.json)
    elif chosen.test_parts:
        measure_parts(chosen.repeats, chosen.json)
    elif chosen.redraws:
        measure_redraws(chosen.redraws, chosen.protocol, chosen.pool, chosen.json, chosen.jobs)
    else:
        found = [one for one in cases() if chosen.negatives in (None, "shared" if one.shared else "own")]
        simulate(found, chosen.repeats, chosen.bootstrap, chosen.json, chosen.jobs)


def simulate(found: list[Case], repeats: int, bootstrap: bool, path: Path | None, jobs: int = 1) -> None:
    """Print the coverage of some cases; those that the file has are not simulated again."""
    print(f"{repeats} simulations of each case; coverage of 95 % intervals in %")
    print("negatives nodes edges seeds spread rest level    mrr |  mean difference | percentile   BCa")
    done = _read(path) if path is not None and path.exists() else {}
    missing = [case for case in found if case not in done]
    with ProcessPoolExecutor(jobs) as pool:
        for row in pool.map(partial(measure, repeats=repeats, bootstrap=bootstrap), missing):
            done[row.case] = row
            print(_line(row), flush=True)
            if path is not None:
                kept = [asdict(done[case]) for case in cases() if case in done]
                path.write_text(json.dumps(kept, indent=1) + "\n")
    rows = [done[case] for case in found]
    for name in ("mean", "difference"):
        shares = 100 * np.array([getattr(row, name) for row in rows])
        inside = np.count_nonzero(np.abs(shares - 95) <= 2)
        print(
            f"{name}: {shares.min():.1f} to {shares.max():.1f}; {inside} of {len(rows)} cases within 95 ± 2"
        )


def _read(path: Path) -> dict[Case, Coverage]:
    rows = [{**row, "case": Case(**row["case"])} for row in json.loads(path.read_text())]
    return {row["case"]: Coverage(**row) for row in rows}


def _line(row: Coverage) -> str:
    case = row.case
    held = [100 * share for share in (row.mean, row.difference, row.percentile, row.bca)]
    return (
        f"{'shared' if case.shared else 'own':9} {case.nodes:5.1f} {case.edges:5} {case.seeds:5}"
        f" {case.seed_spread:6.2f} {case.rest:4.1f} {case.level:5.1f} {row.value:6.3f} | {held[0]:5.1f}"
        f" {held[1]:10.1f} | {held[2]:10.1f} {held[3]:5.1f}"
    )


if __name__ == "__main__":
    main()
