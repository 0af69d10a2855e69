"""The nodes that LPFormer attends to around a pair: common neighbours, one-hop nodes, and nodes beyond.

A node is chosen if its PageRank from both ends reaches the threshold of its kind. Neighbours are those in the
batch's graph; the PageRank is that of the whole graph, without the pair's own edge if that is hidden.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from trueedge.methods.pairwise.models.attention import Segments
from trueedge.methods.pairwise.models.near_ranks import NearRanks
from trueedge.training.links.messages import Messages
from trueedge.training.links.pair_sets import are_linked

COMMON, ONE_HOP, BEYOND = range(3)
# A threshold that chooses nothing.
OFF = 1.0


@dataclass(frozen=True)
class Thresholds:
    """The PageRank threshold of each kind of node; 1: no node of that kind is chosen."""

    common: float
    one_hop: float
    beyond: float

    @property
    def active(self) -> list[int]:
        """The kinds of which any node may be chosen."""
        return [kind for kind, value in enumerate(self.values()) if value < OFF]

    def values(self) -> tuple[float, float, float]:
        """Return the thresholds by kind."""
        return self.common, self.one_hop, self.beyond

    def by_rank(self) -> list[int]:
        """Return the kinds with a threshold above 0; nodes of the others are found along edges."""
        return [kind for kind in self.active if self.values()[kind] > 0]

    def least(self) -> float:
        """Return the smallest PageRank that is needed of nodes that are not neighbours."""
        asked = [self.values()[kind] for kind in self.by_rank()]
        return 0.0 if ONE_HOP in self.active and self.one_hop == 0 else min(asked, default=OFF)


@dataclass(frozen=True)
class Chosen:
    """Nodes of one kind around each of some pairs.

    Attributes:
        kind: COMMON, ONE_HOP or BEYOND.
        segments: the pair of each node.
        nodes: int64 (k,).
        ranks: float32 (k, 2), the PageRank from the pair's first and second end.
        unreached: whether all ranks are zero.
    """

    kind: int
    segments: Segments
    nodes: torch.Tensor
    ranks: torch.Tensor
    unreached: bool = False

    def where(self, kept: torch.Tensor, unreached: bool = False) -> Chosen:
        """Return the nodes for which a mask (k,) holds."""
        places = kept.nonzero().squeeze(1)
        segments = Segments(self.segments.rows[places], self.segments.count)
        return Chosen(self.kind, segments, self.nodes[places], self.ranks[places], unreached)


@dataclass(frozen=True)
class _Around:
    """Pairs, their message graph, and its PageRank."""

    pairs: torch.Tensor
    messages: Messages
    ranks: NearRanks
    factors: torch.Tensor | None

    def masked(self, rows: torch.Tensor, found: torch.Tensor) -> torch.Tensor:
        """Return the PageRank (k, 2) without a hidden pair's own edge."""
        if self.factors is None:
            return found
        return (self.factors[rows] @ found.unsqueeze(2)).squeeze(2).clamp_(min=0.0)


def choose(
    pairs: torch.Tensor,
    messages: Messages,
    ranks: NearRanks,
    thresholds: Thresholds,
    dropout: float = 0.0,
    mask: bool = True,
) -> list[Chosen]:
    """Return the nodes to attend to around pairs, kind by kind; a kind of which none is chosen is left out.

    If PageRank is zero at many neighbours, those are separate: a kind may come twice.

    Args:
        pairs: int64 (m, 2).
        messages: the message graph; edges of ``ranks.whole`` that it lacks are hidden.
        dropout: the share of chosen nodes that is dropped.
        mask: remove a hidden pair's own edge from the PageRank.
    """
    hides = mask and messages is not ranks.whole
    around = _Around(pairs, messages, ranks, ranks.hidden(pairs, messages)[1] if hides else None)
    found = [*_along_edges(around, thresholds), *_by_rank(around, thresholds)]
    if dropout > 0:
        found = [one.where(torch.rand(len(one.nodes), device=pairs.device) >= dropout) for one in found]
    if ranks.unreached:
        found = [part for one in found for part in _set_apart(one)]
    return [one for one in found if len(one.nodes)]


def _set_apart(one: Chosen) -> tuple[Chosen, Chosen]:
    """Return the nodes with any PageRank, and those with none."""
    reached = (one.ranks > 0).any(dim=1)
    return one.where(reached), one.where(~reached, unreached=True)


def _along_edges(around: _Around, thresholds: Thresholds) -> Iterator[Chosen]:
    """Yield the kinds with a threshold of zero, which contain every neighbour."""
    pairs, messages = around.pairs, around.messages
    kinds = [kind for kind in thresholds.active if thresholds.values()[kind] == 0]
    if not kinds or len(messages.indices) == 0:
        return
    along = around.ranks.along(messages)
    if COMMON in kinds:
        fewer = messages.indptr.diff()[pairs].argmin(dim=1)
        yield _common(around, along, fewer)
    if ONE_HOP in kinds:
        for side in (0, 1):
            yield _lone(around, along, side)


def _common(around: _Around, along: torch.Tensor, side: torch.Tensor) -> Chosen:
    """Return common neighbours: the neighbours of the end with fewer, looked up at the other."""
    pairs, messages = around.pairs, around.messages
    ends = pairs.gather(1, torch.stack([side, 1 - side], dim=1))
    rows, places = _ragged(messages.indptr, ends)
    nodes = messages.indices[places]
    keys = (ends[:, 1] * messages.num_nodes)[rows] + nodes
    others = torch.searchsorted(messages.arc_keys, keys).clamp_(max=len(messages.indices) - 1)
    # One wait for the GPU: everything else follows from these positions.
    both = (messages.arc_keys[others] == keys).nonzero().squeeze(1)
    rows, nodes = rows[both], nodes[both]
    found = torch.stack([along[places[both]], along[others[both]]], dim=1)
    found = torch.where((side == 1)[rows].unsqueeze(1), found.flip(1), found)
    return Chosen(COMMON, Segments(rows, len(pairs)), nodes, around.masked(rows, found))


def _lone(around: _Around, along: torch.Tensor, side: int) -> Chosen:
    """Return the neighbours of one end alone."""
    pairs, messages = around.pairs, around.messages
    rows, places = _ragged(messages.indptr, pairs if side == 0 else pairs.flip(1))
    nodes, others = messages.indices[places], pairs[rows, 1 - side]
    alone = ((nodes != others) & ~are_linked(messages, others, nodes)).nonzero().squeeze(1)
    rows, nodes, others, places = (part[alone] for part in (rows, nodes, others, places))
    there, value = around.ranks.entry(others, nodes)
    found = torch.stack([along[places], torch.where(there, value, 0.0)], dim=1)
    found = found if side == 0 else found.flip(1)
    return Chosen(ONE_HOP, Segments(rows, len(pairs)), nodes, around.masked(rows, found))


def _by_rank(around: _Around, thresholds: Thresholds) -> Iterator[Chosen]:
    """Yield the kinds with a threshold above zero, from the common entries of both PageRank rows."""
    kinds = thresholds.by_rank()
    if not kinds:
        return
    pairs, ranks = around.pairs, around.ranks
    side = ranks.starts.diff()[pairs].argmin(dim=1)
    ends = pairs.gather(1, torch.stack([side, 1 - side], dim=1))
    rows, places = _ragged(ranks.starts, ends)
    nodes = ranks.keys[places] % ranks.whole.num_nodes
    there, value = ranks.entry(ends[:, 1][rows], nodes)
    found = torch.stack([ranks.values[places], value], dim=1)
    found = around.masked(rows, torch.where((side == 1)[rows].unsqueeze(1), found.flip(1), found))
    least = min(thresholds.values()[kind] for kind in kinds)
    kept = (there & (found >= least).all(dim=1)).nonzero().squeeze(1)
    rows, nodes, found = rows[kept], nodes[kept], found[kept]
    kind = _kinds(around, pairs[rows], nodes)
    for one in kinds:
        enough = (found >= thresholds.values()[one]).all(dim=1)
        yield Chosen(one, Segments(rows, len(pairs)), nodes, found).where((kind == one) & enough)


def _kinds(around: _Around, ends: torch.Tensor, nodes: torch.Tensor) -> torch.Tensor:
    """Return what each node is to its pair, int64 (k,); -1 for a neighbour behind a hidden edge."""
    messages = around.messages
    linked = [are_linked(messages, ends[:, side], nodes).long() for side in (0, 1)]
    kind = BEYOND - linked[0] - linked[1]
    if messages is not messages.whole:
        # The hidden edge of another pair leads there: it is a neighbour, not a node beyond.
        known = [are_linked(messages.whole, ends[:, side], nodes) for side in (0, 1)]
        kind = torch.where((kind == BEYOND) & (known[0] | known[1]), -1, kind)
    return kind


def _ragged(starts: torch.Tensor, ends: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the places of the first ends' rows in a CSR matrix: which pair each belongs to, and the place.

    Self-pairs, which pad blocks of pairs, have no rows.
    """
    asked = ends[:, 0]
    begin, sizes = starts[asked], starts.diff()[asked] * (asked != ends[:, 1])
    last = torch.cumsum(sizes, 0)
    rows = torch.repeat_interleave(torch.arange(len(ends), device=ends.device), sizes)
    places = torch.arange(len(rows), device=ends.device) + (begin - last + sizes)[rows]
    return rows, places
