"""Parts of typed graphs: relations, and the classes of nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueedge.graph.freezing import FrozenFields


class Relation(NamedTuple):
    """A type of edges.

    Attributes:
        name: its name.
        source: the node type that its edges leave, by number.
        target: the node type that they enter.
    """

    name: str
    source: int
    target: int


@dataclass(frozen=True, eq=False)
class Labels(FrozenFields):
    """The classes of nodes of one type.

    Attributes:
        type: the node type, by number.
        nodes: int32 (k,), the labelled nodes, ascending.
        values: int32 (k,), the class of each, or bool (k, classes) if a node can have several.
        classes: the name of each class.
        test: bool (k,), which of them are the published test part; None if there is none.
    """

    type: int
    nodes: NDArray[np.int32]
    values: NDArray[Any]
    classes: tuple[str, ...]
    test: NDArray[np.bool_] | None = None

    @property
    def multi(self) -> bool:
        """Return whether a node can have several classes."""
        return bool(self.values.ndim == 2)

    @property
    def num_classes(self) -> int:
        """Return the number of classes."""
        return len(self.classes)
