"""Splits that are given as files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.errors import InputError, must_be
from trueedge.graph import Graph, Handling, in_sorted, pair_keys
from trueedge.graph.reading import PairFiles, read_pair_files
from trueedge.graph.two_kinds import tell_apart
from trueedge.graph.validation import check_num_nodes
from trueedge.splits.split import Split

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
    bipartite: bool = False,
) -> Split:
    """Read a split from files, one pair of node ids per line.

    Valid and test keep the order and the direction of their files. A line of the training file that joins a
    node to itself declares the node (as the released files do with isolated nodes) and is then dropped.

    Without ``num_nodes``, ids that are not exactly ``0..n-1`` over all files are numbered as
    :func:`trueedge.graph.read_edges` does it (numbers in their order, names as they first appear) and kept as
    labels.

    Args:
        train: the file of the training edges.
        test: the file of the test positives.
        valid: the file of the validation positives; None for none.
        num_nodes: the number of nodes, where some may be in no file; ids are then whole numbers below it.
        features: float array (n, d), one row a node.
        repeats: ``"refuse"`` a training edge that occurs again (in either direction), or ``"drop"`` it.
        overlap: ``"refuse"`` a positive that occurs again, within its part or in another (in either
            direction), or ``"allow"`` it: in graphs that grow over time edges recur.
        name: what to call the graph; the folder's name where it is not given.
        bipartite: whether the two columns hold two kinds of nodes, such as users and items: an id that is in
            both is then two nodes.
    """
    if overlap not in ("refuse", "allow"):
        raise must_be("overlap", "from_files", "'refuse' or 'allow'", overlap)
    if repeats not in ("refuse", "drop"):
        raise must_be("repeats", "from_files", "'refuse' or 'drop'", repeats)
    if num_nodes is not None:
        num_nodes = check_num_nodes(num_nodes, "from_files")
    given = {"train": train, "valid": valid, "test": test}
    paths = {part: Path(path) for part, path in given.items() if path is not None}
    files = read_pair_files(list(paths.values()), num_nodes)
    sides = None
    if bipartite:
        files, sides = _told_apart(files, fixed=num_nodes is not None)
    pairs = dict(zip(paths, files.pairs, strict=True))
    if repeats == "refuse":
        _refuse_repeats(pairs["train"], files.num_nodes, files.labels, paths["train"])
    graph = Graph.from_edges(
        pairs["train"],
        files.num_nodes,
        features,
        self_loops="drop",
        repeats="drop",
        labels=files.labels,
        name=name or paths["train"].resolve().parent.name or "files",
    )
    graph = replace(graph, notes=(*files.notes, *graph.notes), sides=sides)
    held_out = {part: pairs.get(part, np.empty((0, 2), dtype=np.int64)) for part in ("valid", "test")}
    for part, listed in held_out.items():
        loops = np.flatnonzero(listed[:, 0] == listed[:, 1])
        if loops.size:
            node = int(listed[loops[0], 0])
            named = node if files.labels is None else files.labels[node]
            raise InputError(f"{paths[part]}: pair {loops[0] + 1} joins the node {named} to itself")
    if overlap == "refuse":
        _refuse_overlap(graph, held_out, paths)
    return Split(graph, held_out["valid"].astype(np.int32), held_out["test"].astype(np.int32), "fixed files")


def _told_apart(files: PairFiles, fixed: bool) -> tuple[PairFiles, NDArray[np.int8] | None]:
    """Return pairs whose columns are of two kinds of nodes, and the side of each node."""
    found = tell_apart(np.concatenate(files.pairs), files.num_nodes, files.labels, None, True, fixed)
    pairs = np.split(found.pairs, np.cumsum([len(part) for part in files.pairs])[:-1])
    notes = (*files.notes, *(() if found.sides is None else (found.sides.said,)))
    apart = PairFiles(tuple(pairs), found.num_nodes, found.labels, notes)
    return apart, None if found.sides is None else found.sides.of


def _refuse_repeats(
    listed: NDArray[np.int64], num_nodes: int, labels: tuple[str, ...] | None, path: Path
) -> None:
    again = _occurred_before(pair_keys(listed, num_nodes)) & (listed[:, 0] != listed[:, 1])
    if again.any():
        row = int(np.flatnonzero(again)[0])
        raise InputError(
            f"{path}: pair {row + 1} lists the edge {_named(listed[row], labels)} again;"
            " pass repeats='drop' to keep each edge once"
        )


def _refuse_overlap(train: Graph, held_out: dict[str, NDArray[np.int64]], paths: dict[str, Path]) -> None:
    """Refuse a positive that is a training edge, or that was listed before in either part."""
    seen = {"train": train.edge_keys}
    for part, listed in held_out.items():
        keys = pair_keys(listed, train.num_nodes)
        clashes = {f"{other} has too": in_sorted(keys, others) for other, others in seen.items()}
        clashes["was listed before"] = _occurred_before(keys)
        for what, bad in clashes.items():
            if bad.any():
                row = int(np.flatnonzero(bad)[0])
                raise InputError(
                    f"{paths[part]}: pair {row + 1} is {_named(listed[row], train.labels)}, which {what};"
                    " pass overlap='allow' if edges may recur"
                )
        seen[part] = np.sort(keys)


def _named(pair: NDArray[np.int64], labels: tuple[str, ...] | None) -> str:
    u, v = (node if labels is None else labels[node] for node in pair.tolist())
    return f"({u}, {v})"


def _occurred_before(keys: NDArray[np.int64]) -> NDArray[np.bool_]:
    again = np.ones(len(keys), dtype=np.bool_)
    again[np.unique(keys, return_index=True)[1]] = False
    return again
