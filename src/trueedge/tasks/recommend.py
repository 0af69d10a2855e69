"""Recommendation: each node ranks all other nodes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.graph import Graph, pair_keys
from trueedge.graph.bipartite import names_by_side
from trueedge.graph.interactions import lists_of
from trueedge.metrics import Evaluation, ListScores, UnitValues, get
from trueedge.metrics.scores import Scores, as_scores
from trueedge.randomness import generator
from trueedge.scorers.capabilities import Need
from trueedge.scorers.item_files import ListScorer, read_item_scores
from trueedge.scorers.named_ids import NamedIds
from trueedge.scorers.scorer import EmbeddingScorer, Scorer, dimensions_of, score_pairs, scorer_name
from trueedge.tasks.base import PARTS, GraphTask, warn_of, withhold
from trueedge.tasks.full_ranking import CandidateLists, Ranking, Table, ask_for_all, blocks_of, rank_all
from trueedge.tasks.link import checked_pairs

PAIRS_IN_A_BLOCK = 4_000_000
# Files of arrays hold scores of pairs, or vectors.
ARRAYS = (".npy", ".npz")


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class RecommendTask(GraphTask):
    """Each node with a hidden edge ranks every node except its known neighbours.

    Attributes:
        hidden: the positives of ``valid`` (in some tasks) and ``test``, int32 (P, 2).
        sides: int8 (n,), the sides of a bipartite graph: then each node ranks those on the other side.
    """

    kind: ClassVar[str] = "recommend"
    title: ClassVar[str] = "Recommendation"
    unit: ClassVar[str] = "node"
    needs: ClassVar[Need] = "candidates"

    hidden: Mapping[str, NDArray[np.int32]]
    sides: NDArray[np.int8] | None = None

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

    def bind(self, scorer: object, part: str) -> Scorer:
        """Turn anything that can score candidates into a scorer; a text, JSON or Parquet file holds lists."""
        if isinstance(scorer, (str, Path)) and Path(scorer).suffix not in ARRAYS:
            sides = names_by_side(self.graph) or ()
            nodes, others = (
                NamedIds("node", self.graph.labels, self.num_nodes, short) for short in (sides, sides[::-1])
            )
            lists = read_item_scores(scorer, nodes, others)
            scorer = scorer if self._are_pairs(lists) else lists
        return super().bind(scorer, part)

    def _are_pairs(self, lists: ListScorer) -> bool:
        """Return whether a file holds a score for every pair, in whichever direction, instead of lists."""
        if lists.certain:
            return False
        pairs = np.column_stack([lists.users, lists.items.astype(np.int64)])
        distinct = len(np.unique(pair_keys(pairs, self.num_nodes)))
        if distinct < len(pairs):
            return False
        sizes = (
            [self.num_nodes]
            if self.sides is None
            else [np.count_nonzero(self.sides == one) for one in (0, 1)]
        )
        possible = sizes[0] * (sizes[0] - 1) // 2 if len(sizes) == 1 else sizes[0] * sizes[1]
        if distinct >= possible - self.known("test").num_edges:
            return True
        raise InputError(
            f"{lists.name} may hold recommended lists or scores of pairs, since no pair is in it in both"
            " directions: for lists, write the first line node,partner,score; for pairs, score every pair"
        )

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
        lists = self.lists(part)
        last = next(blocks_of(len(lists.queries), self.num_nodes, PAIRS_IN_A_BLOCK))[1]
        negative = np.ones((last, self.num_nodes), dtype=np.bool_)
        for excluded in (lists.known, lists.relevant):
            starts, candidates = excluded.rows(0, last)
            negative[np.repeat(np.arange(last), np.diff(starts)), candidates] = False
        others = np.argwhere(negative)
        others[:, 0] = lists.queries[others[:, 0]]
        rows = rng.choice(len(others), size=min(size, len(others)), replace=False)
        return positives.astype(np.int64), others[rows]

    def lists(self, part: str) -> NodeLists:
        """Return the query nodes of a part, and which candidates each knows and should find."""
        self.check_part(part)
        queries, graph, hidden = self.queries(part).astype(np.int64), self.known(part), self.hidden[part]
        arcs = np.concatenate([hidden, hidden[:, ::-1]]).astype(np.int64)
        arcs = arcs[~graph.has_edges(arcs) & (arcs[:, 0] != arcs[:, 1])]
        keys = np.unique(arcs[:, 0] * self.num_nodes + arcs[:, 1])
        ends = np.column_stack(np.divmod(keys, self.num_nodes)).astype(np.int32)
        relevant = CandidateLists(*lists_of(ends, self.num_nodes))
        found = np.diff(relevant.starts)[queries] > 0
        if not found.any():
            raise InputError(f"none of the {len(queries)} queries has a relevant candidate")
        queries = queries[found]
        neighbors = CandidateLists(graph.indptr, graph.indices).of(queries)
        starts = neighbors.starts + np.arange(len(queries) + 1)
        known = CandidateLists(starts, np.insert(neighbors.candidates, neighbors.starts[:-1], queries))
        if self.sides is not None:
            known = known_and_own_side(known, queries, self.sides)
        return NodeLists(queries, self.num_nodes, known, relevant.of(queries))

    def scores(self, scorer: object, part: str = "test") -> ListScores:
        """Return the ranks of the relevant candidates of each node of a part."""
        self.check_part(part)
        lists, bound = self.lists(part), self.bind(scorer, part)
        return lists.rank(self.table(bound, lists), scorer_name(bound)).ranks

    def scores_of(self, part: str, answers: NDArray[Any]) -> ListScores:
        """Rank the relevant candidates of each node by the scores of all nodes, array (q, nodes)."""
        queries = self.queries(part)
        if answers.shape != (len(queries), self.num_nodes):
            raise InputError(
                f"scores of {self.num_nodes} nodes for each of {len(queries)} nodes have the shape"
                f" {(len(queries), self.num_nodes)}, got {answers.shape}"
            )
        return self.lists(part).rank(lambda asked: answers[np.searchsorted(queries, asked)]).ranks

    def evaluate(
        self, scorer: object, part: str = "test", metrics: Sequence[str] | None = None
    ) -> Evaluation:
        """Evaluate a scorer on a part, in blocks of nodes; see :meth:`Task.evaluate`."""
        self.check_part(part)
        wanted = self.metrics if metrics is None else (metrics,) if isinstance(metrics, str) else metrics
        names = [self._possible(name) for name in wanted]
        lists, bound = self.lists(part), self.bind(scorer, part)
        found = lists.rank(self.table(bound, lists), scorer_name(bound))
        if found.constant is not None:
            warn_of(self, part, [f"all scores are {found.constant:g}: they separate nothing"], scorer)
        return lists.measure(found.ranks, names, self.unit)

    def evaluate_scores(
        self,
        scores: Scores,
        part: str = "test",
        metrics: Sequence[str] | None = None,
        scorer: object = None,
    ) -> Evaluation:
        """Evaluate the ranks of a part, with the last digits that :meth:`evaluate` gives."""
        if not isinstance(scores, ListScores):
            return super().evaluate_scores(scores, part, metrics, scorer)
        warn_of(self, part, self.remarks(scores), scorer)
        wanted = self.metrics if metrics is None else (metrics,) if isinstance(metrics, str) else metrics
        return self.lists(part).measure(scores, [self._possible(name) for name in wanted], self.unit)

    def remarks(self, scores: Scores) -> list[str]:
        """Return warnings about scores that do not tell candidates apart."""
        if not isinstance(scores, ListScores):
            return []
        everyone = np.repeat(scores.sizes.candidates, scores.sizes.relevant)
        if (scores.tied == everyone).all():
            return ["all candidates of each node have the same score: the scores separate nothing"]
        return []

    def truth(self, part: str) -> dict[str, NDArray[Any]]:
        """Return how many candidates, and how many relevant ones, each node has."""
        lists = self.lists(part)
        return {
            "candidates": self.num_nodes - np.diff(lists.known.starts),
            "relevant": np.diff(lists.relevant.starts),
            "left_out": np.array([0]),
        }

    def table(self, bound: Scorer, lists: NodeLists) -> Table:
        """Return a function from nodes to the scores of all nodes, as :func:`rank_all` needs it.

        A scorer of candidates is asked for them, vectors are multiplied, and any other scorer is asked for
        pairs, but never for a known edge.
        """
        if dimensions_of(bound) != (1,):
            return lambda asked: ask_for_all(bound, asked, self.num_nodes, ("nodes", "nodes"))
        vectors = bound.embeddings if isinstance(bound, EmbeddingScorer) else getattr(bound, "vectors", None)
        if isinstance(vectors, np.ndarray):
            by_vectors = EmbeddingScorer(as_scores(vectors, f"vectors of {scorer_name(bound)}"))
            return lambda asked: lists.without_known(asked, by_vectors.score_candidates(asked))
        return lambda asked: lists.by_pairs(asked, lambda pairs, _: score_pairs(bound, pairs))

    def _possible(self, name: str) -> str:
        """Return a metric's full name, or raise an InputError if its K exceeds the number of candidates."""
        metric = get(name)
        if metric.k is not None and metric.k >= self.num_nodes:
            raise InputError(f"{metric.name}: {self.dataset} has only {self.num_nodes} nodes")
        return metric.name

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the positives of each part."""
        found: dict[str, NDArray[Any]] = {f"{name}_positives": pairs for name, pairs in self.hidden.items()}
        return found if self.sides is None else {**found, "sides": self.sides}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], **fields: Any) -> Self:
        """Return the task of some positives, or raise an InputError if they do not fit the graph."""
        fields.pop("valid_in_test", None)
        hidden = {
            name: checked_pairs(arrays, f"{name}_positives", fields["graph"])
            for name in PARTS
            if f"{name}_positives" in arrays
        }
        sides = arrays.get("sides")
        if sides is not None and (sides.dtype != np.int8 or sides.shape != (fields["graph"].num_nodes,)):
            raise InputError(f"sides must hold an int8 for each node, got {sides.dtype} {sides.shape}")
        return cls(hidden=hidden, sides=sides, **fields)

    @cached_property
    def hashes(self) -> dict[str, str]:
        """Return the SHA-256 of the training graph and of each part's positives."""
        parts = {
            name: hashlib.sha256(np.ascontiguousarray(pairs, dtype="<i4").tobytes()).hexdigest()
            for name, pairs in self.hidden.items()
        }
        if self.sides is not None:
            parts["sides"] = hashlib.sha256(self.sides.tobytes()).hexdigest()
        return {"graph": self.graph.hash, **parts}


@dataclass(frozen=True, eq=False)
class _AndOwnSide(CandidateLists):
    """Known candidates together with all nodes that are not on the other side, listed block by block.

    Attributes:
        across: the known candidates on the other side.
        others: for either side, the nodes that are not on the other one, int32.
        side: int8 (q,), the side of each query.
    """

    across: CandidateLists
    others: tuple[NDArray[np.int32], NDArray[np.int32]]
    side: NDArray[np.int8]

    def rows(self, first: int, last: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the starts and candidates of some queries, from 0."""
        starts, known = self.across.rows(first, last)
        lists = []
        for row in range(last - first):
            lists += [self.others[self.side[first + row]], known[starts[row] : starts[row + 1]]]
        found = self.starts[first : last + 1]
        merged = np.concatenate(lists) if lists else known
        keys = np.repeat(np.arange(last - first), np.diff(found))
        return found - found[0], merged[np.lexsort((merged, keys))]


def known_and_own_side(
    known: CandidateLists, queries: NDArray[np.int64], sides: NDArray[np.int8]
) -> CandidateLists:
    """Return known candidates together with all nodes that are not on the other side of each query."""
    side = sides[queries]
    counts = np.diff(known.starts)
    lists = np.repeat(np.arange(len(queries)), counts)
    over = sides[known.candidates] == 1 - side[lists]
    kept = np.bincount(lists[over], minlength=len(queries))
    across = CandidateLists(np.append(0, np.cumsum(kept)), known.candidates[over])
    others = (np.flatnonzero(sides != 1).astype(np.int32), np.flatnonzero(sides != 0).astype(np.int32))
    sizes = np.array([len(one) for one in others])[side]
    return _AndOwnSide(
        np.append(0, np.cumsum(kept + sizes)), np.empty(0, dtype=np.int32), across, others, side
    )


@dataclass(frozen=True, eq=False)
class NodeLists:
    """Nodes that rank all others, in blocks.

    Attributes:
        queries: int64 (q,), the nodes, ascending.
        num_nodes: the number of candidates.
        known: the candidates of each query that are left out: itself and its known neighbours.
        relevant: those that should be found.
    """

    queries: NDArray[np.int64]
    num_nodes: int
    known: CandidateLists
    relevant: CandidateLists

    def rank(self, table: Table, name: str = "the array") -> Ranking:
        """Rank the relevant candidates by the scores of all candidates; see :func:`rank_all`."""
        return rank_all(
            table,
            self.queries,
            self.num_nodes,
            self.known,
            self.relevant,
            name=name,
            in_a_block=PAIRS_IN_A_BLOCK,
        )

    def measure(self, ranks: ListScores, names: Sequence[str], unit: str) -> Evaluation:
        """Return the mean of each metric, and its values for each query.

        The means of blocks are averaged, as they always were: a sum in another order has other last digits.
        """
        values = {name: get(name).per_unit(ranks) for name in names}
        means = {}
        for name, one in values.items():
            blocks = blocks_of(len(one), self.num_nodes, PAIRS_IN_A_BLOCK)
            total = sum(float(np.mean(one[first:last])) * (last - first) for first, last in blocks)
            means[name] = total / len(one)
        return Evaluation(means, UnitValues(unit, values))

    def by_pairs(
        self,
        asked: NDArray[np.int64],
        score: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]],
    ) -> NDArray[np.float64]:
        """Return the scores of all nodes for some consecutive queries, float64 (n, nodes); 0 for known ones.

        Args:
            asked: int64 (n,), the queries.
            score: scores the pairs (m, 2) of all candidates that are not known, given where those of each
                query start, int64 (n + 1,).
        """
        from trueedge.kernels.ranking.unknown_pairs import spread_scores, unknown_pairs

        known = self._known(asked)
        starts, pairs = unknown_pairs(asked, known, self.num_nodes)
        scores = np.ascontiguousarray(score(pairs, starts), dtype=np.float64)
        return spread_scores(scores, starts, known, self.num_nodes)

    def without_known(self, asked: NDArray[np.int64], scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Set the scores of known candidates to 0: nobody asked for them, so they need not be finite."""
        starts, known = self._known(asked)
        scores[np.repeat(np.arange(len(asked)), np.diff(starts)), known] = 0.0
        return scores

    def _known(self, asked: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        first = int(np.searchsorted(self.queries, asked[0]))
        return self.known.rows(first, first + len(asked))
