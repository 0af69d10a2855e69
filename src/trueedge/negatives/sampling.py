"""Shared parts of the samplers: known pairs, and free pairs by number."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.errors import InputError, is_number, must_be
from trueedge.files.bounds import check_memory
from trueedge.graph import Graph, as_pairs, in_sorted, pair_keys

ROUNDS_FOR_A_TARGET = 30


@dataclass(frozen=True, eq=False)
class Known:
    """The pairs that must not be negatives: edges of the graph, positives, and further known pairs.

    Attributes:
        graph: its edges are known.
        more: int64 (x,), sorted keys of the known pairs that are not edges of the graph.
    """

    graph: Graph
    more: NDArray[np.int64]

    def __len__(self) -> int:
        return self.graph.num_edges + len(self.more)

    @property
    def more_pairs(self) -> NDArray[np.int64]:
        """The known pairs that are not edges of the graph, int64 (x, 2) with ``u < v``."""
        return np.column_stack(np.divmod(self.more, self.graph.num_nodes))

    @cached_property
    def keys(self) -> NDArray[np.int64]:
        """The sorted keys of all known pairs, int64."""
        # Two sorted runs: a stable sort merges them in linear time.
        return np.sort(np.concatenate([self.graph.edge_keys, self.more]), kind="stable")

    def and_keys(self, keys: NDArray[np.int64]) -> Known:
        """Return the same with further pairs, given by their keys."""
        return Known(self.graph, np.sort(np.concatenate([self.more, keys])))

    def holds(self, keys: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which keys are those of known pairs; quickest where the keys are sorted."""
        return in_sorted(keys, self.graph.edge_keys) | in_sorted(keys, self.more)

    def partners(self, nodes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the known neighbours of nodes (q,), and the nodes themselves, as sorted CSR rows, int64."""
        size = self.graph.num_nodes
        pairs = self.more_pairs
        more = np.concatenate([pairs, pairs[:, ::-1]])
        more = more[np.argsort(more[:, 0], kind="stable")]
        begin, end = np.searchsorted(more[:, 0], nodes), np.searchsorted(more[:, 0], nodes, side="right")
        indptr = self.graph.indptr
        rows, columns = [np.arange(len(nodes))], [nodes]
        for first, last, listed in (
            (indptr[nodes], indptr[nodes + 1], self.graph.indices),
            (begin, end, more[:, 1]),
        ):
            counts = last - first
            shifts = first - (np.cumsum(counts) - counts)
            columns.append(listed[np.repeat(shifts, counts) + np.arange(counts.sum())].astype(np.int64))
            rows.append(np.repeat(np.arange(len(nodes)), counts))
        keys = np.sort(np.concatenate(rows) * size + np.concatenate(columns))
        starts = np.searchsorted(keys, np.arange(len(nodes) + 1) * size)
        return starts, keys - np.repeat(np.arange(len(nodes)) * size, np.diff(starts))


def known_pairs(
    graph: Graph, positives: ArrayLike, known: ArrayLike | None
) -> tuple[NDArray[np.int64], Known]:
    """Return the positives, checked, and everything that is known with them.

    Args:
        graph: its edges are known.
        positives: int array (P, 2), without self-loops.
        known: int array (m, 2), further pairs; self-loops are ignored.
    """
    size = graph.num_nodes
    asked = as_pairs(positives, size, "positives")
    loops = np.flatnonzero(asked[:, 0] == asked[:, 1])
    if loops.size:
        raise InputError(f"positives: row {loops[0]} joins the node {asked[loops[0], 0]} to itself")
    further = as_pairs([] if known is None else known, size, "known")
    further = further[further[:, 0] != further[:, 1]]
    # np.unique of integers hashes them, which takes seven times as long as a sort.
    keys = np.sort(np.concatenate([pair_keys(asked, size), pair_keys(further, size)]))
    keys = keys[np.flatnonzero(np.diff(keys, prepend=-1))]
    return asked, Known(graph, keys[~in_sorted(keys, graph.edge_keys)])


def free_pairs(numbers: NDArray[np.int64], known: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Return the pairs that are not known, by their number in sorted order: int64 (n, 2) with ``u < v``.

    Args:
        numbers: int64 (n,), below ``size * (size - 1) / 2`` less the number of known pairs.
        known: int64, the sorted keys of the known pairs.
        size: the number of nodes.
    """
    nodes = np.arange(size, dtype=np.int64)
    # The pairs with first node u begin at place starts[u] of all pairs in sorted order.
    starts = nodes * (2 * size - nodes - 1) // 2
    u, v = np.divmod(known, size)
    places = skip(starts[u] + v - u - 1, numbers)
    first = np.searchsorted(starts, places, side="right") - 1
    # The last node begins no pair, so its start is one past the end and is never reached.
    return np.column_stack([first, places - starts[first] + first + 1])


def skip(taken: NDArray[np.int64], numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places of the free items by their number, where some places are taken.

    Args:
        taken: int64, sorted distinct places.
        numbers: int64 (n,), counted over the places that are not taken.
    """
    # Before the i-th taken place lie taken[i] - i free ones.
    gaps = taken - np.arange(len(taken))
    return numbers + np.searchsorted(gaps, numbers, side="right")


def like_positives(
    pairs: NDArray[np.int64], positives: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int32]:
    """Return the pairs, each turned as a positive drawn at random is: then direction gives nothing away.

    With randomly directed negatives and positives with ``u < v``, a scorer that returns ``u < v`` would reach
    an AUC of 0.75. The pairs (n, 2) have ``u < v``.
    """
    from trueedge.kernels.negatives.sampling import below

    descending = positives[:, 0] > positives[:, 1]
    turned = pairs.astype(np.int32)
    if descending.any():
        rows = np.flatnonzero(descending[below(rng, len(positives), len(pairs))])
        turned[rows] = turned[rows, ::-1]
    return turned


def with_sources_kept(
    sources: NDArray[np.int64], draw: Callable[[NDArray[np.int64]], NDArray[np.int64]], known: Known
) -> NDArray[np.int64]:
    """Return keys of distinct free pairs, one for each source that finds a target within 30 draws: int64.

    As in the published runs of the degree-corrected benchmark, the target of a rejected pair is redrawn and
    its source kept, so hubs stay sources. ``draw(sources)`` returns a random target for each.
    """
    size = known.graph.num_nodes
    kept = np.empty(0, dtype=np.int64)
    for _ in range(ROUNDS_FOR_A_TARGET):
        if not len(sources):
            break
        pairs = np.column_stack([sources, draw(sources)])
        keys = pair_keys(pairs, size)
        first = np.zeros(len(keys), dtype=np.bool_)
        first[np.unique(keys, return_index=True)[1]] = True
        good = first & (pairs[:, 0] != pairs[:, 1]) & ~known.holds(keys) & ~np.isin(keys, kept)
        kept = np.concatenate([kept, keys[good]])
        sources = sources[~good]
    return kept


def check_redraw(redraw: str, owner: str) -> None:
    """Refuse an unknown value of ``redraw``."""
    if redraw not in ("both", "target"):
        raise must_be("redraw", owner, "'both' or 'target'", redraw)


def how_many(ratio: float, positives: NDArray[np.int64], owner: str) -> int:
    """Return the number of negatives: so many for each positive, to the nearest whole number."""
    if not is_number(ratio) or not 0 <= ratio <= sys.float_info.max:
        raise must_be("ratio", owner, "a number, 0 or more", ratio)
    return round(float(ratio) * len(positives))


def check_fitting(count: int, owner: str, bytes_each: int = 64) -> None:
    """Refuse more negatives than memory holds; while they are drawn, each is held several times over."""
    check_memory(bytes_each * count, f"{owner}: a list of {count:,} negatives")
