"""Links that only one factor predicts, and how well a predictor ranks them.

Shomer et al., LPFormer: An Adaptive Graph Transformer for Link Prediction, KDD 2024, Algorithm B.1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.errors import InputError, must_be
from trueedge.metrics.scores import as_scores

# The name for links that no factor, or more than one, predicts.
NONE = ""


class FactorValue(NamedTuple):
    """A metric over the links of one factor (NaN without links), and the number of these links."""

    value: float
    links: int


def dominant_factors(scores: Mapping[str, ArrayLike], percentile: float = 90.0) -> NDArray[np.str_]:
    """Return the only factor that is high for each link, str array (links,); empty if none or several are.

    A factor is high for links with at least the given percentile of its scores over all links (interpolated
    linearly). If so many scores are equal that the percentile is the lowest score, as with common neighbours
    in a sparse graph, it is high for every link, as in the published algorithm.

    Args:
        scores: the scores of the same links by each factor, numbers (links,): common neighbours for local
            structure, PageRank for global structure, cosine similarity for features.
        percentile: between 0 and 100.

    Shomer et al., LPFormer, KDD 2024, Algorithm B.1; 90 throughout, 80 on ogbl-collab.
    """
    if not isinstance(scores, Mapping):
        raise must_be("scores", "dominant_factors", "a dictionary of each factor's scores", scores)
    if not isinstance(percentile, (int, float)) or not 0 <= percentile <= 100:
        raise must_be("percentile", "dominant_factors", "between 0 and 100", percentile)
    if not scores:
        raise InputError("dominant_factors needs the scores of at least one factor")
    if NONE in scores:
        raise InputError("a factor's name must not be empty")
    table = {name: as_scores(values, f"{name} scores").astype(np.float64) for name, values in scores.items()}
    shapes = {values.shape for values in table.values()}
    if len(shapes) > 1 or any(len(shape) != 1 for shape in shapes):
        listed = ", ".join(f"{name} {values.shape}" for name, values in table.items())
        raise InputError(f"all factors must score the same links, one number each, got {listed}")
    if (0,) in shapes:
        raise InputError(f"there are no {next(iter(table))} scores: no link is given")
    high = np.stack([values >= np.percentile(values, percentile) for values in table.values()])
    names = np.array([NONE, *table])
    alone: NDArray[np.str_] = names[np.where(high.sum(axis=0) == 1, high.argmax(axis=0) + 1, 0)]
    return alone


def by_factor(factors: ArrayLike, ranks: ArrayLike, metric: str = "mrr") -> dict[str, FactorValue]:
    """Return a metric over the links of each factor; links without one come last, under the empty name.

    Args:
        factors: str (links,), from :func:`dominant_factors`.
        ranks: numbers (links,), the rank of each link among its negatives, 1 is best.
        metric: ``mrr``, ``mr`` or ``hits@K``.
    """
    if not isinstance(metric, str) or not re.fullmatch(r"mrr|mr|hits@[1-9][0-9]*", metric):
        raise must_be("metric", "by_factor", "'mrr', 'mr' or 'hits@K'", metric)
    names, places = np.asarray(factors), as_scores(ranks, "ranks").astype(np.float64)
    if names.ndim != 1 or names.shape != places.shape:
        raise InputError(f"there are factors of shape {names.shape}, but ranks of shape {places.shape}")
    if (places < 1).any():
        raise InputError(f"a rank is 1 or more, got {places.min():g}")
    found = sorted({str(name) for name in names}, key=lambda name: (name == NONE, name))
    return {name: _value(places[names == name], metric) for name in found}


def _value(ranks: NDArray[np.float64], metric: str) -> FactorValue:
    if metric == "mrr":
        value = np.mean(1.0 / ranks)
    elif metric == "mr":
        value = np.mean(ranks)
    else:
        value = np.mean(ranks <= int(metric.removeprefix("hits@")))
    return FactorValue(float(value), len(ranks))
