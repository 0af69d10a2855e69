"""The scorer of a trained model on a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.graph.pairs import as_pairs
from trueedge.training.links.messages import Messages
from trueedge.training.links.model import LinkModel

if TYPE_CHECKING:
    from trueedge.training.loop import History

# Numbers in the states of the pairs scored at a time: few for the CPU's cache, many for a GPU.
BLOCK = {"cpu": 1 << 19, "cuda": 1 << 25}
MOST_PAIRS = {"cpu": 1 << 12, "cuda": 1 << 17}


class TrainedScorer:
    """Scores pairs with a model; the states of all nodes are computed once.

    Attributes:
        model: the selected model.
        messages: the adjacency of the graph that it scores on.
        history: the history of its training.
        repeats: a pair that is asked again gets the same score, so a task may ask once for each pair.
    """

    repeats: ClassVar[bool] = True

    def __init__(self, model: LinkModel, messages: Messages, history: History) -> None:
        self.model = model
        self.messages = messages
        self.history = history
        self._states: torch.Tensor | None = None

    def score(self, pairs: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the logit of each pair, float32 (n,), independent of the other pairs.

        The last block is padded to full size: matrix products of other shapes round differently, and a
        collapsed model, with equal scores for all pairs, reached an MRR of 1 on a GPU by rounding alone.
        (Products with rows of a dozen numbers or fewer may still depend on the row on some processors.)
        """
        # Checked, since compiled loops would read beyond the graph's arrays.
        pairs = as_pairs(pairs, self.messages.num_nodes)
        states = self.states()
        where = states.device.type
        step = min(MOST_PAIRS[where], max(1, BLOCK[where] // max(1, states.shape[1])))
        step = self.model.pairs_at_a_time or step
        logits = np.empty(len(pairs), dtype=np.float32)
        self.model.eval()
        with torch.no_grad():
            for start in range(0, len(pairs), step):
                block = np.zeros((step, 2), dtype=np.int64)
                count = min(step, len(pairs) - start)
                block[:count] = pairs[start : start + count]
                asked = torch.from_numpy(block).to(states.device)
                answer = self.model.score(states, asked, self.messages)[:count]
                logits[start : start + count] = answer.cpu().numpy()
        return logits

    def states(self) -> torch.Tensor:
        """Return the states of all nodes, float (n, d)."""
        if self._states is None:
            self.model.eval()
            with torch.no_grad():
                self._states = self.model.encode(self.messages)
        return self._states

    def embeddings(self) -> NDArray[np.float32]:
        """Return the states of all nodes as an array, float32 (n, d)."""
        values: NDArray[np.float32] = self.states().cpu().numpy()
        return values

    def with_graph(self, graph: Graph) -> TrainedScorer:
        """Return the same model with messages passed on another graph of the same nodes."""
        if graph.num_nodes != self.messages.num_nodes:
            raise InputError(
                f"the model has {self.messages.num_nodes} nodes, but {graph.name} has {graph.num_nodes}"
            )
        return TrainedScorer(self.model, Messages.of(graph, self.messages.indices.device), self.history)
