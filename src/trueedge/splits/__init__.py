"""How positives are divided."""

from trueedge.splits.split import Split

__all__ = ["Split"]
