"""Whether HeaRT's published rule for negatives explains the published AUC of the degree-bias study.

python -m benchmarks.released_networks -o benchmarks/results/released-networks.json

The study compares 28 networks under HeaRT; how many negatives it used, and with which PageRank, is not known.
Here, heuristics are scored against the hardest negatives of each test edge by the published rule, with the
default bound of its PageRank (5e-5 times the degree) and ties broken at random, and by the rule of the paper,
which ranks to the end by a PageRank that nothing cuts off. Every number of negatives is tried, and the mean
difference from the published AUC is written for each, with the AUC of each heuristic.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import trueedge as te
from benchmarks.released_ties import page_rank, ranks
from trueedge.studies.degree_bias.auc import networks, published_auc
from trueedge.studies.study import Plan

EPSILON, EXACT = 5e-5, 1e-8
NUMBERS = (2, 6, 10, 20, 30, 40, 60, 80, 100, 150, 200, 300, 500)
NAMES = {
    "pa": "preferentialAttachment",
    "cn": "commonNeighbors",
    "ra": "resourceAllocation",
    "jaccard": "jaccardIndex",
}
RULES = ("published", "to the end")
Floats = NDArray[np.float64]


def auc(positive: Floats, negative: Floats) -> float:
    """Return the share of pairs in which the positive is above the negative; half of the ties count."""
    ordered = np.sort(negative)
    below = np.searchsorted(ordered, positive, "left") + np.searchsorted(ordered, positive, "right")
    return float(below.mean() / 2 / len(ordered))


def last_places(scores: Floats, masked: NDArray[np.bool_], rng: np.random.Generator) -> Floats:
    """Return ranks to the end: ties, also of zeros, are broken at random."""
    order = np.lexsort((rng.random(len(scores)), -np.where(masked, -np.inf, scores)))
    found = np.empty(len(scores))
    found[order] = np.arange(1, len(scores) + 1)
    return found


def measure(network: str, pairs: int, theirs: dict[tuple[str, str], float]) -> dict[str, Any]:
    """Return the AUC of each heuristic by rule and number of negatives, and the share of ties."""
    task = te.task(network, "uniform")
    nodes, edges = task.graph.num_nodes, task.graph.edges
    both = np.concatenate([edges, edges[:, ::-1]])
    adjacent = sp.csr_matrix((np.ones(len(both)), (both[:, 0], both[:, 1])), (nodes, nodes))
    degree = np.diff(adjacent.indptr).astype(float)
    shared = (sp.diags(1 / np.maximum(degree, 1)) @ adjacent).tocsr()
    indptr = adjacent.indptr.astype(np.int64)
    rng = np.random.default_rng(0)
    test = task.test.positives
    asked = test[rng.choice(len(test), min(pairs, len(test)), replace=False)]
    positive: dict[str, list[float]] = {name: [] for name in NAMES}
    negative: dict[tuple[str, str], list[Floats]] = {(r, n): [] for r in RULES for n in NAMES}
    tied = []
    for pair in asked:
        for own, other in (pair, pair[::-1]):
            row = adjacent[own]
            common, allocated = ((row @ one).toarray().ravel() for one in (adjacent, shared))
            masked = np.zeros(nodes, bool)
            masked[[*row.indices, own, other]] = True
            cut, full = (page_rank(int(own), indptr, adjacent.indices, bound) for bound in (EPSILON, EXACT))
            released = np.minimum(ranks(allocated, masked), ranks(cut, masked))
            ended = np.minimum(*(last_places(one, masked, rng) for one in (allocated, full)))
            union = degree[own] + degree - common
            scores = {"pa": degree[own] * degree, "cn": common, "ra": allocated}
            scores["jaccard"] = common / np.maximum(union, 1)
            for rule, rank in zip(RULES, (released, ended), strict=True):
                order = np.argsort(np.where(masked, np.inf, rank + 0.5 * rng.random(nodes)), kind="stable")
                # Half of the negatives have another target, half another source.
                order = order[: min(NUMBERS[-1] // 2, int((~masked).sum()))]
                for name in NAMES:
                    negative[rule, name].append(scores[name][order])
                if rule == "published":
                    tied.append(float((rank[order] == rank[order].max()).mean()))
            if own == pair[0]:
                for name in NAMES:
                    positive[name].append(scores[name][other])
    found: dict[str, Any] = {"network": network, "nodes": nodes, "mean degree": float(degree.mean())}
    found["ties"] = 100 * float(np.mean(tied))
    found["auc"] = {
        rule: {
            name: {
                number: auc(
                    np.array(positive[name]),
                    np.concatenate([one[: max(number // 2, 1)] for one in negative[rule, name]]),
                )
                for number in NUMBERS
            }
            for name in NAMES
        }
        for rule in RULES
    }
    for rule, aucs in found["auc"].items():
        found[rule] = {
            number: float(np.mean([abs(aucs[n][number] - theirs[network, NAMES[n]]) for n in NAMES]))
            for number in NUMBERS
        }
    return found


def main() -> None:
    """Measure all networks, print a line for each, and write a file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=200, help="test edges of each network, drawn at random")
    parser.add_argument("--networks", help="only these, separated by commas")
    parser.add_argument("-o", "--output", type=Path)
    chosen = parser.parse_args()
    theirs = published_auc("heart")
    wanted = chosen.networks.split(",") if chosen.networks else networks(Plan())
    rows = []
    for network in wanted:
        row = measure(network, chosen.pairs, theirs)
        rows.append(row)
        best = {rule: min(row[rule], key=row[rule].get) for rule in RULES}
        shown = ", ".join(f"{rule} {row[rule][k]:.3f} with {k}" for rule, k in best.items())
        print(
            f"{network}: mean degree {row['mean degree']:.1f}, ties {row['ties']:.0f} %, {shown}", flush=True
        )
        if chosen.output:
            chosen.output.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
