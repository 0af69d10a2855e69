"""Steps of a walk from eight sources side by side: what one node gets from its neighbours.

A table holds eight numbers for each node, one for each source, in one cache line. So a neighbour is fetched
once for all sources, and the processor adds eight numbers at a time. The sums of one source are taken in the
order of the neighbours, whatever the others are: a row does not depend on its company.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from trueedge.kernels.arrays.dtypes import Float64s, Int32s

LANES = 8
_BYTES = 8
_FLOAT = ir.DoubleType()
_VECTOR = ir.VectorType(_FLOAT, LANES)
_WORD = ir.IntType(64)
_TABLE = types.Array(types.float64, 1, "C")
_COLUMNS = types.Array(types.int32, 1, "C", readonly=True)
_ROW = (_COLUMNS, types.int64, types.int64)


class _Builder:
    """Writes what both steps share, in the compiler's own language."""

    def __init__(self, context: Any, builder: Any) -> None:
        self.context, self.builder = context, builder

    def place(self, table: Any, row: Any) -> Any:
        """Return the address of the eight numbers of a node."""
        values = self.context.make_array(_TABLE)(self.context, self.builder, table)
        first = self.builder.gep(values.data, [self.builder.mul(row, ir.Constant(_WORD, LANES))])
        return self.builder.bitcast(first, _VECTOR.as_pointer())

    def load(self, place: Any) -> Any:
        return self.builder.load(place, align=_BYTES)

    def store(self, value: Any, place: Any) -> None:
        self.builder.store(value, place, align=_BYTES)

    def everywhere(self, number: Any) -> Any:
        """Return eight times the same number."""
        one = self.builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, ir.IntType(32)(0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        return self.builder.shuffle_vector(one, one, zeros)

    def add_neighbors(self, row: Any, table: Any, before: Any) -> Any:
        """Return what the neighbours of a node add to eight numbers."""
        indices, start, end = row
        columns = self.context.make_array(_COLUMNS)(self.context, self.builder, indices)
        total = cgutils.alloca_once_value(self.builder, before)
        with cgutils.for_range_slice(self.builder, start, end, ir.Constant(_WORD, 1)) as (at, _):
            neighbor = self.builder.zext(self.builder.load(self.builder.gep(columns.data, [at])), _WORD)
            found = self.load(self.place(table, neighbor))
            self.builder.store(self.builder.fadd(self.builder.load(total), found), total)
        return self.builder.load(total)

    def any_of(self, lanes: Any) -> Any:
        """Return whether one of eight truths holds, as a whole number."""
        return self.builder.zext(
            self.builder.icmp_unsigned(
                "!=", self.builder.bitcast(lanes, ir.IntType(LANES)), ir.IntType(LANES)(0)
            ),
            _WORD,
        )


def _push_step(
    _typing: Any,
    _indices: types.Type,
    _start: types.Type,
    _end: types.Type,
    _shares: types.Type,
    _node: types.Type,
    _residual: types.Type,
    _estimate: types.Type,
    _following: types.Type,
    _threshold: types.Type,
    _kept: types.Type,
    _degree: types.Type,
) -> tuple[Any, Any]:
    def compile_call(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        *row, shares, node, residual, estimate, following, threshold, kept, degree = arguments
        write = _Builder(context, builder)
        left, known = write.place(residual, node), write.place(estimate, node)
        mass = write.add_neighbors(row, shares, write.load(left))
        nothing = ir.Constant(_VECTOR, [0.0] * LANES)
        is_pushed = builder.fcmp_ordered(">=", mass, write.everywhere(threshold))
        pushed = builder.select(is_pushed, mass, nothing)
        write.store(builder.select(is_pushed, nothing, mass), left)
        write.store(builder.fadd(write.load(known), pushed), known)
        share = builder.fdiv(builder.fmul(write.everywhere(kept), pushed), write.everywhere(degree))
        write.store(share, write.place(following, node))
        return write.any_of(is_pushed)

    tables = (_TABLE, types.int64, _TABLE, _TABLE, _TABLE)
    return types.int64(*_ROW, *tables, *3 * (types.float64,)), compile_call


def _plain_push_step(
    indices: Int32s,
    start: int,
    end: int,
    shares: Float64s,
    node: int,
    residual: Float64s,
    estimate: Float64s,
    following: Float64s,
    threshold: float,
    kept: float,
    degree: float,
) -> int:
    part = slice(LANES * node, LANES * (node + 1))
    mass = residual[part].copy()
    for neighbor in indices[start:end]:
        mass += shares[LANES * neighbor : LANES * (neighbor + 1)]
    is_pushed = mass >= threshold
    pushed = np.where(is_pushed, mass, 0.0)
    residual[part] = np.where(is_pushed, 0.0, mass)
    estimate[part] += pushed
    following[part] = kept * pushed / degree
    return int(is_pushed.any())


def _rise_step(
    _typing: Any,
    _indices: types.Type,
    _start: types.Type,
    _end: types.Type,
    _table: types.Type,
    _node: types.Type,
    _beta: types.Type,
    _added: types.Type,
    _kind: types.Type,
) -> tuple[Any, Any]:
    def compile_call(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        *row, table, node, beta, added, kind = arguments
        write = _Builder(context, builder)
        total = write.add_neighbors(row, table, ir.Constant(_VECTOR, [0.0] * LANES))
        own = write.load(write.place(added, kind))
        new = builder.fadd(builder.fmul(write.everywhere(beta), total), own)
        place = write.place(table, node)
        rose = builder.fcmp_ordered(">", new, write.load(place))
        write.store(new, place)
        return write.any_of(rose)

    return types.int64(*_ROW, _TABLE, types.int64, types.float64, _TABLE, types.int64), compile_call


def _plain_rise_step(
    indices: Int32s,
    start: int,
    end: int,
    table: Float64s,
    node: int,
    beta: float,
    added: Float64s,
    kind: int,
) -> int:
    total = np.zeros(LANES)
    for neighbor in indices[start:end]:
        total += table[LANES * neighbor : LANES * (neighbor + 1)]
    new = beta * total + added[LANES * kind : LANES * (kind + 1)]
    part = slice(LANES * node, LANES * (node + 1))
    rose = int((new > table[part]).any())
    table[part] = new
    return rose


def _compiled(step: Callable[..., Any], plain: Callable[..., Any]) -> Any:
    return plain if config.DISABLE_JIT else intrinsic(step)


push_step = _compiled(_push_step, _plain_push_step)
"""``push_step(indices, start, end, shares, node, residual, estimate, following, threshold, kept, degree)``.

A node gets the shares of its neighbours ``indices[start:end]``; where its residual is then at the threshold,
all of it goes to its estimate, and ``kept / degree`` of it is what each neighbour gets in the round that
follows. Returns whether that happened for one of the sources. Tables are float64 (8 n,); nothing is checked.
"""

rise_step = _compiled(_rise_step, _plain_rise_step)
"""``rise_step(indices, start, end, table, node, beta, added, kind)``: renew eight numbers of a node.

They become beta times the sum over the neighbours ``indices[start:end]``, plus row ``kind`` of ``added``.
Returns whether one of them rose. Tables are float64 (8 n,); nothing is checked.
"""
