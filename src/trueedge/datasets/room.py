"""Does a graph that is asked for fit into memory? Asked before any of it is allocated."""

from __future__ import annotations

from trueedge.errors import InputError
from trueedge.files.bounds import memory

# While a graph is made, an edge is held as two int64 ids, as a key, as a sorted key and as two int32 ids.
BYTES_AN_EDGE = 64
BYTES_A_NODE = 16


def check_room(owner: str, nodes: int, edges: int) -> None:
    """Refuse to make a graph that needs more memory than the machine has.

    Args:
        owner: who makes it.
        nodes: its number of nodes.
        edges: its number of edges, or about that.
    """
    needed, there = BYTES_A_NODE * nodes + BYTES_AN_EDGE * edges, memory()
    if there is not None and needed > there:
        raise InputError(
            f"{owner}: {nodes:,} nodes and {edges:,} edges need some {needed / 1e9:,.0f} GB of memory,"
            f" and this machine has {there / 1e9:,.0f} GB"
        )
