"""Search for the partition of smallest description length, by merging groups and moving nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trueedge.graph import Graph
from trueedge.methods.blockmodels.description import (
    degrees_within,
    edges_among,
    group_ends,
    length_of,
    make_terms,
)
from trueedge.randomness import generator

if TYPE_CHECKING:
    from trueedge.kernels.blocks.block_merges import BlockGraph
    from trueedge.kernels.blocks.blockmodel import Groups, Terms

Ints = NDArray[np.int64]

# Factors by which the number of groups falls between two phases of moves, and in one round of merges. Merges
# are priced one at a time, so small rounds are more accurate.
SHRINK, MERGE_STEP = 1.5, 1.05
MERGE_PROPOSALS, MOVE_PROPOSALS = 10, 6
# Downhill sweeps: their largest number, and the gain in nats per edge below which they stop.
MOST_SWEEPS, ENOUGH = 3, 1e-5
# Temperatures of the sweeps before those: during the descent, around the best number of groups, and at the
# end. On ca-GrQc they shorten the description by 1 %.
DESCENT = (1.0, 0.8, 0.6, 0.4, 0.2)
SEARCH = tuple(np.linspace(1.0, 0.0, 10, endpoint=False).tolist())
POLISH = tuple(np.linspace(1.0, 0.0, 40, endpoint=False).tolist())
GOLDEN = (5**0.5 - 1) / 2


@dataclass(frozen=True, eq=False)
class Partition:
    """The group of each node, int64 (n,), numbered by first node, and the description length in nats."""

    blocks: Ints
    description_length: float

    @property
    def num_blocks(self) -> int:
        """The number of groups."""
        return int(self.blocks.max(initial=-1)) + 1


def fit_partition(
    graph: Graph, *, corrected: bool, blocks: int | None = None, starts: int = 1, seed: int = 0
) -> Partition:
    """Search for the partition of smallest description length.

    Every node starts as its own group. Groups are merged, cheapest merges first, to two thirds of their
    number; then nodes are moved one by one, with Metropolis sampling at falling temperatures and finally
    downhill; this repeats down to one group (after Peixoto, Efficient Monte Carlo and Greedy Heuristic for
    the Inference of Stochastic Block Models, 2014). A golden section search around the best number of groups
    follows, then a slower cooling. A sweep is linear in the edges, memory is linear in the graph.

    Args:
        corrected: whether the model is degree-corrected.
        blocks: the number of groups, at most the number of nodes; None: the one with the shortest
            description.
        starts: the number of searches; the shortest description is kept.
        seed: for the order of nodes and the proposals.
    """
    searches = (_Search(graph, corrected, seed, start) for start in range(starts))
    found = min((search.run(blocks) for search in searches), key=lambda part: part.description_length)
    return Partition(_by_first_node(found.blocks), found.description_length)


class _Search:
    """One descent from as many groups as nodes, and the partitions found on the way."""

    def __init__(self, graph: Graph, corrected: bool, seed: int, start: int) -> None:
        self.graph = graph
        self.terms = make_terms(graph, corrected)
        self.rng = generator(seed, "block model", start)
        self.found: dict[int, Partition] = {}
        self._keep(np.arange(graph.num_nodes, dtype=np.int64), graph.num_nodes)

    def run(self, blocks: int | None) -> Partition:
        many = self.graph.num_nodes
        least = 1 if blocks is None else blocks
        while many > least:
            many = max(least, int(many / SHRINK))
            self.at(many, DESCENT)
        if blocks is not None:
            return self._polished(blocks)
        return self._between()

    def _between(self) -> Partition:
        """Search by golden section for the number of groups, around the best of the descent."""
        known = sorted(self.found)
        best = known.index(self._best())
        low, middle, high = known[max(best - 1, 0)], known[best], known[min(best + 1, len(known) - 1)]
        while high - low > 2 and max(high - middle, middle - low) > 1:
            if high - middle > middle - low:
                probe = middle + max(1, round((high - middle) * (1 - GOLDEN)))
            else:
                probe = middle - max(1, round((middle - low) * (1 - GOLDEN)))
            if self.at(probe, SEARCH).description_length < self.found[middle].description_length:
                low, middle, high = (middle, probe, high) if probe > middle else (low, probe, middle)
            elif probe > middle:
                high = probe
            else:
                low = probe
        return self._polished(self._best())

    def _polished(self, many: int) -> Partition:
        """Cool the partition into so many groups once more, slowly; return the better of both."""
        before = self.found[many]
        self._keep(self._settle(before.blocks, many, POLISH), many)
        return min(before, self.found[many], key=lambda part: part.description_length)

    def _best(self) -> int:
        return min(self.found, key=lambda many: (self.found[many].description_length, many))

    def at(self, many: int, heats: tuple[float, ...]) -> Partition:
        """Return the partition into so many groups, merged from the next larger known one."""
        if many not in self.found:
            larger = min(known for known in self.found if known > many)
            of = self.found[larger].blocks
            while larger > many:
                of, larger = self._merge(of, larger, max(many, int(larger / MERGE_STEP)))
            self._keep(self._settle(of, many, heats), many)
        return self.found[many]

    def _keep(self, of: Ints, many: int) -> None:
        self.found[many] = Partition(of, length_of(self.graph, of, many, self.terms))

    def _merge(self, of: Ints, many: int, wanted: int) -> tuple[Ints, int]:
        from trueedge.kernels.blocks.block_merges import find_merges, join

        draws = self._draws(many, MERGE_PROPOSALS)
        partner, price = find_merges(
            make_groups(self.graph, of, many, self.terms),
            self.terms,
            make_block_graph(self.graph, of, many),
            draws,
        )
        label = join(partner, np.argsort(price, kind="stable"), many - wanted)
        return label[of], int(label.max()) + 1

    def _settle(self, of: Ints, many: int, heats: tuple[float, ...]) -> Ints:
        """Move nodes by Metropolis sampling at falling temperatures, then downhill until it stalls."""
        groups = make_groups(self.graph, of, many, self.terms)
        if many == 1:
            return groups.of
        for heat in heats:
            self._sweep(groups, heat)
        for _ in range(MOST_SWEEPS):
            if self._sweep(groups, 0.0) < ENOUGH * self.graph.num_edges:
                break
        return groups.of

    def _sweep(self, groups: Groups, heat: float) -> float:
        from trueedge.kernels.blocks.blockmodel import sweep

        nodes = self.graph.num_nodes
        order, draws = self.rng.permutation(nodes), self._draws(nodes, MOVE_PROPOSALS)
        bearable = heat * self.rng.exponential(size=nodes) if heat else np.zeros(nodes)
        arrays = (self.graph.indptr, self.graph.indices, groups, self.terms, order, draws, bearable)
        return float(sweep(*arrays)[1])

    def _draws(self, count: int, proposals: int) -> NDArray[np.uint32]:
        return self.rng.integers(0, 1 << 32, size=(count, proposals, 3), dtype=np.uint32)


def make_groups(graph: Graph, of: Ints, many: int, terms: Terms) -> Groups:
    """Return the counts of a partition into groups ``0..many-1``, none of them empty, int64 (n,)."""
    from trueedge.kernels.blocks.blockmodel import Groups
    from trueedge.kernels.neighbors.pair_counts import pair_counts

    kinds = min(graph.num_edges, many * (many + 1) // 2)
    edges = pair_counts(*edges_among(graph, of, many), most=kinds)
    none = np.empty(0, dtype=np.int64)
    degrees = degrees_within(graph, of) if terms.corrected else (none, none, none)
    return Groups(
        of.copy(),
        np.bincount(of, minlength=many),
        group_ends(graph, of, many),
        edges,
        pair_counts(*degrees, most=graph.num_nodes if terms.corrected else 0),
    )


def make_block_graph(graph: Graph, of: Ints, many: int) -> BlockGraph:
    """Return the multigraph among the groups of a partition."""
    from trueedge.kernels.blocks.block_merges import BlockGraph

    first, second, count = edges_among(graph, of, many)
    within = first == second
    rows = np.concatenate([first, second[~within]])
    order = np.argsort(rows, kind="stable")
    amounts = np.concatenate([np.where(within, 2 * count, count), count[~within]])[order]
    groups, degree, _ = degrees_within(graph, of)
    return BlockGraph(
        _row_starts(rows, many),
        np.concatenate([second, first[~within]])[order],
        np.concatenate([[0], np.cumsum(amounts)]),
        _row_starts(groups, many),
        degree,
    )


def _row_starts(rows: Ints, many: int) -> Ints:
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=many))])


def _by_first_node(of: Ints) -> Ints:
    _, first, inverse = np.unique(of, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]
