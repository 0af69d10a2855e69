"""Ids of a file that may be names of nodes or their numbers: the reading that gives what a task needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def most_complete(readings: Sequence[NDArray[np.int64]], needed: NDArray[np.integer[Any]]) -> list[int]:
    """Return which readings of a file hold the most of what is needed: several if they hold as much.

    Args:
        readings: what the rows of the file are by each reading, int64 (n,): nodes, or keys of links.
        needed: what a task needs, (m,).
    """
    held = [int(np.isin(needed, one).sum()) for one in readings]
    return [place for place, count in enumerate(held) if count == max(held)]
