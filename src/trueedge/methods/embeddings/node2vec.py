"""node2vec: vectors from second-order random walks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from trueedge.graph import Graph
from trueedge.methods.embeddings.embedding import VectorScorer
from trueedge.methods.embeddings.walk_vectors import WalkVectors
from trueedge.methods.method import on_graph, setting
from trueedge.methods.trained import HasBatches, HasEncoder, HasPredictor, open_setting
from trueedge.scorers.learned import learned, single

if TYPE_CHECKING:
    from trueedge.tasks import GraphTask, Task
    from trueedge.training import LinkModel, TrainedScorer

# Defaults where the dot product of vectors is the score, and where an MLP is trained on them.
ALONE: dict[str, Any] = {"walk_length": 80, "window": 10, "passes": 1, "noise": 5, "trainer": "word2vec"}
# Among 1, 2, 3, 5 and 8 passes, 5 have the highest validation MRR on Citeseer (three seeds, both settings).
AS_INPUT: dict[str, Any] = {"walk_length": 20, "window": 10, "passes": 5, "noise": 5, "trainer": "word2vec"}


@dataclass(frozen=True)
class Node2Vec(HasEncoder, HasPredictor, HasBatches):
    """Skip-gram vectors of second-order random walks.

    With the predictor ``dot`` the score is the dot product of two vectors. With ``mlp`` an MLP is trained on
    the fixed vectors, concatenated with the features.

    The trainer ``word2vec`` has two vectors for each node and draws noise by frequency. ``adam`` is that of
    the published runs with an MLP: one vector for each node, initialised from a standard normal distribution,
    and uniform noise. On ogbl-ddi its two passes are 34 steps with a learning rate of 0.01, so the vectors
    stay close to random.
    """

    name: ClassVar[str] = "node2vec"
    family: ClassVar[str] = "embeddings"
    title: ClassVar[str] = "node2vec"
    citation: ClassVar[str] = "Grover and Leskovec, node2vec: Scalable Feature Learning for Networks, 2016"

    vector_dim: int = setting(128, "dimension of the vectors", low=1, high=8192)
    walks: int = setting(10, "walks per node", low=1, high=10**6)
    walk_length: int = open_setting(int, "nodes per walk", low=1, high=10**6)
    window: int = open_setting(int, "window size of skip-gram", low=1, high=10**4)
    passes: int = open_setting(int, "passes over all nodes, each with new walks", low=1, high=10**6)
    noise: int = open_setting(int, "noise nodes per pair", low=1, high=1000)
    trainer: str = open_setting(
        str,
        "how vectors are learned: as in word2vec, or by Adam from random vectors with uniform noise",
        choices=("word2vec", "adam"),
    )
    noise_power: float = setting(
        0.75, "word2vec: noise nodes are drawn by frequency to this power", low=-2.0, high=2.0
    )
    subsample: float = setting(
        0.001, "word2vec: downsample nodes more frequent than this share; 0: none", low=0.0, high=1.0
    )
    p: float = setting(
        1.0, "return parameter: above 1, walks rarely turn back", low=0.05, high=20.0, search=(0.25, 1.0, 4.0)
    )
    q: float = setting(
        1.0,
        "in-out parameter: above 1, walks stay near the previous node",
        low=0.05,
        high=20.0,
        search=(0.25, 1.0, 4.0),
    )

    def for_task(self, task: Task) -> Self:
        """Return this method with every setting filled in."""
        filled = super().for_task(task)
        return filled.filled_in(ALONE if filled.predictor == "dot" else AS_INPUT)

    @property
    def uses_device(self) -> bool:
        """Return whether something is trained on a device: not with the predictor dot."""
        return self.predictor != "dot"

    def fit(  # type: ignore[override]  # with the predictor dot nothing is trained
        self, task: Task, seed: int = 0, device: str = "cpu"
    ) -> TrainedScorer | VectorScorer:
        """Compute the vectors of the task's training graph, and train an MLP on them if asked for."""
        graph = on_graph(task, self.name, "for a graph alone there is vectors(graph, seed)").graph
        filled = self.for_task(task)
        if filled.predictor == "dot":
            return VectorScorer(self.name, filled._learned_vectors(graph, seed))
        return super().fit(task, seed, device)

    def vectors(self, graph: Graph, seed: int = 0) -> NDArray[np.float32]:
        """Return a vector for each node, float32 (n, vector_dim)."""
        filled = self.filled_in(ALONE)
        if filled.trainer == "adam":
            from trueedge.methods.embeddings.models.adam_vectors import AdamVectors

            return AdamVectors(
                dim=self.vector_dim,
                walks=self.walks,
                length=filled.walk_length,
                window=filled.window,
                noise=filled.noise,
                passes=filled.passes,
                p=self.p,
                q=self.q,
            ).of(graph, seed)
        return WalkVectors(
            dim=self.vector_dim,
            walks=self.walks,
            length=filled.walk_length,
            window=filled.window,
            negatives=filled.noise,
            epochs=filled.passes,
            p=self.p,
            q=self.q,
            exponent=self.noise_power,
            sample=self.subsample,
        ).of(graph, seed)

    def _learned_vectors(self, graph: Graph, seed: int) -> NDArray[np.float32]:
        """Return the vectors, which a saved scorer has."""
        shape = (graph.num_nodes, self.vector_dim)
        return single(learned(lambda: {"vectors": self.vectors(graph, seed)}, vectors=shape)["vectors"])

    def build(self, task: GraphTask, seed: int) -> LinkModel:
        """Return a model of vectors, features, MLP and predictor."""
        import torch

        from trueedge.methods.embeddings.models.concat_input import ConcatInput
        from trueedge.training import DenseInput, Input, LinkModel, feature_input
        from trueedge.training.links.convolutions import LinearLayer

        inputs: Input = DenseInput(torch.from_numpy(self._learned_vectors(task.graph, seed)))
        if task.graph.features is not None:
            inputs = ConcatInput(feature_input(task.graph.features), inputs)
        encoder = self.make_encoder(LinearLayer, inputs.dim)
        return LinkModel(inputs, encoder, self.make_predictor(self.dim))
