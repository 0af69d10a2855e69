"""A benchmark with a fault for each check, and one without any."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from planted import NODES, benchmark, own_lists, random_edges, skewed_edges

from trueedge.graph import Graph
from trueedge.tasks import LinkTask

PAIRS = random_edges(5000)


def clean() -> LinkTask:
    """All pairs alike, features that say nothing."""
    return benchmark(features=np.random.default_rng(0).random((NODES, 12)))


def communities(features: np.ndarray | None = None, unjoined: int = 0) -> LinkTask:
    """Cliques of ten nodes, whose edges are unlike all pairs across, and pairs within that are not joined."""
    groups = np.arange(NODES).reshape(-1, 10)
    edges = [[group[i], group[j]] for group in groups for i in range(10) for j in range(i + 1, 10)]
    edges = np.random.default_rng(0).permutation(np.array(edges, np.int32))
    across = np.array([[u, v] for u, v in random_edges(1000, seed=3).tolist() if u // 10 != v // 10])
    last = len(edges) - unjoined
    negatives = np.concatenate([across, edges[last:]])
    return benchmark(edges[:1400], edges[1400:1500], edges[1500:last], negatives, features)


def hubs() -> LinkTask:
    """Few nodes have most edges, and negatives are of the others."""
    edges = skewed_edges(3600)
    low = np.random.default_rng(1).integers(300, NODES, size=(800, 2))
    return benchmark(edges[:3000], edges[3000:3200], edges[3200:], low)


def star() -> LinkTask:
    """One node is joined to most others."""
    return benchmark(train=np.array([[0, i] for i in range(1, 300)] + [[i, i + 1] for i in range(300, 398)]))


def heavy_tail() -> LinkTask:
    """Degrees by a power law, down to the smallest."""
    rng = np.random.default_rng(0)
    degrees = np.minimum(rng.zipf(2.1, size=NODES), 150)
    stubs = np.repeat(np.arange(NODES), degrees)
    rng.shuffle(stubs)
    pairs = np.sort(stubs[: len(stubs) // 2 * 2].reshape(-1, 2), axis=1)
    pairs = rng.permutation(np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0))
    third = len(pairs) // 6
    return benchmark(pairs[2 * third :], pairs[:third], pairs[third : 2 * third], random_edges(300, seed=4))


def band() -> LinkTask:
    """Each positive's own negatives, four of five of them from an eighth of the ids."""
    rng = np.random.default_rng(0)
    near, anywhere = rng.integers(200, 250, (400, 40)), rng.integers(0, NODES, (400, 40))
    ends = np.where(rng.random((400, 40)) < 0.8, near, anywhere)
    return benchmark(negatives=own_lists(benchmark(), ends))


def adjacency(pairs: np.ndarray) -> np.ndarray:
    """The rows of the adjacency matrix, as features."""
    table = np.zeros((NODES, NODES), dtype=np.float32)
    table[pairs[:, 0], pairs[:, 1]] = table[pairs[:, 1], pairs[:, 0]] = 1
    return table


def groups_as_features() -> np.ndarray:
    """A row near the mean of a node's group of ten."""
    rng = np.random.default_rng(2)
    return np.repeat(rng.normal(size=(NODES // 10, 16)), 10, axis=0) + 0.3 * rng.normal(size=(NODES, 16))


def pairs_kept_by_their_smaller_node() -> LinkTask:
    """Each negative keeps a positive's smaller node: its other node is any, where a positive's is larger."""
    negatives = np.repeat(PAIRS[3200:3600, None], 20, axis=1)
    negatives[..., 1] = np.random.default_rng(0).integers(0, NODES, (400, 20))
    return benchmark(negatives=negatives)


FAULTS: dict[str, Callable[[], LinkTask]] = {
    "train-leak": lambda: benchmark(test=np.concatenate([PAIRS[3200:3590], PAIRS[:10, ::-1]])),
    "repeated-positives": lambda: benchmark(test=np.concatenate([PAIRS[3200:3600], PAIRS[3200:3210, ::-1]])),
    "valid-in-test": lambda: benchmark(test=np.concatenate([PAIRS[3200:3600], PAIRS[3000:3005, ::-1]])),
    "false-negatives": lambda: benchmark(negatives=np.concatenate([PAIRS[4000:4780], PAIRS[3200:3220]])),
    "self-pairs": lambda: benchmark(test=np.concatenate([PAIRS[3200:3600], [[3, 3]]])),
    "isolated-nodes": lambda: benchmark(train=PAIRS[:100]),
    "direction": lambda: replace(pairs_kept_by_their_smaller_node(), protocol="own negatives"),
    "node-numbers": pairs_kept_by_their_smaller_node,
    "features-adjacency": lambda: benchmark(features=adjacency(PAIRS[:3600])),
    "distinct-negatives": lambda: benchmark(negatives=np.repeat(PAIRS[4000:4100, ::-1], 8, axis=0)),
    "node-coverage": lambda: benchmark(
        negatives=np.random.default_rng(0).integers(0, 20, size=(800, 2)) * 20
    ),
    "id-bands": band,
    "few-negatives": lambda: communities(unjoined=1),
    "degrees": hubs,
    "common-neighbours": communities,
    "no-common-neighbour": communities,
    "distances": communities,
    "feature-similarity": lambda: communities(features=groups_as_features()),
    "shortcut-pa": hubs,
    "shortcut-cn": communities,
    "shortcut-shortest-path": communities,
    "shortcut-cosine": lambda: communities(features=groups_as_features()),
    "degree-spread": star,
    "degree-auc": hubs,
    "power-law": heavy_tail,
    "degree-groups": hubs,
    "degree-weight": hubs,
}


def write(task: LinkTask, folder: Path) -> dict[str, object]:
    """A task as a user's files: what :func:`trueedge.audit.audit` takes to read them."""
    hidden = np.concatenate([task.part(name).positives for name in task.part_names])
    whole = task.graph.with_edges(hidden)
    arguments: dict[str, object] = {"thing": Graph.from_edges(whole.edges, NODES, name=task.dataset)}
    split = folder / "split"
    split.mkdir()
    np.savetxt(split / "train.txt", task.train[:, ::-1], fmt="%d")
    for name in task.part_names:
        part = task.part(name)
        np.savetxt(split / f"{name}.txt", part.positives, fmt="%d")
        if part.per_positive:
            np.save(split / f"{name}_neg.npy", part.negatives)
        else:
            np.savetxt(split / f"{name}_neg.txt", part.negatives, fmt="%d")
    if task.features is not None:
        np.save(folder / "features.npy", task.features)
        arguments["features"] = folder / "features.npy"
    return {**arguments, "split": split, "negatives": split}
