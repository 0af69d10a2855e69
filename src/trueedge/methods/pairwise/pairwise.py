"""The base class of methods that read the graph around a pair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from trueedge.methods.trained import HasBatches


@dataclass(frozen=True)
class Pairwise(HasBatches):
    """A trained method that reads the graph around a pair.

    By default a batch's positives are removed from the graph first: a model that sees the edge itself would
    learn to detect it, and test edges are not in the graph.
    """

    family: ClassVar[str] = "pairwise"
    firm_defaults: ClassVar[Mapping[str, Any]] = {"hide_positives": True}
