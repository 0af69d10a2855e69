"""What both block models share: their settings, the fit, and the score of a pair."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.graph import Graph, as_pairs
from trueedge.methods.blockmodels.description import edges_among, group_ends
from trueedge.methods.blockmodels.fitting import fit_partition
from trueedge.methods.method import Method, on_graph, setting

if TYPE_CHECKING:
    from trueedge.tasks import Task

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class BlockModel(Method):
    """A model of groups, fitted to the training graph by description length."""

    family: ClassVar[str] = "blockmodels"
    corrected: ClassVar[bool]

    blocks: int | None = setting(
        None,
        "the number of groups; without it, the one that makes the description shortest",
        low=1,
        high=2**31 - 1,
        kind=int,
        optional=True,
    )
    starts: int = setting(
        1, "how often the search begins anew; the shortest description wins", low=1, high=10**6
    )
    affinity: str = setting(
        "counted",
        "what joins two groups: the edges counted between them, or the 'positive' part of that matrix, shared"
        " out by degree in both models, as in the published runs",
        choices=("counted", "positive"),
    )

    def fit(self, task: Task, seed: int = 0, device: str = "cpu") -> BlockScorer:
        """Find the groups of the task's training graph; the device changes nothing."""
        del device
        graph = on_graph(task, self.name).graph
        if self.blocks is not None and self.blocks > graph.num_nodes:
            raise InputError(
                f"{self.name}: blocks is {self.blocks}, but {graph.name} has only {graph.num_nodes} nodes"
            )
        found = fit_partition(
            graph, corrected=self.corrected, blocks=self.blocks, starts=self.starts, seed=seed
        )
        kind = BlockScorer if self.affinity == "counted" else PositiveBlockScorer
        return kind(self.name, graph, found.blocks, found.description_length, self.corrected)


@dataclass(frozen=True)
class DegreeCorrectedSBM(BlockModel):
    """Edges between two groups, shared out by degree, ``k_u k_v e_rs / (e_r e_s)``.

    ``e_rr`` is twice the edges within a group, and ``e_r`` the sum of its degrees. Groups and their number
    are those of least description length, or of the least that the search finds:
    :func:`trueedge.methods.blockmodels.description.description_length` has the formula (the microcanonical
    model of Peixoto, Parsimonious Module Inference in Large Networks, 2013, with his later prior of degrees),
    and :func:`trueedge.methods.blockmodels.fitting.fit_partition` the search.
    """

    name: ClassVar[str] = "dc-sbm"
    title: ClassVar[str] = "Degree-corrected Stochastic Block Model"
    citation: ClassVar[str] = (
        "Karrer and Newman, Stochastic Blockmodels and Community Structure in Networks, 2011"
    )
    corrected: ClassVar[bool] = True


@dataclass(frozen=True)
class SBM(BlockModel):
    """Edges between two groups over pairs between them, ``e_rs / (n_r n_s)``.

    ``e_rr`` is twice the edges within a group. Groups and their number are those of least description length,
    or of the least that the search finds:
    :func:`trueedge.methods.blockmodels.description.description_length` has the formula (the microcanonical
    model of Peixoto, Parsimonious Module Inference in Large Networks, 2013), and
    :func:`trueedge.methods.blockmodels.fitting.fit_partition` the search.
    """

    name: ClassVar[str] = "sbm"
    title: ClassVar[str] = "Stochastic Block Model"
    citation: ClassVar[str] = "Holland, Laskey and Leinhardt, Stochastic Blockmodels: First Steps, 1983"
    corrected: ClassVar[bool] = False


@dataclass(frozen=True, eq=False)
class BlockScorer:
    """The expected number of edges of a pair, given the groups.

    Attributes:
        name: the method's name.
        graph: where edges are counted.
        blocks: int64 array (n,), the group of each node, numbered by their first node.
        description_length: of the fitted graph and partition, in nats.
        corrected: whether degrees are the model's parameters.
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
        """Return the score of each pair, float64 (n,).

        With ``e_rs`` edges between two groups (``e_rr`` twice those within) it is ``e_rs / (n_r n_s)``, or
        degree-corrected ``k_u k_v e_rs / (e_r e_s)``; zero where the groups have no edge.
        """
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
        """Return the same groups with the edges of another graph on the same nodes counted."""
        return type(self)(self.name, graph, self.blocks, self.description_length, self.corrected)

    @cached_property
    def _edges(self) -> tuple[Ints, Ints]:
        """The pairs of groups with edges as sorted numbers, and their ``e_rs``."""
        first, second, count = edges_among(self.graph, self.blocks, self.num_blocks)
        return first * self.num_blocks + second, np.where(first == second, 2 * count, count)

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        """What a node multiplies ``e_rs`` by: its share of its group, by degree or by head."""
        if not self.corrected:
            return 1.0 / np.bincount(self.blocks)[self.blocks]
        ends = group_ends(self.graph, self.blocks, self.num_blocks)
        return self.graph.degrees / np.maximum(ends, 1)[self.blocks]


@dataclass(frozen=True, eq=False)
class PositiveBlockScorer(BlockScorer):
    """The score of the degree-bias paper's runs: degrees times the positive part of ``e_rs / (e_r e_s)``.

    They turn groups into vectors whose dot product is the score, and a dot product has no negative
    eigenvalues: that groups are joined to others rather than within is lost. It is the same for the plain
    model and the degree-corrected one, apart from the groups. Memory grows with the square of their number.
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
