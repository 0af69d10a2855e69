"""Repeat a random split with independent seeds."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from trueedge.errors import unknown, whole_number
from trueedge.graph import Graph
from trueedge.randomness import derive
from trueedge.splits.fraction import fraction
from trueedge.splits.ratio import ratio
from trueedge.splits.split import Split

_KINDS: dict[str, Callable[..., Split]] = {"ratio": ratio, "fraction": fraction}


def repeat(
    graph: Graph, times: int = 5, seed: int = 0, how: str | Callable[..., Split] = ratio, **settings: Any
) -> list[Split]:
    """Split a graph several times at random, with independent seeds.

    Args:
        graph: the whole graph.
        times: the number of splits.
        seed: the same seed gives the same splits; a longer list begins with the shorter one.
        how: :func:`ratio`, :func:`fraction` or the name of one.
        settings: what else it takes (``ratios``, ``keep_connected``, …).
    """
    if isinstance(how, str):
        if how not in _KINDS:
            raise unknown("split", how, _KINDS)
        how = _KINDS[how]
    allowed = inspect.signature(how).parameters
    for key in settings:
        if key not in allowed:
            raise unknown("setting of this split", key, set(allowed) - {"graph", "seed"})
    times = whole_number("times", "repeat", times, 1)
    return [how(graph, seed=derive(seed, "split", "repeat", i), **settings) for i in range(times)]
