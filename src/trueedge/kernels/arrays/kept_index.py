"""An index of an array, kept from one call to the next on the same array."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from numpy.typing import NDArray

Index = TypeVar("Index")

# An index of a larger array would be missed elsewhere.
MOST_BYTES = 1 << 26


class KeptIndex(Generic[Index]):
    """The index of the last array it was asked for, until there is another array or this one is gone.

    Args:
        make: makes the index of an array.
    """

    def __init__(self, make: Callable[[NDArray[Any]], Index]) -> None:
        self._make = make
        self._last: tuple[weakref.ref[Any], Index] | None = None

    def of(self, array: NDArray[Any]) -> Index:
        """Return the index of an array; one that may be written to is indexed again each time."""
        if array.flags.writeable or array.nbytes > MOST_BYTES:
            return self._make(array)
        last = self._last
        if last is None or last[0]() is not array:
            last = self._last = (weakref.ref(array, self._forget), self._make(array))
        return last[1]

    def _forget(self, gone: weakref.ref[Any]) -> None:
        if self._last is not None and self._last[0] is gone:
            self._last = None
