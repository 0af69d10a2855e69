"""The base class of methods against degree bias, which change the training of any embedding model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.methods.kg.embedding import EmbeddingModel
from trueedge.methods.published_settings import published_settings

if TYPE_CHECKING:
    from trueedge.tasks import Task


@dataclass(frozen=True)
class BiasMethod(EmbeddingModel):
    """A training that helps tails which are rare with their relation.

    It is combined with each embedding model: ``conve+kgmixup`` (see :mod:`trueedge.methods.kg.variants`).

    Attributes:
        suffix: what it adds to the name of a model.
        addition: what it adds to the title of a model.
        base: the embedding model that it is combined with.
    """

    suffix: ClassVar[str]
    addition: ClassVar[str]
    base: ClassVar[type[EmbeddingModel]]

    @classmethod
    def fitting(cls, model: type[EmbeddingModel]) -> type[BiasMethod]:
        """Return the class that is combined with a model: perhaps one with further settings."""
        del model
        return cls

    def published(self, task: Task) -> dict[str, Any]:
        """Return the settings published for the combination, or else for the embedding model."""
        return {**published_settings(self.base.name, task), **published_settings(self.name, task)}
