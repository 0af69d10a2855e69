"""Sums over neighbours as products with a dense table of ones and zeros, for dense graphs on a GPU.

A sparse product reads a state for every arc, a dense one only the table and all states. Factors of ones and
zeros are exact in bfloat16, and each float32 number is split into three bfloat16 ones, so that tensor cores
compute the products without loss.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812

# A graph with at least this share of all pairs is stored as a dense table. On an H200, three products of
# bfloat16 take 6 n² d / 6e14 seconds, and a sparse one 4 s n² d / 1.5e12: as long for a share s of 1 / 270.
# Where they are close, the table only costs memory.
DENSE_FROM = 1 / 128
# The largest number of entries of such a table.
DENSE_MOST = 1 << 30
# Rows are padded to a multiple of this, for the tensor cores of a GPU.
LANES = 16


def dense_enough(nodes: int, arcs: int) -> bool:
    """Return whether a graph is dense enough for products with a dense table to beat lists on a GPU."""
    return DENSE_FROM * nodes**2 <= arcs and nodes**2 <= DENSE_MOST


def table_of(arc_keys: torch.Tensor, nodes: int) -> torch.Tensor:
    """Return arcs, given by row * n + column, as a dense table of ones, bfloat16 (n, w), with padded rows."""
    width = -(-nodes // LANES) * LANES
    found = torch.zeros(nodes * width, dtype=torch.bfloat16, device=arc_keys.device)
    found[arc_keys + arc_keys // max(1, nodes) * (width - nodes)] = 1
    return found.view(nodes, width)


def sums_by(table: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
    """Return the sums of the states (n, d) of each row's ones, float32 (n, d)."""
    padded = F.pad(states, (0, 0, 0, table.shape[1] - len(states)))
    return times(table, ready(padded, table))


def turned_sums_by(table: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
    """Return the sums of the states (n, d) of each column's ones, float32 (n, d)."""
    return times(table.t(), ready(states, table))[: len(states)]


def ready(numbers: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """Return numbers as :func:`times` takes them: split into three bfloat16 each for tensor cores."""
    fast = table.dtype == torch.bfloat16 and numbers.device.type == "cuda"
    return short_parts(numbers) if fast else numbers


def times(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Return a product of matrices in float32: of ones and zeros with short numbers without loss."""
    if right.dtype != torch.bfloat16:
        return left.to(right.dtype) @ right
    # Sums are float32; only the factors are bfloat16, without loss.
    summed = torch.mm(left, right, out_dtype=torch.float32)
    return summed.view(len(left), 3, -1).sum(1)


def short_parts(numbers: torch.Tensor) -> torch.Tensor:
    """Split float32 numbers (n, d) into three bfloat16 numbers each that sum to them, (n, 3 d)."""
    parts = []
    for _ in range(3):
        parts.append(numbers.to(torch.bfloat16))
        numbers = numbers - parts[-1].float()
    return torch.cat(parts, dim=1)
