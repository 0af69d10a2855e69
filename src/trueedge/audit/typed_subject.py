"""A task on a typed graph as the checks see it: its types and features, its parts, its links."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.subject import Subject
from trueedge.errors import ScoreWarning
from trueedge.graph.typed import HeteroGraph
from trueedge.methods import create
from trueedge.methods.counting.target_degree import DegreeScorer
from trueedge.metrics import Evaluation, evaluate
from trueedge.tasks import NodeTask, Task, TypedLinkTask

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Links whose neighbours are compared at a time.
BLOCK = 8_192
LINKS = ("test links", "test negatives")
PART_WORDS = {"train": "training", "valid": "validation", "test": "test"}


class TypedSubject(Subject):
    """A task on a typed graph; for its arguments see :class:`trueedge.audit.subject.Subject`."""

    task: NodeTask | TypedLinkTask

    def __init__(self, task: Task, seed: int = 0, sample: int = 100_000) -> None:
        super().__init__(task, seed, sample)
        self._evaluations: dict[str, Evaluation] = {}
        self._tables: dict[int, csr_array] = {}

    @property
    def graph(self) -> HeteroGraph:
        """Return the graph that a model sees."""
        return self.task.graph

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """Return the number of edges of all relations that each node has, int64 (n,)."""
        found = np.zeros(self.graph.num_nodes, dtype=np.int64)
        for edges in self.graph.edges:
            found += np.bincount(edges.reshape(-1), minlength=self.graph.num_nodes)
        return found

    def table(self, kind: int) -> csr_array | None:
        """Return the features of a type as a sparse table without stored zeros; None if it has none."""
        from scipy.sparse import csr_array

        features = self.graph.features[kind]
        if features is not None and kind not in self._tables:
            found = csr_array(features, copy=True)
            found.sum_duplicates()
            found.eliminate_zeros()
            self._tables[kind] = found
        return self._tables.get(kind)

    def evaluate(self, method: str) -> Evaluation:
        """Evaluate a method that learns nothing on the test part, once."""
        if method not in self._evaluations:
            scorer = create(method).fit(self.task.for_fitting())
            self._evaluations[method] = self.evaluate_scorer(scorer)
        return self._evaluations[method]

    def evaluate_scorer(self, scorer: object, part: str = "test") -> Evaluation:
        """Evaluate a scorer without warnings about its scores: it is none of the user's.

        Args:
            scorer: what a check has fitted.
            part: the part of the task.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ScoreWarning)
            return self.task.evaluate(scorer, part)

    def sizes(self) -> dict[str, int]:
        """Return how many nodes, types, edges and relations there are, and how large the parts are."""
        graph = self.graph
        return {
            "nodes": graph.num_nodes,
            "node types": graph.num_types,
            "training edges" if self.task.kind == TypedLinkTask.kind else "edges": graph.num_edges,
            "relations": graph.num_relations,
        }


class NodeSubject(TypedSubject):
    """A task of node classification as the checks see it."""

    task: NodeTask

    @property
    def parts(self) -> dict[str, NDArray[np.int32]]:
        """Return the nodes of each part, those of training too."""
        return dict(self.task.nodes)

    @property
    def first(self) -> int:
        """Return the first node of the type that is classified."""
        return int(self.graph.starts[self.task.target])

    @property
    def noun(self) -> str:
        """Return the name of the type that is classified."""
        return self.graph.node_types[self.task.target]

    @cached_property
    def truth(self) -> dict[str, NDArray[np.bool_]]:
        """Return which classes the nodes of each part have, bool (n, classes) each."""
        return {part: self.task.memberships(part) for part in self.parts}

    def sizes(self) -> dict[str, int]:
        """Return the sizes of the graph, the number of classes, and how many nodes each part has."""
        parts = {f"{PART_WORDS[part]} nodes": len(nodes) for part, nodes in self.parts.items()}
        return super().sizes() | {"classes": self.task.num_classes} | parts

    def looked(self) -> str:
        """Return how many training and test nodes there are, in words."""
        return f"{len(self.parts['train']):,} training and {len(self.parts['test']):,} test nodes"


class TypedLinkSubject(TypedSubject):
    """A task of links in a typed graph as the checks see it."""

    task: TypedLinkTask

    @property
    def test(self) -> NDArray[np.int32]:
        """Return the test links, int32 (n, 3)."""
        return self.task.positives["test"]

    def pair_keys(self, links: NDArray[np.integer[Any]], reverse: bool = False) -> NDArray[np.int64]:
        """Return one int64 for the two ends of each link (n, 3) or edge (n, 2)."""
        source, target = links[:, 0].astype(np.int64), links[:, -1].astype(np.int64)
        if reverse:
            source, target = target, source
        return np.asarray(source * self.graph.num_nodes + target)

    def within_type(self, relation: int) -> bool:
        """Return whether a relation connects nodes of one type: its links then have no direction."""
        _, source, target = self.graph.relations[relation]
        return source == target

    def among(
        self, links: NDArray[np.integer[Any]], others: NDArray[np.integer[Any]], relation: int
    ) -> NDArray[np.bool_]:
        """Return which links of a relation are among others of it, bool (n,).

        Between nodes of one type, a link in the other direction is the same.
        """
        known = self.pair_keys(others)
        found = np.isin(self.pair_keys(links), known)
        if self.within_type(relation):
            found |= np.isin(self.pair_keys(links, reverse=True), known)
        return found

    def of(self, links: NDArray[np.int32], relation: int) -> NDArray[np.int32]:
        """Return the links of a relation."""
        return np.asarray(links[links[:, 1] == relation])

    @cached_property
    def adjacency(self) -> csr_array:
        """Return which nodes have a training edge of any relation in any direction, int64 (n, n)."""
        return self._adjacency(self.graph.edges)

    @cached_property
    def with_hidden(self) -> csr_array:
        """Return the same with the links of all parts: negatives are drawn by it."""
        hidden = [links[:, [0, 2]] for links in self.task.positives.values()]
        return self._adjacency((*self.graph.edges, *hidden))

    def _adjacency(self, edges: Sequence[NDArray[np.int32]]) -> csr_array:
        from scipy.sparse import csr_array

        count = self.graph.num_nodes
        pairs = np.concatenate([*edges, np.empty((0, 2), np.int32)])
        keys = np.unique(np.concatenate([self.pair_keys(pairs), self.pair_keys(pairs, reverse=True)]))
        ones = np.ones(len(keys), dtype=np.int64)
        return csr_array((ones, (keys // count, keys % count)), shape=(count, count))

    def common_neighbors(self, links: NDArray[np.int32], hidden: bool = False) -> NDArray[np.float64]:
        """Return the number of nodes that are neighbours of both ends of each link, float64 (n,).

        Args:
            links: int32 (n, 3).
            hidden: whether the links of all parts count as edges too.
        """
        adjacency = self.with_hidden if hidden else self.adjacency
        found = [np.empty(0)]
        for begin in range(0, len(links), BLOCK):
            block = links[begin : begin + BLOCK]
            both = adjacency[block[:, 0]].multiply(adjacency[block[:, 2]])
            found.append(np.asarray(both.sum(axis=1), dtype=np.float64).reshape(-1))
        return np.concatenate(found)

    def target_degrees(self, links: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return how many training edges of its relation the target of each link has, float64 (n,)."""
        return self._degree_scorer.score_links(links.astype(np.int64))

    @cached_property
    def _degree_scorer(self) -> DegreeScorer:
        return DegreeScorer(self.graph)

    def source_degrees(self, links: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return how many training edges the source of each link has, float64 (n,)."""
        return self.degrees[links[:, 0]].astype(np.float64)

    def mean_auc(self, score: Callable[[NDArray[np.int32]], NDArray[np.float64]]) -> float:
        """Return the AUC of scores of test links against negatives, the mean over relations."""
        values = []
        for number in self.task.relations:
            above, below = (
                score(self.of(one["test"], number)) for one in (self.task.positives, self.task.negatives)
            )
            if len(above) and len(below):
                values.append(self.auc(above, below))
        return float(np.mean(values)) if values else 0.5

    @staticmethod
    def auc(above: NDArray[np.float64], below: NDArray[np.float64]) -> float:
        """Return the share of comparisons that a link wins against a negative; a tie counts 1/2."""
        return float(evaluate(above, below, ["auc"])["auc"])

    def sizes(self) -> dict[str, int]:
        """Return the sizes of the graph, and how many links and negatives each part has."""
        found = super().sizes()
        for part, links in self.task.positives.items():
            found[f"{PART_WORDS[part]} links"] = len(links)
            found[f"{PART_WORDS[part]} negatives"] = len(self.task.negatives[part])
        return found

    def looked(self) -> str:
        """Return how many test links there are, in words."""
        return f"{len(self.test):,} test links"

    def looked_at_both(self) -> str:
        """Return how many test links and negatives there are, in words."""
        return f"{len(self.test):,} test links and {len(self.task.negatives['test']):,} negatives"
