"""A trained path-based model as a scorer of triples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.training.loop import History
from trueedge.training.paths.edges import Edges
from trueedge.training.paths.model import PathModel

if TYPE_CHECKING:
    from trueedge.graph.knowledge import KnowledgeGraph

# Messages of a round at a time.
BLOCK = {"cpu": 1 << 20, "cuda": 1 << 23}


class PathScorer:
    """Scores all entities as answers of queries.

    Attributes:
        model: the trained model.
        edges: the graph along which it looks for paths.
        history: how it was trained.
    """

    # The sigmoid of a score is a probability.
    gives_logits = True

    def __init__(self, model: PathModel, edges: Edges, history: History) -> None:
        self.model, self.edges, self.history = model, edges, history

    def with_graph(self, graph: KnowledgeGraph) -> PathScorer:
        """Return a scorer of the same model on another graph with the same relations."""
        if 2 * graph.num_relations != self.edges.num_relations:
            raise InputError(
                f"the model was trained on {self.edges.num_relations // 2} relations, and {graph.name} has"
                f" {graph.num_relations}"
            )
        return PathScorer(self.model, Edges.of(graph, self.edges.device), self.history)

    def score_tails(self, heads: NDArray[np.int64], relations: NDArray[np.int64]) -> torch.Tensor:
        """Return a logit for each query and entity, float32 (queries, entities).

        Args:
            heads: int (queries,).
            relations: int (queries,), from 0 to 2R - 1.
        """
        device, edges = self.edges.device, self.edges
        _check_ids(heads, edges.num_entities, "entity")
        _check_ids(relations, edges.num_relations, "relation")
        if not len(heads):
            return torch.empty(0, edges.num_entities, device=device)
        asked = np.asarray(heads, dtype=np.int64) * self.edges.num_relations + np.asarray(relations)
        distinct, place = np.unique(asked, return_inverse=True)
        queries = torch.from_numpy(distinct).to(device)
        size = max(1, BLOCK[device.type] // (len(self.edges) + self.edges.num_entities))
        self.model.eval()
        with torch.no_grad():
            scores = [
                self.model.score(
                    self.edges, part // self.edges.num_relations, part % self.edges.num_relations
                )
                for part in queries.split(size)
            ]
        return torch.cat(scores)[torch.from_numpy(place).to(device)]


def _check_ids(ids: NDArray[np.int64], most: int, noun: str) -> None:
    wrong = np.asarray(ids)[(np.asarray(ids) < 0) | (np.asarray(ids) >= most)]
    if len(wrong):
        raise InputError(f"no {noun} has the id {wrong[0]}: there are {most}")
