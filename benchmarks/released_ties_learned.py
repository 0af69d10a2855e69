"""What learned methods score on ogbl-ddi against random negatives, as HeaRT's published ones nearly are.

python -m benchmarks.released_ties_learned gcn,sage,mf --epochs 200 --jobs 3 --device cuda --json FILE

99.6 % of the published negatives are ties (``python -m benchmarks.released_ties``): any node that is no
neighbour may stand in a list. Here each edge of two samples, of the validation and of the test part, has 250
such nodes for each end, drawn at random; training edges, settings and stop rule are those of HeaRT. If the
published scores are due to ties, these are near them, and far above those with hard negatives.
"""

from __future__ import annotations

import argparse
import json
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import trueedge as te
from trueedge import methods
from trueedge.tasks import LinkTask
from trueedge.tasks.link import Part

HALF = 250
METRICS = ("mrr", "hits@20", "hits@50", "hits@100")


def random_lists(
    positives: NDArray[np.integer[Any]], adjacent: NDArray[np.bool_], rng: np.random.Generator
) -> NDArray[np.int32]:
    """Return 250 nodes for each end of each positive that are none of its neighbours, int32 (P, 500, 2)."""
    lists = np.empty((len(positives), 2 * HALF, 2), dtype=np.int32)
    for row, (first, second) in enumerate(positives):
        for place, (kept, other) in enumerate(((first, second), (second, first))):
            free = ~adjacent[kept]
            free[[kept, other]] = False
            drawn = rng.choice(np.flatnonzero(free), HALF, replace=False)
            part = slice(place * HALF, (place + 1) * HALF)
            lists[row, part, 0], lists[row, part, 1] = kept, drawn
    return lists


def random_task(edges: int, seed: int = 0) -> LinkTask:
    """Return ogbl-ddi under HeaRT's settings with random lists, for some validation and test edges."""
    task = te.task("ogbl-ddi", "existing")
    assert isinstance(task, LinkTask)
    rng = np.random.default_rng(seed)
    nodes = task.graph.num_nodes
    adjacent = np.zeros((nodes, nodes), dtype=bool)
    parts = {}
    known = [task.graph.edges]
    for name in ("valid", "test"):
        for pairs in known:
            adjacent[pairs[:, 0], pairs[:, 1]] = adjacent[pairs[:, 1], pairs[:, 0]] = True
        every = task.parts[name].positives
        chosen = every[rng.choice(len(every), min(edges, len(every)), replace=False)]
        parts[name] = Part(chosen, random_lists(chosen, adjacent, rng))
        # The published lists of the test part leave out the neighbours of the validation part too.
        known = [every]
    return replace(task, protocol="heart", parts=parts, metrics=METRICS, headline="hits@20")


def trained(name: str, edges: int, epochs: int | None, seed: int, device: str) -> dict[str, Any]:
    """Return the scores of a method with one seed, in percent."""
    task = random_task(edges)
    method = methods.create(name, {"stop": "hits@20"} | ({} if epochs is None else {"epochs": epochs}))
    started = time.monotonic()
    scorer = method.fit(task, seed=seed, device=device)
    found = task.evaluate(scorer, "test", METRICS)
    scores = {metric: 100 * found[metric] for metric in METRICS}
    training = {"best_epoch": scorer.history.best_epoch, "seconds": time.monotonic() - started}
    return {"method": name, "seed": seed, "epochs": epochs, "edges": edges, **training, "scores": scores}


def published(name: str) -> dict[str, float | None]:
    """Return the published scores of a method."""
    from trueedge.studies import published as values

    return {
        value.metric: value.mean
        for value in values("heart")
        if (value.dataset, value.protocol, value.method) == ("ogbl-ddi", "heart", name)
        and value.table in ("heart/table-5", "heart/table-16")
    }


def main() -> None:
    """Train, print, and write a file after each training."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("methods", help="names, separated by commas")
    parser.add_argument("--edges", type=int, default=5000, help="validation edges, and test edges")
    parser.add_argument("--epochs", type=int, help="the largest number of epochs")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    rows = []
    with ProcessPoolExecutor(chosen.jobs, get_context("spawn")) as pool:
        wanted = [
            pool.submit(trained, name, chosen.edges, chosen.epochs, seed, chosen.device)
            for name in chosen.methods.split(",")
            for seed in range(chosen.seeds)
        ]
        for done in as_completed(wanted):
            row = done.result()
            rows.append({**row, "published": published(row["method"])})
            print(json.dumps(rows[-1]), flush=True)
            if chosen.json:
                rows.sort(key=lambda one: (one["method"], one["seed"]))
                chosen.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
