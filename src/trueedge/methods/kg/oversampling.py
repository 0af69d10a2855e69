"""Over-sampling of triples with a low tail-relation degree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from trueedge.methods.kg.bias import BiasMethod
from trueedge.methods.method import setting

if TYPE_CHECKING:
    from trueedge.training.triples import TripleIndex, TripleObjective


@dataclass(frozen=True)
class OverSampling(BiasMethod):
    """A triple with a tail-relation degree d below a threshold occurs threshold - d more times in an epoch.

    With 1-n, where a query occurs with all its answers at once, the answer weighs that much more.
    """

    suffix: ClassVar[str] = "oversampling"
    addition: ClassVar[str] = "over-sampling"
    citation: ClassVar[str] = (
        "Shomer, Jin, Wang and Tang, Toward Degree Bias in Embedding-Based Knowledge Graph Completion, 2023"
    )

    threshold: int = setting(
        5,
        "triples with a tail-relation degree below this occur more often",
        low=1,
        high=10**6,
        search=(3, 5, 10),
    )

    def make_objective(self, index: TripleIndex) -> TripleObjective:
        """Return the objective with repeated triples."""
        from trueedge.training.triples import make_objective

        repeats = 1 + np.maximum(0, self.threshold - index.degrees)
        return make_objective(index, self.schedule(), repeats=repeats)
