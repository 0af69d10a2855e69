"""The similarity of two partitions of the same elements, and the area under a curve."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.errors import InputError, must_be
from trueedge.metrics.metric import Metric, register
from trueedge.metrics.scores import LAYOUTS, Scores, as_array, as_scores, take

Chance = Literal["product", "permutations"]


class _Overlaps(NamedTuple):
    """The groups of two partitions, and the pairs of groups that share an element.

    Attributes:
        first: float64 array (a,), the sizes of the first partition's groups.
        second: float64 array (b,), those of the second.
        rows: int64 array (k,), the first partition's group of each pair that shares an element.
        columns: int64 array (k,), the second partition's.
        shared: float64 array (k,), how many elements they share.
        total: the number of elements.
    """

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    shared: NDArray[np.float64]
    total: int


def normalized_mutual_information(first: ArrayLike, second: ArrayLike) -> float:
    """Return the mutual information of two partitions (n,) over their mean entropy, from 0 to 1.

    Groups are whole numbers or strings. Two partitions with one group each have the value 1.

    Danon et al. 2005, "Comparing community structure identification".
    """
    overlaps = _overlaps(first, second)
    if len(overlaps.first) == len(overlaps.second) == 1:
        return 1.0
    entropies = _entropy(overlaps.first) + _entropy(overlaps.second)
    return float(np.clip(2 * _mutual_information(overlaps) / entropies, 0.0, 1.0))


def adjusted_mutual_information(first: ArrayLike, second: ArrayLike) -> float:
    """Return the mutual information of two partitions (n,) above chance: 1 if equal, 0 in expectation.

    Vinh, Epps, Bailey 2010, "Information theoretic measures for clusterings comparison", with the mean of the
    entropies as the maximum.
    """
    overlaps = _overlaps(first, second)
    groups = {len(overlaps.first), len(overlaps.second)}
    if groups in ({1}, {overlaps.total}):
        return 1.0
    expected = _expected_mutual_information(overlaps)
    above = _mutual_information(overlaps) - expected
    room = (_entropy(overlaps.first) + _entropy(overlaps.second)) / 2 - expected
    # If one partition has a single group, both are zero up to rounding.
    return 0.0 if min(groups) == 1 else float(above / room)


def element_centric_similarity(first: ArrayLike, second: ArrayLike) -> float:
    """Return the element-centric similarity of two partitions (n,), from above 0 to 1.

    For partitions without overlap it has a closed form, ``Σ n_ab² / max(n_a, n_b) / n``: the mean over
    elements of what their two groups have in common, as a share of the larger group.

    Gates et al. 2019, "Element-centric clustering comparison unifies overlaps and hierarchy".
    """
    return _element_centric(_overlaps(first, second))


def adjusted_element_centric_similarity(
    first: ArrayLike, second: ArrayLike, chance: Chance = "product"
) -> float:
    """Return the element-centric similarity above chance, ``(s - e) / (1 - e)``, 1 for equal partitions.

    Args:
        first: array (n,), the group of each element; any whole numbers or strings.
        second: array (n,), its group in the other partition.
        chance: the similarity of unrelated partitions. ``"product"`` replaces each overlap by
            ``n_a n_b / n``, as in the published studies: shuffled partitions are then a little above 0, the
            more so the smaller their groups. ``"permutations"`` is the exact mean over shuffled elements.

    Gates et al. 2019, "Element-centric clustering comparison unifies overlaps and hierarchy"; used by Aiyappa
    et al. 2025, "Implicit degree bias in the link prediction task".
    """
    if chance not in ("product", "permutations"):
        raise must_be("chance", "adjusted_element_centric_similarity", "'product' or 'permutations'", chance)
    overlaps = _overlaps(first, second)
    similarity = _element_centric(overlaps)
    if similarity == 1.0:
        # Equal partitions; for one group, or a group for every element, the expectation is 1 too.
        return 1.0
    expected = _expected_element_centric(overlaps, chance)
    return float((similarity - expected) / (1 - expected))


def area_under_curve(places: ArrayLike, values: ArrayLike) -> float:
    """Return the area under straight lines through points, at least two: rising places and values (m,)."""
    x = as_scores(places, "places").astype(np.float64)
    y = as_scores(values, "values").astype(np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise InputError(f"there are places of shape {x.shape}, but values of shape {y.shape}")
    if len(x) < 2:
        raise InputError(f"an area needs at least two places, got {len(x)}")
    flat = np.flatnonzero(np.diff(x) <= 0)
    if flat.size:
        raise InputError(f"places must rise, but {x[flat[0] + 1]:g} follows {x[flat[0]]:g}")
    return float(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2))


def _overlaps(first: ArrayLike, second: ArrayLike) -> _Overlaps:
    a, b = _groups(first, "first partition"), _groups(second, "second partition")
    if len(a) != len(b):
        raise InputError(f"the first partition has {len(a)} elements, the second {len(b)}")
    width = int(b.max()) + 1
    pairs, shared = np.unique(a * width + b, return_counts=True)
    first_sizes, second_sizes = np.bincount(a).astype(np.float64), np.bincount(b).astype(np.float64)
    at = (pairs // width, pairs % width)
    return _Overlaps(first_sizes, second_sizes, *at, shared.astype(np.float64), len(a))


def _groups(labels: ArrayLike, what: str) -> NDArray[np.int64]:
    """Return the groups numbered from 0; floats must be whole numbers."""
    array = as_array(labels, what)
    if array.ndim != 1 or array.size == 0:
        raise InputError(f"the {what} must give one group to each of n elements, got shape {array.shape}")
    if array.dtype.kind == "f" and not (np.isfinite(array) & (array == np.floor(array))).all():
        raise InputError(f"the {what} must hold whole numbers or strings, got a fraction, NaN or infinity")
    if array.dtype.kind not in "biufUS":
        raise InputError(f"the {what} must hold whole numbers or strings, got values of type {array.dtype}")
    return np.unique(array, return_inverse=True)[1].astype(np.int64)


def _entropy(sizes: NDArray[np.float64]) -> float:
    shares = sizes / sizes.sum()
    return float(-np.sum(shares * np.log(shares)))


def _mutual_information(overlaps: _Overlaps) -> float:
    product = overlaps.first[overlaps.rows] * overlaps.second[overlaps.columns]
    shares = overlaps.shared / overlaps.total
    return float(np.sum(shares * (np.log(overlaps.total) + np.log(overlaps.shared) - np.log(product))))


def _expected_mutual_information(overlaps: _Overlaps) -> float:
    """Return the mean over all shuffles, whose overlaps are hypergeometric, for each pair of sizes once."""
    from scipy.special import gammaln

    n = overlaps.total
    total = 0.0
    for a, many in zip(*np.unique(overlaps.first, return_counts=True), strict=True):
        for b, others in zip(*np.unique(overlaps.second, return_counts=True), strict=True):
            shared = np.arange(max(1.0, a + b - n), min(a, b) + 1)
            chance = np.exp(
                gammaln(a + 1) + gammaln(b + 1) + gammaln(n - a + 1) + gammaln(n - b + 1) - gammaln(n + 1)
                - gammaln(shared + 1) - gammaln(a - shared + 1) - gammaln(b - shared + 1)
                - gammaln(n - a - b + shared + 1)
            )  # fmt: skip
            terms = shared / n * np.log(n * shared / (a * b)) * chance
            total += float(many * others * terms.sum())
    return total


def _element_centric(overlaps: _Overlaps) -> float:
    larger = np.maximum(overlaps.first[overlaps.rows], overlaps.second[overlaps.columns])
    return float(np.sum(overlaps.shared**2 / larger) / overlaps.total)


def _expected_element_centric(overlaps: _Overlaps, chance: Chance) -> float:
    """Return the similarity expected by chance, computed once for each pair of group sizes."""
    a, many = np.unique(overlaps.first, return_counts=True)
    b, others = np.unique(overlaps.second, return_counts=True)
    n = overlaps.total
    squares = np.outer(a, b) ** 2 / n**2
    if chance == "permutations":
        # The variance of a hypergeometric overlap; there are at least two elements here.
        squares += np.outer(a * (n - a), b * (n - b)) / (n**2 * (n - 1))
    pairs = np.outer(many, others)
    return float(np.sum(pairs * squares / np.maximum.outer(a, b)) / n)


LAYOUTS["partitions"] = "clusters and communities of nodes"


@dataclass(frozen=True, eq=False)
class PartitionScores(Scores):
    """The true community of each node, and the clusters found.

    Attributes:
        communities: int array (n,).
        clusters: int array (n,), found in the nodes' vectors.
        directions: int array (n,), found in the directions of the vectors alone.
    """

    form: ClassVar[str] = "partitions"
    layout = "partitions"

    communities: NDArray[Any]
    clusters: NDArray[Any]
    directions: NDArray[Any]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the three partitions."""
        return {name: getattr(self, name) for name in ("communities", "clusters", "directions")}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the three partitions, each with a group for every node."""
        truth, clusters, directions = take(arrays, "communities", "clusters", "directions")
        for found in (clusters, directions):
            _overlaps(truth, found)
        return cls(truth, clusters, directions)


def _shared_above_chance(first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.float64]:
    """Return the adjusted similarity of each element, float64 (n,)."""
    overlaps = _overlaps(first, second)
    if _element_centric(overlaps) == 1.0:
        return np.ones(len(first))
    a, b = _groups(first, "first partition"), _groups(second, "second partition")
    width = len(overlaps.second)
    shared = overlaps.shared[np.searchsorted(overlaps.rows * width + overlaps.columns, a * width + b)]
    values = shared / np.maximum(overlaps.first[a], overlaps.second[b])
    expected = _expected_element_centric(overlaps, "product")
    return (values - expected) / (1 - expected)


def _partition_metric(
    pattern: str, title: str, field: str, rule: Callable[..., float], citation: str, **others: Any
) -> None:
    register(
        Metric(
            pattern=pattern,
            title=title + (", vectors of length 1" if field == "directions" else ""),
            layouts=("partitions",),
            formula="see the paper; K-means clusters of the nodes' vectors against the true communities",
            citation=citation,
            compute=lambda scores: rule(scores.communities, getattr(scores, field)),
            shown="number",
            **others,
        )
    )


for _suffix, _field in (("", "clusters"), ("-directions", "directions")):
    _partition_metric(
        f"element-centric{_suffix}",
        "adjusted element-centric similarity",
        _field,
        adjusted_element_centric_similarity,
        "Gates et al., Element-centric Clustering Comparison Unifies Overlaps and Hierarchy, 2019",
        low=-1.0,
        values=lambda scores, field=_field: _shared_above_chance(scores.communities, getattr(scores, field)),
    )
    _partition_metric(
        f"nmi{_suffix}",
        "normalized mutual information",
        _field,
        normalized_mutual_information,
        "Danon et al., Comparing Community Structure Identification, 2005",
    )
