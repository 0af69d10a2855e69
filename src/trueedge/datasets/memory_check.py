"""Whether a graph that is to be generated fits into memory, checked before anything is allocated."""

from __future__ import annotations

from trueedge.errors import InputError
from trueedge.files.bounds import memory

# While a graph is made, an edge is held as two int64 ids, as a key, as a sorted key and as two int32 ids.
BYTES_AN_EDGE = 64
BYTES_A_NODE = 16


def check_memory(owner: str, nodes: int, edges: int) -> None:
    """Refuse to generate a graph that needs more memory than the machine has."""
    needed, there = BYTES_A_NODE * nodes + BYTES_AN_EDGE * edges, memory()
    if there is not None and needed > there:
        raise InputError(
            f"{owner}: {nodes:,} nodes and {edges:,} edges need about {needed / 1e9:,.0f} GB of memory,"
            f" but this machine has {there / 1e9:,.0f} GB"
        )
