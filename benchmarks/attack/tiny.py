"""Tiny graphs and tasks, small enough for an oracle that compares everything with everything."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import trueedge as te
from benchmarks.attack.outcomes import Case
from trueedge.graph import Graph
from trueedge.tasks import LinkTask, Part

METRICS = ("mrr", "mr", "hits@1", "hits@2", "rank-hits@1", "auc", "mrr.optimistic", "mrr.pessimistic")


def random_graph(
    seed: int, nodes: int = 24, edges: int = 60, features: int = 0, named: bool = False
) -> Graph:
    """Return a random graph; with ``named`` its nodes have names."""
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, nodes, size=(2 * edges, 2))
    table = rng.random((nodes, features)) if features else None
    labels = [f"n{node * 7 % nodes}" for node in range(nodes)] if named else None
    return Graph.from_edges(
        pairs, nodes, table, self_loops="drop", repeats="drop", labels=labels, name=f"random-{seed}"
    )


def small_task(case: Case, per_positive: bool | None = None, named: bool = False) -> LinkTask:
    """Return a task with a handful of positives; pairs of shared negatives differ from all others."""
    nodes = case.number(8, 14)
    graph = random_graph(case.number(0, 5), nodes, 10, named=named)
    every = np.array([(u, v) for u in range(nodes) for v in range(u + 1, nodes)], dtype=np.int32)
    order = case.rng.permutation(len(every))
    positives = case.number(1, 6)
    own = case.chance(0.5) if per_positive is None else per_positive
    chosen = every[order]
    shape = (positives, case.number(2, 3)) if own else (case.number(2, 12),)
    count = int(np.prod(shape))
    rest = chosen[positives : positives + count]
    if own and case.chance(0.5):
        # The same negatives for several positives, as hard negatives often are.
        rest = chosen[positives + case.rng.integers(0, max(2, count // 2), size=count)]
    negatives = _turned(case, rest).reshape(*shape, 2)
    part = Part(_turned(case, chosen[:positives]), negatives)
    metrics = METRICS if own else (*METRICS, "ap", "precision@2")
    return LinkTask(
        dataset=graph.name,
        protocol="uniform",
        seed=case.number(0, 99),
        metrics=metrics,
        headline="mrr",
        graph=graph,
        parts={"test": part},
    )


def _turned(case: Case, pairs: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return pairs, some of them with the larger node first."""
    turned = np.array(pairs)
    rows = case.rng.random(len(turned)) < 0.3
    turned[rows] = turned[rows, ::-1]
    return turned


@cache
def made_task(protocol: str = "uniform", seed: int = 0, named: bool = False, features: int = 0) -> LinkTask:
    """Return a task that a protocol made of a small random graph."""
    graph = random_graph(1, 30, 90, features, named)
    options: dict[str, Any] = {"k": 6} if protocol == "heart" else {}
    task = te.task(graph, protocol, seed, **options)
    assert isinstance(task, LinkTask)
    return task


def warm_up() -> None:
    """Import and compile what attacks use: an alarm in the midst of it could leave either half done."""
    importlib.import_module("torch")
    for protocol in ("uniform", "heart"):
        task = made_task(protocol)
        task.evaluate(lambda pairs: pairs.sum(axis=1))
        te.run(task, method="cn")
