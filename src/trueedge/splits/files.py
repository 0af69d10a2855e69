"""Splits that others fixed: from files, or as a data set was released."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.errors import InputError, must_be
from trueedge.graph import Graph, in_sorted, pair_keys
from trueedge.graph.graph import Handling
from trueedge.splits.split import Split

if TYPE_CHECKING:
    from trueedge.datasets.dataset import Release

Overlap = Literal["refuse", "allow"]


def from_files(
    *,
    train: str | Path,
    test: str | Path,
    valid: str | Path | None = None,
    num_nodes: int | None = None,
    features: ArrayLike | None = None,
    repeats: Handling = "refuse",
    overlap: Overlap = "refuse",
    name: str | None = None,
) -> Split:
    """A split that stands in files, one pair of node ids a line.

    Valid and test keep the order and the direction of their files. A line of the training file that joins a
    node to itself declares the node (as the released files do with isolated nodes) and is then dropped.

    Args:
        train: the file of the training edges.
        test: the file of the test positives.
        valid: the file of the validation positives; None for none.
        num_nodes: the number of nodes; the largest id of all files + 1 where it is not given.
        features: float array (n, d), one row a node.
        repeats: ``"refuse"`` a training edge that occurs again (in either direction), or ``"drop"`` it.
        overlap: ``"refuse"`` a positive that occurs again, within its part or in another (in either
            direction), or ``"allow"`` it: in graphs that grow over time edges recur.
        name: what to call the graph; the folder's name where it is not given.
    """
    from trueedge.graph.reading import read_pairs

    if overlap not in ("refuse", "allow"):
        raise must_be("overlap", "from_files", "'refuse' or 'allow'", overlap)
    paths = {"train": Path(train), "test": Path(test)} | ({} if valid is None else {"valid": Path(valid)})
    pairs = {part: read_pairs(path) for part, path in paths.items()}
    count = _count_nodes(pairs, paths, num_nodes)
    graph = Graph.from_edges(
        pairs["train"],
        count,
        features,
        self_loops="drop",
        repeats=repeats,
        name=name or paths["train"].resolve().parent.name or "files",
    )
    held_out = {part: pairs.get(part, np.empty((0, 2), dtype=np.int64)) for part in ("valid", "test")}
    for part, listed in held_out.items():
        loops = np.flatnonzero(listed[:, 0] == listed[:, 1])
        if loops.size:
            node = listed[loops[0], 0]
            raise InputError(f"{paths[part]}: pair {loops[0] + 1} joins the node {node} to itself")
    if overlap == "refuse":
        _refuse_overlap(graph, held_out)
    if not len(held_out["test"]):
        raise InputError(f"{paths['test']} holds no pair to test on")
    return Split(graph, held_out["valid"].astype(np.int32), held_out["test"].astype(np.int32), "fixed files")


def from_release(release: Release) -> Split:
    """The split a data set was released with, in the order of its files.

    Args:
        release: what :mod:`trueedge.datasets` read; parts may overlap where the publisher's do.
    """
    parts = (np.array(part, dtype=np.int32).reshape(-1, 2) for part in (release.valid, release.test))
    valid, test = parts
    return Split(release.graph, valid, test, "as released")


def _count_nodes(pairs: dict[str, NDArray[np.int64]], paths: dict[str, Path], num_nodes: int | None) -> int:
    largest = {part: int(listed.max(initial=-1)) for part, listed in pairs.items()}
    if num_nodes is None:
        return max(largest.values()) + 1
    for part, node in largest.items():
        if node >= num_nodes:
            raise InputError(f"{paths[part]}: the node id {node} is outside 0..{num_nodes - 1}")
    return num_nodes


def _refuse_overlap(train: Graph, held_out: dict[str, NDArray[np.int64]]) -> None:
    """Refuse a positive that is a training edge, or that was listed before in either part."""
    seen = {"train": train.edge_keys}
    for part, listed in held_out.items():
        keys = pair_keys(listed, train.num_nodes)
        for other, others in seen.items():
            _refuse(listed, in_sorted(keys, others), f"the {part} part has a pair that {other} has too")
        again = np.ones(len(keys), dtype=np.bool_)
        again[np.unique(keys, return_index=True)[1]] = False
        _refuse(listed, again, f"the {part} part lists a pair twice")
        seen[part] = np.sort(keys)


def _refuse(listed: NDArray[np.int64], bad: NDArray[np.bool_], what: str) -> None:
    if bad.any():
        u, v = listed[np.flatnonzero(bad)[0]]
        raise InputError(f"{what}: ({u}, {v}); pass overlap='allow' if edges may recur")
