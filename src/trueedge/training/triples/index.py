"""The training triples on a device: queries, their answers, and entities that are no answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

if TYPE_CHECKING:
    from trueedge.graph.knowledge import KnowledgeGraph


class TripleIndex:
    """The triples of a graph in both directions, sorted by query (head, relation).

    Attributes:
        num_entities: the number of entities.
        heads, relations, tails: the triples, int64 (m,) each, on the device.
        query: the query of each triple, int64 (m,).
        queries: head and relation of each query, int64 (2, queries).
        indptr: where the triples of each query begin, int64 (queries + 1,).
        starts, counts: where the triples of each query begin and how many there are, int64 (queries,)
            each, on the CPU.
        rows: the triples on the CPU, int64 (m, 3).
        degrees: the number of triples with the relation and the tail of each triple, int64 (m,), on the CPU.
    """

    def __init__(self, graph: KnowledgeGraph, device: str | torch.device = "cpu") -> None:
        both = graph.both_directions.astype(np.int64)
        self.rows: NDArray[np.int64] = both[np.lexsort((both[:, 2], both[:, 1], both[:, 0]))]
        self.num_entities = graph.num_entities
        self.num_relations = 2 * graph.num_relations
        self.device = torch.device(device)
        starts = np.flatnonzero(np.r_[True, (self.rows[1:, :2] != self.rows[:-1, :2]).any(axis=1)])
        indptr = np.r_[starts, len(self.rows)]
        self.starts: NDArray[np.int64] = starts.astype(np.int64)
        self.counts: NDArray[np.int64] = np.diff(indptr)
        self.degrees = tail_relation_degrees(self.rows)
        query = np.repeat(np.arange(len(starts)), self.counts)
        self.heads, self.relations, self.tails = self._put(self.rows.T)
        self.query = self._put(query)
        self.queries = self._put(self.rows[starts, :2].T)
        self.indptr = self._put(indptr)
        # The j-th answer t of a query has t - j other entities before it: see `other_entities`.
        before = self.rows[:, 2] - (np.arange(len(self.rows)) - starts[query])
        self._keys = self._put(query * (self.num_entities + 1) + before)
        self._others = self._put(self.num_entities - self.counts)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def num_queries(self) -> int:
        """Return the number of queries."""
        return len(self.counts)

    def labels(self, queries: torch.Tensor, answers: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return where the answers to some queries are in a table of queries and entities.

        Args:
            queries: int64 (b,).
            answers: how many answers to return: all of them, or more.

        Returns:
            for each answer its row and its triple, int64 (answers,), and whether it is one: what is asked
            for beyond the last answer is not.
        """
        first = self.indptr[queries]
        ends = (self.indptr[queries + 1] - first).cumsum(0)
        place = torch.arange(answers, device=queries.device)
        row = torch.searchsorted(ends, place, right=True)
        real = row < len(queries)
        row = row.clamp(max=len(queries) - 1)
        begins = torch.cat([ends.new_zeros(1), ends[:-1]])
        triple = torch.where(real, first[row] + place - begins[row], 0)
        return row, triple, real

    def most_answers(self, batch_size: int) -> int:
        """Return how many answers a batch of queries may have."""
        size = min(batch_size, len(self.counts))
        return int(np.partition(self.counts, -size)[-size:].sum())

    def other_entities(self, queries: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Draw entities that are no answers to some queries, uniformly and with replacement.

        Args:
            queries: int64 (b,).
            count: how many for each query.

        Returns:
            entities, int64 (b, count), and which queries have any, bool (b,).
        """
        others = self._others[queries]
        shape = (len(queries), count)
        drawn = torch.rand(shape, device=queries.device, dtype=torch.float64)
        place = (drawn * others.unsqueeze(1)).long().clamp_(max=self.num_entities - 1)
        # The u-th entity that is no answer is u plus the number of answers with at most u others before them.
        keys = queries.unsqueeze(1) * (self.num_entities + 1) + place
        smaller = torch.searchsorted(self._keys, keys, right=True) - self.indptr[queries].unsqueeze(1)
        return (place + smaller).clamp_(max=self.num_entities - 1), others > 0

    def any_entities(self, queries: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Draw entities for some queries, uniformly and with replacement: answers may be among them."""
        shape = (len(queries), count)
        drawn = torch.randint(self.num_entities, shape, device=queries.device)
        return drawn, torch.ones(len(queries), dtype=torch.bool, device=queries.device)

    def _put(self, array: NDArray[np.int64]) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)


def tail_relation_degrees(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each triple how many triples have its relation and its tail, int64 (m,).

    Shomer et al., Toward Degree Bias in Embedding-Based Knowledge Graph Completion, WWW 2023, Eq. 2.
    """
    keys = rows[:, 1] * (rows[:, 2].max(initial=0) + 1) + rows[:, 2]
    _, where, counts = np.unique(keys, return_inverse=True, return_counts=True)
    found: NDArray[np.int64] = counts[where].astype(np.int64)
    return found
