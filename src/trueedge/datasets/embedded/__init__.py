"""Graphs that come with the package, so that the first command works without any other file."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.datasets.dataset import register_listed
from trueedge.datasets.released_files import heart_release
from trueedge.graph import Graph


def _arrays(name: str) -> dict[str, NDArray[Any]]:
    with (
        files(__name__).joinpath(f"{name}.npz").open("rb") as stream,
        np.load(stream, allow_pickle=False) as kept,
    ):
        return dict(kept)


# A verdict loads a graph for every split. Nobody can write to a graph, so one serves all.
@cache
def _cora() -> Graph:
    kept = _arrays("cora")
    counts = kept["counts"]
    features = np.zeros((len(counts), 1433), dtype=np.float32)
    features[np.repeat(np.arange(len(counts)), counts), kept["words"]] = 1.0
    return Graph.from_edges(kept["edges"], len(counts), features, name="cora")


@cache
def _karate() -> Graph:
    return Graph.from_edges(_arrays("karate")["edges"], name="karate")


register_listed("cora", _cora, released_files=heart_release("cora"))
register_listed("karate", _karate)
