"""Citation graphs in Planetoid's files: pickles of Python 2, read without running them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.datasets.dataset import Dataset, Rules, SourceFile, register
from trueedge.datasets.pickles import SparseRows, distrust, read_pickle
from trueedge.datasets.released_files import heart_release
from trueedge.datasets.sources import locate_all
from trueedge.datasets.tables import read_table
from trueedge.errors import InputError
from trueedge.graph import Graph

_ADDRESS = "https://github.com/kimiyoung/planetoid/raw/master/data"
_CHECKSUMS = {
    "cora": {
        "graph": "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d",
        "allx": "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543",
        "tx": "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a",
        "test.index": "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
    },
    "citeseer": {
        "graph": "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7",
        "allx": "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668",
        "tx": "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21",
        "test.index": "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4",
    },
    "pubmed": {
        "graph": "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9",
        "allx": "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e",
        "tx": "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d",
        "test.index": "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5",
    },
}


def read(corpus: str, name: str) -> Graph:
    """Read ``planetoid/<corpus>/ind.<corpus>.*``, nodes in the order every library knows.

    Test rows stand at the end of the features in an order of their own, and ``test.index`` says which nodes
    they are; a test node it leaves out has no features and gets a row of zeros.

    Args:
        corpus: ``cora``, ``citeseer`` or ``pubmed``.
        name: what to call the graph.
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
    # Each edge is listed at both of its ends: the graph keeps it once, and that is not worth a note.
    pairs = np.unique(np.sort(_pairs(lists, places[f"ind.{corpus}.graph"]), axis=1), axis=0)
    graph = Graph.from_edges(pairs, num_nodes, features, self_loops="drop", name=name)
    bare = num_nodes - num_known - len(index)
    if bare == 0:
        return graph
    note = f"gave a row of zeros to {bare} of {num_nodes} nodes, without features in the files"
    return replace(graph, notes=(*graph.notes, note))


def _files(corpus: str) -> tuple[SourceFile, ...]:
    return tuple(
        SourceFile(f"planetoid/{corpus}/ind.{corpus}.{part}", f"{_ADDRESS}/ind.{corpus}.{part}", checksum)
        for part, checksum in _CHECKSUMS[corpus].items()
    )


def _unpickled(path: Path) -> Any:
    with distrust(str(path)), path.open("rb") as stream:
        return read_pickle(stream, str(path))


def _rows(path: Path) -> SparseRows:
    matrix = _unpickled(path)
    if not isinstance(matrix, SparseRows):
        raise InputError(f"{path} holds no sparse matrix")
    return matrix


def _lists(path: Path) -> dict[int, list[int]]:
    """Return the neighbours of each node, with the nodes 0..n-1 as keys."""
    lists = _unpickled(path)
    if not isinstance(lists, dict) or not all(isinstance(row, list) for row in lists.values()):
        raise InputError(f"{path} holds no dict of lists of neighbours")
    if set(lists) != set(range(len(lists))):
        raise InputError(f"{path}: the nodes must be 0..{len(lists) - 1}")
    return dict(lists)


def _pairs(lists: dict[int, list[int]], path: Path) -> NDArray[np.int64]:
    sources = np.repeat(np.array(list(lists), dtype=np.int64), [len(row) for row in lists.values()])
    neighbors = [node for row in lists.values() for node in row]
    if not all(isinstance(node, int) and 0 <= node < len(lists) for node in neighbors):
        raise InputError(f"{path}: a neighbour is not one of the nodes 0..{len(lists) - 1}")
    return np.column_stack([sources, np.array(neighbors, dtype=np.int64)])


_TITLES = {
    "citeseer": "computer science papers; an edge is a citation, a feature is a word of the paper",
    "pubmed": "papers on diabetes; an edge is a citation, features are TF-IDF word weights",
    "planetoid-cora": "the embedded cora, read from Planetoid's own files",
}
# Corpus, name, (nodes, edges, features), eps of HeaRT's PPR.
_DATASETS = (
    ("citeseer", "citeseer", (3327, 4552, 3703), 1e-7),
    ("pubmed", "pubmed", (19717, 44324, 500), 1e-5),
    ("cora", "planetoid-cora", (2708, 5278, 1433), 1e-7),
)
for _corpus, _name, _counts, _eps in _DATASETS:
    register(
        Dataset(
            name=_name,
            family="planetoid",
            title=_TITLES[_name],
            num_nodes=_counts[0],
            num_edges=_counts[1],
            num_features=_counts[2],
            licence="MIT",
            source="https://github.com/kimiyoung/planetoid",
            citation="Yang et al., Revisiting Semi-Supervised Learning with Graph Embeddings, ICML 2016",
            read=partial(read, _corpus, _name),
            files=_files(_corpus),
            released_files=heart_release(_name) if _name == _corpus else {},
            rules=Rules(heart_eps=_eps),
        )
    )
