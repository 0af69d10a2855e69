"""What the kernels for GPUs offer: plans without lists of edges, and whole layers."""

from trueedge.training.paths.gpu.distances import level_distances, number_rows
from trueedge.training.paths.gpu.layer import walked_layer
from trueedge.training.paths.gpu.pna import Statistics
from trueedge.training.paths.gpu.scores import LARGEST_SCORED, score_entities
from trueedge.training.paths.gpu.walk import count_messages

__all__ = [
    "LARGEST_SCORED",
    "Statistics",
    "count_messages",
    "level_distances",
    "number_rows",
    "score_entities",
    "walked_layer",
]
