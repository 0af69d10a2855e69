"""Stochastic block models, plain and degree-corrected."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.graph import Graph, as_pairs
from trueedge.methods.blockmodels.description import edges_among, group_ends
from trueedge.methods.blockmodels.fitting import fit_partition
from trueedge.methods.method import Method, on_graph, setting
from trueedge.scorers.learned import learned

if TYPE_CHECKING:
    from trueedge.tasks import Task

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class BlockModel(Method):
    """A stochastic block model of the training graph.

    The partition and its number of groups have the smallest description length that the search finds:
    :func:`trueedge.methods.blockmodels.description.description_length` has the formula (the microcanonical
    model of Peixoto, Parsimonious Module Inference in Large Networks, 2013, with his later prior of degrees),
    and :func:`trueedge.methods.blockmodels.fitting.fit_partition` the search. Below, ``e_rs`` is the number
    of edges between groups r and s (``e_rr`` twice those within r), and ``e_r`` the sum of degrees in r.
    """

    family: ClassVar[str] = "blockmodels"
    uses_device: ClassVar[bool] = False
    corrected: ClassVar[bool]

    blocks: int | None = setting(
        None,
        "number of groups; None: the number with the shortest description length",
        low=1,
        high=2**31 - 1,
        kind=int,
        optional=True,
    )
    starts: int = setting(
        1, "number of searches; the result with the shortest description length is kept", low=1, high=10**6
    )
    affinity: str = setting(
        "counted",
        "score by the edges counted between two groups (counted), or as in the published runs: by the"
        " affinities between groups without their negative eigenvalues, weighted by degree in both models"
        " (positive)",
        choices=("counted", "positive"),
    )

    def fit(self, task: Task, seed: int = 0, device: str = "cpu") -> BlockScorer:
        """Find the groups of the task's training graph; the device has no effect."""
        del device
        graph = on_graph(task, self.name).graph
        if self.blocks is not None and self.blocks > graph.num_nodes:
            raise InputError(
                f"{self.name}: blocks is {self.blocks}, but {graph.name} has only {graph.num_nodes} nodes"
            )
        found = learned(lambda: self._search(graph, seed), blocks=(graph.num_nodes,), description_length=())
        blocks = np.asarray(found["blocks"], dtype=np.int64)
        if len(blocks) and not 0 <= blocks.min() <= blocks.max() < graph.num_nodes:
            raise InputError(f"blocks should be numbers from 0 to {graph.num_nodes - 1}")
        kind = BlockScorer if self.affinity == "counted" else PositiveBlockScorer
        return kind(self.name, graph, blocks, float(found["description_length"]), self.corrected)

    def _search(self, graph: Graph, seed: int) -> dict[str, NDArray[Any]]:
        found = fit_partition(
            graph, corrected=self.corrected, blocks=self.blocks, starts=self.starts, seed=seed
        )
        return {"blocks": found.blocks, "description_length": np.array(found.description_length)}


@dataclass(frozen=True, eq=False)
class BlockScorer:
    """Scores a pair by its expected number of edges, given the groups.

    Attributes:
        graph: where edges are counted.
        blocks: int64 array (n,), the group of each node, numbered by their first node.
        description_length: of the fitted graph and partition, in nats.
        corrected: whether the model is degree-corrected.
    """

    name: str
    graph: Graph
    blocks: Ints
    description_length: float
    corrected: bool

    @property
    def num_blocks(self) -> int:
        """The number of groups."""
        return int(self.blocks.max(initial=-1)) + 1

    def score(self, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of each pair, float64 (n,); zero if there is no edge between the groups."""
        pairs = as_pairs(pairs, self.graph.num_nodes)
        ends = self.blocks[pairs]
        wanted = ends.min(axis=1) * self.num_blocks + ends.max(axis=1)
        keys, edges = self._edges
        place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        scores = np.zeros(len(pairs))
        if len(keys):
            joined = keys[place] == wanted
            weight = self._weights[pairs]
            scores[joined] = (edges[place] * (weight[:, 0] * weight[:, 1]))[joined]
        return scores

    def with_graph(self, graph: Graph) -> BlockScorer:
        """Return the same groups with edges counted on another graph of the same nodes."""
        return type(self)(self.name, graph, self.blocks, self.description_length, self.corrected)

    @cached_property
    def _edges(self) -> tuple[Ints, Ints]:
        """The sorted keys of pairs of groups with edges, and their ``e_rs``."""
        first, second, count = edges_among(self.graph, self.blocks, self.num_blocks)
        return first * self.num_blocks + second, np.where(first == second, 2 * count, count)

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        """The factor of ``e_rs`` for each node: its share of its group, by degree or by number."""
        if not self.corrected:
            return 1.0 / np.bincount(self.blocks)[self.blocks]
        ends = group_ends(self.graph, self.blocks, self.num_blocks)
        return self.graph.degrees / np.maximum(ends, 1)[self.blocks]


@dataclass(frozen=True, eq=False)
class PositiveBlockScorer(BlockScorer):
    """The score of the degree-bias paper's runs: degrees times the positive part of ``e_rs / (e_r e_s)``.

    Those runs turn groups into vectors and score by dot product, which drops negative eigenvalues: edges
    mostly between groups, not within, are lost. Both models score alike, given the groups. Memory is
    quadratic in the number of groups.
    """

    def score(self, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of each pair, float64 (n,)."""
        pairs = as_pairs(pairs, self.graph.num_nodes)
        ends, degrees = self.blocks[pairs], self.graph.degrees[pairs]
        joined: NDArray[np.float64] = self._positive[ends.min(axis=1), ends.max(axis=1)]
        return degrees[:, 0] * degrees[:, 1] * joined

    @cached_property
    def _positive(self) -> NDArray[np.float64]:
        """The nearest matrix without negative eigenvalues, float64 (groups, groups)."""
        many = self.num_blocks
        share = 1.0 / np.maximum(group_ends(self.graph, self.blocks, many), 1)
        keys, edges = self._edges
        first, second = np.divmod(keys, many)
        matrix = np.zeros((many, many))
        matrix[first, second] = matrix[second, first] = edges * share[first] * share[second]
        values, vectors = np.linalg.eigh(matrix)
        positive: NDArray[np.float64] = (vectors * np.maximum(values, 0.0)) @ vectors.T
        return positive
