"""What all methods that read the graph around a pair have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from trueedge.methods.trained import HasBatches


@dataclass(frozen=True)
class Pairwise(HasBatches):
    """A trained method that reads structure off the graph around a pair.

    A batch's positives are removed from the graph first, unless asked otherwise: a model that sees the edge
    itself learns to look for it, and finds it nowhere in the test part.
    """

    family: ClassVar[str] = "pairwise"
    firm_defaults: ClassVar[Mapping[str, Any]] = {"hide_positives": True}
