"""What attention over arcs is computed from, and the orders in which arcs are read."""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import torch

from trueedge.training.typed.inputs import Arcs

# Arcs of one kind that one program of a GPU sums up.
CHUNK = 512
# Rows with more arcs than this are begun first on a GPU, so that nothing waits for them in the end.
LONG = 64


class Logits(NamedTuple):
    """What attention is computed from: the softmax of LeakyReLU(source + target + kind).

    Attributes:
        source: float (n, heads), of the nodes that send.
        target: float (n, heads), of the nodes that receive.
        kind: float (kinds, heads), of the types of arcs; None leaves them out.
        slope: of LeakyReLU for negative numbers.
    """

    source: torch.Tensor
    target: torch.Tensor
    kind: torch.Tensor | None = None
    slope: float = 0.2


class Mixing(NamedTuple):
    """How a softmax s becomes attention: ``share * kept * s + beta * previous``.

    Attributes:
        share: what kept values are multiplied by.
        kept: uint8 (a, heads), 0 where a value is dropped; None without dropout.
        previous: float (a, heads); None for nothing.
        beta: what ``previous`` is multiplied by.
    """

    share: float
    kept: torch.Tensor | None
    previous: torch.Tensor | None
    beta: float


class ArcIndex(NamedTuple):
    """Arcs in the orders that kernels read them in; see :class:`kernels.ArcArrays`.

    Attributes:
        rows: int32 (n,), the targets, those with the most arcs first.
        long_rows: how many targets have more than ``LONG`` arcs.
        out_rows, long_out_rows: the same for sources.
        by_kind: int32 (a,), the arcs ordered by kind.
        chunks: int32 (chunks, 3), the kind of each chunk of that order, and where it begins and ends.
    """

    source: torch.Tensor
    target: torch.Tensor
    kind: torch.Tensor
    indptr: torch.Tensor
    out_indptr: torch.Tensor
    order: torch.Tensor
    rows: torch.Tensor
    long_rows: int
    out_rows: torch.Tensor
    long_out_rows: int
    by_kind: torch.Tensor
    chunks: torch.Tensor


_INDICES: WeakKeyDictionary[Arcs, ArcIndex] = WeakKeyDictionary()


def index_of(arcs: Arcs) -> ArcIndex:
    """Return the orders of arcs; they are computed once and kept as long as the arcs."""
    if arcs not in _INDICES:
        out_indptr, order = arcs.by_source
        source, target, kind, order = (
            one.to(torch.int32).contiguous() for one in (arcs.source, arcs.target, arcs.kind, order)
        )
        ends = arcs.indptr.contiguous(), out_indptr.contiguous()
        longest = *_longest_first(arcs.indptr), *_longest_first(out_indptr)
        _INDICES[arcs] = ArcIndex(source, target, kind, *ends, order, *longest, *_by_kind(arcs))
    return _INDICES[arcs]


def _longest_first(indptr: torch.Tensor) -> tuple[torch.Tensor, int]:
    counts, rows = torch.sort(indptr.diff(), descending=True, stable=True)
    return rows.to(torch.int32), int((counts > LONG).sum())


def _by_kind(arcs: Arcs) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the arcs ordered by kind, and chunks of them that each have one kind."""
    order = torch.argsort(arcs.kind, stable=True)
    counts = torch.bincount(arcs.kind, minlength=arcs.num_kinds)
    last = counts.cumsum(0).tolist()
    chunks = [
        (kind, first, min(first + CHUNK, end))
        for kind, (end, count) in enumerate(zip(last, counts.tolist(), strict=True))
        for first in range(end - count, end, CHUNK)
    ]
    table = torch.tensor(chunks, dtype=torch.int32, device=order.device).reshape(-1, 3)
    return order.to(torch.int32), table
