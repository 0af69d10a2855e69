"""How many of HeaRT's published negatives on ogbl-ddi are ties, and what heuristics score against them.

python -m benchmarks.released_ties -o benchmarks/results/released-ties.json

The published rule ranks candidates by resource allocation and by personalised PageRank and takes the better
rank; a score of 0 has the rank after the last positive one. The published PageRank (residuals down to
1e-5 times the degree) ends at the source and its neighbours, since nodes of ogbl-ddi have 500 neighbours on
average. Neighbours are excluded, so hardly any candidate has a positive PageRank, all others share the first
rank, and the order of ties decides. This script follows that rule in plain numpy, shares no code with the
package but the loader, and breaks ties in three ways: at random, by the installed ``torch.topk``, and by id.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numba
import numpy as np
import torch
from numpy.typing import NDArray

import trueedge as te

ALPHA, EPSILON, HALF = 0.15, 1e-5, 250
WAYS = ("random", "torch", "id")
HITS = (20, 50, 100)
Floats = NDArray[np.float64]


@numba.njit
def page_rank(source, indptr, indices, bound=EPSILON):  # type: ignore[no-untyped-def]
    """Return the PageRank of pushes, float (nodes,), until residuals are below a bound times the degree."""
    nodes = len(indptr) - 1
    found, residual, queued = np.zeros(nodes), np.zeros(nodes), np.zeros(nodes, np.bool_)
    residual[source] = ALPHA
    queue, place = [source], 0
    while place < len(queue):
        node = queue[place]
        place += 1
        queued[node] = False
        begin, end = indptr[node], indptr[node + 1]
        found[node] += residual[node]
        share = (1 - ALPHA) * residual[node] / max(end - begin, 1)
        residual[node] = 0.0
        for position in range(begin, end):
            other = indices[position]
            residual[other] += share
            enough = ALPHA * bound * (indptr[other + 1] - indptr[other])
            if residual[other] >= enough and not queued[other]:
                queued[other] = True
                queue.append(other)
    return found


def ranks(scores: Floats, masked: NDArray[np.bool_]) -> Floats:
    """Return the published ranks of nodes by one heuristic: ties get their worst place, zeros the last."""
    positive = (scores > 0) & ~masked
    found = np.zeros(len(scores))
    last = 0.0
    if positive.any():
        ordered = np.sort(scores[positive])[::-1]
        values = np.unique(ordered)[::-1]
        ends = np.searchsorted(-ordered, -values, "right")
        # The best group has rank 1, and moves all others up.
        places = ends - (ends[0] - 1)
        found[positive] = places[np.searchsorted(-values, -scores[positive])]
        last = float(places[-1])
    found[~positive] = last + 1
    return found


def pick(rank: Floats, way: str, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the nodes of the best ranks, with ties broken in one of three ways."""
    if way == "torch":
        return torch.topk(torch.from_numpy(-rank), HALF).indices.numpy()
    if way == "random":
        rank = rank + 0.5 * rng.random(len(rank))
    return np.argsort(rank, kind="stable")[:HALF]


def measure(pairs: int) -> dict[str, object]:
    """Return the share of ties, and the scores of three heuristics in percent, for some test edges."""
    task = te.task("ogbl-ddi", "existing")
    nodes, edges = task.graph.num_nodes, task.graph.edges
    adjacent = np.zeros((nodes, nodes), np.float32)
    adjacent[edges[:, 0], edges[:, 1]] = adjacent[edges[:, 1], edges[:, 0]] = 1
    masked = adjacent.astype(bool)
    valid = task.valid.positives
    masked[valid[:, 0], valid[:, 1]] = masked[valid[:, 1], valid[:, 0]] = True
    degree = adjacent.sum(1)
    indptr = np.concatenate([[0], degree.cumsum()]).astype(np.int64)
    indices = np.nonzero(adjacent)[1]
    scores = {
        "cn": adjacent @ adjacent,
        "aa": (adjacent / np.log(np.maximum(degree, 2))) @ adjacent,
        "ra": (adjacent / np.maximum(degree, 1)) @ adjacent,
    }
    rng = np.random.default_rng(0)
    test = task.test.positives
    asked = test[rng.choice(len(test), min(pairs, len(test)), replace=False)]
    found: dict[str, dict[str, list[float]]] = {way: {name: [] for name in scores} for way in WAYS}
    tied, supported = [], []
    for pair in asked:
        combined = []
        for own, other in (pair, pair[::-1]):
            without = masked[own].copy()
            without[[own, other]] = True
            walked = page_rank(int(own), indptr, indices)
            both = np.minimum(ranks(scores["ra"][own].astype(float), without), ranks(walked, without))
            combined.append(np.where(without, np.inf, both))
            chosen = combined[-1][pick(combined[-1], "id", rng)]
            tied.append(float((chosen == chosen.max()).mean()))
            supported.append(int(((walked > 0) & ~without).sum()))
        for way in WAYS:
            picked = [pick(rank, way, rng) for rank in combined]
            for name, table in scores.items():
                negative = np.concatenate([table[own, some] for own, some in zip(pair, picked, strict=True)])
                positive = table[pair[0], pair[1]]
                above, level = (negative > positive).sum(), (negative == positive).sum()
                found[way][name].append(1 + above + level / 2)
    return {
        "torch": torch.__version__.partition("+")[0],
        "pairs": len(asked),
        "ties": 100 * float(np.mean(tied)),
        "without a candidate of positive PageRank": 100 * float(np.mean(np.array(supported) == 0)),
        "scores": {way: {name: _metrics(rank) for name, rank in by.items()} for way, by in found.items()},
    }


def _metrics(rank: list[float]) -> dict[str, float]:
    every = np.array(rank)
    hits = {f"hits@{k}": 100 * float((every <= k).mean()) for k in HITS}
    return {"mrr": 100 * float((1 / every).mean()), **hits}


def main() -> None:
    """Measure, print, and write a file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=5000, help="test edges, drawn at random")
    parser.add_argument("-o", "--output", type=Path)
    chosen = parser.parse_args()
    found = measure(chosen.pairs)
    text = json.dumps(found, indent=1)
    print(text)
    if chosen.output:
        chosen.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
