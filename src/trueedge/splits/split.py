"""How the edges of a graph are divided: what may be seen, and what is asked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueedge.graph import Graph


@dataclass(frozen=True, eq=False)
class Split:
    """The positives of a graph in three parts that share no edge.

    Attributes:
        train: the graph of the training edges; it has all nodes and the features.
        valid: int32 array (v, 2), may be empty.
        test: int32 array (t, 2).
        name: how it was made, in words for a record (``ratio 85/5/10, seed 0``).
    """

    train: Graph
    valid: NDArray[np.int32]
    test: NDArray[np.int32]
    name: str
