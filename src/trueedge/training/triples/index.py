"""The training triples on a device: questions, their answers, and entities that are no answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

if TYPE_CHECKING:
    from trueedge.graph.knowledge import KnowledgeGraph


class TripleIndex:
    """The triples of a graph in both directions, sorted by question (head, relation).

    Attributes:
        num_entities: the number of entities.
        heads, relations, tails: the triples, int64 (m,) each, on the device.
        question: the question of each triple, int64 (m,).
        asked: head and relation of each question, int64 (2, questions).
        indptr: where the triples of each question begin, int64 (questions + 1,).
        starts, counts: where the triples of each question begin and how many there are, int64 (questions,)
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
        question = np.repeat(np.arange(len(starts)), self.counts)
        self.heads, self.relations, self.tails = self._put(self.rows.T)
        self.question = self._put(question)
        self.asked = self._put(self.rows[starts, :2].T)
        self.indptr = self._put(indptr)
        # The j-th answer t of a question has t - j other entities before it: see `other_entities`.
        before = self.rows[:, 2] - (np.arange(len(self.rows)) - starts[question])
        self._keys = self._put(question * (self.num_entities + 1) + before)
        self._others = self._put(self.num_entities - self.counts)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def num_questions(self) -> int:
        """Return the number of questions."""
        return len(self.counts)

    def labels(self, questions: torch.Tensor, answers: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return where the answers to some questions are in a table of questions and entities.

        Args:
            questions: int64 (b,).
            answers: how many answers to return: all of them, or more.

        Returns:
            for each answer its row and its triple, int64 (answers,), and whether it is one: what is asked
            for beyond the last answer is not.
        """
        first = self.indptr[questions]
        ends = (self.indptr[questions + 1] - first).cumsum(0)
        place = torch.arange(answers, device=questions.device)
        row = torch.searchsorted(ends, place, right=True)
        real = row < len(questions)
        row = row.clamp(max=len(questions) - 1)
        begins = torch.cat([ends.new_zeros(1), ends[:-1]])
        triple = torch.where(real, first[row] + place - begins[row], 0)
        return row, triple, real

    def most_answers(self, batch_size: int) -> int:
        """Return how many answers a batch of questions may have."""
        size = min(batch_size, len(self.counts))
        return int(np.partition(self.counts, -size)[-size:].sum())

    def other_entities(self, questions: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Draw entities that are no answers to some questions, uniformly and with replacement.

        Args:
            questions: int64 (b,).
            count: how many for each question.

        Returns:
            entities, int64 (b, count), and which questions have any, bool (b,): every entity may be an answer.
        """
        others = self._others[questions]
        shape = (len(questions), count)
        drawn = torch.rand(shape, device=questions.device, dtype=torch.float64)
        place = (drawn * others.unsqueeze(1)).long().clamp_(max=self.num_entities - 1)
        # The u-th entity that is no answer is u plus the number of answers with at most u others before them.
        keys = questions.unsqueeze(1) * (self.num_entities + 1) + place
        smaller = torch.searchsorted(self._keys, keys, right=True) - self.indptr[questions].unsqueeze(1)
        return (place + smaller).clamp_(max=self.num_entities - 1), others > 0

    def any_entities(self, questions: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Draw entities for some questions, uniformly and with replacement: answers may be among them."""
        shape = (len(questions), count)
        drawn = torch.randint(self.num_entities, shape, device=questions.device)
        return drawn, torch.ones(len(questions), dtype=torch.bool, device=questions.device)

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
