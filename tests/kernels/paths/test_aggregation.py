"""Aggregated messages and their gradients, against loops in numpy and against torch."""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
import pytest
import torch

from trueedge.errors import InputError
from trueedge.kernels.paths import aggregation as kernels
from trueedge.training.paths import messages as module
from trueedge.training.paths.edges import Edges
from trueedge.training.paths.messages import message_statistics, sum_messages
from trueedge.training.paths.steps import Plan, Step, full_plan, pruned_plan

KINDS = ("distmult", "transe", "rotate")


def make(seed: int, delta: int | None, dtype: torch.dtype = torch.float64) -> tuple:
    rng = np.random.default_rng(seed)
    triples = np.unique(rng.integers(0, [12, 3, 12], (25, 3)), axis=0)
    edges = Edges.of_triples(triples, 12, 3)
    sources = torch.tensor([0, 5, 5])
    plan = full_plan(edges, sources, 3) if delta is None else pruned_plan(edges, sources, 3, delta)
    states = torch.from_numpy(rng.integers(-3, 4, (plan.num_rows, 4))).to(dtype)
    relations = torch.from_numpy(rng.integers(-3, 4, (3 * 6, 4))).to(dtype)
    return plan, states, relations


def slow_messages(states: np.ndarray, relations: np.ndarray, step: Step, kind: str) -> list[np.ndarray]:
    """The messages that each row receives."""
    source, relation, ends = step.source.numpy(), step.relation.numpy(), step.ends.numpy()
    rows = []
    for row in range(len(ends) - 1):
        got = []
        for k in range(ends[row], ends[row + 1]):
            h, r = states[source[k]], relations[relation[k]]
            if kind == "rotate":
                product = (h[:2] + 1j * h[2:]) * (r[:2] + 1j * r[2:])
                got.append(np.concatenate([product.real, product.imag]))
            else:
                got.append(h * r if kind == "distmult" else h + r)
        rows.append(np.array(got).reshape(-1, 4))
    return rows


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("delta", [None, 0, 1, 3])
def test_every_statistic_equals_a_loop(delta: int | None, kind: str) -> None:
    plan, states, relations = make(0, delta)
    for step in plan.steps:
        rows = slow_messages(states.numpy(), relations.numpy(), step, kind)
        total, square, most, least = message_statistics(states, relations, step, kind)
        assert np.array_equal(total, [row.sum(0) for row in rows])
        assert np.array_equal(sum_messages(states, relations, step, kind), total)
        assert np.array_equal(square, [(row**2).sum(0) for row in rows])
        assert np.array_equal(most, [row.max(0, initial=-np.inf) for row in rows])
        assert np.array_equal(least, [row.min(0, initial=np.inf) for row in rows])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("delta", [None, 1])
def test_gradients_are_those_of_finite_differences(delta: int | None, kind: str, thorough: bool) -> None:
    plan, states, relations = make(1, delta)
    torch.manual_seed(0)
    # No ties: at a tie there is no derivative.
    states, relations = (
        torch.randn_like(states).requires_grad_(),
        torch.randn_like(relations).requires_grad_(),
    )
    step = plan.steps[-1]

    def finite(states: torch.Tensor, relations: torch.Tensor) -> tuple[torch.Tensor, ...]:
        found = message_statistics(states, relations, step, kind)
        return tuple(torch.where(torch.isinf(value), 0.0, value) for value in found)

    # Quick: in one random direction, to which every wrong number contributes.
    def agree(function: Callable[..., object]) -> bool:
        return torch.autograd.gradcheck(function, (states, relations), fast_mode=not thorough)

    assert agree(finite)
    assert agree(lambda s, r: sum_messages(s, r, step, kind))


@pytest.mark.parametrize("kind", KINDS)
def test_the_arithmetic_of_a_gpu_gives_the_same_numbers_and_gradients(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, states, relations = make(2, 1)
    step = plan.steps[-1]
    slopes = [torch.randn(step.last - step.first, 4, dtype=torch.float64) for _ in range(4)]

    def run() -> list[torch.Tensor]:
        s, r = states.clone().requires_grad_(), relations.clone().requires_grad_()
        found = message_statistics(s, r, step, kind)
        finite = [torch.where(torch.isinf(value), 0.0, value) for value in found]
        torch.autograd.backward([*finite, sum_messages(s, r, step, kind)], [*slopes, slopes[0]])
        assert s.grad is not None
        assert r.grad is not None
        return [*found, s.grad, r.grad]

    compiled = run()
    # As on a GPU: torch's own operations, and rows in pieces of two messages.
    monkeypatch.setattr(module, "_compiled", lambda tensor: False)
    monkeypatch.setattr(module, "PIECE", 2)
    # Whole numbers are often equal: ties share their gradient in both.
    for one, other in zip(compiled, run(), strict=True):
        assert torch.allclose(one, other)


def test_an_unknown_message_is_refused_with_the_nearest_known() -> None:
    plan, states, relations = make(0, 1)
    with pytest.raises(InputError, match="did you mean 'distmult'"):
        sum_messages(states, relations, plan.steps[0], "dismult")


def test_a_plan_is_made_of_slices_and_its_rows_are_sorted_by_distance() -> None:
    plan: Plan = make(3, 1)[0]
    assert plan.distance is not None
    assert bool((plan.distance.diff().to(torch.int64) >= 0).all())
    for t, step in enumerate(plan.steps, start=1):
        inside = plan.distance[step.first : step.last].to(torch.int64)
        assert bool(((t - 1 <= inside) & (inside <= t)).all())
        assert int(step.ends[-1]) == step.num_messages


@pytest.mark.parametrize("kind", ["distmult", "transe"])
@pytest.mark.parametrize("delta", [None, 1])
def test_the_kernels_of_triton_give_the_same_numbers_and_gradients(delta: int | None, kind: str) -> None:
    """On a machine without a GPU: TRITON_INTERPRET=1."""
    fused = module._triton()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if fused is None or (device == "cpu" and os.environ.get("TRITON_INTERPRET") != "1"):
        pytest.skip("needs triton, and a GPU or TRITON_INTERPRET=1")
    plan, states, relations = make(4, delta, torch.float32)
    number = module.MESSAGES[kind]
    for step in plan.steps:
        given = module._arrays(states, relations, step)
        expected = kernels.message_statistics(given, number)
        moved = (one.to(device) for one in (step.source, step.relation, step.ends))
        there = states.to(device), relations.to(device), Step(*moved, step.first, step.last), number
        found = fused.statistics(*there)
        for one, other in zip(found, expected[:4], strict=True):
            assert np.allclose(one.cpu(), other)
        assert torch.equal(fused.statistics(*there, extremes=False)[0], found[0])
        slopes = [torch.randn(step.last - step.first, 4) for _ in range(4)]
        arrays = [one.numpy() for one in slopes]
        shared = [*arrays[:2], *(arrays[k] / np.maximum(expected[k + 2], 1) for k in (2, 3))]
        wanted = kernels.statistics_gradients(given, number, shared, expected[2:4])
        read = tuple(one.to(device) for one in slopes)
        for one, other in zip(fused.gradients(*there, read, tuple(found[2:])), wanted, strict=True):
            assert np.allclose(one.cpu(), other, atol=1e-4)
        summed = kernels.sum_gradients(given, number, arrays[0])
        for one, other in zip(fused.gradients(*there, read[:1]), summed, strict=True):
            assert np.allclose(one.cpu(), other, atol=1e-4)
