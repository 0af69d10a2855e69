"""Draw the vectors that a training starts from."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn


def xavier(count: int, dim: int) -> torch.Tensor:
    """Return a table of normal numbers with the variance of Glorot and Bengio, float (count, dim)."""
    return nn.init.xavier_normal_(torch.empty(count, dim))


def xavier_rows(count: int, dim: int, unit: bool) -> torch.Tensor:
    """Return a table by :func:`xavier`; with ``unit``, each row is scaled to length 1."""
    drawn = xavier(count, dim)
    return F.normalize(drawn) if unit else drawn


def uniform(count: int, dim: int, bound: float) -> torch.Tensor:
    """Return a table of uniform numbers between ``-bound`` and ``bound``, float (count, dim)."""
    return torch.empty(count, dim).uniform_(-bound, bound)
