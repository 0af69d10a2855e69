"""Protocols: what a scorer is judged against. One file a family; adding a file adds protocols."""

from trueedge.tasks.protocols.protocol import (
    Protocol,
    Request,
    Shards,
    Source,
    catalogue,
    from_split,
    get,
    register,
    task,
)

__all__ = ["Protocol", "Request", "Shards", "Source", "catalogue", "from_split", "get", "register", "task"]
