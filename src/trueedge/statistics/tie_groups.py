"""Corrected p-values, and letters for groups of methods without significant differences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.errors import InputError
from trueedge.metrics.scores import as_scores


def holm(p_values: ArrayLike, comparisons: int | None = None) -> NDArray[np.float64]:
    """Return p-values (n,) corrected for multiple comparisons, float64 (n,).

    Args:
        p_values: all of them, or the smallest ones.
        comparisons: how many there are in all, if only the smallest are given.

    Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 1979.
    """
    values = as_scores(p_values, "p-values").astype(np.float64)
    if values.ndim != 1:
        raise InputError(f"p-values must have the shape (n,), got {values.shape}")
    if ((values < 0) | (values > 1)).any():
        raise InputError("a p-value lies between 0 and 1")
    order = np.argsort(values, kind="stable")
    times = np.arange(comparisons or len(values), 0, -1)[: len(values)]
    corrected = np.empty(len(values))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(times * values[order]))
    return corrected


def tie_groups(count: int, distinct: Iterable[tuple[int, int]]) -> list[tuple[int, ...]]:
    """Return all maximal groups of methods without a significant difference, best methods first.

    Insert and absorb: a group with two distinct members becomes two, each without one of them, and a group
    that is part of another one is dropped.

    Args:
        count: the number of methods, numbered from 0, best first.
        distinct: the pairs of methods that differ significantly.

    Piepho, An Algorithm for a Letter-Based Representation of All-Pairwise Comparisons, JCGS 2004.
    """
    groups = [(1 << count) - 1] if count else []
    for first, second in distinct:
        if first == second or not (0 <= first < count and 0 <= second < count):
            raise InputError(f"({first}, {second}) is not a pair of two of {count} methods")
        both = 1 << first | 1 << second
        halves = [group & ~(1 << end) for group in groups if group & both == both for end in (first, second)]
        groups = _absorb([group for group in groups if group & both != both], halves)
    members = [tuple(place for place in range(count) if group >> place & 1) for group in groups]
    return sorted(members)


def letters(count: int, groups: Sequence[Sequence[int]]) -> list[tuple[str, ...]]:
    """Return the letters of each of ``count`` methods, one for each of the :func:`tie_groups` it is in."""
    found: list[list[str]] = [[] for _ in range(count)]
    for number, group in enumerate(groups):
        letter = _letter(number)
        for member in group:
            found[member].append(letter)
    return [tuple(one) for one in found]


def runs_within(places: ArrayLike, width: float) -> list[tuple[int, ...]]:
    """Return all maximal groups of methods whose places (n,), such as mean ranks, are within a width."""
    values = as_scores(places, "places").astype(np.float64)
    order = np.argsort(values, kind="stable")
    ends = np.searchsorted(values[order], values[order] + width, side="right")
    starts = [0, *(start for start, (last, end) in enumerate(pairwise(ends.tolist()), 1) if end > last)]
    return [tuple(order[start : ends[start]].tolist()) for start in starts if len(order)]


def _absorb(kept: list[int], halves: list[int]) -> list[int]:
    """Add the halves that are not part of a kept group or of another half."""
    for half in sorted(set(halves), key=int.bit_count, reverse=True):
        if not any(half & group == half for group in kept):
            kept.append(half)
    return kept


def _letter(number: int) -> str:
    """Return a, b, …, z, aa, ab, …"""
    text = ""
    while number >= 0:
        number, place = divmod(number, 26)
        text = chr(ord("a") + place) + text
        number -= 1
    return text
