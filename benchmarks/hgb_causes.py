"""What HGB's code does but its paper does not say, one thing at a time, beside the published scores.

python -m benchmarks.hgb_causes --device cuda --jobs 14 --seconds 480 --json FILE   every case that is open
python -m benchmarks.hgb_causes --only gatne --seeds 1                              one method, one seed
python -m benchmarks.hgb_causes --missing --json FILE                               cases that the file lacks
python -m benchmarks.hgb_causes --list                                              the cases and their times

The file is written after every training, with the seeds that are done; rows of other cases stay in it. After
--seconds, no training is started, and those that are left are named.

Links are scored against negatives two steps away, against random ones, and against pairs whose both ends are
random, as HGB's code does for GCN and GAT. "seen" leaves out the links of nodes without training edges, as
HGB's evaluation of GATNE does; "nodes of walks" leaves out those of nodes that its walks on PubMed never
meet. "valid" draws validation links as HGB's code does. "macro-f1 of means" is the
F1 score of the mean precision and the mean recall of all classes, which the code of HetSANN calls macro-F1.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import numpy as np
from numpy.typing import NDArray

import trueedge as te
from benchmarks.hgb_cases import CASES, Case
from benchmarks.hgb_links import (
    link_tasks,
    links_of_seen_nodes,
    links_of_walks,
    ordered_scores,
    published_validation,
    random_pair_scores,
)
from trueedge import methods
from trueedge.tasks import NodeTask

VALID = "validation"
SHOWN = ("dataset", "method", "settings", "seen", "without", "valid", "search")
Scores = dict[str, float]


def main() -> None:
    """Train every case and print its scores."""
    chosen = arguments()
    names, data = ((text.split(",") if text else None) for text in (chosen.only, chosen.dataset))
    cases = [
        number
        for number, case in enumerate(CASES)
        if case.earlier == chosen.earlier
        and (not names or case.method in names)
        and (not data or case.dataset in data)
    ]
    if chosen.missing:
        cases = [number for number in cases if not is_in(chosen.json, number, chosen.seeds)]
    wanted = [pair for number in cases for pair in runs_of(number, chosen.seeds)]
    if chosen.list:
        for number in cases:
            case = CASES[number]
            count = sum(one == number for one, _ in wanted)
            print(f"{title(case)}: {count} x {case.seconds} s")
        print(f"together {sum(CASES[number].seconds for number, _ in wanted) / 60:.0f} core-minutes")
        return
    Trainings(chosen, wanted).run()


def arguments() -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", help="methods, separated by commas")
    parser.add_argument("--dataset", help="data sets, separated by commas")
    parser.add_argument("--seeds", type=int, default=5, help="seeds of a case that does not name a number")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--jobs", type=int, default=1, help="trainings side by side")
    parser.add_argument("--seconds", type=float, help="start no training after so many seconds")
    parser.add_argument("--epochs", type=int, help="the largest number of epochs, for a trial")
    parser.add_argument("--json", type=Path, help="write the scores to this file")
    parser.add_argument("--missing", action="store_true", help="only cases that --json lacks, or some seeds")
    parser.add_argument("--earlier", action="store_true", help="the cases of the earlier round instead")
    parser.add_argument("--list", action="store_true", help="print the cases and leave")
    return parser.parse_args()


def runs_of(number: int, seeds: int) -> list[tuple[int, int]]:
    """Return the trainings of a case, as (case, seed); a trial of a search has one."""
    case = CASES[number]
    count = 1 if case.search else min(seeds, case.seeds or seeds)
    return [(number, seed) for seed in range(count)]


def is_in(path: Path | None, number: int, seeds: int) -> bool:
    """Return whether a file has the scores of a case with all its seeds."""
    rows = json.loads(path.read_text()) if path is not None and path.exists() else []
    wanted, key = len(runs_of(number, seeds)), _key({name: getattr(CASES[number], name) for name in SHOWN})
    return any(_key(row) == key and row["seeds"] >= wanted for row in rows)


class Trainings:
    """Trainings side by side, in the order of the cases, until the time is over.

    Args:
        chosen: the arguments of the command line.
        wanted: the trainings, as (case, seed).
    """

    def __init__(self, chosen: argparse.Namespace, wanted: Sequence[tuple[int, int]]) -> None:
        self.chosen, self.queue = chosen, list(wanted)
        self.found: dict[int, dict[int, Scores]] = {}
        self.end = time.monotonic() + (chosen.seconds or float("inf"))
        self.searched: set[tuple[str, str]] = set()

    def run(self) -> None:
        """Run all trainings; name those that were not started."""
        running: dict[Future[Scores], tuple[int, int]] = {}
        with ProcessPoolExecutor(self.chosen.jobs, multiprocessing.get_context("spawn")) as pool:
            while running or (self.queue and time.monotonic() < self.end):
                # No more than run at once, so that none waits in the pool when the time is over.
                while self.queue and len(running) < self.chosen.jobs and time.monotonic() < self.end:
                    pair = self.queue.pop(0)
                    running[pool.submit(trained, *pair, self.chosen.device, self.chosen.epochs)] = pair
                for done in wait(running, return_when=FIRST_COMPLETED).done:
                    self.note(*running.pop(done), done)
        for number, seed in self.queue:
            print(f"not started: {title(CASES[number])}, seed {seed}")

    def note(self, number: int, seed: int, done: Future[Scores]) -> None:
        """Print and write the scores of a training; one that fails is named, and the others go on."""
        error = done.exception()
        if error is not None:
            print(f"failed: {title(CASES[number])}, seed {seed}: {error}", flush=True)
            return
        self.found.setdefault(number, {})[seed] = done.result()
        print(line(summary(CASES[number], self.found[number])), flush=True)
        if self.chosen.json:
            rows = [summary(CASES[one], seeds) for one, seeds in self.found.items()]
            write(self.chosen.json, rows)
        self.end_search(CASES[number])

    def end_search(self, case: Case) -> None:
        """Train the best trial with the other seeds, once all trials of a search are done."""
        key = (case.dataset, case.method)
        trials = [n for n, one in enumerate(CASES) if one.search and (one.dataset, one.method) == key]
        if not case.search or key in self.searched or not all(one in self.found for one in trials):
            return
        self.searched.add(key)
        best = max(trials, key=lambda one: self.found[one][0][VALID])
        print(f"best on the validation part: {title(CASES[best])}", flush=True)
        self.queue = [(best, seed) for seed in range(1, self.chosen.seeds)] + self.queue


def write(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows to a file; rows of other cases in it are kept."""
    kept = json.loads(path.read_text()) if path.exists() else []
    new = {_key(row): row for row in rows}
    merged = [new.pop(_key(row), row) for row in kept]
    path.write_text(json.dumps([*merged, *new.values()], indent=1) + "\n")


def _key(row: Mapping[str, Any]) -> str:
    return json.dumps([row.get(name) or None for name in SHOWN], sort_keys=True)


@cache
def task_of(dataset: str, seed: int, without: str) -> NodeTask:
    """Return a node task; it is kept, since reading a data set takes seconds."""
    task = te.task(dataset, seed=seed)
    assert isinstance(task, NodeTask)
    if not without:
        return task
    left = task.graph.type_number(without)
    edges = tuple(
        pairs[:0] if left in (relation.source, relation.target) else pairs
        for relation, pairs in zip(task.graph.relations, task.graph.edges, strict=True)
    )
    return replace(task, graph=replace(task.graph, edges=edges))


def trained(number: int, seed: int, device: str, epochs: int | None = None) -> Scores:
    """Return the scores of a case with one seed."""
    case = CASES[number]
    few = {} if epochs is None else {"epochs": epochs}
    if epochs is not None and "context_steps" in case.settings:
        few["context_steps"] = epochs
    if epochs is not None and case.method == "gatne":
        few["epoch_steps"] = epochs
    started = time.monotonic()
    found = dict(scores(replace(case, settings={**case.settings, **few}), seed, device))
    return {**found, "seconds": time.monotonic() - started}


def summary(case: Case, found: Mapping[int, Scores]) -> dict[str, Any]:
    """Return a case with the means and standard deviations of its seeds."""
    names = [name for name in next(iter(found.values())) if name not in (VALID, "seconds")]
    means = {name: fmean(one[name] for one in found.values()) for name in names}
    stds = {name: pstdev(one[name] for one in found.values()) for name in names}
    always = ("settings", "seen")
    row: dict[str, Any] = {one: getattr(case, one) for one in SHOWN if getattr(case, one) or one in always}
    each = [{"seed": seed, **found[seed]} for seed in sorted(found)]
    return {**row, "seeds": len(found), "mean": means, "std": stds, "each": each}


def line(row: Mapping[str, Any]) -> str:
    """Return a case and its scores in one line."""
    shown = ", ".join(f"{name} {row['mean'][name]:.2f} ± {row['std'][name]:.2f}" for name in row["mean"])
    took = fmean(one["seconds"] for one in row["each"])
    return f"{title(row)}: {shown} ({row['seeds']} seeds, {took:.0f} s)"


def title(case: Case | Mapping[str, Any]) -> str:
    """Return a case in words."""
    row = case if isinstance(case, Mapping) else {name: getattr(case, name) for name in SHOWN}
    seen = ", links of seen nodes" if row.get("seen") else ""
    without = f", without {row['without']}" if row.get("without") else ""
    without += f", validation links {row['valid']}" if row.get("valid") else ""
    search = f", search of {row['search']}" if row.get("search") else ""
    return f"{row['dataset']} {row['method']} {dict(row['settings'])}{seen}{without}{search}"


def scores(case: Case, seed: int, device: str) -> Iterator[tuple[str, float]]:
    """Yield the scores of a case in percent, by name."""
    method = methods.create(case.method, dict(case.settings))
    if not case.dataset.endswith("-hgb"):
        yield from class_scores(task_of(case.dataset, seed, case.without), method, seed, device)
        return
    tasks = link_tasks(case.dataset)
    given = next(iter(tasks.values()))
    if case.valid:
        given = published_validation(given, case.valid, seed)
    scorer = method.fit(given, seed=seed, device=device)
    for negatives, task in tasks.items():
        asked = links_of_seen_nodes(task) if case.seen else task
        # The test links are the same; validation links may be other ones, and with them the training graph.
        found = replace(asked, graph=given.graph).evaluate(scorer)
        yield from ((f"{name}, {negatives}", 100 * found[name]) for name in ("roc-auc", "head-mrr"))
        if "batches" in case.settings:
            yield from ordered_scores(task, scorer, negatives)
        if "walked" in case.settings:
            found = links_of_walks(replace(task, graph=given.graph), case.settings["walked"]).evaluate(scorer)
            for name in ("roc-auc", "head-mrr"):
                yield f"{name}, {negatives}, nodes of walks", 100 * found[name]
    if not case.seen:
        yield from random_pair_scores(tasks["random"], scorer)


def class_scores(task: NodeTask, method: Any, seed: int, device: str) -> Iterator[tuple[str, float]]:
    """Yield the scores of a method on a node task, and its micro-F1 on the validation part."""
    scorer = method.fit(task, seed=seed, device=device)
    found = task.evaluate(scorer)
    yield from ((name, 100 * found[name]) for name in ("macro-f1", "micro-f1"))
    logits = np.asarray(scorer.predict(task.nodes["test"]))
    predicted = logits > 0 if task.multi else np.eye(task.num_classes, dtype=bool)[logits.argmax(1)]
    actual = task.labels_of("test")
    wanted = actual.astype(bool) if task.multi else np.eye(task.num_classes, dtype=bool)[actual]
    yield "macro-f1 of means", 100 * macro_f1_of_means(predicted, wanted)
    yield VALID, 100 * task.evaluate(scorer, part="valid")["micro-f1"]


def macro_f1_of_means(predicted: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> float:
    """Return the F1 score of the mean precision and the mean recall over classes."""
    hits = (predicted & wanted).sum(0)
    precision = float((hits / np.maximum(predicted.sum(0), 1)).mean())
    recall = float((hits / np.maximum(wanted.sum(0), 1)).mean())
    return 2 * precision * recall / max(precision + recall, 1e-12)


if __name__ == "__main__":
    main()
