"""What gives pairs their scores, and everything that can be turned into one."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from trueedge.graph import Graph


@runtime_checkable
class Scorer(Protocol):
    """Scores node pairs: the higher, the likelier an edge."""

    def score(self, pairs: NDArray[np.int64]) -> NDArray[np.floating[Any]]:
        """A finite score for each pair.

        Args:
            pairs: int64 array (n, 2).

        Returns:
            float array (n,), in the order of the pairs.
        """
        ...


@runtime_checkable
class Rebindable(Protocol):
    """A scorer that can be asked again with another graph under it (validation edges added at test)."""

    def on(self, graph: Graph) -> Scorer:
        """The same scorer, trained as it is, reading its structure from another graph on the same nodes."""
        ...
