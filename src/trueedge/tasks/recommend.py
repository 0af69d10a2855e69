"""Recommendation: for each node, all others in order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.graph import Graph, in_sorted, pair_keys
from trueedge.metrics import evaluate_lists, get
from trueedge.negatives import full
from trueedge.randomness import generator
from trueedge.scorers.scorer import score_pairs
from trueedge.tasks.base import Task, warn_of

PAIRS_IN_A_BLOCK = 4_000_000


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class RecommendTask(Task):
    """Each node that has a hidden edge ranks every node it is not known to be joined to.

    Attributes:
        hidden: the positives of ``valid`` (where there is one) and ``test``, int32 (P, 2).
    """

    kind: ClassVar[str] = "recommend"

    hidden: Mapping[str, NDArray[np.int32]]

    @property
    def part_names(self) -> tuple[str, ...]:
        """The parts that hold positives."""
        return tuple(self.hidden)

    def queries(self, part: str = "test") -> NDArray[np.int32]:
        """The nodes that have a hidden edge in a part, int32 (q,), ascending."""
        self.check_part(part)
        return np.unique(self.hidden[part])

    def known(self, part: str) -> Graph:
        """The graph whose neighbours are never recommended: training, and at test validation edges too."""
        if part == "test" and "valid" in self.hidden:
            return self.graph.with_edges(self.hidden["valid"])
        return self.graph

    def evaluate(
        self, scorer: object, part: str = "test", metrics: Sequence[str] | None = None
    ) -> dict[str, float]:
        """Judge a scorer on the nodes of a part, in blocks of nodes; see :meth:`Task.evaluate`."""
        self.check_part(part)
        wanted = self.metrics if metrics is None else (metrics,) if isinstance(metrics, str) else metrics
        names = [self._possible(name) for name in wanted]
        bound = self.bind(scorer, part)
        totals = dict.fromkeys(names, 0.0)
        count, low, high = 0, np.inf, -np.inf
        for pairs, indptr, relevant in self.blocks(part):
            scores = score_pairs(bound, pairs)
            low, high = min(low, scores.min()), max(high, scores.max())
            values = evaluate_lists(indptr, scores, relevant, names, block=True)
            count += values.queries
            for name in names:
                totals[name] += values[name] * values.queries
        if low == high:
            warn_of(self, part, [f"all scores are {low:g}: nothing is told apart"])
        return {name: total / count for name, total in totals.items()}

    def _possible(self, name: str) -> str:
        """A metric's name as it is written in full; a list longer than any node's candidates is refused."""
        metric = get(name)
        if metric.k is not None and metric.k >= self.num_nodes:
            raise InputError(f"{metric.name}: {self.dataset} has only {self.num_nodes} nodes")
        return metric.name

    def blocks(self, part: str) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]]:
        """Blocks of nodes with all their candidates: pairs (n, 2), row starts (q + 1,), relevance (n,)."""
        keys = np.sort(pair_keys(self.hidden[part], self.num_nodes))
        queries = self.queries(part)
        known = self.known(part)
        step = max(1, PAIRS_IN_A_BLOCK // self.num_nodes)
        for start in range(0, len(queries), step):
            listed = full(known, queries[start : start + step])
            sources = np.repeat(listed.nodes, np.diff(listed.indptr))
            pairs = np.column_stack([sources, listed.candidates]).astype(np.int64)
            yield pairs, listed.indptr, in_sorted(pair_keys(pairs, self.num_nodes), keys)

    def sample(self, part: str, size: int, seed: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Some positives, and as many candidates that are not, of the first nodes of a part."""
        self.check_part(part)
        rng = generator(seed, "sample", part)
        hidden = self.hidden[part]
        positives = hidden[rng.choice(len(hidden), size=min(size, len(hidden)), replace=False)]
        pairs, _, relevant = next(self.blocks(part))
        others = pairs[~relevant]
        rows = rng.choice(len(others), size=min(size, len(others)), replace=False)
        return positives.astype(np.int64), others[rows]

    @cached_property
    def hashes(self) -> dict[str, str]:
        """The SHA-256 of the training graph and of each part's positives."""
        parts = {
            name: hashlib.sha256(np.ascontiguousarray(pairs, dtype="<i4").tobytes()).hexdigest()
            for name, pairs in self.hidden.items()
        }
        return {"graph": self.graph.hash, **parts}

    @cached_property
    def hash(self) -> str:
        """A SHA-256 of graph and positives."""
        text = " ".join(f"{name}={value}" for name, value in sorted(self.hashes.items()))
        return hashlib.sha256(f"{self.kind} {text}".encode()).hexdigest()
