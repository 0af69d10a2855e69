"""The values of a method on the edges of one test part, and pairs of methods on the same splits.

A seed may divide the training part, and draw negatives, while the test part stays. Two methods then share
more than the edges: a split that is hard for one is often hard for the other. So their differences are taken
within each split that both have, and are themselves a sample of seeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.errors import InputError
from trueedge.metrics.scores import as_scores
from trueedge.statistics.shared_negatives import mean_over_seeds
from trueedge.statistics.standard_error import SeedPart, variance_of_mean

Array = NDArray[np.float64]
Ends = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Sample:
    """A summary of a method's values x[s, e] of S seeds on E test edges.

    Attributes:
        edges: float64 (E,), each edge's mean over seeds.
        seeds: float64 (S,), each seed's mean over edges.
        rest: what neither edge nor seed explains, as its share in the variance of the mean; 0 for one seed.
        ends: int64 (E, 2), which nodes the edges share (:func:`.shared_nodes.shared_ends`); None if they
            share none.
        redraws: float64 (R,), the mean over edges and seeds with other draws of negatives that all edges
            share; empty if there are no other draws, None if edges share no negatives.
        by_split: the seeds of each split (:meth:`of_splits`); empty if their splits are not known.
    """

    edges: Array
    seeds: Array
    rest: float
    ends: Ends | None = None
    redraws: Array | None = None
    by_split: Mapping[str, Sample] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        values: Iterable[ArrayLike],
        what: str = "values",
        ends: Ends | None = None,
        redraws: Sequence[Array | None] = (),
    ) -> Sample:
        """Summarise numbers (S, E), or rows (E,) one after another.

        Args:
            values: the values of each seed.
            what: what errors call them.
            ends: which nodes the edges share, int64 (E, 2).
            redraws: for each seed its mean over edges with other draws of shared negatives, (R,), or None.
        """
        total, spread = np.zeros(0), 0.0
        means: list[float] = []
        for row in values:
            numbers = as_scores(row, what)
            if numbers.ndim != 1 or not numbers.size:
                raise InputError(f"{what} must have the shape (seeds, edges), got a row {numbers.shape}")
            if means and len(numbers) != len(total):
                raise InputError(f"a seed has {len(numbers)} {what}, and another {len(total)}")
            numbers = numbers.astype(np.float64, copy=False)
            total = total + numbers if means else numbers
            means.append(float(numbers.mean()))
            centred = numbers - means[-1]
            spread += float(centred @ centred)
        if not means:
            raise InputError(f"there are no {what}")
        edges, seeds = total / len(means), np.array(means)
        cells = (len(edges) - 1) * (len(seeds) - 1)
        if ends is not None and ends.shape != (len(edges), 2):
            raise InputError(f"there are {len(edges)} edges, but ends of shape {ends.shape}")
        rest = 0.0
        if cells:
            centred = edges - edges.mean()
            left = max(0.0, spread - len(seeds) * float(centred @ centred))
            rest = left / cells / (len(edges) * len(seeds))
        return cls(edges, seeds, rest, ends, mean_over_seeds(redraws))

    @classmethod
    def of_splits(
        cls,
        values: Mapping[str, Sequence[ArrayLike]],
        what: str = "values",
        ends: Ends | None = None,
        redraws: Mapping[str, Sequence[Array | None]] | None = None,
    ) -> Sample:
        """Summarise rows (E,) by the split of their seeds, so that two methods can be paired by split.

        Args:
            values: the rows of each split; all splits have the same test edges.
            what: what errors call the values.
            ends: which nodes the edges share, int64 (E, 2).
            redraws: for each split what :meth:`of` takes.
        """
        drawn = redraws or {}
        parts = {name: cls.of(rows, what, ends, drawn.get(name, ())) for name, rows in values.items()}
        if len(parts) == 1:
            return replace(next(iter(parts.values())), by_split=parts)
        together = [one for name in values for one in drawn.get(name, ())]
        whole = cls.of(chain.from_iterable(values.values()), what, ends, together)
        return replace(whole, by_split=parts)

    @property
    def mean(self) -> float:
        """Return the mean over edges and seeds."""
        return float(self.seeds.mean()) if len(self.seeds) > 1 else self.seeds.item()

    @property
    def seed_variance(self) -> float:
        """Return the seeds' part of the variance of the mean, at least 0, and 0 for one seed."""
        return self.seed_part.variance

    @property
    def seed_part(self) -> SeedPart:
        """Return the seeds' part, with what its uncertainty depends on."""
        degrees = len(self.seeds) - 1
        return SeedPart(variance_of_mean(self.seeds) if degrees else 0.0, self.rest, degrees)


def paired(first: Sample, second: Sample) -> tuple[Sample, ...]:
    """Return what the difference of two methods on the same edges is computed from.

    With two or more splits in common it is one sample, of the differences within each of these splits. With
    one, it is both methods on this split. With none, it is both methods with all their seeds, which are
    independent.
    """
    common = _common_splits(first, second)
    if len(common) < 2:
        return (first.by_split[common[0]], second.by_split[common[0]]) if common else (first, second)
    pairs = [(first.by_split[name], second.by_split[name]) for name in common]
    gaps = [one.edges - other.edges for one, other in pairs]
    ends = first.ends if first.ends is not None else second.ends
    return (Sample.of(gaps, "differences", ends, [_redrawn_gap(*pair) for pair in pairs]),)


def seeds_compared(first: Sample, second: Sample) -> int:
    """Return how many seeds of each method their difference rests on, the fewer of the two."""
    common = _common_splits(first, second)
    if len(common) > 1:
        return len(common)
    return min(len(one.seeds) for one in paired(first, second))


def _common_splits(first: Sample, second: Sample) -> list[str]:
    return [name for name in first.by_split if name in second.by_split]


def _redrawn_gap(first: Sample, second: Sample) -> Array | None:
    """Return the difference on each other draw of negatives; empty if one has no draws, or has others."""
    if first.redraws is None and second.redraws is None:
        return None
    if first.redraws is None or second.redraws is None or len(first.redraws) != len(second.redraws):
        return np.empty(0)
    return first.redraws - second.redraws
