"""Messages that attention weighs: RED-GNN's, AdaProp's and GraIL's.

On a CPU, compiled loops never store a message; elsewhere torch's own operations do the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812

from trueedge.kernels.paths import attention as kernels


@dataclass(frozen=True, eq=False)
class AttendedEdges:
    """Who receives from whom.

    Attributes:
        source, kind, target: int64 (k,), of each edge: sending row, relation, receiving row.
        group: int64 (k,), the query or pair that each edge belongs to, ascending; groups share no rows.
        num_groups: the number of groups.
    """

    source: torch.Tensor
    kind: torch.Tensor
    target: torch.Tensor
    group: torch.Tensor
    num_groups: int


@dataclass(frozen=True, eq=False)
class Attention:
    """What weighs a message: the sigmoid of a linear map of the rectified sum of these.

    Attributes:
        of_source: float (rows, a).
        of_kind: float (kinds, a).
        of_group: float (groups, a).
        weight: float (a,).
        bias: float (1,), or None: 0.
        of_target: float (rows, a), or None: without.
    """

    of_source: torch.Tensor
    of_kind: torch.Tensor
    of_group: torch.Tensor
    weight: torch.Tensor
    bias: torch.Tensor | None = None
    of_target: torch.Tensor | None = None


def attended_sum(
    values: torch.Tensor,
    attention: Attention,
    edges: AttendedEdges,
    shares: torch.Tensor | None = None,
    offsets: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return the weighed sum of the messages that each row receives, float (rows, dim).

    Args:
        values: float (rows, bases, dim), what rows send.
        attention: what weighs it.
        edges: along which edges.
        shares: float (kinds, bases), how much of each base an edge passes on; None: one base, all of it.
        offsets: float (kinds, dim), added to what an edge passes on; None: nothing.
    """
    if not _compiled(values):
        return _plain(values, attention, edges, shares, offsets)
    kinds, size, dim = len(attention.of_kind), len(attention.weight), values.shape[2]
    given = (
        values,
        values.new_ones(kinds, 1) if shares is None else shares,
        values.new_empty(0, dim) if offsets is None else offsets,
        attention.of_source,
        values.new_empty(0, size) if attention.of_target is None else attention.of_target,
        attention.of_kind,
        attention.of_group,
        attention.weight,
        values.new_zeros(1) if attention.bias is None else attention.bias,
    )
    total: torch.Tensor = _AttendedSum.apply(edges, *(one.contiguous() for one in given))
    return total


class _AttendedSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, edges: AttendedEdges, *given: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(*given)
        ctx.edges = _indices(edges)
        return torch.from_numpy(kernels.attended_sum(_arrays(given, ctx.edges)))

    @staticmethod
    def backward(ctx: Any, *slopes: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        found = kernels.attended_gradients(
            _arrays(ctx.saved_tensors, ctx.edges), slopes[0].contiguous().numpy()
        )
        return None, *map(torch.from_numpy, found)


def _indices(edges: AttendedEdges) -> tuple[Any, ...]:
    """Return the indices as the compiled loops take them."""
    ends = torch.searchsorted(edges.group, torch.arange(edges.num_groups + 1))
    columns = (edges.source, edges.kind, edges.target)
    return *(one.to(torch.int32).numpy() for one in columns), ends.numpy()


def _arrays(given: tuple[torch.Tensor, ...], indices: tuple[Any, ...]) -> kernels.Attended:
    return kernels.Attended(*(one.detach().numpy() for one in given), *indices)


def _compiled(tensor: torch.Tensor) -> bool:
    """Return whether the compiled loops take a tensor."""
    return bool(tensor.device.type == "cpu")


def _plain(
    values: torch.Tensor,
    attention: Attention,
    edges: AttendedEdges,
    shares: torch.Tensor | None,
    offsets: torch.Tensor | None,
) -> torch.Tensor:
    """Return the sum by torch's own operations."""
    # F.embedding adds gradients of equal rows faster than an index does.
    hidden = (
        F.embedding(edges.source, attention.of_source)
        + F.embedding(edges.kind, attention.of_kind)
        + F.embedding(edges.group, attention.of_group)
    )
    if attention.of_target is not None:
        hidden = hidden + F.embedding(edges.target, attention.of_target)
    logits = F.relu(hidden) @ attention.weight
    weights = torch.sigmoid(logits if attention.bias is None else logits + attention.bias).unsqueeze(1)
    if shares is None:
        messages = F.embedding(edges.source, values.squeeze(1))
    else:
        messages = torch.einsum("kbd,kb->kd", values[edges.source], F.embedding(edges.kind, shares))
    if offsets is not None:
        messages = messages + F.embedding(edges.kind, offsets)
    return torch.zeros_like(values[:, 0]).index_add(0, edges.target, weights * messages)
