"""Negatives: pairs that are not edges, to compare positives with. One file for each sampler."""

from trueedge.negatives.degree_corrected import degree_corrected
from trueedge.negatives.full import Candidates, full
from trueedge.negatives.heart import heart
from trueedge.negatives.heart_shards import heart_shards
from trueedge.negatives.sharded import ShardedNegatives, open_shards
from trueedge.negatives.triplet import triplet
from trueedge.negatives.two_hop import two_hop
from trueedge.negatives.uniform import uniform

__all__ = [
    "Candidates",
    "ShardedNegatives",
    "degree_corrected",
    "full",
    "heart",
    "heart_shards",
    "open_shards",
    "triplet",
    "two_hop",
    "uniform",
]
