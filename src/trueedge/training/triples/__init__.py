"""Models with a vector per entity and relation: objectives and scorers on top of the training loop."""

from trueedge.training.triples.distances import EmbeddingDistances, mean_embedding_distances
from trueedge.training.triples.index import TripleIndex
from trueedge.training.triples.mixup import Mixing, MixupObjective
from trueedge.training.triples.model import DistanceModel, DotModel, Tables, TripleModel
from trueedge.training.triples.objectives import AllTails, SampledTails, TripleObjective, make_objective
from trueedge.training.triples.schedule import TripleSchedule
from trueedge.training.triples.scorer import TripleScorer
from trueedge.training.triples.train import train_triples

__all__ = [
    "AllTails",
    "DistanceModel",
    "DotModel",
    "EmbeddingDistances",
    "Mixing",
    "MixupObjective",
    "SampledTails",
    "Tables",
    "TripleIndex",
    "TripleModel",
    "TripleObjective",
    "TripleSchedule",
    "TripleScorer",
    "make_objective",
    "mean_embedding_distances",
    "train_triples",
]
