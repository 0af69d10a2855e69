"""Hard negatives that are personal to each positive, chosen by what heuristics find likely."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.errors import InputError, must_be, same_kind, unknown
from trueedge.graph import Graph, as_pairs
from trueedge.randomness import derive

if TYPE_CHECKING:
    from trueedge.kernels.heart import Problem

HEURISTICS = ("ra", "cn", "ppr", "features")
TIES = ("paper", "released")


def heart(
    graph: Graph,
    positives: ArrayLike,
    k: int = 500,
    heuristics: Sequence[str] = ("ra", "ppr"),
    known: ArrayLike | None = None,
    keep_known: bool = False,
    alpha: float = 0.15,
    eps: float = 1e-5,
    ties: str = "paper",
    seed: int = 0,
    progress: Callable[[int, int], object] | None = None,
) -> NDArray[np.int32]:
    """Negatives that corrupt one end of a positive with the nodes heuristics rank highest around the other.

    Around an end a of the positive (a, b), all nodes but a, b and a's known neighbours are candidates. Each
    heuristic ranks those it scores above zero: 1 + how many are scored strictly higher (scores that differ by
    rounding errors alone, less than a part in 2^41, are equal). A candidate's combined rank is its smallest;
    ties go by the sum of its ranks, where no rank counts as the number of nodes, then by node id. Where fewer
    than k/2 candidates have a rank, the rest is drawn uniformly from the others. Hardest come first. The
    negatives of a positive depend neither on the other positives nor on the number of threads.

    Args:
        graph: the training graph, whose structure and features the heuristics read.
        positives: int array (P, 2), without self-pairs.
        k: how many negatives a positive gets, even: the first half keeps its source, the other its target.
        heuristics: some of ``ra`` (resource allocation), ``cn`` (common neighbours), ``ppr`` (personalised
            PageRank from the end that is kept) and ``features`` (cosine similarity).
        known: int array (m, 2), further edges that may not be negatives, e.g. validation edges at test.
        keep_known: allow known edges as negatives, all but the positive itself.
        alpha: the probability of PageRank's walk to go back to its start.
        eps: PageRank's error bound a unit of degree; smaller ranks more nodes and takes longer.
        ties: ``"paper"`` ranks as said above. ``"released"`` ranks as the published files were made: equals
            all get the worst of their places, less the size of the top group - 1; a candidate without a score
            ranks next after a list's last, which makes most of them equal; equals go by node id.
        seed: for what is drawn uniformly.
        progress: called with (end nodes done, end nodes in all) as the work goes on.

    Returns:
        int32 array (P, k, 2).

    Li et al.: Evaluating Graph Neural Networks for Link Prediction: Current Pitfalls and New Benchmarking,
    NeurIPS 2023.
    """
    if not isinstance(graph, Graph):
        raise must_be("graph", "heart", "a Graph", graph)
    if not isinstance(keep_known, bool):
        raise must_be("keep_known", "heart", "True or False", keep_known)
    pairs = as_pairs(positives, graph.num_nodes, "positives")
    _check(graph, pairs, k, heuristics, alpha, eps, ties)
    hidden = graph if known is None else graph.with_edges(as_pairs(known, graph.num_nodes, "known"))
    if keep_known:
        hidden = graph.only_edges(np.empty((0, 2), dtype=np.int64))
    _check_candidates(hidden, pairs, k)
    if len(pairs) == 0:
        return np.empty((0, k, 2), dtype=np.int32)
    from trueedge.kernels.heart import hard_negatives

    problem = _problem(graph, hidden, k, tuple(heuristics), alpha, ties, seed)
    return hard_negatives(problem, pairs, eps, progress)


def _problem(
    graph: Graph, hidden: Graph, k: int, heuristics: tuple[str, ...], alpha: float, ties: str, seed: int
) -> Problem:
    from trueedge.kernels import heart as kernel
    from trueedge.kernels.similarity import feature_index

    kinds = {"ra": kernel.RA, "cn": kernel.CN, "ppr": kernel.PPR, "features": kernel.FEATURES}
    no_features = np.zeros((0, 0), dtype=np.float32)
    features = graph.features if "features" in heuristics else None
    degrees = graph.degrees.astype(np.float64)
    return kernel.Problem(
        indptr=graph.indptr,
        indices=graph.indices,
        known_indptr=hidden.indptr,
        known_indices=hidden.indices,
        kinds=np.array([kinds[name] for name in heuristics], dtype=np.int64),
        weights=np.stack([1.0 / np.maximum(degrees, 1.0), np.ones(graph.num_nodes)]),
        features=feature_index(no_features if features is None else features),
        alpha=float(alpha),
        half=int(k) // 2,
        released=ties == "released",
        key=np.uint64(derive(seed, "heart")),
    )


def _check(
    graph: Graph,
    positives: NDArray[np.int64],
    k: int,
    heuristics: Sequence[str],
    alpha: float,
    eps: float,
    ties: str,
) -> None:
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 2 or k % 2:
        raise must_be("k", "heart", "an even number, 2 or more", k)
    if not isinstance(heuristics, (tuple, list)) or len(heuristics) == 0:
        raise must_be("heuristics", "heart", "a list of one or more names", heuristics)
    for name in heuristics:
        if name not in HEURISTICS:
            raise unknown("heuristic of heart", name, HEURISTICS)
    if len(set(heuristics)) < len(heuristics):
        raise must_be("heuristics", "heart", "names that differ", tuple(heuristics))
    if ties not in TIES:
        raise unknown("rule for ties in heart", ties, TIES)
    if not same_kind(alpha, 0.15) or not 0 < alpha < 1:
        raise must_be("alpha", "heart", "between 0 and 1, and neither", alpha)
    if not same_kind(eps, 1e-5) or not 1e-15 <= eps < 1:
        # Below that, the rounding of the sums is larger than what eps bounds.
        raise must_be("eps", "heart", "at least 1e-15 and below 1", eps)
    if "features" in heuristics and graph.features is None:
        raise InputError(f"heart: the heuristic 'features' needs node features, and {graph.name} has none")
    loops = np.flatnonzero(positives[:, 0] == positives[:, 1])
    if len(loops):
        raise InputError(f"positives: row {loops[0]} pairs node {positives[loops[0], 0]} with itself")


def _check_candidates(hidden: Graph, positives: NDArray[np.int64], k: int) -> None:
    """Refuse a positive one of whose ends has too few nodes left to pair it with."""
    if len(positives) == 0:
        return
    others = ~hidden.has_edges(positives)
    left = hidden.num_nodes - 1 - hidden.degrees[positives] - others[:, None]
    if left.min() < k // 2:
        row, side = np.unravel_index(left.argmin(), left.shape)
        node = int(positives[row, side])
        name = node if hidden.labels is None else repr(hidden.labels[node])
        most = 2 * int(left.min())
        advice = f"the largest possible k is {most}" if most else "no k is possible with this positive"
        raise InputError(
            f"heart: k is {k}, but node {name} has only {most // 2} candidates for its {k // 2} negatives;"
            f" {advice}"
        )
