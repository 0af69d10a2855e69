"""Simulated values of two methods on the same test edges, and their true means.

**Own negatives.** A value is 1 / rank among 500 negatives of the edge's own. The logarithm of the rank,
before it is rounded up, is normal: the method's level, the edge's difficulty, the seed's effect, a rest. The
mean reciprocal rank is 0.44 at level 1, 0.21 at 2.5 (with a rest of 1), 0.087 at 3.5, 0.037 at 4.5 and 0.015
at 5.5.

**Shared negatives.** All edges are ranked among the same 500 negatives, whose scores are standard normal, and
among 20 other draws of them. An edge's score is normal around 3.5 minus the level, with the same parts. The
mean reciprocal rank is 0.45 at level 1, 0.27 at 2 (with a rest of 1), 0.063 at 3.5 and 0.020 at 4.5.

Four fifths of what is true of an edge or a negative are shared by both methods. A share of an edge's
difficulty is the sum of effects of its two nodes. Nodes have between one and dozens of test edges, and are
new in every simulation. True means are sums or integrals, not simulated. With one seed, the truth is that of
this seed on new edges, nodes and negatives.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from trueedge.statistics.shared_nodes import shared_ends
from trueedge.statistics.significance import Sample

Array = NDArray[np.float64]
NEGATIVES, REDRAWS = 500, 20
EDGE, SHARED = 1.6, 0.8  # the edges' spread, and how much of it two methods have in common
TOP = 3.5  # the mean score of edges at level 0, in standard deviations of the negatives' scores
NODES_PER_EDGE = 2


@dataclass(frozen=True)
class Case:
    """What is simulated.

    Attributes:
        edges: test edges.
        seeds: of each method.
        seed_spread: standard deviation of the seed's effect on the latent score.
        rest: standard deviation of what neither edge nor seed explains.
        level: how bad the first method is.
        shared: whether all edges share their negatives.
        nodes: the share of nodes in an edge's difficulty.
        gap: how much better the second method is, on the scale of the level.
    """

    edges: int
    seeds: int
    seed_spread: float
    rest: float
    level: float
    shared: bool = False
    nodes: float = 0.0
    gap: float = 0.2


def draw(case: Case, rng: np.random.Generator) -> tuple[tuple[Sample, Sample], tuple[float, float]]:
    """Return both methods' values, the first one's true mean, and the true difference."""
    pairs = _edges(case, rng) if case.nodes else None
    ends = None if pairs is None else shared_ends(pairs)
    common = _difficulty(case, pairs, rng)
    shape = (1 + REDRAWS, NEGATIVES)
    common_negatives = rng.standard_normal(shape) if case.shared else np.empty(0)
    samples, truths = [], []
    for level in (case.level, case.level - case.gap):
        own = _difficulty(case, pairs, rng)
        effects = case.seed_spread * rng.standard_normal((case.seeds, 1))
        rest = case.rest * rng.standard_normal((case.seeds, case.edges))
        edges = EDGE * (math.sqrt(SHARED) * common + math.sqrt(1 - SHARED) * own) + effects + rest
        variance = EDGE**2 + case.rest**2 + (case.seed_spread**2 if case.seeds > 1 else 0.0)
        middle = level + (float(effects[0, 0]) if case.seeds == 1 else 0.0)
        if not case.shared:
            values = 1.0 / np.clip(np.ceil(np.exp(level + edges)), 1, NEGATIVES + 1)
            samples.append(Sample.of(values, ends=ends))
            truths.append(true_mean(middle, variance))
            continue
        own_negatives = rng.standard_normal(shape)
        negatives = math.sqrt(SHARED) * common_negatives + math.sqrt(1 - SHARED) * own_negatives
        first, redraws = _ranked(TOP - level - edges, negatives)
        samples.append(Sample.of(first, ends=ends, redraws=redraws))
        truths.append(true_mean_shared(TOP - middle, variance))
    return (samples[0], samples[1]), (truths[0], truths[0] - truths[1])


def _edges(case: Case, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the ends of test edges, int64 (E, 2); a few nodes have many of them."""
    count = NODES_PER_EDGE * case.edges
    shares = np.cumsum((1.0 + np.arange(count)) ** -0.5)
    pairs = np.searchsorted(shares / shares[-1], rng.random((2 * case.edges, 2)), side="right")
    return pairs[pairs[:, 0] != pairs[:, 1]][: case.edges]


def _difficulty(case: Case, pairs: NDArray[np.int64] | None, rng: np.random.Generator) -> Array:
    """Return what makes edges difficult, of variance 1, float64 (E,)."""
    own: Array = rng.standard_normal(case.edges)
    if pairs is None:
        return own
    effects = rng.standard_normal(NODES_PER_EDGE * case.edges)
    return math.sqrt(1 - case.nodes) * own + math.sqrt(case.nodes / 2) * effects[pairs].sum(axis=1)


def _ranked(edges: Array, negatives: Array) -> tuple[Array, list[Array]]:
    """Return the reciprocal ranks of edges (S, E) in the first draw of negatives (1 + R, M).

    And for each seed the means over edges (R,) in the other draws.
    """
    draws = np.sort(negatives, axis=1)
    # Looked up in order, edges are found several times as fast.
    ordered = np.sort(edges, axis=1)
    worth = 1.0 / (1.0 + NEGATIVES - np.arange(NEGATIVES + 1))
    means = [worth[np.searchsorted(one, ordered)].mean(axis=1) for one in draws[1:]]
    return worth[np.searchsorted(draws[0], edges)], list(np.transpose(means))


def true_mean(level: float, variance: float) -> float:
    """Sum over ranks r the chance to be at r or better, times what r is worth more than r + 1."""
    from scipy.special import ndtr

    ranks = np.arange(1, NEGATIVES + 1)
    at_least = ndtr((np.log(ranks) - level) / math.sqrt(variance))
    return float(1.0 / (NEGATIVES + 1) + ((1.0 / ranks - 1.0 / (ranks + 1)) * at_least).sum())


@lru_cache(4)
def true_mean_shared(middle: float, variance: float) -> float:
    """Integrate E[1 / (1 + Binomial(M, q))] = (1 - (1 - q)^(M + 1)) / ((M + 1) q) over an edge's score."""
    from scipy.special import ndtr

    places = np.linspace(-8, 8, 4001)
    weights = np.exp(-(places**2) / 2)
    above = ndtr(-(middle + math.sqrt(variance) * places))
    # Where no negative is ever above, the reciprocal rank is 1.
    above = np.clip(above, 1e-300, 1 - 1e-15)
    values = -np.expm1((NEGATIVES + 1) * np.log1p(-above)) / ((NEGATIVES + 1) * above)
    return float((weights * values).sum() / weights.sum())
