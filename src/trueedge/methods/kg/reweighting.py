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
    """A triple with a tail-relation degree below a threshold weighs ``1 + added`` in the loss, others 1.

    With 1-n, as published, the weight applies to the answer alone; with 1-k, to a triple and its negatives.
    The rule is that of the published code: the paper names none.
    """

    suffix: ClassVar[str] = "reweighting"
    addition: ClassVar[str] = "loss re-weighting"
    citation: ClassVar[str] = (
        "Yuan and Ma, Sampling + Reweighting: Boosting the Performance of AdaBoost on Imbalanced Datasets,"
        " 2012"
    )

    threshold: int = setting(
        5,
        "triples with a tail-relation degree below this weigh more",
        low=1,
        high=10**6,
        search=(3, 5, 10),
    )
    added: float = setting(1.0, "what is added to their weight", low=0.0, high=1000.0, search=(0.5, 1.0, 4.0))

    def make_objective(self, index: TripleIndex) -> TripleObjective:
        """Return the objective with weighted triples."""
        from trueedge.training.triples import make_objective

        weights = 1 + self.added * (index.degrees < self.threshold)
        return make_objective(index, self.schedule(), weights=weights.astype(np.float32))
