"""A training that does not fit into memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from trueedge.errors import InputError

if TYPE_CHECKING:
    from trueedge.methods.method import Method

# Settings that memory grows with.
SMALLER = ("dim", "batch_size", "negatives")


@contextmanager
def memory_errors(method: Method, dataset: str) -> Iterator[None]:
    """Raise an InputError that names method, data set and settings if memory runs out inside the block."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        # torch has no error class of its own for running out of CPU memory.
        if isinstance(error, MemoryError) or re.search(r"out of memory|allocate memory", str(error)):
            raise InputError(
                f"{method.name} on {dataset} does not fit into memory{_advice(method)}"
            ) from error
        raise


def _advice(method: Method) -> str:
    """Return which of its settings to make smaller; nothing if it has none of them."""
    chosen = method.settings()
    # With the objective 1-n, no negatives are sampled.
    unused = {"negatives"} if chosen.get("objective") == "1-n" else set()
    names = [name for name in SMALLER if name in chosen and name not in unused]
    listed = ", ".join(names[:-1]) + " or " + names[-1] if len(names) > 1 else "".join(names)
    return f"; try a smaller {listed}" if names else ""
