"""Splits that publishers fixed: HeaRT's released files and OGB's own parts, with their negatives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trueedge.datasets import MissingFile, cards, get, ogb, with_altered
from trueedge.datasets.sources import locate_all
from trueedge.datasets.tables import read_table
from trueedge.errors import InputError, unknown
from trueedge.files.arrays import read_array
from trueedge.graph import Graph, as_pairs
from trueedge.splits.split import Split

NAME = "as released"
PARTS = ("valid", "test")


@dataclass(frozen=True, eq=False)
class Release:
    """A split and its negatives, as they were published.

    Attributes:
        split: the training graph and the positives, in the order of the files; edges may be in several parts.
        negatives: for ``valid`` and ``test``, int32 (m, 2) shared by all positives, or (P, k, 2); a part
            without published negatives is absent.
    """

    split: Split
    negatives: Mapping[str, NDArray[np.int32]]


def released(name: str, negatives: str = "shared") -> Release:
    """Read the split that HeaRT's authors released for a data set; only the files needed for it are read.

    The files are in the folder ``heart/<name>`` of a data folder. Rows keep their order. Self-loops in the
    training file stand for isolated nodes and are dropped.

    Args:
        name: ``cora``, ``citeseer`` or ``pubmed``.
        negatives: ``"shared"`` by all positives (the existing setting), or ``"heart"`` for HeaRT's.

    Li et al. 2023, "Evaluating Graph Neural Networks for Link Prediction: Current Pitfalls and New
    Benchmarking".
    """
    known = [card.name for card in cards() if card.released_files]
    if name not in known:
        raise unknown("split released by HeaRT", name, known)
    files = get(name).released_files
    if negatives not in files:
        raise unknown(f"kind of negatives released for {name}", negatives, files)
    places = locate_all(files[negatives], f"the split HeaRT released for {name}")
    place = {Path(path).name: found for path, found in places.items()}
    graph = with_altered(_train_graph(name, place["train_pos.txt"]), name, negatives)
    valid, test = (_positives(place[f"{part}_pos.txt"], graph.num_nodes) for part in PARTS)
    if negatives == "shared":
        listed = {part: _pairs(place[f"{part}_neg.txt"], graph.num_nodes) for part in PARTS}
    else:
        listed = {
            part: _samples(place[f"heart_{part}_samples.npy"], positives, graph.num_nodes)
            for part, positives in zip(PARTS, (valid, test), strict=True)
        }
    return Release(Split(graph, valid, test, NAME), listed)


def is_published(name: str) -> bool:
    """Return whether a data set has a published split, without reading it.

    Args:
        name: the data set's name.
    """
    return get(name).family == "ogb"


def published(name: str) -> Release | None:
    """Read the split that a data set is published with, or return None where it has none of its own.

    Args:
        name: the data set's name.
    """
    if not is_published(name):
        return None
    graph, valid, test = ogb.read_parts(name)
    graph = with_altered(graph, name)
    listed = {part: rows.negatives for part, rows in zip(PARTS, (valid, test), strict=True)}
    return Release(
        Split(graph, valid.pairs.astype(np.int32), test.pairs.astype(np.int32), NAME),
        {part: negatives for part, negatives in listed.items() if negatives is not None},
    )


def _train_graph(name: str, path: Path) -> Graph:
    card = get(name)
    rows = as_pairs(read_table(path, 2), card.num_nodes, str(path))
    train = Graph.from_edges(rows, card.num_nodes, name=name, self_loops="drop", repeats="drop")
    try:
        features = card.load().features
    except MissingFile:
        return replace(train, notes=(*train.notes, f"without features: the files of {name} are not here"))
    return replace(train, features=features)


def _pairs(path: Path, num_nodes: int) -> NDArray[np.int32]:
    return as_pairs(read_table(path, 2), num_nodes, str(path)).astype(np.int32)


def _positives(path: Path, num_nodes: int) -> NDArray[np.int32]:
    pairs = _pairs(path, num_nodes)
    loops = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if loops.size:
        raise InputError(f"{path}: row {loops[0]} joins node {pairs[loops[0], 0]} to itself")
    return pairs


def _samples(path: Path, positives: NDArray[np.int32], num_nodes: int) -> NDArray[np.int32]:
    """Read HeaRT's negatives, int32 (P, k, 2): half keep the positive's source, then half its target."""
    try:
        samples = read_array(path, "it")
    except InputError as error:
        raise InputError(f"{path} is not a numpy file of numbers: {error}") from None
    expected = f"({len(positives)}, k, 2)"
    if samples.ndim != 3 or samples.shape[0] != len(positives) or samples.shape[2] != 2:
        raise InputError(
            f"{path} has the shape {samples.shape}, but {len(positives)} positives need {expected}"
        )
    flat = as_pairs(samples.reshape(-1, 2), num_nodes, str(path))
    negatives = flat.reshape(samples.shape).astype(np.int32)
    half = samples.shape[1] // 2
    kept = (negatives[:, :half, 0] == positives[:, None, 0]).all(axis=1)
    kept &= (negatives[:, half:, 1] == positives[:, None, 1]).all(axis=1)
    if not kept.all():
        row = int(np.flatnonzero(~kept)[0])
        u, v = positives[row]
        raise InputError(f"{path}: the negatives in row {row} do not belong to the positive ({u}, {v})")
    return negatives
