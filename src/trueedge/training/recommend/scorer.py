"""Trained recommenders as scorers of items."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from trueedge.training.loop import History
from trueedge.training.recommend.inputs import RecommendInputs
from trueedge.training.recommend.model import ItemModel


class ItemModelScorer:
    """Scores all items for users by a trained model.

    Attributes:
        name: the name of the method.
        model: the model.
        inputs: the training interactions.
        history: how it was trained.
    """

    def __init__(self, model: ItemModel, inputs: RecommendInputs, history: History | None, name: str) -> None:
        self.model, self.inputs, self.history, self.name = model, inputs, history, name
        self._prepared: Any = None

    def score_candidates(self, users: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the score of every item for each user, float32 (n, items)."""
        self.model.eval()
        with torch.no_grad():
            if self._prepared is None:
                self._prepared = (self.model.prepare(self.inputs),)
            asked = torch.from_numpy(np.array(users, dtype=np.int64)).to(self.inputs.device)
            found = self.model.table(self.inputs, self._prepared[0], asked)
        return np.asarray(found.cpu().numpy())
