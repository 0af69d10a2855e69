"""The splits and negatives that HeaRT's authors released for Cora, Citeseer and Pubmed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.datasets.dataset import Release, SourceFile, cards, get
from trueedge.datasets.sources import MissingFile, locate_all
from trueedge.datasets.tables import read_table
from trueedge.errors import InputError, unknown
from trueedge.files.arrays import read_array
from trueedge.graph import Graph, as_pairs

# Of the released files only Citeseer's could be had, so only they have checksums.
_CHECKSUMS = {
    "citeseer": {
        "train_pos.txt": "1e97ad3a73ecfeb69489aa6d92d02dc44c2925b4056a8e4cd4b548f1c0ebaa27",
        "valid_pos.txt": "11ad6734a54824d84a3dfcede53bcd6b3051c012f4c44add04891858dacd968c",
        "test_pos.txt": "9a9e06bc89cfc090f35093ecfc4dd5e5e6b979f6be3442c8450f140af127898f",
        "valid_neg.txt": "28bc7d0e168ed82bd8dad4822bc00872f1fdc48fc4f98a41a4c79af7960cdf46",
        "test_neg.txt": "625f43c40585c770bf8ae335766cb1402bd1f225c5cd9c3ab426f2fd61334202",
        "heart_valid_samples.npy": "89cdc6fd98e059e2be200025174762c2ee82f86703152bb733271322b8fb3e65",
        "heart_test_samples.npy": "fed77fda471126e038f0abd9cf42c8b2b9f1491c4c1cd4dd7d2c258a5239fd10",
    },
}
_FILES = (
    "train_pos.txt",
    "valid_pos.txt",
    "test_pos.txt",
    "valid_neg.txt",
    "test_neg.txt",
    "heart_valid_samples.npy",
    "heart_test_samples.npy",
)


def released(name: str) -> Release:
    """The split HeaRT released for a data set, with its shared negatives and its HeaRT negatives.

    The files lie in the folder ``heart/<name>`` of a data folder. Rows keep their order; self-loops in the
    training file stand for isolated nodes and are dropped.

    Args:
        name: ``cora``, ``citeseer`` or ``pubmed``.

    Li et al. 2023, "Evaluating Graph Neural Networks for Link Prediction: Current Pitfalls and New
    Benchmarking".
    """
    known = [card.name for card in cards() if card.heart_files]
    if name not in known:
        raise unknown("split released by HeaRT", name, known)
    places = locate_all(get(name).heart_files, f"the split HeaRT released for {name}")
    place = {Path(path).name: found for path, found in places.items()}
    graph = _train_graph(name, place["train_pos.txt"])
    valid, test = (_positives(place[f"{part}_pos.txt"], graph.num_nodes) for part in ("valid", "test"))
    return Release(
        graph=graph,
        valid=valid,
        test=test,
        valid_negatives=_pairs(place["valid_neg.txt"], graph.num_nodes),
        test_negatives=_pairs(place["test_neg.txt"], graph.num_nodes),
        heart_valid=_samples(place["heart_valid_samples.npy"], valid, graph.num_nodes),
        heart_test=_samples(place["heart_test_samples.npy"], test, graph.num_nodes),
    )


def files(name: str) -> tuple[SourceFile, ...]:
    """The files HeaRT released for a data set."""
    why = "the address HeaRT's authors gave for it no longer answers"
    sums = _CHECKSUMS.get(name, {})
    return tuple(SourceFile(f"heart/{name}/{file}", sha256=sums.get(file), note=why) for file in _FILES)


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
    """HeaRT's negatives, int32 (P, k, 2): the first half keeps the positive's source, the rest its target."""
    samples = _array(path)
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


def _array(path: Path) -> NDArray[Any]:
    try:
        return read_array(path, "it")
    except InputError as error:
        raise InputError(f"{path} is not a numpy file of numbers: {error}") from None
