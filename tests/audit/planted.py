"""Benchmarks to audit: a clean one, and pieces to plant faults with."""

from __future__ import annotations

import numpy as np

from trueedge.audit import Finding, LinkSubject, Skipped, catalogue
from trueedge.graph import Graph
from trueedge.tasks import LinkTask, Part

NODES = 400


def random_edges(count: int, seed: int = 0, nodes: int = NODES) -> np.ndarray:
    """Distinct pairs ``u < v`` in random order, so that slices of them share none."""
    rng = np.random.default_rng(seed)
    pairs = np.sort(rng.integers(0, nodes, size=(3 * count, 2)), axis=1)
    pairs = np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)
    return rng.permutation(pairs)[:count].astype(np.int32)


def benchmark(
    train=None, valid=None, test=None, negatives=None, features=None, nodes: int = NODES
) -> LinkTask:
    """A clean task of an Erdős–Rényi graph, where all pairs are alike; any piece may be given instead."""
    pairs = random_edges(5000, nodes=nodes)
    test = pairs[3200:3600] if test is None else np.asarray(test, np.int32)
    graph = Graph.from_edges(pairs[:3000] if train is None else train, nodes, features, name="random")
    parts = {
        "valid": Part(pairs[3000:3200] if valid is None else np.asarray(valid, np.int32), pairs[3600:3800]),
        "test": Part(test, pairs[4000:4800] if negatives is None else np.asarray(negatives, np.int32)),
    }
    return LinkTask(
        dataset="random",
        protocol="existing",
        seed=0,
        graph=graph,
        parts=parts,
        metrics=("mrr", "hits@10", "auc"),
        headline="mrr",
    )


def own_lists(task: LinkTask, ends: np.ndarray) -> np.ndarray:
    """Negatives of each positive's own: the source with each end, then each end with the target."""
    positives = task.test.positives
    half = ends.shape[1] // 2
    negatives = np.repeat(positives[:, None], ends.shape[1], axis=1)
    negatives[:, :half, 1] = ends[:, :half]
    negatives[:, half:, 0] = ends[:, half:]
    return negatives


def run(check: str, task: LinkTask, **options: int) -> Finding | Skipped:
    """What one check says of a task."""
    (one,) = (one for one in catalogue() if one.name == check)
    return one.run(LinkSubject(task, **options))


def skewed_edges(count: int, seed: int = 0, nodes: int = NODES) -> np.ndarray:
    """Distinct edges between nodes drawn by a heavy-tailed weight."""
    rng = np.random.default_rng(seed)
    weights = (np.arange(nodes) + 1.0) ** -1.0
    pairs = np.sort(rng.choice(nodes, size=(6 * count, 2), p=weights / weights.sum()), axis=1)
    pairs = np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)
    return rng.permutation(pairs)[:count].astype(np.int32)
