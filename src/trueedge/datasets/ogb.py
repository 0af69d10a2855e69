"""The link prediction data sets of the Open Graph Benchmark, from its own files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.datasets.dataset import SourceFile, checksums, register_listed
from trueedge.datasets.sources import locate_all
from trueedge.datasets.tables import read_table
from trueedge.datasets.torch_files import read_arrays
from trueedge.errors import InputError
from trueedge.graph import Graph, as_pairs, pair_keys

_ADDRESS = "https://snap.stanford.edu/ogb/data/linkproppred"


@dataclass(frozen=True)
class Layout:
    """How the files of one data set are laid out.

    Attributes:
        name: the data set's name; its folder is ``ogb/<name>``.
        packed: what OGB calls its archive and the folder inside it.
        split: the folder below ``split`` that holds the parts.
        num_features: the length of a feature row, 0 for none.
        raw_train: the training edges are read from ``raw/edge.csv.gz``, and not from ``train.pt``.
    """

    name: str
    packed: str
    split: str
    num_features: int = 0
    raw_train: bool = False

    @property
    def files(self) -> tuple[SourceFile, ...]:
        """The files the data set is read from."""
        paths = ["raw/num-node-list.csv.gz"]
        if self.num_features:
            paths.append("raw/node-feat.csv.gz")
        paths.append("raw/edge.csv.gz" if self.raw_train else f"split/{self.split}/train.pt")
        paths += [f"split/{self.split}/{part}.pt" for part in ("valid", "test")]
        places = {path: f"ogb/{self.name}/{path}" for path in paths}
        url, sums = f"{_ADDRESS}/{self.packed}.zip", checksums()
        return tuple(
            SourceFile(place, url, sums.get(place), member=f"{self.packed}/{path}")
            for path, place in places.items()
        )


@dataclass(frozen=True, eq=False)
class Part:
    """The rows of one part: pairs (n, 2), the data of each row, and the part's negatives."""

    pairs: NDArray[np.int64]
    data: dict[str, NDArray[Any]]
    negatives: NDArray[np.int32] | None


def read(layout: Layout) -> Graph:
    """Return the whole graph: the edges of all three parts."""
    parts, num_nodes, features = _rows(layout)
    return _graph(parts, num_nodes, features, layout.name)


def read_parts(name: str) -> tuple[Graph, Part, Part]:
    """Return the graph of the training edges, and the rows of the valid and the test part."""
    parts, num_nodes, features = _rows(LAYOUTS[name])
    return _graph(parts[:1], num_nodes, features, name), parts[1], parts[2]


def _rows(layout: Layout) -> tuple[list[Part], int, NDArray[np.float32] | None]:
    places = locate_all(layout.files, layout.name)
    num_nodes, features = _nodes(layout, places)
    parts = [_part(layout, places, name, num_nodes) for name in ("train", "valid", "test")]
    return parts, num_nodes, features


def _nodes(layout: Layout, places: Mapping[str, Path]) -> tuple[int, NDArray[np.float32] | None]:
    counts = places[f"ogb/{layout.name}/raw/num-node-list.csv.gz"]
    listed = read_table(counts, 1)
    if listed.shape != (1, 1) or listed[0, 0] < 1:
        raise InputError(f"{counts} must hold one number, the number of nodes")
    num_nodes = int(listed[0, 0])
    if not layout.num_features:
        return num_nodes, None
    table = places[f"ogb/{layout.name}/raw/node-feat.csv.gz"]
    features = read_table(table, layout.num_features, np.float32, separator=",")
    if len(features) != num_nodes:
        raise InputError(f"{table} has {len(features)} rows, but there are {num_nodes} nodes")
    return num_nodes, features


def _part(layout: Layout, places: Mapping[str, Path], name: str, num_nodes: int) -> Part:
    if name == "train" and layout.raw_train:
        path = places[f"ogb/{layout.name}/raw/edge.csv.gz"]
        return Part(as_pairs(read_table(path, 2, separator=","), num_nodes, str(path)), {}, None)
    path = places[f"ogb/{layout.name}/split/{layout.split}/{name}.pt"]
    arrays = read_arrays(path)
    if "source_node" in arrays:
        return _cited_part(arrays, path, num_nodes)
    pairs = as_pairs(_entry(arrays, "edge", path), num_nodes, f"{path}, 'edge'")
    data: dict[str, NDArray[Any]] = {key: arrays[key].ravel() for key in ("weight", "year") if key in arrays}
    for key, column in data.items():
        if len(column) != len(pairs):
            raise InputError(f"{path}: {len(column)} values of {key!r} for {len(pairs)} edges")
    negatives = None
    if "edge_neg" in arrays:
        negatives = as_pairs(arrays["edge_neg"], num_nodes, f"{path}, 'edge_neg'").astype(np.int32)
    return Part(pairs, data, negatives)


def _cited_part(arrays: Mapping[str, NDArray[Any]], path: Path, num_nodes: int) -> Part:
    """Read a part of ogbl-citation2: each citation has its own negatives, int32 (P, k, 2)."""
    sources, targets = (_entry(arrays, key, path).ravel() for key in ("source_node", "target_node"))
    if len(sources) != len(targets):
        raise InputError(f"{path}: {len(sources)} citing and {len(targets)} cited papers")
    pairs = as_pairs(np.column_stack([sources, targets]), num_nodes, f"{path}, 'target_node'")
    if "target_node_neg" not in arrays:
        return Part(pairs, {}, None)
    others = arrays["target_node_neg"]
    if others.ndim != 2 or len(others) != len(pairs):
        raise InputError(f"{path}: 'target_node_neg' has the shape {others.shape} for {len(pairs)} citations")
    if others.dtype.kind != "i" or others.min(initial=0) < 0 or others.max(initial=0) >= num_nodes:
        raise InputError(f"{path}: 'target_node_neg' must hold node ids within 0..{num_nodes - 1}")
    negatives = np.empty((*others.shape, 2), dtype=np.int32)
    negatives[..., 0] = pairs[:, :1]
    negatives[..., 1] = others
    return Part(pairs, {}, negatives)


def _entry(arrays: Mapping[str, NDArray[Any]], key: str, path: Path) -> NDArray[Any]:
    if key not in arrays:
        raise InputError(f"{path} has no {key!r}, only {', '.join(sorted(arrays)) or 'nothing'}")
    return arrays[key]


def _graph(parts: list[Part], num_nodes: int, features: NDArray[np.float32] | None, name: str) -> Graph:
    """Make a graph of the rows of some parts: rows between the same nodes become one edge."""
    pairs = np.concatenate([part.pairs for part in parts])
    carried = [key for key in parts[0].data if all(key in part.data for part in parts)]
    if not carried:
        return Graph.from_edges(pairs, num_nodes, features, self_loops="drop", repeats="drop", name=name)
    data = {key: np.concatenate([part.data[key] for part in parts]) for key in carried}
    keys = pair_keys(pairs, num_nodes)
    order = np.argsort(keys, kind="stable")
    first = np.flatnonzero(np.diff(keys[order], prepend=-1))
    merge = {"weight": np.add.reduceat, "year": np.maximum.reduceat}
    merged = {key: merge[key](column[order], first) for key, column in data.items() if len(first)}
    edges = pairs[order[first]]
    graph = Graph.from_edges(edges, num_nodes, features, self_loops="drop", edge_data=merged, name=name)
    if len(edges) == len(pairs):
        return graph
    note = f"{len(pairs)} rows are {len(edges)} edges: weights were added up and the latest year was kept"
    return replace(graph, notes=(note, *graph.notes))


# Layout and headline.
_DATASETS = (
    (Layout("ogbl-ddi", "ddi", "target", 0, True), "hits@20"),
    (Layout("ogbl-collab", "collab", "time", 128), "hits@50"),
    (Layout("ogbl-ppa", "ppassoc", "throughput", 58), "hits@100"),
    (Layout("ogbl-citation2", "citation-v2", "time", 128), "mrr"),
)
LAYOUTS = {layout.name: layout for layout, _ in _DATASETS}
for _layout, _headline in _DATASETS:
    _rules = {"heart_features": False, "hits": (20, 50, 100), "headline": _headline}
    _rules["valid_in_test"] = _layout.name == "ogbl-collab"
    register_listed(_layout.name, read, _layout, files=_layout.files, rules=_rules)
