"""What HGB's code does but its paper does not say, one thing at a time, beside the published scores.

python -m benchmarks.hgb_causes --device cuda --jobs 14 --json FILE  every case, five seeds
python -m benchmarks.hgb_causes --only gatne --seeds 1                one method, one seed

The file is written after every training, with the seeds that are done.

Links are scored against negatives two steps away and against random ones. "seen" leaves out the links of
nodes without training edges, as HGB's evaluation of GATNE does.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import numpy as np

import trueedge as te
from trueedge import methods
from trueedge.tasks import TypedLinkTask

KEYWORDS = "movie-director-movie, movie-actor-movie, movie-keyword-movie"
# The learning rate of the published code is ten times as small, and takes ten times as long.
SLOW = {"learning_rate": 1e-3, "window": 2, "walk_length": 10, "walks": 4, "batch_size": 1000, "patience": 5}
PUBLISHED_RGCN = {"mean": "node", "blocks": 8, "double_sigmoid": True, "select": "loss"}


@dataclass(frozen=True)
class Case:
    """A method on a data set with some settings of the published code.

    Attributes:
        dataset, method: what is trained, and on what.
        settings: what differs from the settings of this package.
        seen: leave out links of nodes without training edges.
    """

    dataset: str
    method: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    seen: bool = False


CASES = (
    *(Case(data, "rgcn-hetero") for data in ("lastfm-hgb", "pubmed-hgb")),
    *(Case(data, "rgcn-hetero", {"mean": "node"}) for data in ("lastfm-hgb", "pubmed-hgb")),
    *(Case(data, "rgcn-hetero", PUBLISHED_RGCN) for data in ("lastfm-hgb", "pubmed-hgb")),
    Case("lastfm-hgb", "gatne", SLOW),
    Case("lastfm-hgb", "gatne", SLOW, seen=True),
    Case("pubmed-hgb", "gatne", SLOW),
    *(Case(data, "hetgnn", {"learning_rate": 0.01}) for data in ("lastfm-hgb", "pubmed-hgb")),
    *(
        Case(data, "hetgnn", {"learning_rate": 0.01, "context_steps": 28_000})
        for data in ("lastfm-hgb", "pubmed-hgb")
    ),
    *(Case("lastfm-hgb", "magnn", {"patience": 5, "batch_size": size}) for size in (8192, 512)),
    *(Case("imdb", "hetgnn", {"features": features}) for features in ("all", "one-hot")),
    *(Case("imdb", "hgt", {"features": features}) for features in ("target", "all")),
    Case("imdb", "magnn"),
    Case("imdb", "magnn", {"patience": 10, "select": "loss"}),
    Case("imdb", "han"),
    Case("imdb", "han", {"metapaths": KEYWORDS}),
    *(Case("acm", "hetsann", {"features": features}) for features in ("all", "target")),
)


def main() -> None:
    """Train every case and print its scores."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", help="methods, separated by commas")
    parser.add_argument("--dataset", help="data sets, separated by commas")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--jobs", type=int, default=1, help="trainings side by side")
    parser.add_argument("--json", type=Path, help="write the scores to this file")
    chosen = parser.parse_args()
    names, data = ((text.split(",") if text else None) for text in (chosen.only, chosen.dataset))
    cases = [
        number
        for number, case in enumerate(CASES)
        if (not names or case.method in names) and (not data or case.dataset in data)
    ]
    found: dict[int, dict[int, dict[str, float]]] = {number: {} for number in cases}
    with ProcessPoolExecutor(chosen.jobs, multiprocessing.get_context("spawn")) as pool:
        waiting = {
            pool.submit(trained, number, seed, chosen.device): (number, seed)
            for number in cases
            for seed in range(chosen.seeds)
        }
        for done in as_completed(waiting):
            number, seed = waiting[done]
            found[number][seed] = done.result()
            row = summary(CASES[number], found[number])
            print(line(row), flush=True)
            if chosen.json:
                rows = [summary(CASES[one], seeds) for one, seeds in found.items() if seeds]
                chosen.json.write_text(json.dumps(rows, indent=1) + "\n")


def trained(number: int, seed: int, device: str) -> dict[str, float]:
    """Return the scores of a case with one seed."""
    return dict(scores(CASES[number], seed, device))


def summary(case: Case, found: Mapping[int, Mapping[str, float]]) -> dict[str, Any]:
    """Return a case with the means and standard deviations of its seeds."""
    names = next(iter(found.values()))
    means = {name: fmean(one[name] for one in found.values()) for name in names}
    stds = {name: pstdev(one[name] for one in found.values()) for name in names}
    return {**asdict(case), "seeds": len(found), "mean": means, "std": stds}


def line(row: Mapping[str, Any]) -> str:
    """Return a case and its scores in one line."""
    shown = ", ".join(f"{name} {row['mean'][name]:.2f} ± {row['std'][name]:.2f}" for name in row["mean"])
    seen = ", links of seen nodes" if row["seen"] else ""
    return f"{row['dataset']} {row['method']} {row['settings']}{seen}: {shown} ({row['seeds']} seeds)"


def scores(case: Case, seed: int, device: str) -> Iterator[tuple[str, float]]:
    """Yield the scores of a case in percent, by name."""
    method = methods.create(case.method, dict(case.settings))
    if not case.dataset.endswith("-hgb"):
        task = te.task(case.dataset, seed=seed)
        found = task.evaluate(method.fit(task, seed=seed, device=device))
        yield from ((name, 100 * found[name]) for name in ("macro-f1", "micro-f1"))
        return
    hard = "published" if case.dataset == "lastfm-hgb" else "two-hop"
    tasks = {one: te.task(case.dataset, "typed-links", negatives=one) for one in (hard, "random")}
    scorer = method.fit(tasks[hard], seed=seed, device=device)
    for negatives, task in tasks.items():
        assert isinstance(task, TypedLinkTask)
        asked = links_of_seen_nodes(task) if case.seen else task
        found = asked.evaluate(scorer)
        yield from ((f"{name}, {negatives}", 100 * found[name]) for name in ("roc-auc", "head-mrr"))


def links_of_seen_nodes(task: TypedLinkTask) -> TypedLinkTask:
    """Return a task without the test links of nodes that have no training edges."""
    seen = np.zeros(task.graph.num_nodes, dtype=bool)
    for edges in task.graph.edges:
        seen[edges] = True
    positives, negatives = (
        links[seen[links[:, 0]] & seen[links[:, 2]]]
        for links in (task.positives["test"], task.negatives["test"])
    )
    # A head that has lost all its positives leaves with its negatives.
    negatives = negatives[np.isin(negatives[:, 0], positives[:, 0])]
    return replace(task, positives={"test": positives}, negatives={"test": negatives})


if __name__ == "__main__":
    main()
