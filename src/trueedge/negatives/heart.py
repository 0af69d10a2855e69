"""Hard negatives for each positive, chosen by heuristics (HeaRT)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.errors import InputError, is_number, is_whole, must_be, unknown
from trueedge.graph import Graph, as_pairs
from trueedge.graph.graph import check_graph
from trueedge.negatives.between import Sides
from trueedge.negatives.sampling import check_fitting
from trueedge.progress import Steps
from trueedge.randomness import derive

if TYPE_CHECKING:
    from trueedge.kernels.negatives.hard_candidates import Problem

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
    progress: Steps | None = None,
    sides: ArrayLike | None = None,
) -> NDArray[np.int32]:
    """Corrupt one end of each positive with the nodes that heuristics rank highest around the other end.

    Around an end a of the positive (a, b), all nodes but a, b and a's known neighbours are candidates. Each
    heuristic ranks those with a score above zero: the rank is 1 + the number of strictly higher scores
    (scores that differ by less than a part in 2^41 are equal). The combined rank of a candidate is its
    smallest rank; ties are broken by the sum of its ranks, where no rank counts as the number of nodes, then
    by node id. If fewer than k/2 candidates have a rank, the rest is sampled uniformly from the others. The
    hardest come first. The negatives of a positive do not depend on other positives or on threads.

    Args:
        graph: the training graph, whose structure and features the heuristics read.
        positives: int array (P, 2), without self-pairs.
        k: negatives per positive, even: the first half keeps the source, the other half the target.
        heuristics: some of ``ra`` (resource allocation), ``cn`` (common neighbours), ``ppr`` (personalised
            PageRank from the end that is kept) and ``features`` (cosine similarity).
        known: int array (m, 2), further edges that must not be negatives, e.g. validation edges at test.
        keep_known: allow known edges as negatives, except the positive itself.
        alpha: the teleport probability of PageRank.
        eps: PageRank's error bound per unit of degree; smaller values rank more nodes and take longer.
        ties: ``"paper"`` ranks as above. ``"released"`` ranks like the published files: tied candidates all
            get the worst of their ranks, minus the size of the top group - 1; candidates without a score rank
            directly after the last of a list; ties are broken by node id.
        seed: for the uniformly sampled negatives.
        progress: called with (end nodes done, end nodes in all) as the work goes on.
        sides: int array (n,), 0 or 1 for the nodes of a bipartite graph: candidates are on the other side of
            the end that is kept. ``ra`` and ``cn`` are 0 there, so they rank nobody.

    Returns:
        int32 array (P, k, 2).

    Li et al.: Evaluating Graph Neural Networks for Link Prediction: Current Pitfalls and New Benchmarking,
    NeurIPS 2023.
    """
    asked = checked(graph, positives, k, heuristics, known, keep_known, alpha, eps, ties, seed, sides)
    if len(asked.positives) == 0:
        return np.empty((0, asked.k, 2), dtype=np.int32)
    from trueedge.kernels.negatives.hard_candidates import hard_negatives

    check_fitting(len(asked.positives) * asked.k, "heart", 8)
    return hard_negatives(problem_of(asked), asked.positives, asked.eps, progress)


@dataclass(frozen=True)
class Request:
    """The checked arguments of :func:`heart`; ``positives`` and ``known`` are int64 (n, 2)."""

    graph: Graph
    positives: NDArray[np.int64]
    k: int
    heuristics: tuple[str, ...]
    known: NDArray[np.int64]
    keep_known: bool
    alpha: float
    eps: float
    ties: str
    seed: int
    sides: Sides | None = None


def checked(
    graph: Graph,
    positives: ArrayLike,
    k: int,
    heuristics: Sequence[str],
    known: ArrayLike | None,
    keep_known: bool,
    alpha: float,
    eps: float,
    ties: str,
    seed: int,
    sides: ArrayLike | None = None,
) -> Request:
    """Check the arguments of :func:`heart`."""
    pairs = as_pairs(positives, check_graph(graph, "heart").num_nodes, "positives")
    _check(graph, pairs, k, heuristics, alpha, eps, ties)
    if not isinstance(keep_known, (bool, np.bool_)):
        raise must_be("keep_known", "heart", "True or False", keep_known)
    further = as_pairs([] if known is None else known, graph.num_nodes, "known")
    two = Sides.check(sides, graph, "heart")
    if two is not None:
        two.refuse_within(pairs, "heart: the positive")
        heuristics = ranking_across(heuristics)
    derive(seed)
    asked = Request(
        graph=graph,
        positives=pairs,
        k=int(k),
        heuristics=tuple(heuristics),
        known=further[further[:, 0] != further[:, 1]],
        keep_known=bool(keep_known),
        alpha=float(alpha),
        eps=float(eps),
        ties=ties,
        seed=int(seed),
        sides=two,
    )
    _check_candidates(asked)
    return asked


def ranking_across(heuristics: Sequence[str]) -> tuple[str, ...]:
    """Return the heuristics that rank nodes on the other side of a bipartite graph; refuse none."""
    # Neighbours of nodes on two sides are on two sides too, so no neighbour is common.
    left = tuple(name for name in heuristics if name not in ("ra", "cn"))
    if not left:
        raise InputError(
            f"heart: {' and '.join(heuristics)} {'is' if len(heuristics) == 1 else 'are'} 0 between the two"
            " sides of a bipartite graph: use heuristics=ppr"
        )
    return left


def problem_of(asked: Request) -> Problem:
    """Return a request as arrays."""
    from trueedge.kernels.negatives import hard_candidates as kernel
    from trueedge.kernels.neighbors.similarity import feature_index

    graph = asked.graph
    kinds = {"ra": kernel.RA, "cn": kernel.CN, "ppr": kernel.PPR, "features": kernel.FEATURES}
    no_features = np.zeros((0, 0), dtype=np.float32)
    features = graph.features if "features" in asked.heuristics else None
    known_indptr, known_indices = _rows_of(asked.known, graph.num_nodes)
    return kernel.Problem(
        indptr=graph.indptr,
        indices=graph.indices,
        known_indptr=known_indptr,
        known_indices=known_indices,
        keep_known=asked.keep_known,
        kinds=np.array([kinds[name] for name in asked.heuristics], dtype=np.int64),
        weights=np.stack([1.0 / np.maximum(graph.degrees, 1), np.ones(graph.num_nodes)]),
        features=feature_index(no_features if features is None else features),
        alpha=asked.alpha,
        half=asked.k // 2,
        released=asked.ties == "released",
        key=np.uint64(derive(asked.seed, "heart")),
        sides=np.empty(0, dtype=np.int8) if asked.sides is None else asked.sides.of,
    )


def _rows_of(pairs: NDArray[np.int64], num_nodes: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return pairs in both directions as row starts and columns; a pair that is there twice stays so."""
    both = np.concatenate([pairs, pairs[:, ::-1]])
    indptr = np.zeros(num_nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(both[:, 0], minlength=num_nodes), out=indptr[1:])
    return indptr, both[np.argsort(both[:, 0], kind="stable"), 1].astype(np.int32)


def _check(
    graph: Graph,
    positives: NDArray[np.int64],
    k: int,
    heuristics: Sequence[str],
    alpha: float,
    eps: float,
    ties: str,
) -> None:
    if not is_whole(k) or k < 2 or k % 2:
        raise must_be("k", "heart", "an even number, 2 or more", k)
    if isinstance(heuristics, str) or not isinstance(heuristics, Sequence) or len(heuristics) == 0:
        raise must_be("heuristics", "heart", "a list of one or more names", heuristics)
    for name in heuristics:
        if name not in HEURISTICS:
            raise unknown("heuristic of heart", name, HEURISTICS)
    if len(set(heuristics)) < len(heuristics):
        raise must_be("heuristics", "heart", "names that differ", tuple(heuristics))
    if ties not in TIES:
        raise unknown("rule for ties in heart", ties, TIES)
    if not is_number(alpha) or not 0 < alpha < 1:
        raise must_be("alpha", "heart", "above 0 and below 1", alpha)
    if not is_number(eps) or not 1e-15 <= eps < 1:
        # Below that, the rounding of the sums is larger than what eps bounds.
        raise must_be("eps", "heart", "at least 1e-15 and below 1", eps)
    if "features" in heuristics and graph.features is None:
        raise InputError(f"heart: the heuristic 'features' needs node features, and {graph.name} has none")
    loops = np.flatnonzero(positives[:, 0] == positives[:, 1])
    if len(loops):
        raise InputError(f"positives: row {loops[0]} pairs node {positives[loops[0], 0]} with itself")


def largest_k(
    graph: Graph,
    positives: NDArray[Any],
    k: int,
    known: NDArray[Any] | None = None,
    keep_known: bool = False,
    sides: ArrayLike | None = None,
) -> int:
    """Return the largest possible k for :func:`heart`, at most ``k``; 0 if a node has no candidates."""
    further = np.empty((0, 2), dtype=np.int64) if known is None else known
    left = _candidates(graph, positives, further, keep_known, k // 2, Sides.check(sides, graph, "heart"))
    return min(k, 2 * int(left.min(initial=k)))


def _candidates(
    graph: Graph,
    positives: NDArray[Any],
    known: NDArray[Any],
    keep_known: bool,
    needed: int,
    sides: Sides | None,
) -> NDArray[np.int64]:
    """Return how many nodes can replace each end's partner, int64 (P, 2); exact where it is below needed."""
    left = np.full(positives.shape, graph.num_nodes - 2)
    if sides is not None:
        left = np.asarray(sides.opposite[positives] - 1)
    if keep_known:
        return left
    # A lower bound first: the known partners of an end are looked up only where it is not enough.
    left -= graph.degrees[positives] + np.bincount(known.ravel(), minlength=graph.num_nodes)[positives]
    for row, side in np.argwhere(left < needed):
        end, other = positives[row, side], positives[row, 1 - side]
        mates = known[(known == end).any(axis=1)].ravel()
        out = set(graph.neighbors(end).tolist()) | set(mates.tolist()) | {int(end), int(other)}
        if sides is None:
            left[row, side] = graph.num_nodes - len(out)
        else:
            over = sum(sides.of[node] == 1 - sides.of[end] for node in out)
            left[row, side] = sides.opposite[end] - over
    return left


def _check_candidates(asked: Request) -> None:
    """Refuse a positive with an end that has too few candidates."""
    graph, positives, half = asked.graph, asked.positives, asked.k // 2
    if len(positives) == 0:
        return
    left = _candidates(graph, positives, asked.known, asked.keep_known, half, asked.sides)
    if left.min() < half:
        row, side = np.unravel_index(left.argmin(), left.shape)
        node = int(positives[row, side])
        name = node if graph.labels is None else repr(graph.labels[node])
        most = 2 * int(left.min())
        advice = f"the largest possible k is {most}" if most else "no k is possible with this positive"
        raise InputError(
            f"heart: k is {asked.k}, but node {name} has only {most // 2} candidates"
            f" for its {half} negatives; {advice}"
        )
