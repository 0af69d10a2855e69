"""Binary search in sorted rows that lie behind each other in one array."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def place_of(values, first, last, value):  # type: ignore[no-untyped-def]
    """Return the first place in the ascending ``values[first:last]`` whose value is not below another."""
    while first < last:
        middle = (first + last) // 2
        if values[middle] < value:
            first = middle + 1
        else:
            last = middle
    return first
