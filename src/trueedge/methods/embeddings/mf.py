"""Matrix factorisation: a learned vector for each node, mapped by an MLP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.methods.trained import HasBatches, HasEncoder, HasPredictor

if TYPE_CHECKING:
    from trueedge.tasks import GraphTask
    from trueedge.training import LinkModel


@dataclass(frozen=True)
class MatrixFactorization(HasEncoder, HasPredictor, HasBatches):
    """A learned vector for each node, an MLP of ``layers`` layers on it, and a predictor of pairs.

    It uses no features and no message passing. As in the published runs, the vectors have as many dimensions
    as the data set has features (``dim`` if it has none), are initialised from a standard normal
    distribution, and are subject to weight decay.
    """

    name: ClassVar[str] = "mf"
    family: ClassVar[str] = "embeddings"
    title: ClassVar[str] = "Matrix Factorisation"
    citation: ClassVar[str] = "Menon and Elkan, Link Prediction via Matrix Factorization, 2011"
    defaults: ClassVar[Mapping[str, Any]] = {"layers": 2}

    def build(self, task: GraphTask, seed: int) -> LinkModel:
        """Return a model of vectors, MLP and predictor."""
        from torch import nn

        from trueedge.training import LearnedInput, LinkModel
        from trueedge.training.links.convolutions import LinearLayer

        del seed
        features = task.graph.features
        vectors = LearnedInput(task.graph.num_nodes, self.dim if features is None else features.shape[1])
        nn.init.normal_(vectors.vectors)
        encoder = self.make_encoder(LinearLayer, vectors.dim)
        model = LinkModel(vectors, encoder, self.make_predictor(self.dim))
        model.decay_inputs = True
        return model
