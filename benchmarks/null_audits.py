"""How often the checks of the audit find something in benchmarks with nothing wrong.

python -m benchmarks.null_audits                    100 benchmarks of each kind and size, a table
python -m benchmarks.null_audits --json FILE        keeps the numbers too
python -m benchmarks.null_audits --runs 10          fewer of them

Nothing can be learned from these benchmarks, or only what should be: edges, triples, links, classes and
features are drawn at random, and users have one of a few tastes. So every finding is a false alarm. The
sizes begin with a handful of test units, where chance is largest: a check must then say that the benchmark is
too small, or nothing.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import trueedge as te
from trueedge.graph.typed import HeteroGraph, Labels, Relation
from trueedge.graph.typed_validation import sorted_edges
from trueedge.splits import TripleSplit
from trueedge.tasks import Task

RUNS = 100
CLASSES = ("red", "green", "blue")
TASTES = 4
Array = NDArray[np.int64]


@dataclass(frozen=True)
class Alarms:
    """What the checks said of the benchmarks of a kind and size.

    Attributes:
        kind: the kind of task.
        units: the mean number of test units: positives, triples, nodes, links or interactions.
        runs: how many benchmarks there were.
        alarms: in how many of them a check found something, by its name.
        small: in how many it said that the benchmark is too small, by its name.
        checks: how many checks there are.
    """

    kind: str
    units: float
    runs: int
    alarms: dict[str, int]
    small: dict[str, int]
    checks: int


def graph(seed: int, size: int, protocol: str = "existing") -> Task:
    """A graph of random edges with random features; a tenth of them are the test part."""
    rng = np.random.default_rng(seed)
    nodes = 20 + size // 2
    table = rng.normal(size=(nodes, 8))
    return te.task(
        te.Graph.from_edges(_pairs(rng, nodes, nodes, 10 * size, True), nodes, table), protocol, seed
    )


def triples(seed: int, size: int) -> Task:
    """Random triples of three relations; a small part of them are the test part."""
    rng = np.random.default_rng(seed)
    entities = 100 + size // 2
    pairs = _pairs(rng, entities, 3 * entities, 10 * entities + 2 * size)
    rows = np.column_stack([pairs[:, 0], pairs[:, 1] % 3, pairs[:, 1] // 3]).astype(np.int32)
    rows = rows[rows[:, 0] != rows[:, 2]]
    train = te.KnowledgeGraph.from_triples(rows[2 * size :], entities, 3, name="null")
    return te.task(TripleSplit(train, rows[size : 2 * size], rows[:size], "random"), seed=seed)


def nodes(seed: int, size: int) -> Task:
    """Nodes with random classes, features and neighbours; half of them are the test part."""
    rng = np.random.default_rng(seed)
    things, others = 2 * size, 20 + size
    starts = np.cumsum([0, things, others])
    edges = _pairs(rng, things, others, 16 * size) + np.array([0, things])
    labels = Labels(
        0,
        np.arange(things, dtype=np.int32),
        rng.integers(0, len(CLASSES), things).astype(np.int32),
        CLASSES,
        rng.permutation(np.arange(things) % 2 == 0),
    )
    made = HeteroGraph(
        ("thing", "other"),
        starts,
        (Relation("has", 0, 1),),
        (sorted_edges(edges, int(starts[-1]))[0],),
        tuple(rng.normal(size=(count, 12)).astype(np.float32) for count in (things, others)),
        labels,
        name="null",
    )
    return te.task(made, "node-classification", seed)


def links(seed: int, size: int) -> Task:
    """Random links of users with items; a tenth of them are the test part."""
    rng = np.random.default_rng(seed)
    users, items = 10 + size // 4, 10 + size // 4
    starts = np.cumsum([0, users, items])
    ends = _pairs(rng, users, items, 10 * size) + np.array([0, users])
    known = _pairs(rng, users, users, 4 * users, True)
    made = HeteroGraph(
        ("user", "item"),
        starts,
        (Relation("buys", 0, 1), Relation("knows", 0, 0)),
        tuple(sorted_edges(one, int(starts[-1]))[0] for one in (ends, known)),
        tuple(rng.normal(size=(count, 12)).astype(np.float32) for count in (users, items)),
        name="null",
    )
    return te.task(made, "typed-links", seed, relation="buys", negatives="random")


def items(seed: int, size: int) -> Task:
    """Users and items of a few tastes, in any order; a fifth of the interactions are the test part."""
    rng = np.random.default_rng(seed)
    users, count = max(size // 3, 16), 20 + size // 10
    taste, kind = rng.integers(0, TASTES, users), rng.integers(0, TASTES, count)
    rows = []
    for user in range(users):
        weights = np.where(kind == taste[user], 10.0, 1.0)
        chosen = rng.choice(count, size=12, replace=False, p=weights / weights.sum())
        rows += [[user, item] for item in chosen]
    return te.task(te.Interactions.from_pairs(np.array(rows), users, count, name="null"), seed=seed)


def _pairs(rng: np.random.Generator, left: int, right: int, count: int, undirected: bool = False) -> Array:
    """Distinct random pairs, in random order; without loops and repeats in the other direction."""
    keys = rng.choice(left * right, size=min(3 * count, left * right), replace=False)
    found = np.column_stack([keys // right, keys % right])
    if undirected:
        found = found[found[:, 0] < found[:, 1]]
    return found[:count]


KINDS: dict[str, tuple[Callable[[int, int], Task], str]] = {
    "link": (graph, "test positives"),
    "link, degree-corrected": (lambda seed, size: graph(seed, size, "degree-corrected"), "test positives"),
    "triples": (triples, "test triples"),
    "nodes": (nodes, "test nodes"),
    "typed-links": (links, "test links"),
    "items": (items, "test interactions"),
}
SIZES = (7, 20, 60, 200, 600)


def measured(kind: str, size: int, runs: int) -> Alarms:
    """Audit some benchmarks of a kind and a size."""
    make, unit = KINDS[kind]
    alarms, small, units, checks = Counter[str](), Counter[str](), [], 0
    for seed in range(runs):
        found = te.audit(make(seed, size))
        units.append(found.sizes[unit])
        checks = max(checks, len(found))
        alarms.update(one.check for one in found if one.wrong)
        small.update(found.names("too small"))
    return Alarms(kind, float(np.mean(units)), runs, dict(alarms), dict(small), checks)


def every(kinds: Iterable[str], runs: int) -> Iterator[Alarms]:
    """Audit benchmarks of some kinds, of all sizes."""
    for kind in kinds:
        for size in SIZES:
            yield measured(kind, size, runs)


def main() -> None:
    """Print a line for each kind and size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--json", type=Path)
    words = parser.parse_args()
    found = []
    print(f"{'kind':<24} {'test units':>10} {'checks':>7} {'most alarms':>12}  by check; too small")
    for one in every([words.kind] if words.kind else KINDS, words.runs):
        found.append(one)
        most = max(one.alarms.values(), default=0) / one.runs
        small = sum(one.small.values()) / one.runs
        told = ", ".join(f"{name} {count}" for name, count in sorted(one.alarms.items())) or "none"
        print(
            f"{one.kind:<24} {one.units:>10.0f} {one.checks:>7} {most:>12.1%}  {told}; {small:.1f}",
            flush=True,
        )
    if words.json is not None:
        words.json.write_text(json.dumps([asdict(one) for one in found], indent=1) + "\n")


if __name__ == "__main__":
    main()
