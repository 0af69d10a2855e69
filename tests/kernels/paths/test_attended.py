"""Messages that attention weighs and their gradients: compiled loops against torch's own operations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from trueedge.training.paths import attended as module  # noqa: E402
from trueedge.training.paths.attended import AttendedEdges, Attention, attended_sum  # noqa: E402

GROUPS, ROWS, KINDS, DIM, SIZE = 3, 4, 5, 6, 2


@dataclass(frozen=True)
class Shape:
    """Which parts of a message and of its weight there are: GraIL's, RED-GNN's, and all."""

    bases: int
    shares: bool
    offsets: bool
    targets: bool
    bias: bool


SHAPES = {
    "grail": Shape(2, shares=True, offsets=False, targets=True, bias=True),
    "red-gnn": Shape(1, shares=False, offsets=True, targets=False, bias=False),
    "all": Shape(3, shares=True, offsets=True, targets=True, bias=True),
}


def edges_of(seed: int, count: int = 30) -> AttendedEdges:
    rng = np.random.default_rng(seed)
    # The second group has no edges.
    group = np.sort(rng.choice([0, 2], count))
    source, target = (rng.integers(0, ROWS, count) + ROWS * group for _ in range(2))
    kind = rng.integers(0, KINDS, count)
    return AttendedEdges(*map(torch.from_numpy, (source, kind, target, group)), GROUPS)


def tables_of(shape: Shape, seed: int) -> list[torch.Tensor | None]:
    drawn = torch.Generator().manual_seed(seed)

    def draw(there: bool, *size: int) -> torch.Tensor | None:
        made = torch.randn(*size, generator=drawn, dtype=torch.float64)
        return made.requires_grad_() if there else None

    rows = GROUPS * ROWS
    return [
        draw(True, rows, shape.bases, DIM),
        draw(True, rows, SIZE),
        draw(True, KINDS, SIZE),
        draw(True, GROUPS, SIZE),
        draw(True, SIZE),
        draw(shape.bias, 1),
        draw(shape.targets, rows, SIZE),
        draw(shape.shares, KINDS, shape.bases),
        draw(shape.offsets, KINDS, DIM),
    ]


def run(tables: list[torch.Tensor | None], edges: AttendedEdges) -> torch.Tensor:
    values, *attention, shares, offsets = tables
    assert values is not None
    return attended_sum(values, Attention(*attention), edges, shares, offsets)  # type: ignore[arg-type]


def slow_sum(tables: list[torch.Tensor | None], edges: AttendedEdges) -> np.ndarray:
    """One edge after the other, as the formula says."""
    found = [None if one is None else one.detach().numpy() for one in tables]
    values, of_source, of_kind, of_group, weight, bias, of_target, shares, offsets = found
    assert values is not None
    total = np.zeros((len(values), DIM))
    columns = (edges.source, edges.kind, edges.target, edges.group)
    for source, kind, target, group in zip(*(one.tolist() for one in columns), strict=True):
        assert of_source is not None
        assert of_kind is not None
        assert of_group is not None
        assert weight is not None
        hidden = of_source[source] + of_kind[kind] + of_group[group]
        if of_target is not None:
            hidden = hidden + of_target[target]
        logit = np.maximum(hidden, 0) @ weight + (0 if bias is None else bias[0])
        message = values[source, 0] if shares is None else shares[kind] @ values[source]
        if offsets is not None:
            message = message + offsets[kind]
        total[target] += message / (1 + np.exp(-logit))
    return total


@pytest.mark.parametrize("name", SHAPES)
def test_the_sum_is_that_of_the_formula(name: str) -> None:
    tables, edges = tables_of(SHAPES[name], 0), edges_of(0)
    found = run(tables, edges).detach().numpy()
    assert np.allclose(found, slow_sum(tables, edges))
    assert not found[ROWS : 2 * ROWS].any()


@pytest.mark.parametrize("name", SHAPES)
def test_torch_gives_the_same_numbers_and_gradients(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    edges = edges_of(1)
    slope = torch.randn(GROUPS * ROWS, DIM, dtype=torch.float64)

    def all_of_it() -> list[torch.Tensor]:
        tables = tables_of(SHAPES[name], 1)
        total = run(tables, edges)
        total.backward(slope)
        slopes = [one.grad for one in tables if one is not None]
        return [total.detach(), *(one for one in slopes if one is not None)]

    compiled = all_of_it()
    monkeypatch.setattr(module, "_compiled", lambda tensor: False)
    plain = all_of_it()
    assert len(compiled) == len(plain) == 1 + sum(one is not None for one in tables_of(SHAPES[name], 1))
    for one, other in zip(compiled, plain, strict=True):
        assert torch.allclose(one, other)


def test_numbers_do_not_depend_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    edges, shape = edges_of(2, 200), SHAPES["all"]

    def found(threads: int) -> list[bytes]:
        monkeypatch.setattr("trueedge.kernels.arrays.threads.thread_count", lambda: threads)
        tables = tables_of(shape, 2)
        total = run(tables, edges)
        total.square().sum().backward()
        return [total.detach().numpy().tobytes()] + [
            one.grad.numpy().tobytes() for one in tables if one is not None and one.grad is not None
        ]

    assert found(1) == found(2)


def test_single_precision_stays_single() -> None:
    tables = [None if one is None else one.detach().float() for one in tables_of(SHAPES["all"], 3)]
    edges = edges_of(3)
    total = run(tables, edges)
    assert total.dtype == torch.float32
    assert np.allclose(total.numpy(), slow_sum(tables, edges), atol=1e-4)


def test_no_edges_give_zeros_and_no_gradient() -> None:
    tables, edges = tables_of(SHAPES["all"], 4), edges_of(4, 0)
    total = run(tables, edges)
    assert not total.any()
    total.sum().backward()
    assert all(one is None or one.grad is None or not one.grad.any() for one in tables)
