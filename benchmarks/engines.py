"""Compare engines with one process and with our own processes: records, CPU time and wall clock.

python -m benchmarks.engines                       everything
python -m benchmarks.engines --cells 500           fewer empty cells
python -m benchmarks.engines --only long           one measure, in a file of its own

Empty cells share one small task, so that what is measured is the way there and back.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import trueedge as te
from benchmarks.graphs import heavy_tailed
from trueedge.methods import Method
from trueedge.negatives.heart import heart
from trueedge.negatives.heart_shards import heart_shards
from trueedge.results.merging import merge
from trueedge.runs import Cell, InProcess, Processes, Runner, drive
from trueedge.runs.engines.dask_runner import DaskRunner
from trueedge.runs.engines.shards import ShardsOnDask
from trueedge.runs.engines.share import OwnShare, Share
from trueedge.runs.provenance import machine, versions

RESULTS = Path(__file__).parent / "results"
WORKERS = 2
SECONDS_OF_A_CELL = 1.0
# How often the runners take turns, and how often each is started.
TURNS, STARTS = 6, 3
# Positives of the graph with shards, and how their negatives are drawn.
POSITIVES = 2000
ASKED: dict[str, Any] = {"k": 100, "seed": 1, "eps": 5e-5}


@dataclass(frozen=True)
class Waiting(Method):
    """Waits for a second: what cells of that length cost, on a machine with other work to do."""

    name: ClassVar[str] = "waiting"
    family: ClassVar[str] = "own"

    def fit(self, task: Any, seed: int = 0, device: str = "cpu") -> Any:
        """Return a scorer after a second."""
        del task, device
        time.sleep(SECONDS_OF_A_CELL)
        return lambda pairs: ((pairs[:, 0] * 31 + pairs[:, 1] * (seed + 7)) % 97) * 1.0


def main(arguments: list[str] | None = None) -> int:
    """Measure, print and write the results; 1 where records differ."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engines", description="Compare engines.")
    parser.add_argument("--cells", type=int, default=5000, help="number of empty cells")
    parser.add_argument("--long", type=int, default=60, help="number of cells that take a second")
    parser.add_argument("--found", type=int, default=10_000, help="number of finished cells that are skipped")
    parser.add_argument("--edges", type=int, default=30_000_000, help="edges of the graph with shards")
    parser.add_argument("--only", default="", help="one of start, long, empty, skipped, shares, negatives")
    parser.add_argument("--output", type=Path, default=RESULTS, help="the folder of the results")
    options = parser.parse_args(arguments)
    card: dict[str, Any] = {"load": os.getloadavg()}
    with tempfile.TemporaryDirectory(prefix="engines-") as folder:
        place = Path(folder)
        measures: dict[str, Callable[[], dict[str, Any]]] = {
            "start": start,
            "long": lambda: compare(place / "long", cells(Waiting(), options.long)),
            "empty": lambda: compare(place / "empty", cells(te.methods.create("cn"), options.cells)),
            "skipped": lambda: skipped(place / "found", options.found),
            "shares": lambda: shares(place / "shares"),
            "negatives": lambda: negatives(place / "negatives", options.edges),
        }
        for name, measure in measures.items():
            if options.only in ("", name):
                card[name] = measure()
                print(name, json.dumps(card[name]), flush=True)
    card |= {"machine": machine(), "versions": versions()}
    options.output.mkdir(parents=True, exist_ok=True)
    name = f"engines{options.only and f'-{options.only}'}.json"
    (options.output / name).write_text(json.dumps(card, indent=1) + "\n")
    measured_ones = [one for one in card.values() if isinstance(one, dict)]
    return int(not all(one.get("identical", True) for one in measured_ones))


def cells(method: Method, count: int) -> list[Cell]:
    """Return cells of one task that differ in their seed."""
    return [Cell("karate", "existing", method, seed, task_seed=0) for seed in range(count)]


@contextmanager
def measured(into: dict[str, Any], name: str) -> Iterator[None]:
    """Add the wall clock and the CPU time of this process to what was measured under the same name."""
    wall, used = time.perf_counter(), time.process_time()
    yield
    seconds = {"wall": time.perf_counter() - wall, "cpu_of_driver": time.process_time() - used}
    before = into.get(name, {})
    into[name] = {key: round(before.get(key, 0.0) + value, 2) for key, value in seconds.items()}


def start() -> dict[str, Any]:
    """Measure how long a cluster takes to run its first cell, and that importing trueedge brings no Dask."""
    found: dict[str, Any] = {name: [] for name in runners()}
    for _ in range(STARTS):
        for name, made in runners().items():
            once: dict[str, Any] = {}
            with measured(once, name), made() as runner:
                list(drive(cells(te.methods.create("cn"), 1), None, runner))
            found[name].append(once[name])
    script = (
        "import trueedge, sys; print([one for one in sys.modules if one.partition('.')[0] in"
        " ('dask', 'distributed') or one.startswith('trueedge.runs.engines.')])"
    )
    words = [sys.executable, "-c", script]
    done = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    return {**found, "modules_that_import_trueedge_brings": done}


def runners() -> dict[str, Callable[[], Runner]]:
    """Return what is compared."""
    return {"processes": lambda: Processes(WORKERS), "dask": lambda: DaskRunner(jobs=WORKERS)}


def compare(place: Path, asked: list[Cell]) -> dict[str, Any]:
    """Run cells with each runner, in turns so that other work on the machine hits both; compare records."""
    found: dict[str, Any] = {"cells": len(asked), "turns": TURNS}
    stores = {name: te.Store(place / name) for name in runners()}
    ratios = []
    with ExitStack() as stack:
        started = {name: stack.enter_context(made()) for name, made in runners().items()}
        for runner in started.values():
            # Whatever is imported or started for the first cell does not count.
            list(drive(cells(te.methods.create("ra"), WORKERS), None, runner))
        for turn in range(TURNS):
            part = asked[turn * len(asked) // TURNS : (turn + 1) * len(asked) // TURNS]
            once: dict[str, Any] = {}
            for name in sorted(started, reverse=bool(turn % 2)):
                with measured(found, name), measured(once, name):
                    for _ in drive(part, stores[name], started[name]):
                        pass
            ratios.append(once["dask"]["wall"] / max(0.01, once["processes"]["wall"]))
    made = {name: content(store) for name, store in stores.items()}
    found["ratio"] = round(found["dask"]["wall"] / found["processes"]["wall"], 3)
    found["ratios_of_turns"] = [round(one, 3) for one in ratios]
    found["identical"] = made["processes"] == made["dask"] and len(made["dask"]) == len(asked)
    return found


def content(store: te.Store) -> dict[str, Any]:
    """Return what a store holds, by request."""
    return {record.key: (record.to_dict()["metrics"], record.units) for record in store.records()}


def skipped(place: Path, count: int) -> dict[str, Any]:
    """Measure how long it takes to find that all cells are done."""
    asked, store = cells(te.methods.create("cn"), count), te.Store(place)
    (first,) = (outcome.record for _, outcome in drive(asked[:1], None, InProcess()))
    assert first is not None
    from dataclasses import replace

    store.append_all([replace(first, key=cell.key, seed=cell.seed) for cell in asked])
    found: dict[str, Any] = {"cells": count}
    with measured(found, "dask"), DaskRunner(jobs=WORKERS) as runner:
        new = sum(outcome.fresh for _, outcome in drive(asked, store, runner))
    found["new"] = new
    return found


def shares(place: Path, parts: int = 64) -> dict[str, Any]:
    """Run 64 shares, merge them twice, and compare with one run."""
    asked = [
        Cell("karate", "existing", te.methods.create(name), seed)
        for seed in range(50)
        for name in ("cn", "ra", "aa")
    ]
    whole = te.Store(place / "whole")
    list(drive(asked, whole, InProcess()))
    for number in range(1, parts + 1):
        with OwnShare(InProcess(), Share(number, parts)) as runner:
            list(drive(asked, te.Store(place / f"part-{number}"), runner))
    folders = sorted(place.glob("part-*"))
    first, second = (merge(folders, place / "merged") for _ in range(2))
    merged = te.Store(place / "merged")
    return {
        "cells": len(asked),
        "parts": parts,
        "identical": content(merged) == content(whole) and len(merged) == len(whole),
        "added_at_first": first.new,
        "added_again": second.new,
    }


def negatives(place: Path, edges: int) -> dict[str, Any]:
    """Make shards with two workers, and with a run that is killed and continued; compare with memory."""
    graph, positives = _asked(edges)
    found: dict[str, Any] = {"edges": graph.num_edges, "positives": len(positives)}
    with measured(found, "memory"):
        expected = heart(graph, positives, **ASKED)
    with measured(found, "two_workers"):
        made = heart_shards(graph, positives, place / "a", ends_per_shard=64, work=on_workers(), **ASKED)
    process = multiprocessing.get_context("spawn").Process(target=_fill, args=(place, edges))
    process.start()
    while process.is_alive() and len(list((place / "b").glob("shard-*.npy"))) < 2:
        time.sleep(0.05)
    process.kill()
    process.join()
    found["shards_at_the_kill"] = len(list((place / "b").glob("shard-*.npy")))
    found["shards"] = made.num_shards
    again = heart_shards(graph, positives, place / "b", ends_per_shard=64, work=on_workers(), **ASKED)
    same = [np.array_equal(one.assemble(), expected) for one in (made, again)]
    files = [(place / "a" / path.name).read_bytes() == path.read_bytes() for path in (place / "b").iterdir()]
    return {**found, "peak_memory_gb": peak_memory(), "identical": all(same) and all(files)}


def peak_memory() -> dict[str, float]:
    """Return the largest memory of this process, and of the largest of those it has started, in GB."""
    asked = {"driver": resource.RUSAGE_SELF, "largest_worker": resource.RUSAGE_CHILDREN}
    return {name: round(resource.getrusage(who).ru_maxrss / 2**20, 2) for name, who in asked.items()}


def on_workers() -> ShardsOnDask:
    """Return what makes shards with two workers."""
    return ShardsOnDask(jobs=WORKERS)


def _asked(edges: int) -> tuple[te.Graph, Any]:
    graph = heavy_tailed(max(1000, edges // 10), edges)
    return graph, graph.edges[:: max(1, edges // POSITIVES)]


def _fill(place: Path, edges: int) -> None:
    heart_shards(*_asked(edges), place / "b", ends_per_shard=64, work=on_workers(), **ASKED)


if __name__ == "__main__":
    sys.exit(main())
