"""Folders that hold a saved graph of any kind."""

from __future__ import annotations

import os
from pathlib import Path

from trueedge.graph.graph import Graph
from trueedge.graph.graph_folders import LOADERS, read_format
from trueedge.graph.interactions import Interactions
from trueedge.graph.knowledge import KnowledgeGraph
from trueedge.graph.typed import HeteroGraph

SavedGraph = Graph | KnowledgeGraph | HeteroGraph | Interactions
_KINDS: dict[str, type[SavedGraph]] = {
    one.__name__: one for one in (Graph, KnowledgeGraph, HeteroGraph, Interactions)
}


def is_saved_graph(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a folder with a ``graph.json``, which every saved graph has."""
    # An empty name is not the folder one is in.
    return bool(os.fspath(path)) and os.path.isfile(os.path.join(path, "graph.json"))


def load_saved_graph(path: str | os.PathLike[str]) -> SavedGraph:
    """Read a graph of the kind that its ``graph.json`` names, and compare it with its hash.

    Args:
        path: the folder that ``save`` of a graph wrote.
    """
    kind = _KINDS[LOADERS.get(read_format(Path(path)), "Graph")]
    return kind.load(path)
