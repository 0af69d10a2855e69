"""Citation graphs in Planetoid's files: pickles of Python 2, read without running them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.datasets.dataset import SourceFile, checksums, register_listed
from trueedge.datasets.pickles import SparseRows, distrust, read_pickle
from trueedge.datasets.released_files import heart_release
from trueedge.datasets.sources import locate_all
from trueedge.datasets.tables import read_table
from trueedge.errors import InputError
from trueedge.graph import Graph

_ADDRESS = "https://github.com/kimiyoung/planetoid/raw/master/data"


def read(corpus: str, name: str) -> Graph:
    """Read ``planetoid/<corpus>/ind.<corpus>.*``, nodes in the order every library knows.

    The features of test nodes come last, in the order of ``test.index``; a test node that is not in it gets a
    row of zeros.
    """
    places = {Path(path).name: place for path, place in locate_all(_files(corpus), name).items()}
    lists = _lists(places[f"ind.{corpus}.graph"])
    allx, tx = (_rows(places[f"ind.{corpus}.{part}"]) for part in ("allx", "tx"))
    index_file = places[f"ind.{corpus}.test.index"]
    index = read_table(index_file, 1).ravel()
    num_nodes, num_known = len(lists), allx.shape[0]
    if len(index) != tx.shape[0]:
        raise InputError(
            f"{index_file} lists {len(index)} test nodes, but ind.{corpus}.tx has {tx.shape[0]} rows"
        )
    if allx.shape[1] != tx.shape[1]:
        raise InputError(f"{name}: its files have features of {allx.shape[1]} and of {tx.shape[1]} columns")
    if len(np.unique(index)) != len(index) or ((index < num_known) | (index >= num_nodes)).any():
        raise InputError(f"{index_file}: test nodes must differ and lie in {num_known}..{num_nodes - 1}")
    features = np.zeros((num_nodes, allx.shape[1]), dtype=np.float32)
    features[:num_known] = allx.dense()
    features[index] = tx.dense()
    # Each edge is listed at both ends; keeping it once needs no note.
    pairs = np.unique(np.sort(_pairs(lists, places[f"ind.{corpus}.graph"]), axis=1), axis=0)
    graph = Graph.from_edges(pairs, num_nodes, features, self_loops="drop", name=name)
    bare = num_nodes - num_known - len(index)
    if bare == 0:
        return graph
    note = f"{bare} of {num_nodes} nodes, which have no features in the files, got a row of zeros"
    return replace(graph, notes=(*graph.notes, note))


def _files(corpus: str) -> tuple[SourceFile, ...]:
    names = [f"ind.{corpus}.{part}" for part in ("graph", "allx", "tx", "test.index")]
    paths = {name: f"planetoid/{corpus}/{name}" for name in names}
    return tuple(SourceFile(paths[name], f"{_ADDRESS}/{name}", checksums()[paths[name]]) for name in names)


def _unpickled(path: Path) -> Any:
    with distrust(str(path)), path.open("rb") as stream:
        return read_pickle(stream, str(path))


def _rows(path: Path) -> SparseRows:
    matrix = _unpickled(path)
    if not isinstance(matrix, SparseRows):
        raise InputError(f"{path} does not contain a sparse matrix")
    return matrix


def _lists(path: Path) -> dict[int, list[int]]:
    """Return the neighbours of each node, with the nodes 0..n-1 as keys."""
    lists = _unpickled(path)
    if not isinstance(lists, dict) or not all(isinstance(row, list) for row in lists.values()):
        raise InputError(f"{path} does not contain a dict of neighbour lists")
    if set(lists) != set(range(len(lists))):
        raise InputError(f"{path}: the nodes must be 0..{len(lists) - 1}")
    return dict(lists)


def _pairs(lists: dict[int, list[int]], path: Path) -> NDArray[np.int64]:
    sources = np.repeat(np.array(list(lists), dtype=np.int64), [len(row) for row in lists.values()])
    neighbors = [node for row in lists.values() for node in row]
    if not all(isinstance(node, int) and 0 <= node < len(lists) for node in neighbors):
        raise InputError(f"{path}: a neighbour is not one of the nodes 0..{len(lists) - 1}")
    return np.column_stack([sources, np.array(neighbors, dtype=np.int64)])


for _corpus, _name in (("citeseer", "citeseer"), ("pubmed", "pubmed"), ("cora", "planetoid-cora")):
    _released = heart_release(_name) if _name == _corpus else {}
    register_listed(_name, read, _corpus, _name, files=_files(_corpus), released_files=_released)
