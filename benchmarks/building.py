"""Graphs from arrays, and numbers from text files.

Every package gets the same array or file; what is timed ends with the adjacency, or with an array of pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.graphs import Sizes, heavy_tailed
from benchmarks.timing import OURS, Bar, Contender, Row, absent_rows, invite, race
from trueedge.graph import Graph, read_pairs

# numpy's reader gets a part of the lines.
FEW = 10


def measure(sizes: Sizes, repeats: int, with_peers: bool = True) -> list[Row]:
    """A graph from shuffled edges in both directions; then the same edges from a file."""
    graph = heavy_tailed(*sizes.wide)
    pairs = shuffled(graph)
    ours = Contender(
        OURS, lambda: built(pairs, graph.num_nodes), lambda made: made.degrees, bar=Bar("seconds", 0.1)
    )
    makers: dict[str, Callable[[], Contender]] = {
        "scipy": partial(scipy, pairs, graph.num_nodes),
        "NetworKit": partial(networkit, pairs, graph.num_nodes),
        "igraph": partial(igraph, pairs, graph.num_nodes),
    }
    peers, absent = invite(makers if with_peers else {})
    task = f"adjacency of {len(pairs):,} edges, checked"
    rows = race(task, ours, peers, repeats) + absent_rows(task, absent)
    with TemporaryDirectory() as folder:
        return rows + _reading(pairs, Path(folder), repeats, with_peers)


def _reading(pairs: NDArray[np.int64], folder: Path, repeats: int, with_peers: bool) -> list[Row]:
    path, few = folder / "edges.tsv", folder / "few.tsv"
    lines = [f"{u}\t{v}\n" for u, v in pairs.tolist()]
    path.write_text("".join(lines))
    few.write_text("".join(lines[: len(lines) // FEW]))
    ours = Contender(OURS, lambda: read_pairs(path), np.ravel)
    makers: dict[str, Callable[[], Contender]] = {
        "polars": partial(polars, path),
        "pyarrow": partial(pyarrow, path),
        "numpy": lambda: Contender(
            "numpy",
            lambda: np.loadtxt(few, dtype=np.int64, delimiter="\t"),
            np.ravel,
            share=(len(lines) // FEW) / len(lines),
            note=f"loadtxt, extrapolated from {len(lines) // FEW:,} lines",
        ),
    }
    peers, absent = invite(makers if with_peers else {})
    task = f"pairs from a file of {len(lines):,} lines"
    return race(task, ours, peers, repeats) + absent_rows(task, absent)


def shuffled(graph: Graph) -> NDArray[np.int64]:
    """The edges in random order and direction: int64 (m, 2)."""
    rng = np.random.default_rng(0)
    edges = graph.edges[rng.permutation(graph.num_edges)].astype(np.int64)
    turned = rng.random(len(edges)) < 0.5
    edges[turned] = edges[turned, ::-1]
    return edges


def built(pairs: NDArray[np.int64], nodes: int) -> Graph:
    """A graph with its CSR arrays."""
    graph = Graph.from_edges(pairs, nodes)
    assert len(graph.indices) == 2 * len(pairs)
    return graph


def scipy(pairs: NDArray[np.int64], nodes: int) -> Contender:
    """Both directions through COO, with sorted rows and repeats summed."""
    from scipy.sparse import coo_array

    def run() -> Any:
        ends = np.concatenate([pairs, pairs[:, ::-1]])
        ones = np.ones(len(ends), dtype=np.int8)
        matrix = coo_array((ones, (ends[:, 0], ends[:, 1])), shape=(nodes, nodes)).tocsr()
        matrix.sum_duplicates()
        assert matrix.data.max() == 1
        return matrix

    return Contender("scipy", run, lambda matrix: np.diff(matrix.indptr))


def networkit(pairs: NDArray[np.int64], nodes: int) -> Contender:
    """A graph from COO; neighbours are in no order and repeats are not looked for."""
    import networkit as nk

    u, v = (np.ascontiguousarray(column).astype(np.uint64) for column in pairs.T)
    return Contender(
        "NetworKit",
        lambda: nk.GraphFromCoo((u, v), n=nodes, weighted=False, directed=False),
        lambda made: np.array([made.degree(node) for node in range(nodes)]),
        note="repeats are not looked for",
    )


def igraph(pairs: NDArray[np.int64], nodes: int) -> Contender:
    """A graph from an array; repeats are not looked for."""
    import igraph as ig

    return Contender(
        "igraph",
        lambda: ig.Graph(n=nodes, edges=pairs),
        lambda made: np.array(made.degree()),
        note="repeats are not looked for",
    )


def polars(path: Path) -> Contender:
    """The file as two columns, put together to an array of pairs."""
    import polars as pl

    def run() -> Any:
        read = pl.read_csv(path, separator="\t", has_header=False, schema={"u": pl.Int64, "v": pl.Int64})
        return np.stack([read["u"].to_numpy(), read["v"].to_numpy()], axis=1)

    return Contender("polars", run, np.ravel)


def pyarrow(path: Path) -> Contender:
    """The file as two columns, put together to an array of pairs."""
    import pyarrow as pa
    from pyarrow import csv

    named = csv.ReadOptions(column_names=["u", "v"])
    tabbed = csv.ParseOptions(delimiter="\t")
    whole = csv.ConvertOptions(column_types={"u": pa.int64(), "v": pa.int64()})

    def run() -> Any:
        read = csv.read_csv(path, read_options=named, parse_options=tabbed, convert_options=whole)
        return np.stack([read["u"].to_numpy(), read["v"].to_numpy()], axis=1)

    return Contender("pyarrow", run, np.ravel)
