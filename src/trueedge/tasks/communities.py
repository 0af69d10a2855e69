"""Communities from node embeddings, as studies of communities find them and judge them."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.errors import InputError, must_be, unknown, whole_number
from trueedge.graph import Graph
from trueedge.metrics.partitions import adjusted_element_centric_similarity, normalized_mutual_information
from trueedge.metrics.scores import as_scores
from trueedge.randomness import derive, generator
from trueedge.scorers.scorer import scorer_name
from trueedge.tasks import Task

# What is measured, by the name of the metric: of the vectors as they are, and of their directions alone.
MEASURES = {"element-centric": adjusted_element_centric_similarity, "nmi": normalized_mutual_information}
DIRECTIONS = "-directions"


def cluster(
    points: ArrayLike, clusters: int, *, restarts: int = 10, seed: int = 0, directions: bool = False
) -> NDArray[np.int32]:
    """The K-means cluster of each point, int32 (n,): the best of several runs from k-means++ seeds.

    Args:
        points: float array or torch tensor (n, d), one row a node.
        clusters: how many, from 1 to n.
        restarts: how many runs, 1 or more.
        seed: the random seed.
        directions: bring each point to length 1 first, so that only its direction counts; zero stays zero.

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
    # Vectors that are all the same make one cluster, whatever was asked for.
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Number of distinct clusters")
        made = KMeans(int(clusters), n_init=int(restarts), random_state=random_state).fit(table)
    labels: NDArray[np.int32] = made.labels_.astype(np.int32)
    return labels


@dataclass(frozen=True, eq=False, kw_only=True)
class CommunityTask(Task):
    """A graph whose communities are known: a method learns from all of its edges, and K-means on the vectors
    of its nodes shall find them.

    Attributes:
        communities: int32 array (n,), the community of each node.
        restarts: runs of K-means, of which the best counts.

    Aiyappa et al. 2025, "Implicit degree bias in the link prediction task", 3.3.
    """

    kind: ClassVar[str] = "communities"

    communities: NDArray[np.int32]
    restarts: int = 10

    @classmethod
    def of(cls, graph: Graph, communities: ArrayLike, seed: int = 0, restarts: int = 10) -> Self:
        """The task of a graph and its communities.

        Args:
            graph: the graph.
            communities: int array (n,), the community of each node.
            seed: for K-means.
            restarts: runs of K-means, of which the best counts.
        """
        labels = np.asarray(communities)
        if labels.shape != (graph.num_nodes,) or labels.dtype.kind not in "iu":
            wanted = f"a whole number for each of the {graph.num_nodes} nodes of {graph.name}"
            raise must_be("communities", "CommunityTask", wanted, f"{labels.dtype} {labels.shape}")
        return cls(
            dataset=graph.name,
            protocol=cls.kind,
            seed=seed,
            graph=graph,
            metrics=tuple(name + more for more in ("", DIRECTIONS) for name in MEASURES),
            headline="element-centric",
            settings={"communities": len(np.unique(labels)), "restarts": restarts},
            communities=np.unique(labels, return_inverse=True)[1].astype(np.int32),
            restarts=restarts,
        )

    @property
    def part_names(self) -> tuple[str, ...]:
        """The nodes are all judged at once."""
        return ("test",)

    def evaluate(
        self, scorer: object, part: str = "test", metrics: Sequence[str] | None = None
    ) -> dict[str, float]:
        """How alike the clusters of a scorer's vectors and the communities are; see :meth:`Task.evaluate`.

        Args:
            scorer: vectors, float (n, d), or what has them: a trained scorer, or a fitted embedding.
            part: ``"test"``.
            metrics: of ``element-centric`` (adjusted), ``nmi``, and both with ``-directions``.
        """
        self.check_part(part)
        wanted = self.metrics if metrics is None else tuple(metrics)
        for name in wanted:
            if name not in self.metrics:
                raise unknown("metric of communities", name, self.metrics)
        points, groups = vectors_of(scorer, self.num_nodes), int(self.communities.max()) + 1
        values: dict[str, float] = {}
        for more in ("", DIRECTIONS):
            if any(name.endswith(DIRECTIONS) == bool(more) for name in wanted):
                options = {"restarts": self.restarts, "seed": self.seed, "directions": bool(more)}
                found = cluster(points, groups, **options)  # type: ignore[arg-type]
                values |= {name + more: rule(self.communities, found) for name, rule in MEASURES.items()}
        return {name: values[name] for name in wanted}

    def sample(self, part: str, size: int, seed: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Some edges and as many random pairs of nodes, to look at a scorer with."""
        self.check_part(part)
        rng = generator(seed, "sample", part)
        rows = rng.choice(self.graph.num_edges, size=min(size, self.graph.num_edges), replace=False)
        pairs = rng.integers(0, self.num_nodes, size=(size, 2))
        return self.graph.edges[rows].astype(np.int64), pairs

    @cached_property
    def hash(self) -> str:
        """A SHA-256 of the graph, its communities, and how they are looked for."""
        digest = hashlib.sha256(f"{self.kind} {self.graph.hash} {self.restarts} {self.seed}".encode())
        digest.update(np.ascontiguousarray(self.communities, dtype="<i4").tobytes())
        return digest.hexdigest()


def vectors_of(scorer: object, num_nodes: int) -> NDArray[np.floating[Any]]:
    """The vector of each node that a scorer knows, float (n, d); a scorer without any is refused."""
    found = scorer
    if hasattr(scorer, "embeddings"):
        found = scorer.embeddings()
    elif hasattr(scorer, "vectors"):
        found = scorer.vectors
    elif hasattr(scorer, "score") or callable(scorer):
        raise InputError(
            f"{scorer_name(scorer)} scores pairs: it has no vectors of nodes to find communities in"
        )
    points = as_scores(found, "vectors")
    if points.ndim != 2 or len(points) != num_nodes:
        raise InputError(f"there are vectors of shape {points.shape} for {num_nodes} nodes")
    return points
