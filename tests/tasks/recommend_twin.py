"""Recommendation of nodes pair by pair: every candidate of a node is a pair, and every list is sorted."""

from __future__ import annotations

import numpy as np

import trueedge as te
from trueedge.graph import in_sorted, pair_keys
from trueedge.metrics import evaluate_lists
from trueedge.negatives import full
from trueedge.scorers.scorer import ask, dimensions_of, score_pairs
from trueedge.tasks import recommend


def blocks(task: te.RecommendTask, part: str = "test"):
    """Yield pairs (n, 2) of blocks of nodes with all candidates, row starts (q + 1,), relevance (n,)."""
    keys = np.sort(pair_keys(task.hidden[part], task.num_nodes))
    queries, known = task.queries(part), task.known(part)
    step = max(1, recommend.PAIRS_IN_A_BLOCK // task.num_nodes)
    for start in range(0, len(queries), step):
        listed = full(known, queries[start : start + step])
        sources = np.repeat(listed.nodes, np.diff(listed.indptr))
        pairs = np.column_stack([sources, listed.candidates]).astype(np.int64)
        yield pairs, listed.indptr, in_sorted(pair_keys(pairs, task.num_nodes), keys)


def evaluate(task: te.RecommendTask, scorer: object, part: str = "test"):
    """Return the value of each metric, and its values for each node."""
    bound = task.bind(scorer, part)
    totals, count = dict.fromkeys(task.metrics, 0.0), 0
    units: dict[str, list[np.ndarray]] = {name: [] for name in task.metrics}
    for pairs, indptr, relevant in blocks(task, part):
        if dimensions_of(bound) == (1,):
            scores = score_pairs(bound, pairs)
        else:
            rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
            scores = ask(bound, pairs[indptr[:-1], 0])[rows, pairs[:, 1]].astype(np.float64)
        values = evaluate_lists(indptr, scores, relevant, task.metrics, block=True)
        count += values.queries
        for name in task.metrics:
            totals[name] += values[name] * values.queries
            units[name].append(values.units.values[name])
    means = {name: total / count for name, total in totals.items()}
    return means, {name: np.concatenate(one) for name, one in units.items()}
