"""Splits of a graph into training edges and positives to predict."""

from trueedge.splits.files import from_files
from trueedge.splits.fraction import fraction
from trueedge.splits.ratio import ratio
from trueedge.splits.releases import Release, is_published, published, released
from trueedge.splits.repeat import repeat
from trueedge.splits.split import Split
from trueedge.splits.time import by_time
from trueedge.splits.triples import TripleSplit
from trueedge.splits.typed import TypedData

split = ratio

__all__ = [
    "Release",
    "Split",
    "TripleSplit",
    "TypedData",
    "by_time",
    "fraction",
    "from_files",
    "is_published",
    "published",
    "ratio",
    "released",
    "repeat",
    "split",
]
