"""GATNE on HGB's links with the settings of the published code, trained in numba on one thread.

python -m benchmarks.published_gatne --dataset pubmed-hgb --json FILE            as published
python -m benchmarks.published_gatne --dataset pubmed-hgb --rate 1e-3 --check 2500 --checks 10

The published command takes batches of 1,000 pairs with a learning rate of 0.0001, at most 100 epochs of all
pairs of walks that are drawn once, and stops after the sixth epoch without a better AUC on the validation
part. The test part is scored at each check, but the check is chosen on the validation part. ``--check``
compares after so many steps instead of an epoch.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.gatne_steps import Weights
from benchmarks.hgb_cases import GATNE_FIRST, GATNE_WALKED
from benchmarks.hgb_links import link_tasks, links_of_nodes, published_validation
from trueedge.kernels.walks.random_walks import NOWHERE, random_walks
from trueedge.methods.typed.models.gatne import undirected
from trueedge.tasks import TypedLinkTask
from trueedge.training.typed.inputs import TypedInputs

DIM, EDGE_DIM, ATTENTION_DIM, NEIGHBORS, NEGATIVES = 200, 10, 20, 10, 5
WALKS, WALK_LENGTH, WINDOW = 20, 10, 2


def main() -> None:
    """Train, and print the scores of each check."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dataset", default="pubmed-hgb")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rate", type=float, default=1e-4, help="the learning rate")
    parser.add_argument("--batch", type=int, default=1000, help="pairs of a step")
    parser.add_argument("--check", type=int, default=0, help="steps between two checks; 0: an epoch")
    parser.add_argument("--checks", type=int, default=100, help="the largest number of checks")
    parser.add_argument("--patience", type=int, default=5, help="checks without a better AUC before the last")
    parser.add_argument("--every-relation", action="store_true", help="walk along every relation of PubMed")
    parser.add_argument("--json", type=Path, help="write the scores to this file after each check")
    chosen = parser.parse_args()
    given = {name: value for name, value in vars(chosen).items() if name != "json"}
    row: dict[str, Any] = {**given, "found": []}
    for check in Training(chosen).checks():
        row["found"].append(check)
        print(" ".join(f"{name} {value:.5g}" for name, value in check.items()), flush=True)
        if chosen.json:
            write(chosen.json, row)
    best = max(row["found"], key=lambda one: one["valid roc-auc"])
    print("best on the validation part:", {name: round(value, 2) for name, value in best.items()})


def write(path: Path, row: dict[str, Any]) -> None:
    """Write a training to a file; other trainings in it are kept."""
    kept = json.loads(path.read_text()) if path.exists() else []
    others = [one for one in kept if {**one, "found": None} != {**row, "found": None}]
    path.write_text(json.dumps([*others, row], indent=1) + "\n")


@dataclass(frozen=True)
class Walked:
    """What the walks of the published code meet.

    Attributes:
        nodes: int32 (v,), the nodes that are in a walk, the most frequent first.
        pairs: int32 (m, 3), places in ``nodes`` of a node and of one near it, and the relation walked along.
    """

    nodes: NDArray[np.int32]
    pairs: NDArray[np.int32]


class Training:
    """One training, with validation links drawn as the published code does.

    Args:
        chosen: the arguments of the command line.
    """

    def __init__(self, chosen: argparse.Namespace) -> None:
        self.chosen, self.rng = chosen, np.random.default_rng(chosen.seed)
        self.tests = link_tasks(chosen.dataset)
        self.task = published_validation(next(iter(self.tests.values())), "every", chosen.seed)
        some = chosen.dataset == "pubmed-hgb" and not chosen.every_relation
        self.walked = walked(self.task, GATNE_WALKED.split(", ") if some else None, chosen.seed)
        near = sampled_neighbors(self.task, self.walked.nodes, self.rng)
        batches = -(-len(self.walked.pairs) // chosen.batch)
        self.check_steps = chosen.check or batches
        most = self.check_steps * chosen.checks + 1
        self.weights = Weights(near, DIM, EDGE_DIM, ATTENTION_DIM, most, self.rng)
        print(
            f"{len(self.walked.nodes)} nodes, {len(self.walked.pairs)} pairs, {batches} steps an epoch",
            flush=True,
        )

    def checks(self) -> Iterator[dict[str, float]]:
        """Yield the scores at each check, until the AUC on the validation part no longer rises."""
        best, without, started = 0.0, 0, time.process_time()
        steps = self.steps()
        for _ in range(self.chosen.checks):
            loss = next(steps)
            check = {"step": self.weights.steps, "loss": loss, **self.scores()}
            yield {**check, "seconds": time.process_time() - started}
            without = 0 if check["valid roc-auc"] > best else without + 1
            best = max(best, check["valid roc-auc"])
            if without > self.chosen.patience:
                return

    def steps(self) -> Iterator[float]:
        """Train, and yield the mean loss since the last check at each."""
        pairs, size, losses = self.walked.pairs, self.chosen.batch, []
        count = len(self.walked.nodes)
        while True:
            pairs = self.rng.permutation(pairs)
            # Parts of an epoch, so that the nodes drawn against the pairs fit into memory.
            for first in range(0, len(pairs), 500 * size):
                rest = self.check_steps - len(losses)
                part = pairs[first : first + 500 * size]
                for some in (part[: rest * size], part[rest * size :]):
                    if not len(some):
                        continue
                    drawn = drawn_by_rank(count, (len(some), NEGATIVES), self.rng)
                    losses += self.weights.train(some, drawn, size, self.chosen.rate).tolist()
                    if len(losses) == self.check_steps:
                        yield float(np.mean(losses))
                        losses = []

    def scores(self) -> dict[str, float]:
        """Return the scores on the validation part and with both kinds of negatives of the test part."""
        (relation,) = self.task.relations
        vectors = np.zeros((self.task.graph.num_nodes, DIM), dtype=np.float32)
        vectors[self.walked.nodes] = self.weights.vectors(relation, self.chosen.rate)
        met = np.zeros(len(vectors), dtype=bool)
        met[self.walked.nodes] = True
        found = {}
        links = {side: getattr(self.task, side)["valid"] for side in ("positives", "negatives")}
        near, far = (
            (vectors[one[:, 0]] * vectors[one[:, 2]]).sum(1)[met[one[:, 0]] & met[one[:, 2]]]
            for one in links.values()
        )
        below = np.searchsorted(np.sort(far), near)
        found["valid roc-auc"] = 100 * float(below.mean() / len(far))
        for negatives, test in self.tests.items():
            every, some = test.evaluate(vectors), links_of_nodes(test, met).evaluate(vectors)
            for name in ("roc-auc", "head-mrr"):
                found[f"{name}, {negatives}"] = 100 * every[name]
                found[f"{name}, {negatives}, nodes of walks"] = 100 * some[name]
        return found


def walked(task: TypedLinkTask, relations: list[str] | None, seed: int) -> Walked:
    """Return what walks meet; those of relations that are not walked along end where they begin."""
    graph, inputs = task.graph, TypedInputs.of(task.graph, "cpu")
    found, visits = [], np.zeros(graph.num_nodes, dtype=np.int64)
    for number, relation in enumerate(graph.relations):
        indptr, indices = undirected(inputs, number)
        nodes = np.flatnonzero(np.diff(indptr))
        if relations is not None and relation.name not in relations:
            kinds = np.array(graph.node_types)[graph.types[nodes]]
            visits[nodes[kinds == GATNE_FIRST.get(relation.name, "")]] += WALKS
            continue
        roots = np.tile(nodes, WALKS).astype(np.int32)
        walks = random_walks(indptr, indices, roots, WALK_LENGTH, seed, 1.0, 1.0, number << 32)
        assert not (walks == NOWHERE).any()
        visits += np.bincount(walks.ravel(), minlength=graph.num_nodes)
        # The window of five of the command is halved.
        for shift in range(1, WINDOW + 1):
            ends = np.stack([walks[:, :-shift].ravel(), walks[:, shift:].ravel()], axis=1)
            for one in (ends, ends[:, ::-1]):
                found.append(np.column_stack([one, np.full(len(one), number, dtype=np.int32)]))
    order = np.argsort(-visits, kind="stable")[: np.count_nonzero(visits)].astype(np.int32)
    places = np.full(graph.num_nodes, -1, dtype=np.int32)
    places[order] = np.arange(len(order))
    pairs = np.concatenate(found)
    pairs[:, :2] = places[pairs[:, :2]]
    return Walked(order, pairs)


def sampled_neighbors(
    task: TypedLinkTask, nodes: NDArray[np.int32], rng: np.random.Generator
) -> NDArray[np.int32]:
    """Return ten neighbours of each node by each relation, among the nodes, int32 (v, relations, 10).

    Few are repeated at random, more are drawn with replacement, and a node without any stands for itself.
    """
    places = np.full(task.graph.num_nodes, -1, dtype=np.int32)
    places[nodes] = np.arange(len(nodes))
    found = np.empty((len(nodes), task.graph.num_relations, NEIGHBORS), dtype=np.int32)
    found[:] = np.arange(len(nodes), dtype=np.int32)[:, None, None]
    for number, edges in enumerate(task.graph.edges):
        both = places[np.concatenate([edges, edges[:, ::-1]])]
        both = both[(both >= 0).all(1)]
        both = both[np.argsort(both[:, 0], kind="stable")]
        indptr = np.searchsorted(both[:, 0], np.arange(len(nodes) + 1))
        degrees = np.diff(indptr)
        place = (rng.random((len(nodes), NEIGHBORS)) * degrees[:, None]).astype(np.int64)
        first = np.arange(NEIGHBORS)
        whole = (degrees[:, None] <= NEIGHBORS) & (first < degrees[:, None])
        place = np.where(whole, first, place)
        some = degrees > 0
        found[some, number] = both[(indptr[:-1, None] + place)[some], 1]
    return found


def drawn_by_rank(count: int, shape: tuple[int, int], rng: np.random.Generator) -> NDArray[np.int32]:
    """Return places with weight log(1 + 1 / (place + 1)), int32 of a shape."""
    return (((count + 1.0) ** rng.random(shape)).astype(np.int64).clip(1, count) - 1).astype(np.int32)


if __name__ == "__main__":
    main()
