"""Majority: every node gets the most frequent class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from trueedge.methods.method import Method, on_typed

if TYPE_CHECKING:
    from trueedge.tasks import NodeTask, Task


@dataclass(frozen=True)
class Majority(Method):
    """Predict the share of each class among the training nodes, whatever the node.

    If a node can have several classes, those that most training nodes have are predicted, or else the most
    frequent one.
    """

    name: ClassVar[str] = "majority"
    title: ClassVar[str] = "most frequent class of the training nodes"
    family: ClassVar[str] = "voting"
    citation: ClassVar[str] = "Holte, Very Simple Classification Rules Perform Well on Most Datasets, 1993"
    takes: ClassVar[tuple[str, ...]] = ("typed",)
    kinds: ClassVar[tuple[str, ...]] = ("nodes",)
    uses_device: ClassVar[bool] = False

    def fit(self, task: Task, seed: int = 0, device: str = "cpu") -> MajorityPredictor:
        """Count the classes of the training nodes."""
        del seed, device
        nodes = cast("NodeTask", on_typed(task, self.name))
        shares = nodes.memberships("train").mean(axis=0)
        if nodes.multi and not (shares > 0.5).any():
            shares = np.where(shares == shares.max(), 1.0, 0.0)
        return MajorityPredictor(shares)


class MajorityPredictor:
    """Gives every node the same shares of classes."""

    name = "majority"
    expects_ties = True

    def __init__(self, shares: NDArray[np.float64]) -> None:
        self.shares = shares

    def predict(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the shares of classes for each node, float64 (n, classes)."""
        return np.tile(self.shares, (len(nodes), 1))
