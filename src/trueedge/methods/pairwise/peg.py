"""PEG: messages weighted by the distance between the positional encodings of nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.methods.method import setting
from trueedge.methods.pairwise.pairwise import Pairwise
from trueedge.methods.trained import HasInputs, HasLayers, HasMessages, open_setting
from trueedge.randomness import derive, generator
from trueedge.scorers.learned import learned, single

if TYPE_CHECKING:
    from trueedge.tasks import GraphTask, Task
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

    defaults: ClassVar[Mapping[str, Any]] = {
        "positions": "laplacian",
        "passes": 1,
        "noise": 0,
        "weight_activation": "relu",
        "product_layers": 0,
        "predictor_dropout": 0.0,
        "clip": 0.0,
    }

    positions: str = open_setting(
        str,
        "positional encoding: eigenvectors of the normalised Laplacian, or DeepWalk vectors",
        choices=("laplacian", "deepwalk"),
    )
    position_dim: int = setting(128, "dimension of the positional encoding", low=1, high=4096)
    passes: int = open_setting(
        int, "with positions=deepwalk, passes over all nodes, each with new walks", low=1, high=10**6
    )
    noise: int = open_setting(
        int,
        "with positions=deepwalk, noise nodes per pair, in addition to the tree",
        low=0,
        high=1000,
    )
    weight_activation: str = open_setting(
        str,
        "activation of the hidden layer of the MLP from distances to weights of messages",
        choices=("relu", "none"),
    )
    product_layers: int = open_setting(
        int,
        "layers of an MLP on the entrywise product of two node states; 0: their dot product",
        low=0,
        high=32,
    )
    predictor_dropout: float = open_setting(
        float, "dropout between the layers of the MLP on products", low=0.0, high=0.99
    )
    folds: int = setting(
        0, "folds of edges excluded from the positions; 0: none, as published", low=0, high=100
    )
    seen_features: str = setting(
        "components",
        "all features, or as many principal components as hidden states have dimensions",
        choices=("components", "all"),
    )
    clip: float = open_setting(float, "largest gradient norm per module; 0: no clipping", low=0.0, high=1e9)

    def for_task(self, task: Task) -> Self:
        """Return this method with every setting filled in, and refuse those that would do nothing."""
        filled = super().for_task(task)
        needs = {
            "passes": ("positions=deepwalk", filled.positions == "deepwalk"),
            "noise": ("positions=deepwalk", filled.positions == "deepwalk"),
            "predictor_dropout": ("product_layers=2 or more", filled.product_layers > 1),
        }
        unused = {name: self.defaults[name] for name, (_, met) in needs.items() if not met}
        for name, value in unused.items():
            if getattr(self, name) not in (None, value):
                raise InputError(f"peg: {name} needs {needs[name][0]}")
        # Published values of what is not used.
        return replace(filled, **unused)

    def build(self, task: GraphTask, seed: int) -> LinkModel:
        """Return a model of positions, weighted layers and predictor."""
        import torch

        from trueedge.methods.pairwise.models.peg import (
            LinearPegLayer,
            MlpPegPredictor,
            PegEncoder,
            PegLayer,
            PegModel,
            PegPredictor,
            Positions,
        )

        found = learned(
            lambda: {"positions": self._place_all(task.graph, seed)}, positions=(None, None, None)
        )
        inputs = self.make_input(task, seed)
        encoder = PegEncoder(
            Positions(torch.from_numpy(single(found["positions"]))),
            [inputs.dim, *[self.dim] * self.layers],
            HIDDEN,
            LinearPegLayer if self.weight_activation == "none" else PegLayer,
        )
        if self.product_layers == 0:
            return PegModel(inputs, encoder, PegPredictor())
        mlp = MlpPegPredictor(self.dim, self.product_layers, self.predictor_dropout)
        return PegModel(inputs, encoder, mlp)

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

        if self.positions == "laplacian":
            return laplacian_positions(graph, self.position_dim, seed)
        return walk_positions(graph, self.position_dim, seed, self.passes, self.noise)


def _without(graph: Graph, edges: NDArray[np.int64]) -> Graph:
    left = np.delete(np.asarray(graph.edges), edges, axis=0)
    return Graph.from_edges(left, graph.num_nodes)
