"""The link prediction data sets of the Open Graph Benchmark, from its own files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.datasets.dataset import Dataset, Release, Rules, SourceFile, register
from trueedge.datasets.sources import locate_all
from trueedge.datasets.tables import read_table
from trueedge.datasets.torch_files import read_arrays
from trueedge.errors import InputError
from trueedge.graph import Graph, as_pairs, pair_keys

_ADDRESS = "http://snap.stanford.edu/ogb/data/linkproppred"


@dataclass(frozen=True)
class Layout:
    """How the files of one data set are laid out.

    Attributes:
        name: the data set's name; its folder is ``ogb/<name>``.
        packed: what OGB calls its archive and the folder inside it.
        split: the folder below ``split`` that holds the parts.
        num_features: the length of a feature row, 0 for none.
        raw_train: the training edges are read from ``raw/edge.csv.gz``, as there is no need for ``train.pt``.
        checksums: the SHA-256 of files below the folder, where they are known.
    """

    name: str
    packed: str
    split: str
    num_features: int = 0
    raw_train: bool = False
    checksums: Mapping[str, str] | None = None

    @property
    def files(self) -> tuple[SourceFile, ...]:
        """The files the data set is read from."""
        paths = ["raw/num-node-list.csv.gz"]
        if self.num_features:
            paths.append("raw/node-feat.csv.gz")
        paths.append("raw/edge.csv.gz" if self.raw_train else f"split/{self.split}/train.pt")
        paths += [f"split/{self.split}/{part}.pt" for part in ("valid", "test")]
        url, sums = f"{_ADDRESS}/{self.packed}.zip", self.checksums or {}
        return tuple(
            SourceFile(f"ogb/{self.name}/{path}", url, sums.get(path), member=f"{self.packed}/{path}")
            for path in paths
        )


@dataclass(frozen=True, eq=False)
class Part:
    """The rows of one part: pairs (n, 2), what each row carries, and the part's negatives."""

    pairs: NDArray[np.int64]
    data: dict[str, NDArray[Any]]
    negatives: NDArray[np.int32] | None


def read(layout: Layout) -> Graph:
    """The whole graph: the edges of all three parts.

    Args:
        layout: where the files are.
    """
    places = locate_all(layout.files, layout.name)
    num_nodes, features = _nodes(layout, places)
    parts = [_part(layout, places, name, num_nodes) for name in ("train", "valid", "test")]
    return _graph(parts, num_nodes, features, layout.name)


def release(layout: Layout) -> Release:
    """OGB's own parts and negatives; the graph is that of the training edges.

    Args:
        layout: where the files are.
    """
    places = locate_all(layout.files, layout.name)
    num_nodes, features = _nodes(layout, places)
    train, valid, test = (_part(layout, places, name, num_nodes) for name in ("train", "valid", "test"))
    return Release(
        graph=_graph([train], num_nodes, features, layout.name),
        valid=valid.pairs.astype(np.int32),
        test=test.pairs.astype(np.int32),
        valid_negatives=valid.negatives,
        test_negatives=test.negatives,
    )


def _nodes(layout: Layout, places: Mapping[str, Path]) -> tuple[int, NDArray[np.float32] | None]:
    counts = places[f"ogb/{layout.name}/raw/num-node-list.csv.gz"]
    listed = read_table(counts, 1)
    if listed.shape != (1, 1) or listed[0, 0] < 1:
        raise InputError(f"{counts} must hold one number, that of the nodes")
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
    """A part of ogbl-citation2: each citing paper has negatives of its own, int32 (P, k, 2)."""
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
    """Make a graph of the rows of some parts: of rows between the same nodes there is one edge."""
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


def _register(
    layout: Layout, title: str, num_nodes: int, num_edges: int | None, licence: str, rules: Rules
) -> None:
    register(
        Dataset(
            name=layout.name,
            family="ogb",
            title=title,
            num_nodes=num_nodes,
            num_edges=num_edges,
            num_features=layout.num_features,
            licence=licence,
            source=f"https://ogb.stanford.edu/docs/linkprop/#{layout.name}",
            citation="Hu et al., Open Graph Benchmark: Datasets for Machine Learning on Graphs, NeurIPS 2020",
            read=partial(read, layout),
            release=partial(release, layout),
            files=layout.files,
            rules=rules,
        )
    )


_HITS = (20, 50, 100)

_register(
    Layout(
        "ogbl-ddi",
        "ddi",
        "target",
        raw_train=True,
        checksums={
            "raw/num-node-list.csv.gz": "8462870f1b8c5937c66600aeb460af98d4f9965639fcd30f72f97da95ab374e3",
            "raw/edge.csv.gz": "b2c585f425f49b640ee5a3b451069124651ee0f2863a5b6ee6737a6b14c27a6e",
            "split/target/valid.pt": "4a48348f01fad0980a5be269fff7ace300e963144eef22d5ec4fc9830df872ac",
            "split/target/test.pt": "b45cfcf1695babf5a13e90bdf08988be23570ca76af0737f9d517e005ea7e297",
        },
    ),
    "drugs; an edge is an interaction",
    4267,
    1334889,
    "CC-0",
    Rules(heart_eps=1e-5, heart_features=False, hits=_HITS, headline="hits@20"),
)
_register(
    Layout("ogbl-collab", "collab", "time", num_features=128),
    "authors; an edge is joint papers, with their number and year (1,285,465 rows, some of the same authors)",
    235868,
    None,
    "ODC-BY",
    Rules(heart_eps=1e-5, heart_features=False, valid_in_test=True, hits=_HITS, headline="hits@50"),
)
_register(
    Layout("ogbl-ppa", "ppassoc", "throughput", num_features=58),
    "proteins of 58 species; an edge is an association (30,326,273 rows)",
    576289,
    None,
    "CC-0",
    Rules(heart_eps=5e-6, heart_features=False, hits=_HITS, headline="hits@100"),
)
_register(
    Layout("ogbl-citation2", "citation-v2", "time", num_features=128),
    "papers; an edge is a citation, its direction left out (30,561,187 rows)",
    2927963,
    None,
    "ODC-BY",
    Rules(heart_eps=5e-5, heart_features=False, hits=_HITS, headline="mrr"),
)
