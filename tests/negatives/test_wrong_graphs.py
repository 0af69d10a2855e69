"""A name where a graph should be gets one clear sentence, from samplers and from splits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from trueedge import negatives, splits
from trueedge.errors import InputError

SAMPLERS = (
    negatives.uniform,
    negatives.degree_corrected,
    negatives.triplet,
    negatives.two_hop,
    negatives.full,
)


@pytest.mark.parametrize("sampler", SAMPLERS, ids=lambda sampler: sampler.__name__)
@pytest.mark.parametrize("wrong", ["karate", None, [(0, 1)]], ids=str)
def test_a_sampler_needs_a_graph(sampler: Callable[..., Any], wrong: object) -> None:
    with pytest.raises(InputError, match=f"^{sampler.__name__}: graph must be a trueedge.Graph, got "):
        sampler(wrong, [(0, 1)])


@pytest.mark.parametrize("wrong", ["karate", None, 5], ids=str)
def test_a_split_needs_a_graph(wrong: Any) -> None:
    for divide in (splits.split, splits.fraction, splits.repeat):
        with pytest.raises(InputError, match=r"graph must be a trueedge.Graph, got "):
            divide(wrong)


def test_numbers_too_large_for_a_float_are_named(random_graph: Callable[..., Any]) -> None:
    graph = random_graph(0)
    with pytest.raises(InputError, match="ratio must be a number, 0 or more"):
        negatives.uniform(graph, graph.edges, ratio=10**400)
    with pytest.raises(InputError, match="fraction must be a number from 0 to 1"):
        splits.fraction(graph, 10**400)
