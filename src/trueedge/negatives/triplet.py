"""Negatives of each positive that keep one end and replace the other uniformly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.errors import InputError, must_be, whole_number
from trueedge.graph import Graph
from trueedge.graph.graph import check_graph
from trueedge.negatives.between import Sides
from trueedge.negatives.sampling import check_fitting, known_pairs
from trueedge.randomness import generator

# Partners drawn at a time; changing it changes the pairs of a seed.
_BLOCK = 1 << 22


def triplet(
    graph: Graph,
    positives: ArrayLike,
    k: int = 1,
    known: ArrayLike | None = None,
    seed: int = 0,
    keep: str = "source",
    sides: ArrayLike | None = None,
) -> NDArray[np.int32]:
    """Draw k negatives per positive that keep one end and replace the other uniformly: int32 (P, k, 2).

    Partners are uniform over the nodes that are not known neighbours of the kept end, and distinct for each
    positive. The kept end stays in its column.

    Args:
        graph: its edges are never negatives.
        positives: int array (P, 2), never negatives.
        k: negatives for each positive.
        known: int array (m, 2) of further pairs that are never negatives.
        seed: the same seed gives the same pairs on every machine.
        keep: the end that stays: ``"source"`` (column 0), ``"target"`` (column 1), or ``"random"``, either
            with equal chance for each positive.
        sides: int array (n,), 0 or 1 for the nodes of a bipartite graph: partners are on the other side.

    Aiyappa et al. 2025, "Implicit Degree Bias in the Link Prediction Task", Appendix C; Rendle et al. 2009,
    "BPR: Bayesian Personalized Ranking from Implicit Feedback".
    """
    from trueedge.kernels.negatives.sampling import below

    k = whole_number("k", "triplet", k, 1)
    if keep not in ("source", "target", "random"):
        raise must_be("keep", "triplet", "'source', 'target' or 'random'", keep)
    asked, all_known = known_pairs(check_graph(graph, "triplet"), positives, known)
    rng = generator(seed, "negatives", "triplet")
    rows = np.arange(len(asked))
    column = below(rng, 2, len(asked)) if keep == "random" else np.full(len(asked), int(keep == "target"))
    nodes, which = np.unique(asked[rows, column], return_inverse=True)
    indptr, partners = all_known.partners(nodes)
    two = Sides.check(sides, graph, "triplet")
    sizes = np.full(len(nodes), graph.num_nodes)
    if two is not None:
        two.refuse_within(asked, "triplet: the positive")
        sizes, (indptr, partners) = two.opposite[nodes], _across(two, nodes, indptr, partners)
    _check_enough(graph, nodes, sizes - np.diff(indptr), k)
    check_fitting(len(asked) * k, "triplet", 8)
    free = _Free.beside(indptr, partners, sizes)
    negatives = np.repeat(asked[:, None].astype(np.int32), k, axis=1)
    step = max(1, _BLOCK // k)
    for start in range(0, len(asked), step):
        block = rows[start : start + step]
        drawn = free.draw(rng, which[block], k)
        if two is not None:
            drawn = two.across(nodes[which[block]], drawn)
        negatives[block, :, 1 - column[block]] = drawn
    return negatives


def _across(
    two: Sides, nodes: NDArray[np.int64], indptr: NDArray[np.int64], partners: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the partners on the other side of each node, by their place there, as sorted CSR rows."""
    lists = np.repeat(np.arange(len(nodes)), np.diff(indptr))
    over = two.joined(np.column_stack([nodes[lists], partners]))
    starts = np.searchsorted(lists[over], np.arange(len(nodes) + 1))
    # Places are in the order of the nodes, so rows stay sorted.
    return starts, two.places[partners[over]]


def _check_enough(graph: Graph, nodes: NDArray[np.int64], free: NDArray[np.int64], k: int) -> None:
    if len(nodes) and free.min() < k:
        worst = int(free.argmin())
        raise InputError(
            f"triplet: k is {k}, but node {nodes[worst]} of {graph.name} has only {free[worst]} nodes"
            " that are not known neighbours"
        )


@dataclass(frozen=True, eq=False)
class _Free:
    """The nodes that some lists leave free, by their number in each list."""

    indptr: NDArray[np.int64]
    gaps: NDArray[np.int64]
    sizes: NDArray[np.int64]
    most: int

    @classmethod
    def beside(cls, indptr: NDArray[np.int64], taken: NDArray[np.int64], sizes: NDArray[np.int64]) -> _Free:
        """Return what sorted lists of taken nodes (row starts and rows, as in CSR) leave free of a range.

        Args:
            indptr, taken: the lists.
            sizes: int64 (lists,), how long the range is that each list is of.
        """
        most = int(sizes.max(initial=0))
        lists = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
        # Before the i-th taken node of a list lie taken - i free ones, as in :func:`sampling.skip`; the
        # number of the list in front makes one sorted array of all lists.
        gaps = taken - (np.arange(len(taken)) - indptr[lists])
        return cls(indptr, lists * (most + 1) + gaps, sizes, most)

    def draw(self, rng: np.random.Generator, lists: NDArray[np.int64], k: int) -> NDArray[np.int64]:
        """Draw k distinct free nodes of a list in each row, uniformly: (rows, k)."""
        from trueedge.kernels.negatives.sampling import distinct_in_rows

        sizes = (self.sizes - np.diff(self.indptr))[lists]
        numbers = distinct_in_rows(rng, sizes, np.full(len(lists), k)).reshape(len(lists), k)
        wanted = lists[:, None] * (self.most + 1) + numbers
        return numbers + np.searchsorted(self.gaps, wanted, side="right") - self.indptr[lists][:, None]
