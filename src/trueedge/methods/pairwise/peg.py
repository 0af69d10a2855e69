"""PEG: messages weighted by the distance between the positional encodings of nodes."""

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
from trueedge.scorers.learned import learned, single

if TYPE_CHECKING:
    from trueedge.tasks import GraphTask
    from trueedge.training import Input, LinkModel, Objective, Schedule

HIDDEN = 32


@dataclass(frozen=True)
class PEG(HasLayers, HasInputs, HasMessages, Pairwise):
    """Graph convolutions whose messages are weighted by an MLP of the distance between node positions.

    As published, positions are computed on the whole training graph, so a training edge brings its own ends
    closer. With ``folds`` it does not: edges are divided into folds, each batch is from one fold, and uses
    positions of the graph without it.
    """

    name: ClassVar[str] = "peg"
    title: ClassVar[str] = "PEG, equivariant and stable positional encodings"
    citation: ClassVar[str] = (
        "Wang et al., Equivariant and Stable Positional Encoding for More Powerful Graph Neural Networks,"
        " 2022"
    )

    positions: str = setting(
        "laplacian",
        "positional encoding: eigenvectors of the normalised Laplacian, or DeepWalk vectors",
        choices=("laplacian", "deepwalk"),
    )
    position_dim: int = setting(128, "dimension of the positional encoding", low=1, high=4096)
    folds: int = setting(
        0, "folds of edges excluded from the positions; 0: none, as published", low=0, high=100
    )
    seen_features: str = setting(
        "components",
        "all features, or as many principal components as hidden states have dimensions",
        choices=("components", "all"),
    )
    clip: float = setting(0.0, "largest gradient norm per module; 0: no clipping", low=0.0, high=1e9)

    def build(self, task: GraphTask, seed: int) -> LinkModel:
        """Return a model of positions, weighted layers and predictor."""
        import torch

        from trueedge.methods.pairwise.models.peg import PegEncoder, PegModel, PegPredictor, Positions

        found = learned(
            lambda: {"positions": self._place_all(task.graph, seed)}, positions=(None, None, None)
        )
        inputs = self.make_input(task, seed)
        encoder = PegEncoder(
            Positions(torch.from_numpy(single(found["positions"]))),
            [inputs.dim, *[self.dim] * self.layers],
            HIDDEN,
        )
        return PegModel(inputs, encoder, PegPredictor())

    def make_input(self, task: GraphTask, seed: int) -> Input:
        """Return the input of the encoder: principal components of the features, as published."""
        if self.inputs != "features" or task.graph.features is None or self.seen_features == "all":
            return super().make_input(task, seed)
        from trueedge.methods.pairwise.models.positions import principal_components
        from trueedge.training import feature_input

        given, drawn = task.graph.features, derive(seed, "features")
        shape = (task.graph.num_nodes, None)
        found = learned(lambda: {"parts": principal_components(given, self.dim, drawn)}, parts=shape)
        return feature_input(found["parts"])

    def objective(self, schedule: Schedule) -> Callable[..., Objective] | None:
        """Return an objective with batches of one fold each, if there are folds."""
        if self.folds == 0:
            return None
        from trueedge.methods.pairwise.models.peg import FoldedObjective

        return lambda graph, messages: FoldedObjective(graph, messages, schedule, self.fold_edges(graph))

    def fold_edges(self, graph: Graph) -> list[NDArray[np.int64]]:
        """Return the folds as edge numbers; they are fixed for a graph."""
        order = generator(0, "folds").permutation(graph.num_edges)
        return [fold for fold in np.array_split(order, self.folds) if len(fold)] if self.folds else []

    def _place_all(self, graph: Graph, seed: int) -> NDArray[np.float32]:
        """Return the positions on the whole graph and on the graph without each fold, float32 (k, n, d)."""
        graphs = [graph, *(_without(graph, fold) for fold in self.fold_edges(graph))]
        return np.stack([self.place(one, derive(seed, "positions", i)) for i, one in enumerate(graphs)])

    def place(self, graph: Graph, seed: int) -> NDArray[np.float32]:
        """Return the positions of a graph's nodes, float32 (n, position_dim)."""
        from trueedge.methods.pairwise.models.positions import laplacian_positions, walk_positions

        place: Any = laplacian_positions if self.positions == "laplacian" else walk_positions
        found: NDArray[np.float32] = place(graph, self.position_dim, seed)
        return found


def _without(graph: Graph, edges: NDArray[np.int64]) -> Graph:
    left = np.delete(np.asarray(graph.edges), edges, axis=0)
    return Graph.from_edges(left, graph.num_nodes)
