"""What pruning by distance saves on a knowledge graph, and why: messages, distances, degrees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueedge.graph.knowledge import KnowledgeGraph
from trueedge.kernels.paths.distances import distances_from
from trueedge.randomness import generator


@dataclass(frozen=True, eq=False)
class MessageCounts:
    """The mean number of messages of a query in each round.

    A message is empty if the entity that sends it is not reached yet. A pruned message that is not empty is
    redundant: the entity that receives it has already had its share of paths.

    Attributes:
        full: float (layers,), of NBFNet, in which every edge passes a message.
        kept: float (layers,), of TAGNet.
        kept_empty: float (layers,), the empty ones among those that are kept.
        pruned_empty: float (layers,), the empty ones among those that are pruned.
        pruned_redundant: float (layers,), the others among these.
    """

    full: NDArray[np.float64]
    kept: NDArray[np.float64]
    kept_empty: NDArray[np.float64]
    pruned_empty: NDArray[np.float64]
    pruned_redundant: NDArray[np.float64]

    @property
    def reduction(self) -> float:
        """The share of NBFNet's messages that is saved (Figure 5.3)."""
        return 1 - float(self.kept.sum() / self.full.sum())

    @property
    def empty_share(self) -> float:
        """The share of empty messages among those that are pruned (Table D.3)."""
        pruned = self.pruned_empty.sum() + self.pruned_redundant.sum()
        return float(self.pruned_empty.sum() / pruned) if pruned else 0.0


def message_counts(
    graph: KnowledgeGraph,
    delta: int,
    layers: int = 6,
    queries: int | None = 512,
    batch_size: int = 16,
    seed: int = 0,
) -> MessageCounts:
    """Count the messages of training queries with and without pruning.

    As in training, a batch asks for the tails of half of its triples and for the heads of the others, and
    its triples are no edges meanwhile.

    Args:
        graph: the training graph.
        delta: how much longer than a shortest path a path may be.
        layers: number of rounds.
        queries: how many training triples are drawn; None: all of them.
        batch_size: triples of a batch.
        seed: for the draw.
    """
    edges = _Leaving(graph)
    rng = generator(seed, "message counts")
    drawn = rng.permutation(graph.num_triples)[: queries or graph.num_triples]
    # Edges by the distances of the entity that sends and of the one that receives.
    table = np.zeros((layers + 2, layers + 2))
    for start in range(0, len(drawn), batch_size):
        batch = drawn[start : start + batch_size]
        kept = np.ones(len(edges.tail), dtype=np.bool_)
        kept[edges.place[batch]] = kept[edges.place[batch + graph.num_triples]] = False
        triples = graph.triples[batch].astype(np.int64)
        sources = np.where(np.arange(len(batch)) < (len(batch) + 1) // 2, triples[:, 0], triples[:, 2])
        found = distances_from(edges.indptr, edges.tail, kept, sources, layers)
        for row in found.astype(np.int64):
            both = row[edges.head[kept]] * (layers + 2) + row[edges.tail[kept]]
            table += np.bincount(both, minlength=table.size).reshape(table.shape)
    return _counts(table / len(drawn), layers, delta)


def _counts(table: NDArray[np.float64], layers: int, delta: int) -> MessageCounts:
    sends, receives = np.indices(table.shape)
    found = []
    for t in range(1, layers + 1):
        empty = sends >= t
        kept = (t - delta <= receives) & (receives <= t) & (sends < receives + delta) & (sends <= layers)
        parts = (np.ones_like(kept), kept, kept & empty, ~kept & empty, ~kept & ~empty)
        found.append([float(table[part].sum()) for part in parts])
    return MessageCounts(*np.array(found).T)


def distance_distribution(
    graph: KnowledgeGraph, triples: NDArray[np.int32], limit: int = 6
) -> NDArray[np.float64]:
    """Return the share of triples whose entities are 1, 2, ..., limit - 1, and limit or more apart.

    Distances are those of the training graph, in which an edge is walked in both directions (Table D.5).
    A distance of 0 counts as 1; entities without a path are among the last.

    Args:
        graph: the training graph.
        triples: int (n, 3), of entities of that graph.
        limit: the last class.
    """
    edges = _Leaving(graph)
    kept = np.ones(len(edges.tail), dtype=np.bool_)
    heads, place = np.unique(triples[:, 0].astype(np.int64), return_inverse=True)
    found = np.empty(len(triples), dtype=np.int64)
    for start in range(0, len(heads), 256):
        table = distances_from(edges.indptr, edges.tail, kept, heads[start : start + 256], limit)
        inside = (place >= start) & (place < start + 256)
        found[inside] = table[place[inside] - start, triples[inside, 2]]
    counts = np.bincount(found.clip(1, limit), minlength=limit + 1)[1:]
    return counts / max(len(triples), 1)


def mean_degree(graph: KnowledgeGraph) -> float:
    """Return the number of triples per entity (Table D.4)."""
    return graph.num_triples / max(graph.num_entities, 1)


class _Leaving:
    """Triples and their inverses as edges, by the entity that they leave."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        both = graph.both_directions
        order = np.argsort(both[:, 0], kind="stable")
        self.head, self.tail = both[order, 0].astype(np.int64), np.ascontiguousarray(both[order, 2])
        self.indptr = np.searchsorted(self.head, np.arange(graph.num_entities + 1)).astype(np.int64)
        # Where each edge went.
        self.place = np.empty(len(order), dtype=np.int64)
        self.place[order] = np.arange(len(order))
