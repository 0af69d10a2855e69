"""What a path-based model is to training and evaluation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from trueedge.training.loop import Objective
from trueedge.training.paths.edges import Edges

if TYPE_CHECKING:
    from trueedge.training.paths.train import PathSchedule


class PathModel(nn.Module, ABC):
    """A model without parameters for entities: it scores the entities of any graph with its relations."""

    @abstractmethod
    def score(
        self,
        edges: Edges,
        heads: torch.Tensor,
        relations: torch.Tensor,
        targets: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return the logits of targets, float (queries, k), or of all entities, float (queries, entities).

        Args:
            edges: the graph.
            heads: int64 (queries,).
            relations: int64 (queries,), from 0 to 2R - 1.
            targets: int64 (queries, k), the entities to score; None: all.
        """

    def objective(self, triples: NDArray[np.int32], edges: Edges, schedule: PathSchedule) -> Objective | None:
        """Return the model's own objective; None: :class:`PathObjective`."""
        del triples, edges, schedule
        return None
