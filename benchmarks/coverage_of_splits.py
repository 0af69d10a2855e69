"""How often intervals over random splits of one graph hold the mean over all its splits.

python -m benchmarks.coverage_of_intervals --splits

Heuristics are run on many random splits of a generated graph. The truth is the mean over all of them, and
intervals are made from a few. Splits of one graph share edges, but given the graph they are drawn
independently, so nothing is to be corrected: the interval is about other random splits and negatives of this
graph. It is not about other graphs: ``graphs`` is the coverage of the mean over graphs of the same kind.
"""

from __future__ import annotations

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
from trueedge.statistics.significance import Sample, difference_over_tasks, mean_over_tasks

Array = NDArray[np.float64]


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
