"""A graph from whatever holds one: objects of other libraries, arrays, lists and files."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from trueedge.errors import InputError
from trueedge.graph.edge_columns import EdgeFormat
from trueedge.graph.graph import Graph

#: What :func:`as_graph` takes: objects of other libraries, none of which is imported for a type.
GraphLike = Any
TAKEN = "a networkx graph, a scipy matrix, a PyG Data, a data frame, an array (m, 2) or a list of pairs"


def as_graph(thing: Graph | GraphLike, asked: EdgeFormat | None = None) -> Graph:
    """Return the graph that an object or a file holds.

    Self-loops and repeated edges are dropped, and direction is ignored; the notes of the graph say so.

    Args:
        thing: a :class:`trueedge.Graph`; the path of an edge list; a networkx graph; a scipy sparse adjacency
            matrix; a PyTorch Geometric ``Data``; a data frame of pandas or polars with an edge in each row;
            an int array (m, 2); or a list of pairs of numbers or names.
        asked: for a file or a data frame, which columns to read; and for these and for arrays and lists,
            whether the two columns hold two kinds of nodes.
    """
    if isinstance(thing, Graph):
        return thing
    columns: dict[str, Any] = {} if asked is None else dict(asked.columns)
    bipartite = None if asked is None else asked.bipartite
    if isinstance(thing, (str, os.PathLike)):
        header = None if asked is None else asked.header
        return Graph.from_edges(
            thing, self_loops="drop", repeats="drop", header=header, bipartite=bipartite, **columns
        )
    # The type's own module, so that no library is imported for an object that is not its own.
    libraries = {kind.__module__.partition(".")[0] for kind in type(thing).__mro__}
    if not libraries.isdisjoint({"pandas", "polars"}):
        return Graph.from_pandas(thing, self_loops="drop", repeats="drop", bipartite=bipartite, **columns)
    if columns or (asked is not None and asked.header is not None):
        raise InputError(f"columns can be named for a file or a data frame, got {_kind(thing)}")
    if "networkx" in libraries:
        return Graph.from_networkx(thing, directed="union", self_loops="drop", repeats="drop")
    if "scipy" in libraries:
        return Graph.from_scipy(thing, directed="union", self_loops="drop")
    if "torch_geometric" in libraries and not type(thing).__name__.startswith("Hetero"):
        return Graph.from_pyg(thing, directed="union", self_loops="drop", repeats="drop")
    if isinstance(thing, (np.ndarray, list, tuple)):
        return Graph.from_edges(thing, self_loops="drop", repeats="drop", bipartite=bipartite)
    raise InputError(f"a graph is needed: {TAKEN}, got {_kind(thing)}")


def holds_graph(thing: object) -> bool:
    """Return whether :func:`as_graph` takes an object, by its type alone."""
    libraries = {kind.__module__.partition(".")[0] for kind in type(thing).__mro__}
    foreign = not libraries.isdisjoint({"pandas", "polars", "networkx", "scipy", "torch_geometric"})
    hetero = type(thing).__name__.startswith("Hetero")
    return isinstance(thing, (np.ndarray, list, tuple)) or (foreign and not hetero)


def _kind(thing: object) -> str:
    return f"{type(thing).__module__}.{type(thing).__name__}".removeprefix("builtins.")
