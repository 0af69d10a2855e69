"""Hard negatives for generated graphs of ogbl-citation2's and ogbl-ppa's size, with time and memory as JSON.

python -m benchmarks.large_heart citation2 --scratch FOLDER
python -m benchmarks.large_heart ppa --scratch FOLDER --sample 2000     some positives, the rest extrapolated

The graph is made once, with its nodes in random order, and lies in the scratch folder, from where it is
mapped into memory. A run that is killed goes on where it was when the command is given again, and several at
one time share the work; only a run from start to end alone measures it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np

from benchmarks.graphs import EXPONENT
from benchmarks.run import RESULTS, source_hash
from benchmarks.timing import Bystanders
from trueedge import datasets
from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.negatives.heart_shards import heart_shards
from trueedge.negatives.sharded import ShardedNegatives
from trueedge.randomness import generator
from trueedge.runs.provenance import machine, peak_memory, versions
from trueedge.splits import fraction

K = 500
Result = TypeVar("Result")


@dataclass(frozen=True)
class Size:
    """A graph and what is asked of it.

    Attributes:
        nodes: of the graph.
        edges: of the graph, with those that are held out.
        positives: test edges; as many validation edges are known.
        eps: PageRank's, as it is published for the data set.
        seconds: the negatives have to be there by then.
        gibibytes: the whole command has to do with less.
        k: negatives of each positive.
    """

    nodes: int
    edges: int
    positives: int
    eps: float
    seconds: float
    gibibytes: float
    k: int = K


SIZES = {
    "citation2": Size(2_927_963, 30_561_187, 86_596, 5e-5, 600, 8),
    "ppa": Size(576_289, 30_326_273, 100_000, 5e-6, 2700, 12),
    "collab": Size(235_868, 1_285_465, 46_329, 1e-5, 150, 8),
    "tiny": Size(3_000, 20_000, 200, 1e-4, 60, 8, k=20),
}


@dataclass
class Stage:
    """A step of the command.

    Attributes:
        name: what was done.
        seconds: by the clock.
        user: processor seconds of all threads.
        others: the share of the machine that other processes took meanwhile.
        peak_memory: the most bytes resident in that step, mapped files included.
    """

    name: str
    seconds: float
    user: float
    others: float | None
    peak_memory: int


def main(arguments: list[str] | None = None) -> int:
    """Make the graph if it is not there, then its negatives; print and keep what that took."""
    options = _parse(arguments)
    size, place = SIZES[options.size], options.scratch / options.size
    stages: list[Stage] = []
    try:
        if not (place / "valid.npy").exists():
            timed(stages, "make the graph", lambda: make(size, place))
        graph = timed(stages, "load the graph", lambda: Graph.load(place / "graph", mmap=True))
        known, positives = np.load(place / "valid.npy"), np.load(place / "test.npy")[: options.sample]
        folder = place / (f"negatives-{options.sample}" if options.sample else "negatives")
        there = len(list(folder.glob("shard-*.npy")))
        # What is compiled is loaded, or compiled for the first time, before the clock runs.
        timed(stages, "load compiled code", lambda: warm_up(folder))
        negatives = timed(
            stages, "make the negatives", lambda: _negatives(graph, positives, folder, size, known)
        )
        digest = timed(stages, "read the negatives", lambda: hash_of(negatives))
    except InputError as error:
        print(error, file=sys.stderr)
        return 1
    content = report(options.size, size, stages, negatives, there)
    content |= {"negatives": digest, "max_degree": int(graph.degrees.max())}
    text = json.dumps(content, indent=1, ensure_ascii=False)
    print(text)
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / f"large-heart-{options.size}.json").write_text(text + "\n")
    return 0


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.large_heart", description="Time hard negatives."
    )
    parser.add_argument("size", choices=tuple(SIZES))
    parser.add_argument("--scratch", type=Path, required=True, help="a folder with a gigabyte of room")
    parser.add_argument("--sample", type=int, help="take so many of the positives, and extrapolate")
    parser.add_argument("--output", type=Path, help=f"a folder to keep the JSON in, such as {RESULTS.name}/")
    options = parser.parse_args(arguments)
    if options.sample is not None and options.sample < 1:
        parser.error(f"--sample must be 1 or more, got {options.sample}")
    return options


def timed(stages: list[Stage], name: str, work: Callable[[], Result]) -> Result:
    """Do a step, and write down what it took."""
    start, user = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF).ru_utime
    with Bystanders() as bystanders, peak_memory() as peak:
        result = work()
    seconds = time.perf_counter() - start
    user = resource.getrusage(resource.RUSAGE_SELF).ru_utime - user
    stages.append(Stage(name, seconds, user, bystanders.share, peak.memory))
    print(f"{name}: {seconds:.1f} s", file=sys.stderr)
    return result


def make(size: Size, place: Path) -> None:
    """A graph with a heavy tail and its held-out edges, in a folder."""
    grown = datasets.price(size.nodes, size.edges, EXPONENT)
    # Grown graphs have their hubs first, which caches like; data sets do not.
    names = generator(0, "benchmarks", "node order").permutation(size.nodes)
    graph = Graph.from_edges(names[grown.edges], size.nodes, name=f"{grown.name}, nodes in random order")
    del grown, names
    share = (size.positives + 0.5) / size.edges
    split = fraction(graph, share, valid=share, keep_connected=False)
    assert len(split.valid) == len(split.test) == size.positives
    split.train.save(place / "graph")
    np.save(place / "test.npy", split.test)
    # Last: its being there says that all is.
    np.save(place / "valid.draft.npy", split.valid)
    os.replace(place / "valid.draft.npy", place / "valid.npy")


def warm_up(folder: Path) -> None:
    """Negatives of a small graph, in memory and in shards."""
    from tempfile import TemporaryDirectory

    small = datasets.price(300, 2_000, EXPONENT)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent) as place:
        heart_shards(small, small.edges[::100], Path(place) / "negatives", k=20, known=[[0, 1]])


def _negatives(
    graph: Graph, positives: np.ndarray[Any, Any], folder: Path, size: Size, known: np.ndarray[Any, Any]
) -> ShardedNegatives:
    return heart_shards(graph, positives, folder, k=size.k, eps=size.eps, known=known, progress=show)


def show(done: int, total: int) -> None:
    """A line that says how far the work is, where somebody looks."""
    if sys.stderr.isatty():
        print(f"\r{done:,} of {total:,} end nodes", end="\n" if done == total else "", file=sys.stderr)


def hash_of(negatives: ShardedNegatives) -> str:
    """A SHA-256 of the negatives, read from the first to the last."""
    digest = hashlib.sha256()
    for first in range(0, len(negatives), 4096):
        digest.update(negatives[first : first + 4096].tobytes())
    return digest.hexdigest()


def report(
    name: str, size: Size, stages: list[Stage], negatives: ShardedNegatives, there: int
) -> dict[str, Any]:
    """What is kept of a run."""
    spent = next(stage for stage in stages if stage.name == "make the negatives")
    peak = max(stage.peak_memory for stage in stages)
    made = len(negatives.ends.keys)
    content: dict[str, Any] = {
        "size": name,
        "graph": {"nodes": size.nodes, "edges": size.edges, "exponent": EXPONENT, "node_order": "random"},
        "positives": len(negatives),
        "ends": made,
        "k": size.k,
        "eps": size.eps,
        "shards": negatives.num_shards,
        "shards_found": there,
        "stages": [asdict(stage) for stage in stages],
        "peak_memory": peak,
    }
    in_time: bool | None = spent.seconds < size.seconds
    if len(negatives) < size.positives:
        ends = len(np.unique(np.load(negatives.folder.parent / "test.npy")))
        content["extrapolated"] = {
            "ends": ends,
            "seconds": spent.seconds * ends / made,
            "user": spent.user * ends / made,
            "from": f"{len(negatives):,} of {size.positives:,} positives, by distinct end nodes",
        }
        in_time = None
    return content | {
        "bars": {
            "seconds": {"below": size.seconds, "reached": None if there else in_time},
            "gibibytes": {"below": size.gibibytes, "reached": peak < size.gibibytes * 2**30},
        },
        "threads": numba.get_num_threads(),
        "source": source_hash(),
        "machine": machine(),
        "versions": versions(),
    }


if __name__ == "__main__":
    sys.exit(main())
