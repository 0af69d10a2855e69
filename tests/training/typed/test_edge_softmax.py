"""Attention along edges against loops over the edges."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from trueedge.kernels.neighbors import edge_products
from trueedge.training.typed.edge_softmax import EdgeList

SOURCES, TARGETS, HEADS, SIZE = 7, 9, 3, 5


@pytest.fixture(params=[torch.float32, torch.float64], ids=["compiled", "torch"])
def dtype(request):
    return request.param


@pytest.fixture
def edges():
    """Thirty edges; the targets 0, 4 and 8 and the source 2 have none."""
    rng = np.random.default_rng(5)
    target = np.sort(rng.choice([1, 2, 3, 5, 6, 7], 30))
    source = rng.choice([0, 1, 3, 4, 5, 6], 30)
    return EdgeList(torch.from_numpy(source), torch.from_numpy(target), SOURCES, TARGETS)


def table(rows, dtype, seed):
    values = np.random.default_rng(seed).normal(size=(rows, HEADS, SIZE))
    return torch.tensor(values, dtype=dtype, requires_grad=True)


def looped_attention(queries, keys, values, edges):
    """One target and one head at a time, with torch's softmax."""
    found = torch.zeros_like(queries)
    for target in range(TARGETS):
        own = [edge for edge in range(len(edges.source)) if edges.target[edge] == target]
        if not own:
            continue
        for head in range(HEADS):
            logits = torch.stack([queries[target, head] @ keys[edges.source[edge], head] for edge in own])
            shares = torch.softmax(logits, 0)
            for share, edge in zip(shares, own, strict=True):
                found[target, head] = found[target, head] + share * values[edges.source[edge], head]
    return found


def attention(queries, keys, values, edges):
    return edges.sum(edges.softmax(edges.dot(queries, keys)), values)


def test_attention_and_its_gradients_equal_loops_over_edges(edges, dtype):
    given = [table(rows, dtype, seed) for seed, rows in enumerate((TARGETS, SOURCES, SOURCES))]
    slope = torch.tensor(np.random.default_rng(9).normal(size=(TARGETS, HEADS, SIZE)), dtype=dtype)
    results = []
    for compute in (attention, looped_attention):
        out = compute(*given, edges)
        results.append([out, *torch.autograd.grad((out * slope).sum(), given)])
    for ours, wanted in zip(*results, strict=True):
        torch.testing.assert_close(ours, wanted, rtol=1e-4, atol=1e-5)


def test_targets_without_edges_receive_zeros(edges, dtype):
    weights = torch.ones(30, HEADS, dtype=dtype)
    found = edges.sum(weights, table(SOURCES, dtype, 1))
    assert not found[[0, 4, 8]].any()


def test_weights_of_each_target_sum_to_one_even_for_large_logits(edges, dtype):
    logits = torch.linspace(-1000, 1000, 30 * HEADS, dtype=dtype).view(30, HEADS)
    shares = edges.softmax(logits)
    totals = torch.zeros(TARGETS, HEADS, dtype=dtype).index_add(0, edges.target, shares)
    torch.testing.assert_close(totals[[1, 2, 3, 5, 6, 7]], torch.ones(6, HEADS, dtype=dtype))


def test_a_list_without_edges_gives_zeros_and_zero_gradients(dtype):
    none = torch.empty(0, dtype=torch.int64)
    edges = EdgeList(none, none, SOURCES, TARGETS)
    sources = table(SOURCES, dtype, 0)
    out = edges.sum(edges.softmax(edges.dot(table(TARGETS, dtype, 1), sources)), sources)
    out.sum().backward()
    assert out.shape == (TARGETS, HEADS, SIZE)
    assert not out.any()
    assert not sources.grad.any()


def test_constant_weights_get_no_gradient(edges):
    weights = torch.ones(30, HEADS)
    sources = table(SOURCES, torch.float32, 3)
    edges.sum(weights, sources).sum().backward()
    counts = torch.bincount(edges.source, minlength=SOURCES).float()
    torch.testing.assert_close(sources.grad, counts.view(-1, 1, 1).expand_as(sources))


def test_threads_change_no_bit(edges, monkeypatch):
    given = [table(rows, torch.float32, seed) for seed, rows in enumerate((TARGETS, SOURCES, SOURCES))]
    alone = attention(*given, edges)
    monkeypatch.setattr(edge_products, "LEAST_EDGES", 0)
    monkeypatch.setattr(edge_products, "LEAST_ROWS", 2)
    monkeypatch.setattr(edge_products, "thread_count", lambda: 3)
    assert torch.equal(attention(*given, edges), alone)
