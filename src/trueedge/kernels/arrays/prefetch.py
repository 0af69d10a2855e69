"""A hint to the processor: this will be read soon.

Scattered reads wait for memory one after the other. Asked for a dozen steps ahead, they come in side by side,
and kernels that gather rows run at half the time.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

READ, KEEP_CLOSE, DATA = 0, 3, 1


def _prefetch(_typing: Any, array: types.Type, _index: types.Type) -> tuple[Any, Any] | None:
    """Compile the call to the processor's own instruction."""
    if not isinstance(array, types.Array) or array.ndim != 1:
        return None

    def compile_call(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values = context.make_array(signature.args[0])(context, builder, arguments[0])
        address = cgutils.get_item_pointer(
            context, builder, signature.args[0], values, [arguments[1]], wraparound=False
        )
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        hint = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [byte, number, number, number]), "llvm.prefetch.p0"
        )
        builder.call(hint, [builder.bitcast(address, byte), number(READ), number(KEEP_CLOSE), number(DATA)])
        return context.get_dummy_value()

    return types.void(array, types.intp), compile_call


def _do_nothing(array: NDArray[Any], index: int) -> None:
    """What the hint is to Python; an index past the end is no error in either."""


prefetch: Any = _do_nothing if config.DISABLE_JIT else intrinsic(_prefetch)
"""``prefetch(array, index)`` of a one-dimensional array; any index will do, even one outside of it."""
