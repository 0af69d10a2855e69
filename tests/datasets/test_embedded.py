"""The graphs that come with the package."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from trueedge import datasets

# Other scores, splits and negatives hang on these: they may not move.
HASHES = {
    "cora": "d5a516cf686f2ac15d5cbd0268440acedd33bff695e8ca68fffd44c8e0fd302e",
    "karate": "325173272c2357d56030f3eecf76996a75e772eb94d7246beb7a4e23d46e0593",
}


@pytest.mark.parametrize("name", HASHES)
def test_the_content_of_an_embedded_graph_is_fixed(name: str) -> None:
    assert datasets.load(name).hash == HASHES[name]


def test_cora_has_the_counts_everyone_knows(cache: Path) -> None:
    graph = datasets.load("cora")
    assert (graph.num_nodes, graph.num_edges) == (2708, 5278)
    assert graph.features is not None
    assert graph.features.shape == (2708, 1433)
    assert set(np.unique(graph.features)) == {0.0, 1.0}
    assert graph.features.sum() == 49216
    assert graph.features.any(axis=1).all()
    assert graph.degrees.min() == 1
    assert graph.degrees.max() == 168
    assert graph.notes == ()


def test_cora_is_planetoid_s_cora_in_its_order(data_folder: Path) -> None:
    embedded, raw = datasets.load("cora"), datasets.load("planetoid-cora")
    assert embedded.hash == raw.hash
    np.testing.assert_array_equal(embedded.edges, raw.edges)


def test_karate_is_networkx_s() -> None:
    networkx = pytest.importorskip("networkx")
    theirs = sorted(tuple(sorted(edge)) for edge in networkx.karate_club_graph().edges())
    assert [tuple(edge) for edge in datasets.load("karate").edges.tolist()] == theirs


def test_every_embedded_file_has_its_licence() -> None:
    folder = files("trueedge.datasets.embedded")
    names = {item.name for item in folder.iterdir()}
    arrays = {name for name in names if name.endswith(".npz")}
    assert arrays == {"cora.npz", "karate.npz", "nations.npz", "umls.npz"}
    for name in arrays:
        text = folder.joinpath(name.replace(".npz", ".LICENSE")).read_text()
        assert name in text
        assert "licence" in text
    assert "Apache License" in folder.joinpath("cora.LICENSE").read_text()
    assert sum(len(folder.joinpath(name).read_bytes()) for name in arrays) < 120_000
