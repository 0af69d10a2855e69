"""How positives are divided."""

from trueedge.splits.files import from_files, from_release
from trueedge.splits.fraction import fraction
from trueedge.splits.ratio import ratio
from trueedge.splits.repeat import repeat
from trueedge.splits.split import Split

split = ratio

__all__ = ["Split", "fraction", "from_files", "from_release", "ratio", "repeat", "split"]
