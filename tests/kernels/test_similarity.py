"""The feature similarity kernel against exact fractions and scikit-learn."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

import trueedge.graph as tg
from heart_twin import squared_cosine
from trueedge.kernels.neighbors import similarity
from trueedge.kernels.neighbors.similarity import feature_index, similarity_row


def featured(table) -> tg.Graph:
    return tg.Graph.from_edges(np.empty((0, 2), dtype=int), len(table), table)


@pytest.fixture(params=["an index", "the whole table"], autouse=True)
def way(request, monkeypatch):
    monkeypatch.setattr(similarity, "SPARSE", 2.0 if request.param == "an index" else -1.0)
    return request.param


def row_of(features: np.ndarray, source: int) -> tuple[np.ndarray, list[int]]:
    nodes = len(features)
    row, touched = np.zeros(nodes), np.empty(nodes, dtype=np.int32)
    seen = np.zeros(nodes, dtype=np.bool_)
    count = similarity_row(feature_index(features), source, row, touched, seen)
    assert not seen.any()
    return row, touched[:count].tolist()


@pytest.mark.parametrize("kind", ["binary", "counts", "signed"])
def test_similarity_orders_nodes_as_the_cosine_does_with_the_same_ties(kind):
    rng = np.random.default_rng(3)
    table = {
        "binary": rng.integers(0, 2, (25, 6)),
        "counts": rng.integers(0, 4, (25, 4)),
        "signed": rng.integers(-2, 3, (25, 5)),
    }[kind]
    graph = featured(table)
    for source in range(25):
        row, touched = row_of(graph.features, source)
        exact = squared_cosine(graph, source)
        assert sorted(np.flatnonzero(row > 0).tolist()) == sorted(exact)
        assert len(set(touched)) == len(touched)
        assert set(exact) <= set(touched)
        for u in exact:
            for v in exact:
                assert (row[u] < row[v]) == (exact[u] < exact[v])


def test_similarity_is_the_squared_cosine_up_to_the_sources_length():
    rng = np.random.default_rng(0)
    features = featured(rng.standard_normal((40, 7)) * (rng.random((40, 7)) < 0.6)).features
    cosine = cosine_similarity(features.astype(np.float64))
    for source in range(40):
        length = float((features[source].astype(np.float64) ** 2).sum())
        expected = np.maximum(cosine[source], 0) ** 2 * length
        assert np.allclose(row_of(features, source)[0], expected, rtol=1e-12, atol=1e-15)


def test_a_node_without_features_is_similar_to_nobody():
    row, touched = row_of(featured([[1, 0], [0, 0], [1, 1]]).features, 1)
    assert (row == 0).all()
    assert touched == []
    assert row_of(featured([[1, 0], [0, 0], [1, 1]]).features, 0)[0][1] == 0


def test_sums_that_cancel_leave_no_trace():
    row, touched = row_of(featured([[1, 1, 1], [1, -1, 0], [1, -1, 1], [-1, -1, -1]]).features, 0)
    assert row[1] == 0
    assert row[2] > 0
    assert row[3] == 0
    assert {0, 2} <= set(touched)


def test_the_whole_table_gives_the_sums_of_the_index_to_the_bit(monkeypatch):
    rng = np.random.default_rng(5)
    features = featured(rng.standard_normal((40, 9)) * (rng.random((40, 9)) < 0.7)).features
    for source in range(40):
        rows = []
        for share in (2.0, -1.0):
            monkeypatch.setattr(similarity, "SPARSE", share)
            row, touched = row_of(features, source)
            assert set(np.flatnonzero(row)) <= set(touched)
            rows.append(row)
        assert (rows[0] == rows[1]).all()


def test_tables_of_more_nodes_than_a_block_are_summed_to_their_end():
    rng = np.random.default_rng(6)
    features = rng.standard_normal((similarity.NODES_PER_BLOCK + 5, 2)).astype(np.float32)
    if numba.config.DISABLE_JIT:
        features = features[:50]
    dots = features.astype(np.float64) @ features[0].astype(np.float64)
    lengths = (features.astype(np.float64) ** 2).sum(axis=1)
    expected = np.maximum(dots, 0) ** 2 / lengths
    assert np.allclose(row_of(features, 0)[0], expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize(("share", "full"), [(0.2, False), (0.3, True)])
def test_an_index_is_made_where_most_values_are_zero(monkeypatch, share, full):
    monkeypatch.undo()
    features = np.zeros((10, 10), dtype=np.float32)
    features.ravel()[: int(share * 100)] = 1.0
    assert feature_index(features).table.shape == ((10, 10) if full else (0, 0))


def test_the_index_is_the_same_whatever_block_it_is_built_in(monkeypatch):
    features = featured(np.random.default_rng(1).integers(0, 2, (30, 5))).features
    whole = feature_index(features)
    monkeypatch.setattr(similarity, "NONZEROS_PER_BLOCK", 20)
    for one, other in zip(whole, feature_index(features), strict=True):
        assert one.dtype == other.dtype
        assert (one == other).all()
