"""A layer of NBFNet or TAGNet as one function with its own gradient.

Passes over all rows take most of the time of a layer, so there are as few as possible: messages and their
statistics, and the rest. The gradient has as many, and products of matrices, all added up in place.
"""

from __future__ import annotations

from typing import Any

import torch

from trueedge.training.paths.gpu.mapping import map_and_update
from trueedge.training.paths.gpu.pna import Statistics, aggregate
from trueedge.training.paths.gpu.pna_gradients import spread
from trueedge.training.paths.gpu.update import update, update_gradients

# Up to this size of states, one kernel maps and updates: larger tiles do not fit into registers.
LARGEST_FUSED = 32


def walked_layer(
    states: Any,
    relations: Any,
    query: Any,
    degree: Any,
    weights: tuple[Any, Any, Any, Any],
    mask: Any,
    eps: float,
    step: Any,
    how: Statistics,
) -> Any:
    """Return the states after a layer, float (all rows, dim); rows that receive nothing stay as they are.

    Args:
        states: float (all rows, dim).
        relations: float (queries * 2R, dim).
        query: float (queries, dim), the initial states of the sources.
        degree: float (dim,), the degree message, or None.
        weights: of the linear map, float (dim, 13 dim), its additive weights, and weight and bias of the
            normalisation; the last three may be None.
        mask: float (rows, dim), the factors of dropout, or None.
        eps: added to the variance that normalises.
        step: a ``WalkedStep``.
        how: which statistics.
    """
    trained = torch.is_grad_enabled()
    contiguous = (one.contiguous() for one in (states, relations, query))
    given = *contiguous, degree, *weights, mask, eps, step, how, trained
    # Without a gradient, the function is called directly: that is faster.
    return _Layer.apply(*given) if trained else _forward(*given)[0]


def _forward(
    states: Any,
    relations: Any,
    query: Any,
    degree: Any,
    weight: Any,
    bias: Any,
    gain: Any,
    shift: Any,
    mask: Any,
    eps: float,
    step: Any,
    how: Statistics,
    trained: bool,
) -> tuple[Any, Any, tuple[Any, Any, Any]]:
    """Return the new states, what was normalised, and the results of :func:`aggregate`."""
    found = aggregate(states, relations, query, degree, step, how, trained)
    rest = mask, eps, step, trained
    dim = states.shape[1]
    if dim <= LARGEST_FUSED:
        return *map_and_update(states, found[0], found[1], weight, (bias, gain, shift), *rest), found
    mapped = found[0] @ _parts(weight).t()
    mapped[:, :dim].addmm_(states[step.first : step.last], weight[:, :dim].t())
    return *update(states, mapped, found[1], (bias, gain, shift), *rest), found


def _parts(weight: Any) -> Any:
    """Return the weights of statistics: plain, times the scale, and divided by it; float (3 dim, 4 dim)."""
    return weight[:, len(weight) :].unflatten(1, (3, -1)).transpose(0, 1).flatten(0, 1)


class _Layer(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *given: Any) -> Any:
        *tensors, eps, step, how, _trained = given
        new, hidden, found = _forward(*given)
        ctx.save_for_backward(*tensors, hidden, *found)
        ctx.eps, ctx.step, ctx.how = eps, step, how
        return new

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, slope: Any) -> tuple[Any, ...]:
        states, relations, query, degree, weight, bias, gain, shift, mask, hidden, *found = ctx.saved_tensors
        step, how, dim = ctx.step, ctx.how, states.shape[1]
        slope = slope.contiguous()
        given = (bias, gain, shift)
        by_mapped, sums = update_gradients(slope, hidden, found[1], given, mask, ctx.eps, step)
        by_own = by_mapped[:, :dim]
        rows = slice(step.first, step.last)
        by_parts = (by_mapped.t() @ found[0]).unflatten(0, (3, -1)).transpose(0, 1).flatten(1)
        by_weight = torch.cat([by_own.t() @ states[rows], by_parts], dim=1)
        by_state = slope.clone()
        by_state[rows].addmm_(by_own, weight[:, :dim])
        by_relation, by_query, by_degree = spread(
            states, relations, query, degree, step, how, tuple(found), by_mapped @ _parts(weight), by_state
        )
        by_bias, by_gain, by_shift = sums if bias is not None else (None, None, None)
        by_rest = by_weight, by_bias, by_gain, by_shift
        return by_state, by_relation, by_query, by_degree, *by_rest, None, None, None, None, None
