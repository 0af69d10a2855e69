"""Arithmetic on rows of float32, sixteen numbers at a time.

A sum over a row is kept in sixteen lanes that are added up in a fixed order at the end. A compiler may not
choose such an order by itself, since it changes the last bits; written down it is both as fast as the
processor goes and the same on every machine.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from trueedge.kernels.arrays.dtypes import Float32s, Int64s

LANES = 16
_BYTES = 4
_FLOAT = ir.FloatType()
_VECTOR = ir.VectorType(_FLOAT, LANES)


def _is_row(kind: types.Type) -> bool:
    return isinstance(kind, types.Array) and kind.ndim == 1 and kind.dtype == types.float32


def _block(context: Any, builder: Any, kind: Any, array: Any, start: Any) -> Any:
    """Return the address of the sixteen numbers from ``start`` on."""
    values = context.make_array(kind)(context, builder, array)
    place = cgutils.get_item_pointer(context, builder, kind, values, [start], wraparound=False)
    return builder.bitcast(place, _VECTOR.as_pointer())


def _load(builder: Any, address: Any) -> Any:
    # Rows start anywhere: only the alignment of a float is promised.
    return builder.load(address, align=_BYTES)


def _lane_dot(
    _typing: Any, left: types.Type, _i: types.Type, right: types.Type, _j: types.Type, _size: types.Type
) -> tuple[Any, Any] | None:
    if not (_is_row(left) and _is_row(right)):
        return None

    def compile_call(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first, i, second, j, size = arguments
        total = cgutils.alloca_once_value(builder, ir.Constant(_VECTOR, [0.0] * LANES))
        step = ir.Constant(size.type, LANES)
        with cgutils.for_range_slice(builder, ir.Constant(size.type, 0), size, step) as (at, _):
            one = _load(builder, _block(context, builder, signature.args[0], first, builder.add(i, at)))
            other = _load(builder, _block(context, builder, signature.args[2], second, builder.add(j, at)))
            builder.store(builder.fadd(builder.load(total), builder.fmul(one, other)), total)
        lanes = builder.load(total)
        width = LANES
        while width > 1:
            width //= 2
            low, high = (
                builder.shuffle_vector(
                    lanes, lanes, ir.Constant(ir.VectorType(ir.IntType(32), width), list(range(k, k + width)))
                )
                for k in (0, width)
            )
            lanes = builder.fadd(low, high)
        return builder.extract_element(lanes, ir.IntType(32)(0))

    return types.float32(left, types.intp, right, types.intp, types.intp), compile_call


def _plain_dot(left: Float32s, i: int, right: Float32s, j: int, size: int) -> np.float32:
    lanes = np.zeros(LANES, dtype=np.float32)
    for at in range(0, size, LANES):
        lanes += left[i + at : i + at + LANES] * right[j + at : j + at + LANES]
    while len(lanes) > 1:
        lanes = lanes[: len(lanes) // 2] + lanes[len(lanes) // 2 :]
    return np.float32(lanes[0])


def _lane_steps(
    _typing: Any,
    source: types.Type,
    _i: types.Type,
    targets: types.Type,
    _rows: types.Type,
    _weights: types.Type,
    _count: types.Type,
    _size: types.Type,
) -> tuple[Any, Any] | None:
    if not (_is_row(source) and _is_row(targets) and _is_row(_weights)):
        return None

    def compile_call(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first, i, second, rows, weights, count, size = arguments
        kinds = signature.args
        row_array = context.make_array(kinds[3])(context, builder, rows)
        weight_array = context.make_array(kinds[4])(context, builder, weights)
        nobody = ir.Constant(_VECTOR, ir.Undefined)
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        pull = cgutils.alloca_once(builder, _VECTOR)
        step = ir.Constant(size.type, LANES)
        with cgutils.for_range_slice(builder, ir.Constant(size.type, 0), size, step) as (at, _):
            place = _block(context, builder, kinds[0], first, builder.add(i, at))
            x = _load(builder, place)
            builder.store(x, pull)
            with cgutils.for_range(builder, count) as loop:
                row = builder.load(
                    cgutils.get_item_pointer(
                        context, builder, kinds[3], row_array, [loop.index], wraparound=False
                    )
                )
                weight = builder.load(
                    cgutils.get_item_pointer(
                        context, builder, kinds[4], weight_array, [loop.index], wraparound=False
                    )
                )
                one = builder.insert_element(nobody, weight, ir.IntType(32)(0))
                weighted = builder.shuffle_vector(one, one, everywhere)
                target = _block(context, builder, kinds[2], second, builder.add(row, at))
                y = _load(builder, target)
                builder.store(builder.fadd(builder.load(pull), builder.fmul(weighted, y)), pull)
                builder.store(builder.fadd(y, builder.fmul(weighted, x)), target, align=_BYTES)
            builder.store(builder.load(pull), place, align=_BYTES)
        return context.get_dummy_value()

    rows = types.Array(types.int64, 1, "C")
    return (types.void(source, types.intp, targets, rows, _weights, types.intp, types.intp), compile_call)


def _plain_steps(
    source: Float32s, i: int, targets: Float32s, rows: Int64s, weights: Float32s, count: int, size: int
) -> None:
    before = source[i : i + size].copy()
    for row, weight in zip(rows[:count], weights[:count], strict=True):
        source[i : i + size] += weight * targets[row : row + size]
        targets[row : row + size] += weight * before


lane_dot: Any = _plain_dot if config.DISABLE_JIT else intrinsic(_lane_dot)
"""``lane_dot(left, i, right, j, size)``: the dot product of ``left[i:i+size]`` and ``right[j:j+size]``.

Both are one-dimensional arrays of float32; size is a multiple of ``LANES``; nothing is checked.
"""

lane_steps: Any = _plain_steps if config.DISABLE_JIT else intrinsic(_lane_steps)
"""``lane_steps(source, i, targets, rows, weights, count, size)``: a row and some others move together.

For each k below count, ``weights[k]`` times the row at ``targets[rows[k]]``, as it was, is added to the row
at ``source[i]``, and ``weights[k]`` times that row, as it was before all of them, to the target. The arrays
are one-dimensional, float32 but for rows, which is int64; size is a multiple of ``LANES``; source and targets
do not overlap; nothing is checked.
"""
