"""Scratch that is kept from one call to the next on the same graph.

Getting memory as long as the graph, page by page, takes longer than a short task on it. So the last graph's
scratch is kept until there is another graph, or this one is gone; that of a large graph is not, for it would
be missed elsewhere, and what is done on a large graph takes long anyway.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from numpy.typing import NDArray

from trueedge.kernels.arrays.threads import Scratches

Scratch = TypeVar("Scratch")

MOST_NODES = 1 << 20


class KeptScratch(Generic[Scratch]):
    """The scratch of the last graph and parameters it was asked for."""

    def __init__(self, make: Callable[..., Scratch]) -> None:
        self._make = make
        self._last: tuple[weakref.ref[Any], tuple[float, ...], Scratches[Scratch]] | None = None

    def of(self, indptr: NDArray[Any], *parameters: float) -> Scratches[Scratch]:
        """Return where threads get what ``make(indptr, *parameters)`` makes.

        Args:
            indptr: int64 array (n + 1,), which stands for the graph; one that may be written to might be
                another graph the next time.
            parameters: what else the scratch depends on.
        """
        if indptr.flags.writeable or len(indptr) > MOST_NODES:
            return Scratches(lambda: self._make(indptr, *parameters))
        last = self._last
        if last is not None and last[0]() is indptr and last[1] == parameters:
            return last[2]
        graph = weakref.ref(indptr, self._forget)
        scratches = Scratches(lambda: self._make(graph(), *parameters))
        self._last = (graph, parameters, scratches)
        return scratches

    def _forget(self, gone: weakref.ref[Any]) -> None:
        if self._last is not None and self._last[0] is gone:
            self._last = None
