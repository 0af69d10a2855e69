"""Typed graphs of the Heterogeneous Graph Benchmark (HGB), with their published test parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from trueedge.datasets.dataset import Dataset, SourceFile, checksums, register, table
from trueedge.datasets.sources import locate_all
from trueedge.datasets.tables import read_table
from trueedge.errors import InputError
from trueedge.graph.hgb_content import LabelledPairs
from trueedge.graph.hgb_files import HgbData, read_hgb
from trueedge.graph.typed import HeteroGraph, Relation
from trueedge.graph.typed_validation import sorted_edges

AMAZON = "amazon"


def whole(name: str, read: Callable[[], HgbData]) -> HeteroGraph:
    """Return the graph with its published validation and test links."""
    found = read()
    graph = found.graph
    published = [found.test_links]
    published += [
        {one: pairs[positive] for one, (pairs, positive) in given.items()}
        for given in (found.valid_pairs, found.test_pairs)
    ]
    edges = []
    for number, pairs in enumerate(graph.edges):
        more = [links[number] for links in published if number in links]
        edges.append(sorted_edges(np.concatenate([pairs, *more]), graph.num_nodes)[0])
    return replace(graph.with_edges(edges), name=name)


def read_published(name: str, sources: tuple[SourceFile, ...]) -> HgbData:
    """Read an archive or a folder in HGB's format."""
    places = list(locate_all(sources, name).values())
    folders = sorted({place.parent for place in places})
    if len(folders) > 1:
        raise InputError(
            f"{name}: its files must be in one folder, but some are in {folders[0]}, some in {folders[1]}"
        )
    found = read_hgb(places[0] if len(places) == 1 else folders[0])
    # What the files are like is known of published ones, and nothing to warn of.
    return replace(found, graph=replace(found.graph, name=name, notes=()))


def read_gatne(name: str, sources: tuple[SourceFile, ...]) -> HgbData:
    """Read GATNE's files: links of the training part, and pairs with labels of the other two.

    A line is ``relation node node``, and in ``valid.txt`` and ``test.txt`` a label (1: it is a link). All
    nodes have one type; their ids become their names.
    """
    places = locate_all(sources, name)
    train, valid, test = (
        read_table(places[file.path], columns) for file, columns in zip(sources, (3, 4, 4), strict=True)
    )
    for file, pairs in zip(sources[1:], (valid, test), strict=True):
        odd = (pairs[:, 3] != 0) & (pairs[:, 3] != 1)
        if odd.any():
            raise InputError(f"{places[file.path]}: a label is 0 or 1, got {pairs[odd.argmax(), 3]}")
    tables = (train, valid, test)
    nodes = np.unique(np.concatenate([rows[:, 1:3].reshape(-1) for rows in tables]))
    relations = np.unique(np.concatenate([rows[:, 0] for rows in tables]))
    edges = [sorted_edges(_pairs(train, number, nodes)[0], len(nodes))[0] for number in relations]
    graph = HeteroGraph(
        node_types=("product",),
        starts=np.array([0, len(nodes)], dtype=np.int64),
        relations=tuple(Relation(f"relation {number}", 0, 0) for number in relations),
        edges=tuple(edges),
        names=tuple(map(str, nodes.tolist())),
        name=name,
    )
    valid_pairs, test_pairs = (
        {place: _pairs(rows, number, nodes) for place, number in enumerate(relations)}
        for rows in (valid, test)
    )
    links = {place: pairs[positive] for place, (pairs, positive) in test_pairs.items()}
    return HgbData(graph, links, test_pairs, valid_pairs)


def _pairs(rows: NDArray[np.int64], relation: int, nodes: NDArray[np.int64]) -> LabelledPairs:
    """Return the pairs of a relation by ids from 0, and whether each is a link."""
    own = rows[rows[:, 0] == relation]
    positive = own[:, 3] == 1 if own.shape[1] > 3 else np.ones(len(own), dtype=np.bool_)
    return np.searchsorted(nodes, own[:, 1:3]).astype(np.int32), positive


def _register(row: dict[str, str]) -> None:
    name, path = row["name"], f"hgb/{row['path']}"
    paths = [f"{path}/{file}" for file in row["files"].split()] or [path]
    note = f"no program can download it: {row['source']} says where its authors share it"
    sources = tuple(SourceFile(one, sha256=checksums().get(one), note=note) for one in paths)
    read = partial(read_gatne if row["path"] == AMAZON else read_published, name, sources)
    register(
        Dataset(
            name=name,
            family="hgb",
            title=row["title"],
            num_nodes=int(row["nodes"]),
            num_edges=int(row["edges"]),
            num_features=int(row["features"]) if row["features"] else None,
            num_types=int(row["types"]),
            num_relations=int(row["relations"]),
            licence=row["licence"],
            source=row["source"],
            citation=row["citation"],
            read=partial(whole, name, read),
            files=sources,
            data="typed",
            read_typed=read,
            protocol=row["protocol"],
        )
    )


for _row in table("hgb.csv"):
    _register(_row)
