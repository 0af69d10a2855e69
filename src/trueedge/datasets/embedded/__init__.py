"""Graphs that come with the package, so that the first command works without any other file."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.datasets.dataset import Dataset, Rules, register
from trueedge.datasets.released_files import heart_release
from trueedge.graph import Graph


def _arrays(name: str) -> dict[str, NDArray[Any]]:
    with (
        files(__name__).joinpath(f"{name}.npz").open("rb") as stream,
        np.load(stream, allow_pickle=False) as kept,
    ):
        return dict(kept)


def _cora() -> Graph:
    kept = _arrays("cora")
    counts = kept["counts"]
    features = np.zeros((len(counts), 1433), dtype=np.float32)
    features[np.repeat(np.arange(len(counts)), counts), kept["words"]] = 1.0
    return Graph.from_edges(kept["edges"], len(counts), features, name="cora")


def _karate() -> Graph:
    return Graph.from_edges(_arrays("karate")["edges"], name="karate")


register(
    Dataset(
        name="cora",
        family="embedded",
        title="machine learning papers; an edge is a citation, a feature is a word of the paper",
        num_nodes=2708,
        num_edges=5278,
        num_features=1433,
        licence="Apache-2.0 (the package it was taken from); nodes in the order of Planetoid's files (MIT)",
        source="https://linqs.org/datasets/#cora",
        citation="Sen et al., Collective Classification in Network Data, AI Magazine 2008",
        read=_cora,
        released_files=heart_release("cora"),
        rules=Rules(heart_eps=1e-7),
    )
)

register(
    Dataset(
        name="karate",
        family="embedded",
        title="members of a karate club; an edge is a friendship",
        num_nodes=34,
        num_edges=78,
        num_features=0,
        licence="BSD-3-Clause (the package it was taken from)",
        source="https://networks.skewed.de/net/karate",
        citation="Zachary, An Information Flow Model for Conflict and Fission in Small Groups, 1977",
        read=_karate,
        rules=Rules(heart_features=False),
    )
)
