"""Matrix factorisation: a learned vector for each node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from trueedge.methods.trained import Trained

if TYPE_CHECKING:
    from trueedge.tasks import Task
    from trueedge.training import LinkModel


@dataclass(frozen=True)
class MatrixFactorization(Trained):
    """A vector for each node, learned with a predictor of pairs; features and messages play no part."""

    name: ClassVar[str] = "mf"
    family: ClassVar[str] = "embeddings"
    title: ClassVar[str] = "Matrix Factorisation"
    citation: ClassVar[str] = "Menon and Elkan, Link Prediction via Matrix Factorization, 2011"
    without: ClassVar[frozenset[str]] = frozenset({"hide_positives", "inputs", "layers"})

    def build(self, task: Task, seed: int) -> LinkModel:
        """The vectors, and a predictor."""
        from trueedge.training import LearnedInput, LinkModel
        from trueedge.training.convolutions import NoEncoder

        del seed
        assert self.dim is not None
        vectors = LearnedInput(task.graph.num_nodes, self.dim)
        return LinkModel(vectors, NoEncoder(self.dim), self.make_predictor(self.dim))
