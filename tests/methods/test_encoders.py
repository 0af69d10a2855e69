"""Encoders of a user are trained on the edges of a graph."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import trueedge as te  # noqa: E402
from trueedge.errors import InputError  # noqa: E402


class Averaging(torch.nn.Module):
    def __init__(self, size: int, out: int = 8) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(size, out)
        self.seen: list[np.ndarray] = []

    def forward(self, x, edge_index):
        self.seen.append(edge_index.numpy().copy())
        states = self.layer(x)
        return states + torch.zeros_like(states).index_add(0, edge_index[1], states[edge_index[0]])


@pytest.fixture
def graph() -> te.Graph:
    karate = te.load("karate")
    return te.Graph.from_edges(karate.edges, features=np.eye(karate.num_nodes))


def test_training_ranks_edges_above_other_pairs(graph) -> None:
    torch.manual_seed(0)
    vectors = te.train_encoder(Averaging(34), graph, epochs=60)
    assert vectors.shape == (34, 8)
    assert vectors.dtype == np.float32
    scores = vectors @ vectors.T
    adjacency = graph.to_scipy().toarray() > 0
    others = ~adjacency & ~np.eye(34, dtype=bool)
    assert np.mean(scores[adjacency]) > np.mean(scores[others]) + 1


def test_an_encoder_is_shown_the_edges_it_is_given_and_the_same_seed_gives_the_same_vectors(graph) -> None:
    part = te.Graph.from_edges(graph.edges[:40], 34, features=graph.features)
    found = []
    for _ in range(2):
        torch.manual_seed(3)
        encoder = Averaging(34)
        found.append(te.train_encoder(encoder, part, epochs=3))
        assert {edges.shape for edges in encoder.seen} == {(2, 80)}
        assert np.array_equal(np.sort(encoder.seen[0][:, :40].T, axis=1), part.edges)
        assert not encoder.training
    assert np.array_equal(*found)


def test_gradients_are_added_in_one_order(graph) -> None:
    class Noting(Averaging):
        def forward(self, x, edge_index):
            ordered.append((self.training, torch.are_deterministic_algorithms_enabled()))
            return super().forward(x, edge_index)

    ordered: list[tuple[bool, bool]] = []
    te.train_encoder(Noting(34), graph, epochs=2)
    assert ordered[:2] == [(True, True), (True, True)]
    assert not torch.are_deterministic_algorithms_enabled()


def test_features_may_be_given() -> None:
    karate = te.load("karate")
    assert te.train_encoder(Averaging(5), karate, 1, features=np.ones((34, 5))).shape == (34, 8)


def pooled(x, edge_index):
    return x.mean(0)


class Pooling(Averaging):
    def forward(self, x, edge_index):
        return super().forward(x, edge_index).mean()


class Exploding(Averaging):
    def forward(self, x, edge_index):
        return super().forward(x, edge_index) * float("nan")


@pytest.mark.parametrize(
    ("encoder", "changed", "said"),
    [
        (pooled, {}, "train_encoder: encoder must be a torch module"),
        (torch.nn.Identity(), {}, "the encoder has nothing to train"),
        (Averaging(34), {"epochs": 0}, "train_encoder: epochs must be a whole number"),
        (Averaging(34), {"lr": -1.0}, "train_encoder: lr must be a number above 0"),
        (Averaging(34), {"graph": "karate"}, "train_encoder: graph must be a Graph"),
        (Averaging(34), {"features": np.ones((3, 34))}, r"features must be an array \(34, d\)"),
        (Averaging(34), {"graph": te.load("karate")}, "has no node features"),
        (Pooling(34), {}, r"must return a tensor \(34, k\)"),
        (Exploding(34), {}, "the loss of epoch 1 is not a number"),
    ],
)
def test_what_cannot_be_trained_is_refused_in_one_sentence(graph, encoder, changed, said) -> None:
    with pytest.raises(InputError, match=said):
        te.train_encoder(**{"encoder": encoder, "graph": graph, "epochs": 1, **changed})


def test_a_graph_without_edges_is_refused(graph) -> None:
    with pytest.raises(InputError, match="has no edges"):
        te.train_encoder(Averaging(34), te.Graph.from_edges(graph.edges[:0], 34, features=graph.features))


def test_an_encoder_that_takes_no_edges_is_named() -> None:
    with pytest.raises(InputError, match=r"called as encoder\(x, edge_index\), which Linear does not take"):
        te.train_encoder(torch.nn.Linear(1433, 4), te.load("cora"), epochs=1)
