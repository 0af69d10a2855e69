"""Well-connected nodes meet: degrees alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.graph import Graph
from trueedge.methods.heuristics.heuristic import Heuristic


@dataclass(frozen=True)
class PreferentialAttachment(Heuristic):
    """The product of degrees, ``k_u k_v``."""

    name: ClassVar[str] = "pa"
    title: ClassVar[str] = "Preferential Attachment"
    citation: ClassVar[str] = "Barabási and Albert, Emergence of Scaling in Random Networks, 1999"

    def compute(self, graph: Graph, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of each pair, float64 (n,)."""
        degrees = graph.degrees.astype(np.float64)
        return degrees[pairs[:, 0]] * degrees[pairs[:, 1]]
