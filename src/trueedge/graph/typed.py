"""Graphs whose nodes and edges have types, with features for each type and labels of one type."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, unknown
from trueedge.graph import typed_storage
from trueedge.graph.freezing import FrozenFields
from trueedge.graph.typed_parts import Labels, Relation
from trueedge.graph.typed_validation import (
    as_relations,
    check_edges,
    check_features,
    check_labels,
    check_starts,
    check_type_names,
    lock_sparse,
)
from trueedge.html import counted, shortened, table_html

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    Features = NDArray[np.float32] | csr_array | None

__all__ = ["HeteroGraph", "Labels", "Relation"]


@dataclass(frozen=True, eq=False, repr=False)
class HeteroGraph(FrozenFields):
    """A graph with typed nodes and typed edges.

    Make one with :meth:`from_tables`, :meth:`from_pyg` or :meth:`from_hgb`. The nodes of a type have
    consecutive ids: those of type t are ``starts[t]`` to ``starts[t + 1] - 1``.

    Attributes:
        node_types: the name of each node type.
        starts: int64 (types + 1,), the first node of each type, and the number of nodes.
        relations: name, source type and target type of each relation.
        edges: for each relation int32 (m, 2), source and target of each edge, sorted, each once.
        features: for each type float32 (nodes, d), dense or sparse; None if it has none.
        labels: the classes of nodes of one type, or None.
        names: the name of each node, or None.
        name: the name of the graph.
        notes: what was done to the input, one sentence each.
    """

    node_types: tuple[str, ...]
    starts: NDArray[np.int64]
    relations: tuple[Relation, ...]
    edges: tuple[NDArray[np.int32], ...]
    features: tuple[Features, ...] = ()
    labels: Labels | None = None
    names: tuple[str, ...] | None = None
    name: str = "typed graph"
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.node_types, str):
            raise InputError(f"node_types must be the names of the node types, got {self.node_types!r}")
        for field, given in (("node_types", self.node_types), ("relations", as_relations(self.relations))):
            object.__setattr__(self, field, tuple(given))
        check_type_names(self.node_types, self.relations)
        check_starts(self.starts, self.node_types)
        check_edges(self.starts, self.relations, self.edges)
        features = self.features or (None,) * self.num_types
        object.__setattr__(self, "features", check_features(features, self.starts, self.node_types))
        check_labels(self.labels, self.starts, self.node_types)
        if self.names is not None and len(self.names) != self.num_nodes:
            raise InputError(f"there are {self.num_nodes} nodes, but {len(self.names)} names")

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        super().__setstate__(state)
        for table in self.features:
            if hasattr(table, "indptr"):
                lock_sparse(table)

    @classmethod
    def from_tables(cls, nodes: Mapping[str, Any], edges: Mapping[Any, Any], **options: Any) -> HeteroGraph:
        """Build a graph from a table for each node type and each relation.

        A table is a dict of columns, a data frame, or the path of a csv or parquet file. Columns of numbers
        in a table of nodes, other than those named here, are features.

        Args:
            nodes: for each node type a table, or the number of its nodes.
            edges: for each (source type, relation, target type) a table with the columns ``source`` and
                ``target``, or an array (m, 2). Ends are ids of the node tables.
            options: ``id``, ``label``, ``test`` and ``features`` name columns of the node tables: ids,
                classes, which labelled nodes are the test part, and features; each may be a dict with names
                for some node types. ``features`` may also have an array (nodes, d) for some node types,
                instead of columns. ``name`` is the name of the graph.

        See :func:`trueedge.graph.typed_tables.from_tables` for details and an example.
        """
        from trueedge.graph.typed_tables import from_tables

        return from_tables(cls, nodes, edges, **options)

    @classmethod
    def from_pyg(cls, data: Any, name: str = "typed graph") -> HeteroGraph:
        """Build a graph from a ``HeteroData`` object of PyTorch Geometric."""
        from trueedge.graph.typed_adapters import from_pyg

        return from_pyg(cls, data, name)

    @classmethod
    def from_hgb(cls, path: str | os.PathLike[str]) -> HeteroGraph:
        """Read a folder or zip archive in the format of the Heterogeneous Graph Benchmark.

        Test links are not part of the graph; ``te.task(path)`` uses them.
        """
        from trueedge.graph.hgb_content import read_content

        return cls(**read_content(path).graph)

    @property
    def num_nodes(self) -> int:
        """Return the number of nodes."""
        return int(self.starts[-1])

    @property
    def num_edges(self) -> int:
        """Return the number of edges of all relations."""
        return sum(map(len, self.edges))

    @property
    def num_types(self) -> int:
        """Return the number of node types."""
        return len(self.node_types)

    @property
    def num_relations(self) -> int:
        """Return the number of relations."""
        return len(self.relations)

    @cached_property
    def types(self) -> NDArray[np.int32]:
        """Return the type of each node, int32 (n,)."""
        found = np.repeat(np.arange(self.num_types, dtype=np.int32), np.diff(self.starts))
        found.flags.writeable = False
        return found

    def nodes_of(self, kind: int) -> NDArray[np.int64]:
        """Return the nodes of a type, int64 (n,)."""
        return np.arange(self.starts[kind], self.starts[kind + 1])

    def type_number(self, name: str) -> int:
        """Return the number of a node type."""
        if name not in self.node_types:
            raise unknown(f"node type of {self.name}", name, self.node_types)
        return self.node_types.index(name)

    def relation_number(self, name: str | int) -> int:
        """Return the number of a relation, given its name or number."""
        names = [one.name for one in self.relations]
        if str(name) in names:
            return names.index(str(name))
        if str(name).isdecimal() and int(name) < len(names):
            return int(name)
        raise unknown(f"relation of {self.name}", str(name), names)

    def adjacency(self, relation: int) -> csr_array:
        """Return the adjacency of a relation, float32 (sources, targets), by the ids within their types."""
        from scipy.sparse import csr_array

        _, source, target = self.relations[relation]
        counts = np.diff(self.starts)
        rows, columns = self.edges[relation].T.astype(np.int64)
        ones = np.ones(len(rows), dtype=np.float32)
        places = (rows - self.starts[source], columns - self.starts[target])
        return csr_array((ones, places), shape=(counts[source], counts[target]))

    def with_edges(self, edges: Sequence[NDArray[np.int32]]) -> Self:
        """Return the graph with other edges, one array (m, 2) for each relation."""
        return replace(self, edges=tuple(edges))

    def without_labels(self) -> Self:
        """Return the graph without its labels."""
        return self if self.labels is None else replace(self, labels=None)

    @cached_property
    def hash(self) -> str:
        """Return a SHA-256 of types, edges, features, labels and all names."""
        said = {
            "node_types": self.node_types,
            "relations": self.relations,
            "names": self.names,
            "labels": None if self.labels is None else (self.labels.type, self.labels.classes),
        }
        digest = hashlib.sha256(json.dumps(said).encode())
        for name, array in typed_storage.arrays_of(self).items():
            digest.update(f"|{name}{array.shape}".encode())
            digest.update(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes())
        return digest.hexdigest()

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the graph into a folder: ``graph.json`` and a ``.npy`` file for each array."""
        typed_storage.save(self, Path(folder))

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> HeteroGraph:
        """Read a graph that :meth:`save` wrote, and compare it with its hash."""
        return typed_storage.load(cls, Path(folder))

    def __repr__(self) -> str:
        return (
            f"HeteroGraph({shortened(self.name)}: {counted(self.num_nodes, 'node')} of"
            f" {counted(self.num_types, 'type')}, {counted(self.num_edges, 'edge')} of"
            f" {counted(self.num_relations, 'relation')})"
        )

    def _repr_html_(self) -> str:
        counts = [int(count) for count in self.starts[1:] - self.starts[:-1]]
        rows: list[tuple[str, str, int]] = [
            (name, "node type", count) for name, count in zip(self.node_types, counts, strict=True)
        ]
        rows += [
            (one.name, f"{self.node_types[one.source]} → {self.node_types[one.target]}", len(edges))
            for one, edges in zip(self.relations, self.edges, strict=True)
        ]
        return table_html(f"HeteroGraph {self.name}", rows, ("name", "what it is", "number"))
