"""Recommendation: each node ranks all other nodes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.graph import Graph, in_sorted, pair_keys
from trueedge.metrics import Evaluation, ListScores, UnitValues, evaluate_lists, get
from trueedge.negatives import full
from trueedge.randomness import generator
from trueedge.scorers.capabilities import Need
from trueedge.scorers.scorer import Scorer, ask, dimensions_of, score_pairs, scorer_name
from trueedge.tasks.base import PARTS, GraphTask, warn_of, withhold
from trueedge.tasks.link import checked_pairs

PAIRS_IN_A_BLOCK = 4_000_000


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class RecommendTask(GraphTask):
    """Each node with a hidden edge ranks every node except its known neighbours.

    Attributes:
        hidden: the positives of ``valid`` (in some tasks) and ``test``, int32 (P, 2).
    """

    kind: ClassVar[str] = "recommend"
    title: ClassVar[str] = "Recommendation"
    unit: ClassVar[str] = "node"
    needs: ClassVar[Need] = "candidates"
    keeps_scores: ClassVar[bool] = False

    hidden: Mapping[str, NDArray[np.int32]]

    @property
    def part_names(self) -> tuple[str, ...]:
        """Return the names of the parts."""
        return tuple(self.hidden)

    def queries(self, part: str = "test") -> NDArray[np.int32]:
        """Return the nodes with a hidden edge in a part, int32 (q,), ascending."""
        self.check_part(part)
        return np.unique(self.hidden[part])

    def known(self, part: str) -> Graph:
        """Return the graph whose edges are never recommended; for the test part with validation edges."""
        if part == "test" and "valid" in self.hidden:
            return self.graph.with_edges(self.hidden["valid"])
        return self.graph

    questions = queries

    def for_fitting(self) -> Self:
        """Return the task without its test part."""
        hidden = {name: pairs for name, pairs in self.hidden.items() if name != "test"}
        return withhold(replace(self, hidden=hidden, test_graph=None, withheld=("test",)), "hidden")

    def sample_pairs(
        self, part: str, size: int, seed: int = 0
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return a random sample of positives (m, 2) and of negatives (n, 2) of a part's first nodes."""
        self.check_part(part)
        rng = generator(seed, "sample", part)
        hidden = self.hidden[part]
        positives = hidden[rng.choice(len(hidden), size=min(size, len(hidden)), replace=False)]
        pairs, _, relevant = next(self.blocks(part))
        others = pairs[~relevant]
        rows = rng.choice(len(others), size=min(size, len(others)), replace=False)
        return positives.astype(np.int64), others[rows]

    def scores(self, scorer: object, part: str = "test") -> ListScores:
        """Return the ranks of the relevant candidates of each node of a part."""
        self.check_part(part)
        bound = self.bind(scorer, part)
        return self._lists(part, lambda pairs, indptr: self._scores_of_block(bound, pairs, indptr))

    def scores_of(self, part: str, answers: NDArray[Any]) -> ListScores:
        """Rank the relevant candidates of each node by the scores of all nodes, array (q, nodes)."""
        queries = self.queries(part)
        return self._lists(part, lambda pairs, _: answers[np.searchsorted(queries, pairs[:, 0]), pairs[:, 1]])

    def _lists(self, part: str, score: Callable[..., NDArray[Any]]) -> ListScores:
        """Rank block by block, so that the scores of one block only are in memory."""
        blocks = [
            ListScores.check(indptr, score(pairs, indptr), relevant).arrays()
            for pairs, indptr, relevant in self.blocks(part)
        ]
        joined = {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}
        return ListScores.from_arrays({**joined, "left_out": np.zeros(1, np.int64)})

    def evaluate(
        self, scorer: object, part: str = "test", metrics: Sequence[str] | None = None
    ) -> Evaluation:
        """Evaluate a scorer on a part, in blocks of nodes; see :meth:`Task.evaluate`."""
        self.check_part(part)
        wanted = self.metrics if metrics is None else (metrics,) if isinstance(metrics, str) else metrics
        names = [self._possible(name) for name in wanted]
        bound = self.bind(scorer, part)
        totals = dict.fromkeys(names, 0.0)
        units: dict[str, list[NDArray[np.float64]]] = {name: [] for name in names}
        count, low, high = 0, np.inf, -np.inf
        for pairs, indptr, relevant in self.blocks(part):
            scores = self._scores_of_block(bound, pairs, indptr)
            low, high = min(low, scores.min()), max(high, scores.max())
            values = evaluate_lists(indptr, scores, relevant, names, block=True)
            count += values.queries
            for name in names:
                totals[name] += values[name] * values.queries
                units[name].append(values.units.values[name])
        if low == high:
            warn_of(self, part, [f"all scores are {low:g}: they separate nothing"], scorer)
        means = {name: total / count for name, total in totals.items()}
        return Evaluation(
            means, UnitValues(self.unit, {name: np.concatenate(one) for name, one in units.items()})
        )

    def _scores_of_block(
        self, bound: Scorer, pairs: NDArray[np.int64], indptr: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        if dimensions_of(bound) == (1,):
            return score_pairs(bound, pairs)
        nodes = pairs[indptr[:-1], 0]
        table = ask(bound, nodes)
        if table.shape != (len(nodes), self.num_nodes):
            raise InputError(
                f"{scorer_name(bound)} must score {self.num_nodes} nodes for each of {len(nodes)} queries,"
                f" it answered with {table.shape}"
            )
        rows = np.repeat(np.arange(len(nodes)), np.diff(indptr))
        return np.asarray(table[rows, pairs[:, 1]], dtype=np.float64)

    def _possible(self, name: str) -> str:
        """Return a metric's full name, or raise an InputError if its K exceeds the number of candidates."""
        metric = get(name)
        if metric.k is not None and metric.k >= self.num_nodes:
            raise InputError(f"{metric.name}: {self.dataset} has only {self.num_nodes} nodes")
        return metric.name

    def blocks(self, part: str) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]]:
        """Yield blocks of nodes with all candidates: pairs (n, 2), row starts (q + 1,), relevance (n,)."""
        keys = np.sort(pair_keys(self.hidden[part], self.num_nodes))
        queries = self.queries(part)
        known = self.known(part)
        step = max(1, PAIRS_IN_A_BLOCK // self.num_nodes)
        for start in range(0, len(queries), step):
            listed = full(known, queries[start : start + step])
            sources = np.repeat(listed.nodes, np.diff(listed.indptr))
            pairs = np.column_stack([sources, listed.candidates]).astype(np.int64)
            yield pairs, listed.indptr, in_sorted(pair_keys(pairs, self.num_nodes), keys)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the positives of each part."""
        return {f"{name}_positives": pairs for name, pairs in self.hidden.items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], **fields: Any) -> Self:
        """Return the task of some positives, or raise an InputError if they do not fit the graph."""
        fields.pop("valid_in_test", None)
        hidden = {
            name: checked_pairs(arrays, f"{name}_positives", fields["graph"])
            for name in PARTS
            if f"{name}_positives" in arrays
        }
        return cls(hidden=hidden, **fields)

    @cached_property
    def hashes(self) -> dict[str, str]:
        """Return the SHA-256 of the training graph and of each part's positives."""
        parts = {
            name: hashlib.sha256(np.ascontiguousarray(pairs, dtype="<i4").tobytes()).hexdigest()
            for name, pairs in self.hidden.items()
        }
        return {"graph": self.graph.hash, **parts}
