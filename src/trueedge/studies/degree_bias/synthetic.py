"""What degrees alone get where they follow a power law: drawn graphs and drawn degrees."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trueedge import datasets, methods, splits
from trueedge.analysis.figure import Figure, Series
from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.metrics import evaluate
from trueedge.randomness import generator
from trueedge.statistics.degree_laws import power_law_bound
from trueedge.studies.degree_bias.auc import here
from trueedge.studies.study import Comparison, Finding, Plan, comparison, register_listed
from trueedge.tasks import LinkTask

FRACTION = 0.25
EXPONENTS = (2.1, 2.25, 2.5, 2.75, 3.0, 3.25, 3.5, 3.75, 4.0)
# The graph of Figure 1B, and those of Figure 7B.
LARGE, SMALL = (100_000, 1_000_000), (10_000, 100_000)
BATCHES, SAMPLES = 20, 5_000
# A law of exponent near 1 has no mean: beyond so large a degree what is left is drawn as one.
LARGEST_DEGREE = 10**9
Ints = NDArray[np.int64]


def _degree_distributions(plan: Plan, *, size: tuple[int, int] = LARGE) -> Finding:
    """Compute Figure 1B: degrees at the ends of positives and of uniform negatives."""
    _no_choice(plan, "degree-bias/figure-1b")
    nodes, edges = size
    graph = datasets.load(f"price:nodes={nodes},edges={edges},exponent=3.0")
    split = splits.fraction(graph, FRACTION, keep_connected=False)
    task = LinkTask.from_split(split, "uniform", 0)
    degrees = graph.degrees
    drawn = {
        "ends of positives": degrees[task.test.positives].reshape(-1),
        "ends of negatives": degrees[task.test.negatives].reshape(-1),
    }
    grid = np.unique(np.geomspace(max(1, int(degrees.min())), int(degrees.max()), 40).astype(np.int64))
    laws = {"expected of positives": degrees.astype(np.float64), "expected of negatives": np.ones(nodes)}
    series = [Series(name, *_ccdf(values, np.ones(len(values)), grid)) for name, values in drawn.items()]
    series += [Series(name, *_ccdf(degrees, weights, grid)) for name, weights in laws.items()]
    figure = Figure(
        "degrees",
        f"Degrees in a Price graph of {nodes:,} nodes and {edges:,} edges",
        "lines",
        "degree",
        "share of ends of at least this degree",
        tuple(series),
        log_x=True,
        log_y=True,
        note="Expected: each node as often as it has edges (Equation 1), or each node as often as any other.",
    )
    rows = [
        Comparison("price", "uniform", name, "mean degree", float(values.mean()), 0.0, 1, None)
        for name, values in drawn.items()
    ]
    return Finding(rows, places=here(), figures=[figure])


def _power_laws(plan: Plan, *, size: tuple[int, int] = SMALL, seeds: int = 3) -> Finding:
    """Compute Figures 7B and 8: the AUC of the degree product, and its lower bound."""
    _no_choice(plan, "degree-bias/figure-8")
    count = plan.seeds or seeds
    grown = [[_price_auc(size, alpha, seed) for seed in range(count)] for alpha in EXPONENTS]
    drawn = [[drawn_auc(alpha, SAMPLES, batch) for batch in range(BATCHES)] for alpha in EXPONENTS]
    rows = []
    for alpha, graphs, batches in zip(EXPONENTS, grown, drawn, strict=True):
        for what, values in (("price graphs", graphs), ("drawn degrees", batches)):
            rows.append(comparison((f"exponent {alpha:g}", "uniform", "pa", f"auc, {what}"), values))
    nodes, edges = size
    start = edges // nodes
    curves = {
        f"Price graphs of {nodes:,} nodes": [float(np.mean(values)) for values in grown],
        "drawn degrees from 1 on": [float(np.mean(values)) for values in drawn],
        f"lower bound, degrees from {start} on": [power_law_bound(alpha, start) for alpha in EXPONENTS],
        "lower bound, degrees from 1 on": [power_law_bound(alpha) for alpha in EXPONENTS],
        "Equation 24, ties won": [power_law_bound(alpha, ties_won=True) for alpha in EXPONENTS],
    }
    figure = Figure(
        "power-law",
        "AUC of the degree product where degrees follow a power law",
        "lines",
        "exponent",
        "AUC",
        tuple(Series(name, EXPONENTS, tuple(values)) for name, values in curves.items()),
    )
    return Finding(rows, places=here(), figures=[figure])


def drawn_auc(alpha: float, samples: int, seed: int) -> float:
    """Return the AUC of products of two degrees from k^(1 - alpha) against two from k^-alpha.

    Aiyappa et al., Implicit Degree Bias in the Link Prediction Task, ICML 2025, E.3.
    """
    rng = generator(seed, "power law", str(alpha))
    positive = draw_power_law(rng, alpha - 1.0, (samples, 2)).prod(axis=1)
    negative = draw_power_law(rng, alpha, (samples, 2)).prod(axis=1)
    return evaluate(positive, negative, ["auc"])["auc"]


def draw_power_law(rng: np.random.Generator, exponent: float, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return whole numbers from 1 on with p(k) ∝ k^-exponent, float64 of a shape.

    The inverse of the distribution function, by bisection: k is the largest with ζ(exponent, k) / ζ(exponent)
    at or above a uniform number.
    """
    from scipy.special import zeta

    above = rng.random(shape)
    low, high = np.ones(shape), np.full(shape, float(LARGEST_DEGREE))
    whole = zeta(exponent, 1.0)
    while (high - low > 1).any():
        middle = np.floor((low + high) / 2)
        beyond = zeta(exponent, middle) / whole >= above
        low, high = np.where(beyond, middle, low), np.where(beyond, high, middle)
    return low


def _price_auc(size: tuple[int, int], alpha: float, seed: int) -> float:
    nodes, edges = size
    graph: Graph = datasets.load(f"price:nodes={nodes},edges={edges},exponent={alpha},seed={seed}")
    task = LinkTask.from_split(splits.fraction(graph, FRACTION, seed, keep_connected=False), "uniform", seed)
    return task.evaluate(methods.create("pa").fit(task), metrics=["auc"])["auc"]


def _ccdf(
    values: Ints, weights: NDArray[np.float64], grid: Ints
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return a grid and the weight of the values at or above each of its points."""
    order = np.argsort(values, kind="stable")
    below = np.concatenate([[0.0], np.cumsum(weights[order])])
    shares = 1.0 - below[np.searchsorted(values[order], grid, side="left")] / below[-1]
    # Rounding leaves traces of a share where there is none, which a logarithm would show.
    shown = np.where(shares > 1e-12, shares, np.nan)
    return tuple(grid.astype(np.float64).tolist()), tuple(shown.tolist())


def _no_choice(plan: Plan, name: str) -> None:
    for what, asked in (("data sets", plan.datasets), ("methods", plan.methods)):
        if asked:
            raise InputError(f"{name} draws its own graphs and has one method: it takes no {what}")


register_listed("degree-bias/figure-1b", _degree_distributions)
register_listed("degree-bias/figure-8", _power_laws)
