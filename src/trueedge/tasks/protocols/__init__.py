"""Protocols make tasks from data. There is one file for each family; adding a file adds protocols."""

from trueedge.tasks.protocols.protocol import (
    Protocol,
    Request,
    Shards,
    catalogue,
    find,
    from_split,
    get,
    link_protocol,
    register,
    task,
    two_kinds,
)
from trueedge.tasks.protocols.source import Data, Source, default_protocol

__all__ = [
    "Data",
    "Protocol",
    "Request",
    "Shards",
    "Source",
    "catalogue",
    "default_protocol",
    "find",
    "from_split",
    "get",
    "link_protocol",
    "register",
    "task",
    "two_kinds",
]
