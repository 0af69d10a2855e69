"""Over-sampling of triples with a low tail-relation degree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.methods.kg.bias import BiasMethod
from trueedge.methods.method import setting

if TYPE_CHECKING:
    from trueedge.training.triples import TripleIndex, TripleObjective


@dataclass(frozen=True)
class OverSampling(BiasMethod):
    """Relation and tail occur together at least ``threshold`` times in an epoch.

    If they have d triples and d is below the threshold, these are repeated: ``threshold - d`` occurrences are
    shared among them. With 1-n, where a query occurs with all its answers at once, each of these answers
    weighs ``threshold / d``.
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

        schedule = self.schedule()
        if schedule.objective == "1-n":
            weights = np.maximum(1.0, self.threshold / index.degrees)
            return make_objective(index, schedule, weights=weights.astype(np.float32))
        return make_objective(index, schedule, repeats=occurrences(index.rows, index.degrees, self.threshold))


def occurrences(rows: NDArray[np.int64], degrees: NDArray[np.int64], threshold: int) -> NDArray[np.int64]:
    """Return how often each triple occurs: a relation occurs with a tail at least ``threshold`` times.

    Args:
        rows: the triples, int64 (m, 3).
        degrees: how many triples have the relation and the tail of each triple, int64 (m,).
        threshold: the least number of occurrences of a relation with a tail.
    """
    order = np.lexsort((rows[:, 0], rows[:, 1], rows[:, 2]))
    grouped = degrees[order]
    # The triples of a relation and a tail are consecutive, so they are numbered from the first of them.
    first = np.flatnonzero(np.r_[True, (np.diff(rows[order][:, 1:], axis=0) != 0).any(axis=1)])
    number = np.arange(len(rows)) - np.repeat(first, grouped[first])
    total = np.maximum(grouped, threshold)
    found = np.empty(len(rows), dtype=np.int64)
    found[order] = total // grouped + (number < total % grouped)
    return found
