"""Trained models of typed graphs as predictors of classes, and as scorers of links."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from trueedge.training.loop import History
from trueedge.training.typed.inputs import TypedInputs

LINKS_AT_A_TIME = 1 << 18


class ClassPredictor:
    """Predicts a logit for each class of nodes of the target type.

    Attributes:
        model: the trained model.
        inputs: the graph.
        history: how it was trained.
    """

    def __init__(self, model: nn.Module, inputs: TypedInputs, history: History) -> None:
        self.model, self.inputs, self.history = model, inputs, history
        self._logits: NDArray[np.float32] | None = None

    def predict(self, nodes: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the logits of nodes, float32 (n, classes)."""
        assert self.inputs.target is not None
        if self._logits is None:
            self._logits = computed(self.model, self.inputs).cpu().numpy()
        return self._logits[nodes - self.inputs.starts[self.inputs.target]]


class TypedLinkScorer:
    """Scores links by the vectors of their nodes.

    Attributes:
        model: the trained model, a :class:`LinkModel`.
        inputs: the graph.
        history: how it was trained.
    """

    def __init__(self, model: nn.Module, inputs: TypedInputs, history: History) -> None:
        self.model, self.inputs, self.history = model, inputs, history
        self._vectors: torch.Tensor | None = None

    def score_links(self, links: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the logits of links, float32 (n,)."""
        if self._vectors is None:
            self._vectors = computed(self.model, self.inputs)
        found = []
        with torch.no_grad():
            for rows in torch.from_numpy(np.array(links, dtype=np.int64)).split(LINKS_AT_A_TIME):
                found.append(self.model.decode(self._vectors, rows.to(self.inputs.device)).cpu())
        return np.asarray(torch.cat(found).numpy())


def computed(model: nn.Module, inputs: TypedInputs) -> torch.Tensor:
    """Return what a model gives for a graph, without dropout and gradients."""
    model.eval()
    with torch.no_grad():
        found: torch.Tensor = model(inputs)
        return found
