"""A trained model on a graph: what scores pairs after training."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from trueedge.graph import Graph
from trueedge.training.messages import Messages
from trueedge.training.model import LinkModel

if TYPE_CHECKING:
    from trueedge.training.loop import History

# Numbers in the states of the pairs that are scored at a time: on a processor what stays in its cache is faster,
# a GPU wants much to do.
BLOCK = {"cpu": 1 << 19, "cuda": 1 << 27}


class TrainedScorer:
    """Scores pairs with a model; the states of all nodes are computed once.

    Attributes:
        model: the model, in the state that was selected.
        history: how its training went.
    """

    def __init__(self, model: LinkModel, messages: Messages, history: History) -> None:
        self.model = model
        self.messages = messages
        self.history = history
        self._states: torch.Tensor | None = None

    def score(self, pairs: NDArray[np.int64]) -> NDArray[np.float32]:
        """The logit of each pair, float32 (n,)."""
        states = self.states()
        asked = torch.from_numpy(pairs).to(states.device)
        step = max(1, BLOCK[states.device.type] // max(1, states.shape[1]))
        self.model.eval()
        with torch.no_grad():
            logits = [
                self.model.score(states, asked[start : start + step]) for start in range(0, len(asked), step)
            ]
        found: NDArray[np.float32] = (
            torch.cat(logits).float().cpu().numpy() if logits else np.empty(0, dtype=np.float32)
        )
        return found

    def states(self) -> torch.Tensor:
        """The states of all nodes, float (n, d)."""
        if self._states is None:
            self.model.eval()
            with torch.no_grad():
                self._states = self.model.encode(self.messages)
        return self._states

    def on(self, graph: Graph) -> TrainedScorer:
        """The same model, with messages passed on another graph of the same nodes."""
        return TrainedScorer(self.model, Messages.of(graph, self.messages.indices.device), self.history)
