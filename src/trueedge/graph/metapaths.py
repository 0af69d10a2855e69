"""Meta-paths: sequences of node types, and the nodes that they connect."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from trueedge.errors import InputError, unknown
from trueedge.files.memory import as_size, free_memory
from trueedge.kernels.neighbors.boolean_products import product_columns, product_counts

if TYPE_CHECKING:
    from trueedge.graph.typed import HeteroGraph

# Column, value and what a model keeps of an arc.
BYTES_AN_ENTRY = 32
# If a type has at most this many symmetric paths of length 2, those of length 4 are added.
FEW = 2


@dataclass(frozen=True)
class MetaPath:
    """A sequence of node types, and the relation that each step follows.

    Attributes:
        types: the node types by number, at least two.
        relations: one for each step, by number; None: every relation between the two types, in both
            directions. A relation between two different types may be followed in both directions. One that
            leads from a type to the same type is followed forwards.
    """

    types: tuple[int, ...]
    relations: tuple[int | None, ...]

    @property
    def length(self) -> int:
        """The number of steps."""
        return len(self.relations)

    @property
    def symmetric(self) -> bool:
        """Whether the path reads the same in both directions, with all relations between its types."""
        backwards = self.types[::-1] == self.types
        return backwards and all(relation is None for relation in self.relations)

    def text(self, graph: HeteroGraph) -> str:
        """Return the path as text: ``author-paper-author``."""
        words = [graph.node_types[self.types[0]]]
        for kind, relation in zip(self.types[1:], self.relations, strict=True):
            if relation is not None:
                words.append(f"({graph.relations[relation].name})")
            words.append(graph.node_types[kind])
        return "-".join(words)


def metapath_neighbors(graph: HeteroGraph, path: MetaPath | str, most: int | None = None) -> csr_array:
    """Return which nodes of the path's last type each node of its first type reaches along the path.

    Entry (u, v) is there if at least one path leads from u to v; ids count within the types. It is computed
    as a product of boolean matrices, whose size is known before it is made.

    Args:
        graph: the typed graph.
        path: a meta-path, or a text such as ``author-paper-author``.
        most: the largest number of bytes; by default three quarters of the free memory.

    Sun, Han, Yan, Yu and Wu, PathSim: Meta Path-Based Top-K Similarity Search, 2011.
    """
    if isinstance(path, str):
        path = parse_metapath(graph, path)
    free = free_memory()
    limit = most if most is not None else (free * 3 // 4 if free is not None else 1 << 62)
    factors = [step_matrix(graph, path, step) for step in range(path.length)]
    while len(factors) > 1:
        work = [_work(left, right) for left, right in pairwise(factors)]
        place = int(np.argmin(work))
        merged = _product(factors[place], factors[place + 1], path.text(graph), limit)
        factors[place : place + 2] = [merged]
    return factors[0]


def step_matrix(graph: HeteroGraph, path: MetaPath, step: int) -> csr_array:
    """Return which nodes one step of a path connects: a boolean CSR matrix; ids count within the types."""
    first, last = path.types[step], path.types[step + 1]
    chosen = path.relations[step]
    counts = np.diff(graph.starts)
    shape = (int(counts[first]), int(counts[last]))
    rows, columns = [], []
    for number, relation in enumerate(graph.relations):
        if chosen not in (None, number):
            continue
        edges = graph.edges[number]
        if (relation.source, relation.target) == (first, last):
            rows.append(edges[:, 0] - graph.starts[first])
            columns.append(edges[:, 1] - graph.starts[last])
        if (relation.target, relation.source) == (first, last) and (chosen is None or first != last):
            rows.append(edges[:, 1] - graph.starts[first])
            columns.append(edges[:, 0] - graph.starts[last])
    empty = np.empty(0, dtype=np.int64)
    row, column = (np.concatenate(part) if part else empty for part in (rows, columns))
    if not len(row):
        raise InputError(
            f"the meta-path {path.text(graph)!r} has a step without edges:"
            f" {graph.node_types[first]}-{graph.node_types[last]}"
        )
    keys = np.unique(row.astype(np.int64) * shape[1] + column)
    starts = np.searchsorted(keys, np.arange(shape[0] + 1, dtype=np.int64) * shape[1])
    return _boolean(starts.astype(np.int64), (keys % shape[1]).astype(np.int32), shape)


def parse_metapaths(graph: HeteroGraph, text: str) -> tuple[MetaPath, ...]:
    """Return the meta-paths in a text, separated by commas."""
    paths = tuple(parse_metapath(graph, part) for part in text.split(",") if part.strip())
    if not paths:
        raise InputError(
            "metapaths is empty; write node types with hyphens between them, as in author-paper-author"
        )
    return paths


def parse_metapath(graph: HeteroGraph, text: str) -> MetaPath:
    """Return the meta-path of a text: ``paper-author-paper``, or ``paper-(paper-cite-paper)-paper``.

    A relation stands in parentheses between two types. Steps without edges are refused.
    """
    words = _words(graph, re.sub(r"\s*-\s*", "-", text.strip()))
    types: list[int] = []
    relations: list[int | None] = []
    named: int | None = None
    for word in words:
        if word.startswith("("):
            name = word[1:-1]
            names = [relation.name for relation in graph.relations]
            if name not in names:
                raise unknown(f"relation of {graph.name}", name, names)
            named = names.index(name)
            continue
        if word not in graph.node_types:
            raise unknown(f"node type of {graph.name}", word, graph.node_types)
        if types:
            relations.append(named)
        types.append(graph.node_types.index(word))
        named = None
    if len(types) < 2 or words[0].startswith("(") or words[-1].startswith("("):
        raise InputError(f"the meta-path {text!r} must begin and end with a node type, and have two or more")
    path = MetaPath(tuple(types), tuple(relations))
    for step in range(path.length):
        step_matrix(graph, path, step)
    return path


def symmetric_metapaths(graph: HeteroGraph, target: int) -> tuple[MetaPath, ...]:
    """Return the symmetric meta-paths of length 2 from a node type, and those of length 4 if they are few."""
    linked = np.zeros((graph.num_types, graph.num_types), dtype=bool)
    for relation, edges in zip(graph.relations, graph.edges, strict=True):
        if len(edges):
            linked[relation.source, relation.target] = linked[relation.target, relation.source] = True
    near = np.flatnonzero(linked[target]).tolist()
    paths = [MetaPath((target, middle, target), (None, None)) for middle in near]
    if len(paths) <= FEW:
        paths += [
            MetaPath((target, middle, far, middle, target), (None,) * 4)
            for middle in near
            for far in np.flatnonzero(linked[middle]).tolist()
            if far != target
        ]
    if not paths:
        raise InputError(
            f"{graph.name} has no meta-paths: nodes of type {graph.node_types[target]} have no edges"
        )
    return tuple(paths)


def _words(graph: HeteroGraph, text: str) -> list[str]:
    """Split a text at hyphens, but not within a known name of a type or relation, whatever its case."""
    names = sorted(
        [*graph.node_types, *(f"({relation.name})" for relation in graph.relations)], key=len, reverse=True
    )
    words: list[str] = []
    while text:
        known = next(
            (name for name in names if f"{text}-".casefold().startswith(f"{name}-".casefold())), None
        )
        if known is None and text.startswith("(") and ")" in text:
            known = text[: text.index(")") + 1]
        word = text.split("-", 1)[0] if known is None else known
        words.append(word)
        text = text[len(word) :].removeprefix("-")
    return words


def _work(left: csr_array, right: csr_array) -> int:
    """Return the number of steps that a product takes."""
    return int(np.diff(right.indptr).astype(np.int64)[left.indices].sum())


def _product(left: csr_array, right: csr_array, path: str, limit: int) -> csr_array:
    starts, columns = left.indptr.astype(np.int64), left.indices
    other = right.indptr.astype(np.int64), right.indices
    counts = product_counts(starts, columns, *other, right.shape[1])
    need = int(counts.sum()) * BYTES_AN_ENTRY
    if need > limit:
        raise InputError(
            f"the meta-path {path!r} connects {int(counts.sum()):,} pairs of nodes, which would take"
            f" {as_size(need)}, and {as_size(limit)} are allowed; choose other meta-paths"
        )
    return _boolean(
        *product_columns(starts, columns, *other, right.shape[1], counts), (left.shape[0], right.shape[1])
    )


def _boolean(starts: NDArray[np.int64], columns: NDArray[np.int32], shape: tuple[int, int]) -> csr_array:
    """Return a boolean CSR matrix; both index arrays get one type, so int32 wherever that is enough."""
    small = starts[-1] < 1 << 31
    ones = np.ones(len(columns), dtype=bool)
    matrix = csr_array((ones, columns, starts.astype(np.int32) if small else starts), shape=shape)
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix
