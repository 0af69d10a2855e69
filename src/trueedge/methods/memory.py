"""A training that does not fit into memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from trueedge.errors import InputError


@contextmanager
def memory_errors(method: str, dataset: str) -> Iterator[None]:
    """Raise an InputError that names method and data set if memory runs out inside the block."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        # torch has no error class of its own for running out of CPU memory.
        if isinstance(error, MemoryError) or re.search(r"out of memory|allocate memory", str(error)):
            raise InputError(
                f"{method} on {dataset} does not fit into memory; try a smaller dim or batch_size"
            ) from error
        raise
