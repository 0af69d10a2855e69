"""Attention over arcs against loops in plain Python, torch's own operations, and Triton's interpreter."""

from __future__ import annotations

import importlib
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from trueedge.kernels.neighbors import attention as kernels
from trueedge.training.typed import attention_inputs as module
from trueedge.training.typed.attention import attend, plain_attention
from trueedge.training.typed.attention_inputs import Logits, Mixing, index_of
from trueedge.training.typed.inputs import Arcs

HEADS, DIM, KINDS = 3, 5, 4
SLOPE = 0.1


def make_arcs(pairs: np.ndarray, count: int, kinds: np.ndarray, num_kinds: int = KINDS) -> Arcs:
    order = np.lexsort((pairs[:, 0], pairs[:, 1]))
    source, target = (torch.from_numpy(pairs[order, side].astype(np.int64)) for side in (0, 1))
    indptr = torch.searchsorted(target, torch.arange(count + 1))
    return Arcs(source, target, torch.from_numpy(kinds[order].astype(np.int64)), indptr, num_kinds)


def random_arcs(seed: int, count: int = 14, edges: int = 40) -> Arcs:
    """Arcs that do not go both ways; the last node has none, and no kind 1 occurs."""
    rng = np.random.default_rng(seed)
    pairs = np.unique(rng.integers(0, count - 1, (edges, 2)), axis=0)
    return make_arcs(pairs, count, rng.choice([0, 2, 3], len(pairs)))


def random_inputs(arcs: Arcs, seed: int, dtype: torch.dtype = torch.float64) -> tuple:
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype).requires_grad_()

    nodes = arcs.num_nodes
    logits = Logits(draw(nodes, HEADS), draw(nodes, HEADS), draw(arcs.num_kinds, HEADS), SLOPE)
    return draw(nodes, HEADS, DIM), logits, torch.rand(len(arcs), HEADS, generator=generator).to(dtype)


def slow_attention(values, logits, arcs: Arcs, previous=None, beta: float = 0.0) -> tuple:
    """Attention by the formula, one target and one head at a time."""
    total, weights = np.zeros(values.shape), np.zeros((len(arcs), HEADS))
    for node in range(arcs.num_nodes):
        mine = [k for k in range(len(arcs)) if int(arcs.target[k]) == node]
        for head in range(HEADS):
            raw = []
            for k in mine:
                x = float((logits.source[arcs.source[k], head] + logits.target[node, head]).detach())
                if logits.kind is not None:
                    x += float(logits.kind[arcs.kind[k], head].detach())
                raw.append(math.exp(x if x > 0 else SLOPE * x))
            for k, one in zip(mine, raw, strict=True):
                weights[k, head] = (1 - beta) * one / sum(raw)
                if beta:
                    weights[k, head] += beta * float(previous[k, head])
                total[node, head] += weights[k, head] * values[arcs.source[k], head].detach().numpy()
    return total, weights


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize("beta", [0.0, 0.3])
def test_attention_equals_a_loop(beta: float, typed: bool) -> None:
    arcs = random_arcs(0)
    values, logits, previous = random_inputs(arcs, 1)
    logits = logits if typed else logits._replace(kind=None)
    total, weights = attend(values, logits, arcs, previous=previous, beta=beta)
    wanted, wanted_weights = slow_attention(values, logits, arcs, previous, beta)
    np.testing.assert_allclose(total.detach(), wanted, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(weights, wanted_weights, rtol=1e-12)
    assert not weights.requires_grad


@pytest.mark.parametrize("dropout", [0.0, 0.5])
@pytest.mark.parametrize("beta", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("typed", [True, False])
def test_compiled_loops_and_torch_agree_in_values_and_gradients(
    typed: bool, beta: float, dropout: float
) -> None:
    arcs = random_arcs(2)
    results = []
    for plain in (False, True):
        values, logits, previous = random_inputs(arcs, 3)
        logits = logits if typed else logits._replace(kind=None)
        torch.manual_seed(4)
        if plain:
            kept = (torch.rand(len(arcs), HEADS) >= dropout).to(torch.uint8) if dropout else None
            mixing = Mixing((1 - beta) / (1 - dropout), kept, previous if beta else None, beta)
            total, weights = plain_attention(values, logits, arcs, mixing)
        else:
            total, weights = attend(values, logits, arcs, dropout, previous, beta)
        (total * torch.linspace(-1, 2, total.numel()).view_as(total)).sum().backward()
        leaves = [values, logits.source, logits.target, *([logits.kind] if typed else [])]
        results.append([total.detach(), weights, *(leaf.grad for leaf in leaves)])
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("beta", [0.0, 0.3])
def test_gradients_are_those_of_finite_differences(beta: float, thorough: bool) -> None:
    arcs = random_arcs(5, count=7, edges=16)
    values, logits, previous = random_inputs(arcs, 6)

    def run(values, source, target, kind):
        torch.manual_seed(7)
        return attend(values, Logits(source, target, kind, SLOPE), arcs, 0.4, previous, beta)[0]

    assert torch.autograd.gradcheck(run, (values, *logits[:3]), fast_mode=not thorough)


def test_attention_of_each_target_sums_to_one_even_for_large_logits() -> None:
    arcs = random_arcs(8)
    values, logits, _ = random_inputs(arcs, 9, torch.float32)
    for scale in (1.0, 1e4):
        given = Logits(*(scale * one for one in logits[:3]), SLOPE)
        total, weights = attend(values, given, arcs)
        sums = torch.zeros(arcs.num_nodes, HEADS).index_add(0, arcs.target, weights)
        receiving = arcs.indptr.diff() > 0
        torch.testing.assert_close(sums[receiving], torch.ones_like(sums[receiving]))
        assert torch.isfinite(total).all()
        assert (total[~receiving] == 0).all()


def test_dropout_keeps_the_expected_attention() -> None:
    arcs = random_arcs(10)
    values, logits, _ = random_inputs(arcs, 11)
    _, full = attend(values, logits, arcs)
    torch.manual_seed(0)
    mean = sum(attend(values, logits, arcs, dropout=0.5)[1] for _ in range(400)) / 400
    assert ((mean - full).abs() < 6 * full / 20).all()
    assert (mean != full).any()


def test_results_do_not_depend_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    arcs = random_arcs(12, count=300, edges=3000)
    found = []
    for threads in (1, 3):
        monkeypatch.setattr(kernels, "thread_count", lambda threads=threads: threads)
        values, logits, previous = random_inputs(arcs, 13, torch.float32)
        torch.manual_seed(14)
        total, weights = attend(values, logits, arcs, 0.5, previous, 0.05)
        total.square().sum().backward()
        found.append([total, weights, values.grad, *(one.grad for one in logits[:3])])
    assert all(torch.equal(one, other) for one, other in zip(*found, strict=True))


def test_a_graph_without_arcs_gives_zeros() -> None:
    arcs = make_arcs(np.empty((0, 2), np.int64), 3, np.empty(0, np.int64))
    values, logits, _ = random_inputs(arcs, 15)
    total, weights = attend(values, logits, arcs, dropout=0.5)
    assert (total == 0).all()
    assert weights.shape == (0, HEADS)
    total.sum().backward()
    assert (values.grad == 0).all()


def test_every_arc_is_in_the_chunk_of_its_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHUNK", 5)
    arcs = random_arcs(16)
    index = index_of(arcs)
    seen = []
    for kind, first, last in index.chunks.tolist():
        assert 0 < last - first <= 5
        members = index.by_kind[first:last]
        assert (arcs.kind[members] == kind).all()
        seen.extend(members.tolist())
    assert sorted(seen) == list(range(len(arcs)))
    counts = arcs.indptr.diff()
    assert (counts[index.rows.long()].diff() <= 0).all()


def test_kernels_for_gpus_agree_with_torch_in_the_interpreter() -> None:
    """In a process of its own: Triton reads its environment when it is imported."""
    if importlib.util.find_spec("triton") is None:
        pytest.skip("Triton comes with torch's builds for GPUs")
    script = Path(__file__).parent / "triton_attention.py"
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "agree" in done.stdout
