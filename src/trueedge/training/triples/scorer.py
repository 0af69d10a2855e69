"""The scorer of a trained model for triples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.training.triples.model import DotModel, Tables, TripleModel

if TYPE_CHECKING:
    from trueedge.graph.knowledge import KnowledgeGraph
    from trueedge.training.loop import History

# Queries that are scored at a time: ConvE has thousands of numbers for each.
BLOCK = {"cpu": 1024, "cuda": 8192}


class TripleScorer:
    """Scores all tails of queries; the vectors of entities and relations are computed once.

    Attributes:
        model: the selected model.
        history: the history of its training.
        pretraining: the history of an earlier training that its vectors come from, or None.
    """

    # The sigmoid of a score is the probability that a triple is true.
    gives_logits = True

    def __init__(self, model: TripleModel, history: History, pretraining: History | None = None) -> None:
        self.model = model
        self.history = history
        self.pretraining = pretraining
        self._tables: Tables | None = None

    def score_tails(self, heads: NDArray[np.int64], relations: NDArray[np.int64]) -> torch.Tensor:
        """Return the logit of every entity as tail, float32 (b, entities), on the model's device.

        Args:
            heads: entities, int (b,).
            relations: relations r, or r + R to ask for the heads of a tail, int (b,).
        """
        tables = self.tables()
        asked = self._checked(heads, relations)
        step = BLOCK[asked.device.type]
        scores = torch.empty(asked.shape[1], len(tables.entities), device=asked.device)
        self.model.eval()
        with torch.no_grad():
            for block, out in zip(asked.split(step, dim=1), scores.split(step), strict=True):
                query = self.model.query(block[0], block[1], tables)
                if not isinstance(self.model, DotModel):
                    out.copy_(self.model.score_all(query, tables))
                    continue
                # Into its place, since a copy of all scores takes a tenth of the time.
                torch.mm(query, tables.entities.T, out=out)
                if self.model.bias is not None:
                    out += self.model.bias
        return scores

    def with_graph(self, graph: KnowledgeGraph) -> TripleScorer:
        """Refuse another graph: its entities have no vectors."""
        raise InputError(
            "the model has vectors for the entities it was trained on, and cannot score those of"
            f" {graph.name}"
        )

    def tables(self) -> Tables:
        """Return the vectors of all entities and relations."""
        if self._tables is None:
            self.model.eval()
            with torch.no_grad():
                found = self.model.encode()
            self._tables = Tables(found.entities.detach(), found.relations.detach())
        return self._tables

    def _checked(self, heads: NDArray[np.int64], relations: NDArray[np.int64]) -> torch.Tensor:
        """Return heads and relations on the device, int64 (2, b), or name an id that is out of range."""
        tables = self.tables()
        asked = np.stack([np.asarray(heads), np.asarray(relations)]).astype(np.int64)
        for ids, table, noun in zip(asked, tables, ("entity", "relation"), strict=True):
            if len(ids) and not 0 <= ids.min() <= ids.max() < len(table):
                wrong = ids[(ids < 0) | (ids >= len(table))][0]
                raise InputError(f"no {noun} has the id {wrong}: the model has {len(table)}")
        return torch.from_numpy(asked).to(tables.entities.device)
