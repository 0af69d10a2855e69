"""Re-weighting of the loss by tail-relation degree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from trueedge.methods.kg.bias import BiasMethod
from trueedge.methods.method import setting

if TYPE_CHECKING:
    from trueedge.training.triples import TripleIndex, TripleObjective


@dataclass(frozen=True)
class ReWeighting(BiasMethod):
    """A triple with tail-relation degree d weighs ``d ** -power`` in the loss, times a factor: the mean is 1.

    With 1-k the weight applies to a triple and its negatives, with 1-n to the answer alone. The thesis names
    no formula; this is inverse frequency, softened by the power.
    """

    suffix: ClassVar[str] = "reweighting"
    addition: ClassVar[str] = "loss re-weighting"
    citation: ClassVar[str] = (
        "Yuan and Ma, Sampling + Reweighting: Boosting the Performance of AdaBoost on Imbalanced Datasets,"
        " 2012"
    )

    power: float = setting(
        0.5, "exponent of the inverse tail-relation degree", low=0.0, high=4.0, search=(0.25, 0.5, 1.0)
    )

    def make_objective(self, index: TripleIndex) -> TripleObjective:
        """Return the objective with weighted triples."""
        from trueedge.training.triples import make_objective

        weights = index.degrees.astype(np.float64) ** -self.power
        return make_objective(index, self.schedule(), weights=(weights / weights.mean()).astype(np.float32))
