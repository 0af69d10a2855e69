"""What is said about directed edges, since a graph has none."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from trueedge.files.columns import is_skipped
from trueedge.files.text import TextFile

# SNAP writes "# Directed graph", KONECT "% asym".
DIRECTED = re.compile(r"(?<!un)(?<!un-)(?<!not )\bdirected\b|^%\s*asym\b", re.IGNORECASE)
MOST_BYTES = 1 << 14


def says_directed(text: TextFile) -> bool:
    """Return whether a comment at the top of a file says that its edges are directed."""
    for line in text.data[:MOST_BYTES].decode("utf-8", "ignore").split("\n"):
        if not is_skipped(line):
            return False
        if DIRECTED.search(line.strip()):
            return True
    return False


def direction_note(pairs: NDArray[np.int64], num_nodes: int, num_edges: int) -> tuple[str, ...]:
    """Return a note if some edges, but not all, are listed in both directions.

    Args:
        pairs: int64 array (m, 2) as they are listed, ids below ``num_nodes``.
        num_nodes: the number of nodes.
        num_edges: how many different edges there are among them, without self-loops.
    """
    loops = pairs[:, 0] == pairs[:, 1]
    if len(pairs) - int(np.count_nonzero(loops)) == num_edges:
        return ()
    joined = pairs[~loops]
    keys = joined[:, 0] * num_nodes + joined[:, 1]
    keys.sort()  # ten times as fast as np.unique
    both = 1 + int(np.count_nonzero(keys[1:] != keys[:-1])) - num_edges
    if not 0 < both < num_edges:
        return ()
    verb = "is" if both == 1 else "are"
    return (f"direction is ignored: {both:,} of {num_edges:,} edges {verb} listed in both directions",)
