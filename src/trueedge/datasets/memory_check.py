"""Whether a graph that is to be generated fits into memory, checked before anything is allocated."""

from __future__ import annotations

from trueedge.errors import InputError
from trueedge.files.memory import as_size, free_memory

# Measured at the peak: an edge is held as two int64 ids, as a key, as a sorted key and as two int32 ids, a
# node as a few numbers beside each other.
BYTES_AN_EDGE = 72
BYTES_A_NODE = 40


def check_memory(owner: str, nodes: int, edges: int, bytes_an_edge: int = BYTES_AN_EDGE) -> None:
    """Refuse to generate a graph that needs more memory than is free."""
    needed, there = BYTES_A_NODE * nodes + bytes_an_edge * edges, free_memory()
    if there is not None and needed > there:
        raise InputError(
            f"{owner}: {nodes:,} nodes and {edges:,} edges need about {as_size(needed)} of memory,"
            f" but {as_size(there)} are free"
        )
