"""The description length of a graph and a partition of its nodes into groups."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.errors import InputError
from trueedge.graph import Graph

if TYPE_CHECKING:
    from trueedge.kernels.blocks.blockmodel import Terms

Ints = NDArray[np.int64]

# Partitions of numbers below this are counted exactly; above it the formulas are at most 0.04 nats off.
COUNTED_BELOW = 512
# Between these values of n / √m the formula is tabulated; above them q(m, n) no longer depends on n.
CURVE_FROM, CURVE_TO, CURVE_POINTS = 1e-3, 60.0, 1 << 15


def description_length(graph: Graph, blocks: ArrayLike, corrected: bool) -> float:
    """Return the description length of a graph and a partition of its nodes into groups, in nats.

    With n_r nodes and e_r half-edges in group r, m_rs edges between groups r and s (m_rr those within, each
    once), B groups, N nodes and E edges it is the sum of

    - the edges given the counts, ``-Σ_{r<s} ln m_rs! - Σ_r ln (2^{m_rr} m_rr!)`` and ``+ Σ_r e_r ln n_r``, or
      degree-corrected ``+ Σ_r ln e_r! - Σ_i ln k_i!``;
    - degree-corrected only, the degrees: ``Σ_r [ln q(e_r, n_r) + ln n_r! - Σ_k ln n_rk!]`` with n_rk nodes of
      degree k in group r, and q(m, n) the partitions of m into at most n parts;
    - the partition: ``ln N + ln C(N-1, B-1) + ln N! - Σ_r ln n_r!``;
    - the edge counts, all equally likely: ``ln C(B(B+1)/2 + E - 1, E)``.

    Peixoto, Parsimonious Module Inference in Large Networks, 2013, in the form of Peixoto, Nonparametric
    Bayesian Inference of the Microcanonical Stochastic Block Model, 2017.

    Args:
        blocks: int array (n,), the group of each node, with any numbering.
        corrected: whether the model is degree-corrected.
    """
    given = np.asarray(blocks)
    if given.shape != (graph.num_nodes,) or given.dtype.kind not in "iu":
        raise InputError(
            f"blocks must be {graph.num_nodes} whole numbers, one per node, got {given.dtype} {given.shape}"
        )
    names, of = np.unique(given, return_inverse=True)
    return length_of(graph, of.astype(np.int64), len(names), make_terms(graph, corrected))


def length_of(graph: Graph, of: Ints, many: int, terms: Terms) -> float:
    """Return the description length of groups numbered ``0..many-1``, none of them empty."""
    from trueedge.kernels.blocks.blockmodel import LN2, group_term

    factorial = terms.log_factorial
    first, second, count = edges_among(graph, of, many)
    sizes, ends = np.bincount(of, minlength=many), group_ends(graph, of, many)
    total = -float(factorial[count].sum()) - LN2 * float(count[first == second].sum())
    total += float(sum(group_term(int(n), int(e), terms) for n, e in zip(sizes, ends, strict=True)))
    if terms.corrected:
        total -= float(factorial[graph.degrees].sum())
        total -= float(factorial[degrees_within(graph, of)[2]].sum())
    return total + _groups_length(graph, many) + float(factorial[graph.num_nodes])


def _groups_length(graph: Graph, many: int) -> float:
    """Return the terms that depend only on the number of groups."""
    nodes, edges = graph.num_nodes, graph.num_edges
    kinds = many * (many + 1) // 2
    return float(np.log(nodes)) + _log_binomial(nodes - 1, many - 1) + _log_binomial(kinds + edges - 1, edges)


def _log_binomial(n: int, k: int) -> float:
    from scipy.special import gammaln

    return float(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def group_ends(graph: Graph, of: Ints, many: int) -> Ints:
    """Return the sum of degrees in each group, int64 (many,)."""
    # Sums of whole numbers below 2^53 are exact.
    return np.bincount(of, weights=graph.degrees, minlength=many).astype(np.int64)


def edges_among(graph: Graph, of: Ints, many: int) -> tuple[Ints, Ints, Ints]:
    """Return the pairs of groups (r <= s) that have edges, sorted, and how many: three int64 arrays."""
    ends = of[graph.edges]
    keys, count = np.unique(ends.min(axis=1) * many + ends.max(axis=1), return_counts=True)
    return keys // many, keys % many, count


def degrees_within(graph: Graph, of: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the degrees that occur in each group, sorted, and how often: three int64 arrays."""
    span = int(graph.degrees.max(initial=0)) + 1
    keys, count = np.unique(of * span + graph.degrees, return_counts=True)
    return keys // span, keys % span, count


def make_terms(graph: Graph, corrected: bool) -> Terms:
    """Return the tables of terms of the description length of a graph."""
    from scipy.special import gammaln

    from trueedge.kernels.blocks.blockmodel import Terms

    most = 2 * graph.num_edges + graph.num_nodes + 2
    return Terms(
        gammaln(np.arange(1.0, most + 1)),
        _counted_partitions(),
        _partition_curve(),
        float(np.log(CURVE_FROM)),
        float(np.log(CURVE_TO / CURVE_FROM)) / (CURVE_POINTS - 1),
        corrected,
    )


@cache
def _counted_partitions() -> NDArray[np.float64]:
    """Return ``ln q(m, n)`` for small m, by recursion: the n-th part is empty, or take 1 from each part."""
    counts = np.zeros((COUNTED_BELOW, COUNTED_BELOW))
    counts[0] = 1.0
    for n in range(1, COUNTED_BELOW):
        counts[:, n] = counts[:, n - 1]
        for m in range(n, COUNTED_BELOW):
            counts[m, n] += counts[m - n, n]
    with np.errstate(divide="ignore"):
        return np.log(counts)


@cache
def _partition_curve() -> NDArray[np.float64]:
    """Return the functions ln f and g of ``u = n / √m`` in ``q(m, n) ≈ f(u) / m · exp(√m g(u))``.

    Szekeres, An Asymptotic Formula in the Theory of Partitions, 1951.
    """
    from scipy.special import spence

    u = np.geomspace(CURVE_FROM, CURVE_TO, CURVE_POINTS)
    v: NDArray[Any] = np.minimum(u * u, u)
    for _ in range(400):
        # spence(x) is the dilogarithm of 1 - x.
        v = u * np.sqrt(np.maximum(-v * v / 2 - spence(np.exp(v)), 1e-300))
    decay = np.exp(-v)
    f = np.log(v) - np.log(2**1.5 * np.pi * u) - 0.5 * np.log(1 - (1 + u * u / 2) * decay)
    g = 2 * v / u - u * np.log1p(-decay)
    return np.stack([f, g])
