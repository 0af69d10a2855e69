"""An epoch of LPFormer and of NCNC on graphs of different mean degrees (LPFormer, KDD 2024, Figure 3.4)."""

from __future__ import annotations

from typing import Any

from benchmarks.epochs import REAL, small_task, steps_of_ours
from benchmarks.graphs import Sizes
from benchmarks.timing import Contender, Row, race
from trueedge import datasets, methods, tasks

METHODS = ("lpformer", "ncnc")
DATASETS = ("citeseer", "cora", "pubmed", "chameleon", "squirrel", "ogbl-ddi")
# The published number of the citation graphs; everywhere, so that only the graphs differ.
BATCH = 1024
# The others of an epoch are assumed to take as long.
MOST_STEPS = {"cpu": 1, "cuda": 16}


def measure(sizes: Sizes, repeats: int, with_peers: bool = True, device: str = "cpu") -> list[Row]:
    """Some steps of both methods, extrapolated to an epoch; without data on a small graph. No peers."""
    del with_peers
    rows: list[Row] = []
    for name, task in _tasks(sizes):
        degree = 2 * task.graph.num_edges / task.graph.num_nodes
        for method_name in METHODS:
            method: Any = methods.create(method_name, {"batch_size": BATCH}).for_task(task)
            ours, steps, total = steps_of_ours(task, method, device, MOST_STEPS[device])
            note = f"extrapolated from {steps} of {total:,} steps of {BATCH:,} edges"
            part = Contender(ours.who, ours.run, share=steps / total, note=note)
            rows += race(f"{method_name}, {name}, mean degree {degree:.1f}, {device}", part, [], repeats)
    return rows


def _tasks(sizes: Sizes) -> list[tuple[str, Any]]:
    found = []
    for name in DATASETS if sizes.separated >= REAL else ():
        try:
            found.append((name, tasks.task(name, "existing", 0)))
        except datasets.MissingFile:
            continue
    return found or [("a random graph", small_task())]
