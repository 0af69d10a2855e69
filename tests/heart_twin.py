"""The slow, obvious twin of the HeaRT negatives: plain Python over dictionaries, a formula a line."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

import trueedge.graph as tg

Scores = dict[int, float]


def resource_allocation(graph: tg.Graph, source: int) -> Scores:
    lists = neighbor_lists(graph)
    near = set(lists[source])
    row = {v: sorted(near & set(lists[v])) for v in range(graph.num_nodes)}
    return {v: sum(1.0 / int(graph.degrees[w]) for w in common) for v, common in row.items() if common}


def common_neighbors(graph: tg.Graph, source: int) -> Scores:
    near = set(graph.neighbors(source).tolist())
    row = {v: len(near & set(graph.neighbors(v).tolist())) for v in range(graph.num_nodes)}
    return {v: float(count) for v, count in row.items() if count}


def pushed_pagerank(graph: tg.Graph, source: int, alpha: float, eps: float) -> Scores:
    near, degrees = neighbor_lists(graph), graph.degrees.tolist()
    estimate: Scores = {}
    residual = {source: alpha}
    # A dictionary keeps the order in which nodes come, and knows them quickly.
    waiting = {source: None}
    while waiting:
        masses = [(v, residual[v]) for v in waiting]
        residual.update(dict.fromkeys(waiting, 0.0))
        waiting = {}
        for v, mass in masses:
            estimate[v] = estimate.get(v, 0.0) + mass
            for w in near[v]:
                residual[w] = residual.get(w, 0.0) + (1 - alpha) * mass / degrees[v]
                if residual[w] >= alpha * eps * degrees[w]:
                    waiting[w] = None
    return estimate


def neighbor_lists(graph: tg.Graph) -> list[list[int]]:
    return [graph.neighbors(v).tolist() for v in range(graph.num_nodes)]


def exact_pagerank(graph: tg.Graph, alpha: float) -> np.ndarray:
    """Row s is the personalised PageRank from s, by solving for all of them at once."""
    adjacency = np.zeros((graph.num_nodes, graph.num_nodes))
    for u, v in graph.edges.tolist():
        adjacency[u, v] = adjacency[v, u] = 1.0
    walk = adjacency / np.maximum(graph.degrees, 1)[:, None]
    return alpha * np.linalg.inv(np.eye(graph.num_nodes) - (1 - alpha) * walk)


def squared_cosine(graph: tg.Graph, source: int) -> dict[int, Fraction]:
    """The squared cosine where the cosine is above zero, without any rounding."""
    rows = [[Fraction(x) for x in row] for row in graph.features.tolist()]
    result = {}
    for v, row in enumerate(rows):
        dot = sum((x * y for x, y in zip(rows[source], row, strict=True) if x and y), Fraction(0))
        if dot > 0:
            lengths = sum(x * x for x in rows[source]) * sum(x * x for x in row)
            result[v] = dot * dot / lengths
    return result


def rounded(score: float | Fraction) -> float:
    """A score to 41 binary digits, halves up: what differs by less is a rounding error, and ties."""
    mantissa, exponent = math.frexp(score)
    return math.ldexp(math.floor(math.ldexp(mantissa, 41) + 0.5), exponent - 41)


def score_lists(graph: tg.Graph, source: int, heuristics, alpha: float, eps: float) -> list[dict]:
    make = {
        "ra": lambda: resource_allocation(graph, source),
        "cn": lambda: common_neighbors(graph, source),
        "ppr": lambda: pushed_pagerank(graph, source, alpha, eps),
        "features": lambda: squared_cosine(graph, source),
    }
    return [{v: rounded(score) for v, score in make[name]().items()} for name in heuristics]


def candidates(graph: tg.Graph, a: int, b: int, known=(), keep_known: bool = False) -> list[int]:
    out = {a, b}
    if not keep_known:
        out |= set(graph.neighbors(a).tolist())
        out |= {v for u, v in known if u == a} | {u for u, v in known if v == a}
    return [v for v in range(graph.num_nodes) if v not in out]


def ranked_by_paper(lists: list[dict], among: list[int], num_nodes: int) -> list[tuple[int, int, int]]:
    """(combined rank, sum of ranks, node) of every candidate with a rank, best first."""
    ranks: dict[int, list[int]] = {}
    for scores in lists:
        listed = {v: scores[v] for v in among if v in scores}
        for v, score in listed.items():
            ranks.setdefault(v, []).append(1 + sum(other > score for other in listed.values()))
    missing = {v: len(lists) - len(own) for v, own in ranks.items()}
    return sorted((min(own), sum(own) + missing[v] * num_nodes, v) for v, own in ranks.items())


def ranked_by_release(lists: list[dict], among: list[int]) -> tuple[list[tuple[int, int]], int]:
    """(combined rank, node) of every candidate by the released files' rule, and how many have a score."""
    combined = dict.fromkeys(among, 10**9)
    scored = set()
    for scores in lists:
        listed = {v: scores[v] for v in among if v in scores}
        scored |= set(listed)
        best = max(listed.values(), default=0)
        top = sum(score == best for score in listed.values()) if listed else 1
        rank = {v: sum(o >= s for o in listed.values()) - (top - 1) for v, s in listed.items()}
        unscored = max(rank.values(), default=0) + 1
        for v in among:
            combined[v] = min(combined[v], rank.get(v, unscored))
    order = sorted((rank, v) for v, rank in combined.items())
    return order, len(scored)
