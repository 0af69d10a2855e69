"""Matrix factorisation: a learned vector for each node, mapped by an MLP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.methods.trained import HasBatches, HasEncoder, HasPredictor, open_setting

if TYPE_CHECKING:
    from trueedge.tasks import GraphTask
    from trueedge.training import LinkModel


@dataclass(frozen=True)
class MatrixFactorization(HasEncoder, HasPredictor, HasBatches):
    """A learned vector for each node, an MLP of ``layers`` layers on it, and a predictor of pairs.

    It uses no features and no message passing. As in the published runs, the vectors have as many dimensions
    as the data set has features (``dim`` if it has none), are initialised from a standard normal
    distribution, and are subject to weight decay. The published runs on ogbl-collab, ogbl-ddi and ogbl-ppa
    have no layer: the predictor multiplies the vectors themselves, of ``dim`` dimensions, and gradients are
    not clipped.
    """

    name: ClassVar[str] = "mf"
    family: ClassVar[str] = "embeddings"
    title: ClassVar[str] = "Matrix Factorisation"
    citation: ClassVar[str] = "Menon and Elkan, Link Prediction via Matrix Factorization, 2011"
    defaults: ClassVar[Mapping[str, Any]] = {"layers": 2, "clip": 1.0}

    layers: int = open_setting(
        int, "number of layers on the vectors; 0: none", low=0, high=32, search=(1, 2, 3)
    )
    clip: float = open_setting(float, "largest gradient norm per module; 0: no clipping", low=0.0, high=1e9)

    def build(self, task: GraphTask, seed: int) -> LinkModel:
        """Return a model of vectors, MLP and predictor."""
        from torch import nn

        from trueedge.methods.embeddings.models.vector_encoder import VectorEncoder
        from trueedge.training import Encoder, LearnedInput, LinkModel
        from trueedge.training.links.convolutions import LinearLayer

        del seed
        features = task.graph.features if self.layers else None
        vectors = LearnedInput(task.graph.num_nodes, self.dim if features is None else features.shape[1])
        nn.init.normal_(vectors.vectors)
        encoder: Encoder = (
            self.make_encoder(LinearLayer, vectors.dim) if self.layers else VectorEncoder(vectors.dim)
        )
        model = LinkModel(vectors, encoder, self.make_predictor(self.dim))
        model.decay_inputs = True
        return model
