"""PEG: positions of nodes weigh the messages, and only distances between them are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.graph import Graph
from trueedge.methods.method import setting
from trueedge.methods.pairwise.pairwise import Pairwise
from trueedge.methods.trained import HasInputs, HasLayers, HasMessages
from trueedge.randomness import derive, generator

if TYPE_CHECKING:
    from trueedge.tasks import GraphTask
    from trueedge.training import Input, LinkModel, Objective, Schedule

HIDDEN = 32


@dataclass(frozen=True)
class PEG(HasLayers, HasInputs, HasMessages, Pairwise):
    """Graph convolutions whose arcs weigh what a perceptron makes of the distance of their ends' positions.

    As published, positions are those of the whole training graph, the edge that is asked about among its
    edges: two ends stand a little closer because of it. With ``folds`` they are not: the edges are dealt into
    so many folds, a batch is of one fold, and is read with the positions of the graph without it.
    """

    name: ClassVar[str] = "peg"
    title: ClassVar[str] = "PEG, equivariant and stable positional encodings"
    citation: ClassVar[str] = (
        "Wang et al., Equivariant and Stable Positional Encoding for More Powerful Graph Neural Networks,"
        " 2022"
    )

    positions: str = setting(
        "laplacian",
        "where nodes stand: eigenvectors of the normalised Laplacian, or vectors from random walks",
        choices=("laplacian", "deepwalk"),
    )
    position_dim: int = setting(128, "numbers of a position", low=1, high=4096)
    folds: int = setting(
        0,
        "folds of edges that positions are computed without; 0: computed once, as published",
        low=0,
        high=100,
    )
    seen_features: str = setting(
        "components",
        "features as they are, or on as many principal axes as states have numbers",
        choices=("components", "all"),
    )
    clip: float = setting(0.0, "largest norm of a part's gradient; 0: no clipping", low=0.0, high=1e9)

    def build(self, task: GraphTask, seed: int) -> LinkModel:
        """Positions, the layers they weigh, and the predictor."""
        import torch

        from trueedge.methods.pairwise.models.peg import PegEncoder, PegModel, PegPredictor, Positions

        graphs = [task.graph, *(_without(task.graph, fold) for fold in self.fold_edges(task.graph))]
        tables = [self.place(graph, derive(seed, "positions", number)) for number, graph in enumerate(graphs)]
        inputs = self.make_input(task, seed)
        encoder = PegEncoder(
            Positions(torch.from_numpy(np.stack(tables))), [inputs.dim, *[self.dim] * self.layers], HIDDEN
        )
        return PegModel(inputs, encoder, PegPredictor())

    def make_input(self, task: GraphTask, seed: int) -> Input:
        """Return what the encoder starts from: features on their principal axes, as published."""
        if self.inputs != "features" or task.graph.features is None or self.seen_features == "all":
            return super().make_input(task, seed)
        from trueedge.methods.pairwise.models.positions import principal_components
        from trueedge.training import feature_input

        return feature_input(principal_components(task.graph.features, self.dim, derive(seed, "features")))

    def objective(self, schedule: Schedule) -> Callable[..., Objective] | None:
        """Return the objective whose batches are of one fold each, where there are folds."""
        if self.folds == 0:
            return None
        from trueedge.methods.pairwise.models.peg import FoldedObjective

        return lambda graph, messages: FoldedObjective(graph, messages, schedule, self.fold_edges(graph))

    def fold_edges(self, graph: Graph) -> list[NDArray[np.int64]]:
        """The folds, as positions in the graph's list of edges; those of a graph are always the same."""
        order = generator(0, "folds").permutation(graph.num_edges)
        return [fold for fold in np.array_split(order, self.folds) if len(fold)] if self.folds else []

    def place(self, graph: Graph, seed: int) -> NDArray[np.float32]:
        """Return the positions of a graph's nodes, float32 (n, position_dim)."""
        from trueedge.methods.pairwise.models.positions import laplacian_positions, walk_positions

        place: Any = laplacian_positions if self.positions == "laplacian" else walk_positions
        found: NDArray[np.float32] = place(graph, self.position_dim, seed)
        return found


def _without(graph: Graph, edges: NDArray[np.int64]) -> Graph:
    left = np.delete(np.asarray(graph.edges), edges, axis=0)
    return Graph.from_edges(left, graph.num_nodes)
