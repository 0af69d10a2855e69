"""Community detection: clusters of node vectors compared with known communities."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.errors import InputError, must_be, whole_number
from trueedge.graph import Graph
from trueedge.metrics.partitions import PartitionScores
from trueedge.metrics.scores import as_scores
from trueedge.randomness import derive
from trueedge.scorers.capabilities import Need
from trueedge.tasks.base import GraphTask

# Metrics of the vectors as they are; with the suffix, of their directions only.
MEASURES = ("element-centric", "nmi")
DIRECTIONS = "-directions"


def cluster(
    points: ArrayLike, clusters: int, *, restarts: int = 10, seed: int = 0, directions: bool = False
) -> NDArray[np.int32]:
    """Return the K-means cluster of each point, int32 (n,): the best of several runs from k-means++ seeds.

    Args:
        points: float array or torch tensor (n, d), one row a node.
        clusters: the number of clusters, from 1 to n.
        restarts: the number of runs, 1 or more.
        seed: the random seed.
        directions: scale each point to length 1 first, so that only its direction counts; zero stays zero.

    Aiyappa et al. 2025, "Implicit degree bias in the link prediction task", 3.3: with the number of true
    communities.
    """
    table = np.ascontiguousarray(as_scores(points, "points"), dtype=np.float64)
    if table.ndim != 2 or table.size == 0:
        raise InputError(f"points must have the shape (n, d), got {table.shape}")
    for argument, value, high in (("clusters", clusters, len(table)), ("restarts", restarts, 10**6)):
        whole_number(argument, "cluster", value, 1, high)
    if directions:
        lengths = np.sqrt((table**2).sum(axis=1, keepdims=True))
        table = table / np.where(lengths > 0, lengths, 1.0)
    try:
        from sklearn.cluster import KMeans
    except ImportError:
        raise InputError("K-means needs scikit-learn: pip install 'scikit-learn>=1.4'") from None
    random_state = derive(seed, "kmeans") % 2**32
    # Identical vectors make one cluster, however many were asked for.
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Number of distinct clusters")
        made = KMeans(int(clusters), n_init=int(restarts), random_state=random_state).fit(table)
    labels: NDArray[np.int32] = made.labels_.astype(np.int32)
    return labels


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class CommunityTask(GraphTask):
    """A graph with known communities, which K-means on the vectors of its nodes should find.

    Attributes:
        communities: int32 array (n,), the community of each node.
        restarts: the number of K-means runs, of which the best counts.

    Aiyappa et al. 2025, "Implicit degree bias in the link prediction task", 3.3.
    """

    kind: ClassVar[str] = "communities"
    title: ClassVar[str] = "Community detection"
    unit: ClassVar[str] = "node"
    needs: ClassVar[Need] = "vectors"

    communities: NDArray[np.int32]
    restarts: int = 10

    @classmethod
    def of(cls, graph: Graph, communities: ArrayLike, seed: int = 0, restarts: int = 10) -> Self:
        """Make a task from a graph and the community of each node, int array (n,); K-means uses the seed."""
        labels = np.asarray(communities)
        if labels.shape != (graph.num_nodes,) or labels.dtype.kind not in "iu":
            wanted = f"a whole number for each of the {graph.num_nodes} nodes of {graph.name}"
            raise must_be("communities", "CommunityTask", wanted, f"{labels.dtype} {labels.shape}")
        return cls(
            dataset=graph.name,
            protocol=cls.kind,
            seed=seed,
            graph=graph,
            metrics=tuple(name + suffix for suffix in ("", DIRECTIONS) for name in MEASURES),
            headline="element-centric",
            settings={"communities": len(np.unique(labels)), "restarts": restarts},
            communities=np.unique(labels, return_inverse=True)[1].astype(np.int32),
            restarts=restarts,
        )

    @property
    def part_names(self) -> tuple[str, ...]:
        """Return ``("test",)``: all nodes are evaluated at once."""
        return () if self.withheld else ("test",)

    def for_fitting(self) -> Self:
        """Return the task without its communities."""
        return replace(self, communities=np.zeros_like(self.communities), withheld=("test",))

    def questions(self, part: str = "test") -> NDArray[np.int64]:
        """Return all nodes, int64 (n,)."""
        self.check_part(part)
        return np.arange(self.num_nodes)

    def scores_of(self, part: str, answers: NDArray[Any]) -> PartitionScores:
        """Cluster the vectors of all nodes, as they are and scaled to length 1."""
        self.check_part(part)
        groups = int(self.communities.max()) + 1
        found = [
            cluster(answers, groups, restarts=self.restarts, seed=self.seed, directions=directions)
            for directions in (False, True)
        ]
        return PartitionScores(self.communities, *found)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the community of each node."""
        return {"communities": self.communities}

    def truth(self, part: str) -> dict[str, NDArray[Any]]:
        """Return the community of each node."""
        self.check_part(part)
        return self.arrays()

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], **fields: Any) -> Self:
        """Return the task of some communities, or raise an InputError if they do not fit the graph."""
        labels, nodes = arrays.get("communities"), fields["graph"].num_nodes
        if labels is None or labels.shape != (nodes,) or labels.dtype != np.int32 or labels.min() < 0:
            raise InputError(f"communities must hold an int32 number for each of the {nodes} nodes")
        fields.pop("clustering_seed", None)
        return cls(communities=labels, **fields)

    def details(self) -> dict[str, Any]:
        """Return the number of K-means runs and their seed."""
        return {"restarts": self.restarts, "clustering_seed": self.seed}
