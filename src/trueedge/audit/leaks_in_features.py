"""Features that are the adjacency matrix in disguise."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.check import STANDARD_ERRORS, Finding, Skipped, Verdict, check, percent, picture, smallest
from trueedge.audit.subject import LinkSubject
from trueedge.graph import Graph
from trueedge.methods import create
from trueedge.methods.heuristics.common_neighbors import CommonNeighbors

# Rows this alike are copies, whatever was added to the diagonal or the scale.
ALIKE = 0.9
# Features show an edge where the entry of its ends is not 0; by chance that happens at the rate of other
# pairs.
SHOWN_BROKEN, SHOWN_OVER_CHANCE = 0.5, 5.0
ROWS = 2_000
PAIRS = 20_000


def chance_correlation(nodes: int) -> float:
    """Return the correlation that unrelated values of so few nodes have, one time in a thousand."""
    return STANDARD_ERRORS / math.sqrt(nodes)


@check(
    "features-adjacency",
    "leaks",
    title="features that are the adjacency matrix",
    question="Do the features contain the answers?",
    rule=f"look: similarity to the training graph's neighbour lists above {ALIKE}; broken: the same"
    f" with hidden edges included, or more than {percent(SHOWN_BROKEN)} of the test edges are non-zero"
    " entries of the features",
    advice="Compute the features from the training graph alone, or leave them out",
    fewest={"nodes": smallest(chance_correlation, ALIKE)},
    picture=picture("Similarity of features and neighbour lists", "bars", "similarity"),
)
def _run(subject: LinkSubject) -> Finding | Skipped:
    table = subject.task.features
    if table is None:
        return Skipped("the nodes have no features")
    seen = subject.task.graph
    hidden = [subject.task.part(name).positives for name in subject.task.part_names]
    whole = seen.with_edges(np.concatenate(hidden))
    square = table.shape[1] == seen.num_nodes
    numbers = {
        "cosine with the training graph": _row_match(table, seen) if square else 0.0,
        "cosine with the whole graph": _row_match(table, whole) if square else 0.0,
        "shown": _shown(table, subject.pairs().positives) if square else 0.0,
        "shown by chance": _shown(table, subject.random_pairs(PAIRS)) if square else 0.0,
        "likeness with the training graph": _likeness(subject, seen),
        "likeness with the whole graph": _likeness(subject, whole),
    }
    copy = max(numbers[f"{kind} with the training graph"] for kind in ("cosine", "likeness"))
    leak = max(numbers[f"{kind} with the whole graph"] for kind in ("cosine", "likeness"))
    chance = SHOWN_OVER_CHANCE * numbers["shown by chance"]
    shown = numbers["shown"] > SHOWN_BROKEN and numbers["shown"] > chance
    verdict: Verdict = "ok"
    if shown or (leak > ALIKE and leak > copy):
        verdict = "broken"
        sentence = "the features are the adjacency matrix, hidden edges included"
    elif copy > ALIKE:
        verdict, sentence = "look", "the features are a copy of the training graph"
    else:
        sentence = "the features are not the adjacency matrix"
    kinds = {"likeness": "neighbour lists"}
    if square:
        kinds["cosine"] = "rows of the adjacency"
    size = f"{table.shape[1]:,} features of {seen.num_nodes:,} nodes"
    entries = f", and {percent(numbers['shown'])} of the test edges are non-zero entries" if square else ""
    return Finding(
        "features-adjacency",
        verdict,
        f"{max(copy, leak):.3f}",
        f"{sentence}: {size} are similar to neighbour lists by {copy:.2f} (training graph)"
        f" and {leak:.2f} (whole graph){entries}",
        {"alike": max(copy, leak), **numbers},
        {
            "features compared with": np.array(list(kinds.values())),
            **{
                graph: np.array([numbers[f"{kind} with the {graph}"] for kind in kinds])
                for graph in ("training graph", "whole graph")
            },
        },
        f"up to {2 * PAIRS:,} edges and {PAIRS:,} random pairs"
        + (f", and up to {2 * ROWS:,} rows of the adjacency" if square else ""),
    )


def _row_match(table: NDArray[np.float32], graph: Graph) -> float:
    """The mean cosine of a node's features with its row of the adjacency, the diagonal left out."""
    nodes = np.flatnonzero(graph.degrees)
    nodes = nodes[:: max(1, len(nodes) // ROWS)]
    found = []
    for node in nodes.tolist():
        row = table[node].astype(np.float64)
        row[node] = 0.0
        norm = float(np.sqrt(row @ row))
        found.append(
            row[graph.neighbors(node)].sum() / (norm * np.sqrt(graph.degrees[node])) if norm else 0.0
        )
    return float(np.mean(found)) if found else 0.0


def _shown(table: NDArray[np.float32], pairs: NDArray[np.int64]) -> float:
    """The share of pairs whose entry in a square table is not zero, in either direction."""
    first, second = pairs[:, 0], pairs[:, 1]
    return float(((table[first, second] != 0) | (table[second, first] != 0)).mean())


def _likeness(subject: LinkSubject, graph: Graph) -> float:
    """How two nodes' features are alike beside how their neighbour lists are: the correlation over edges.

    It does not depend on which column stands for which node, and a projection of the adjacency keeps it.
    """
    step = max(1, graph.num_edges // PAIRS)
    pairs = np.concatenate([graph.edges[::step].astype(np.int64), subject.random_pairs(PAIRS)])
    lists = np.sqrt(graph.degrees[pairs].astype(np.float64).prod(axis=1))
    shared = CommonNeighbors().score(graph, pairs)
    alike = np.divide(shared, lists, out=np.zeros(len(pairs)), where=lists > 0)
    cosine = create("cosine").fit(subject.task).score(pairs)
    if alike.std() == 0 or cosine.std() == 0:
        return 0.0
    return float(np.corrcoef(alike, cosine)[0, 1])
