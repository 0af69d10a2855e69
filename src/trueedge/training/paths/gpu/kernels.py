"""What the kernels for GPUs offer: plans without lists of edges, and whole layers."""

from trueedge.training.paths.gpu.distances import level_distances, number_rows
from trueedge.training.paths.gpu.layer import walked_layer
from trueedge.training.paths.gpu.pna import Statistics
from trueedge.training.paths.gpu.walk import count_messages

__all__ = ["Statistics", "count_messages", "level_distances", "number_rows", "walked_layer"]
