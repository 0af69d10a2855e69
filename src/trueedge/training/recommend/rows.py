"""Rows of tables."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812


def rows_of(table: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """Return ``table[rows]`` of a table (n, d).

    Several threads add up the gradient of ``table[rows]`` in any order, so its last bits change from run to
    run. Here the order is fixed.
    """
    return F.embedding(rows, table)
