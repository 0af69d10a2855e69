"""What a path-based model is to training and evaluation."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import nn

from trueedge.training.paths.edges import Edges


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
