"""Rank the true answers of queries among all entities, without the other known answers."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.graph.triples import TailIndex, query_keys
from trueedge.metrics.scores import as_array, as_scores, describe_nonfinite, refuse_rounded
from trueedge.randomness import generator
from trueedge.scorers.scorer import Scorer, scorer_name

# Scores of a block of queries: they fit into a cache on the CPU, and keep a GPU busy.
SCORES_IN_A_BLOCK = 1 << 23
SCORES_IN_A_BLOCK_ON_A_GPU = 1 << 27


@dataclass(frozen=True, eq=False)
class FilteredRanks:
    """The places of answers; see :class:`trueedge.metrics.RankedScores` for the arrays (n,)."""

    above: NDArray[np.int64]
    tied: NDArray[np.int64]
    negatives: NDArray[np.int64]
    answer: NDArray[np.float64]


def rank_answers(
    scorer: Scorer,
    queries: NDArray[np.int64],
    targets: NDArray[np.int64],
    known: TailIndex,
    num_entities: int,
    seed: int = 0,
) -> FilteredRanks:
    """Ask a scorer for the scores of all entities, and rank each query's answer.

    Equal queries are asked once. Queries for tails and for heads are asked in different calls, each in random
    order: in one call, the heads that are asked about would tell which tails have a test triple.

    Args:
        scorer: scores queries (b, 2), answers (b, entities). Tensors on a GPU are ranked there.
        queries: int64 (n, 2), entities and relations; see :func:`trueedge.scorers.triples.as_query_scorer`.
        targets: int64 (n,), the true answers.
        known: the answers that are known to be true; the targets may be among them.
        num_entities: the number of entities.
        seed: the seed of the order.
    """
    relations = known.num_relations
    keys, first, place = np.unique(
        query_keys(queries[:, 0], queries[:, 1], relations), return_index=True, return_inverse=True
    )
    distinct = queries[first]
    shuffled = generator(seed, "queries").permutation(len(keys))
    # Stable: tails first, each side in random order.
    order = shuffled[np.argsort(distinct[shuffled, 1] >= relations, kind="stable")]
    position = np.empty(len(keys), dtype=np.int64)
    position[order] = np.arange(len(keys))
    rows = position[place.reshape(-1)]
    by_row = np.argsort(rows, kind="stable")
    ends = np.searchsorted(rows[by_row], np.arange(len(keys) + 1))
    first_head = int(np.count_nonzero(distinct[:, 1] < relations))
    above, tied, negatives = (np.empty(len(queries), dtype=np.int64) for _ in range(3))
    found = FilteredRanks(above, tied, negatives, np.empty(len(queries), dtype=np.float64))
    step = max(1, SCORES_IN_A_BLOCK // num_entities)
    start = 0
    while start < len(keys):
        stop = min(start + step, first_head if start < first_head else len(keys))
        asked = distinct[order[start:stop]]
        scores = scorer.score(asked.copy())
        indptr, tails = known.rows(asked[:, 0], asked[:, 1])
        chosen = by_row[ends[start] : ends[stop]]
        block = rows[chosen] - start, targets[chosen], indptr, tails
        if _is_on_gpu(scores):
            _check_shape(scores, len(asked), num_entities, scorer)
            counted = _count_on_gpu(scores, *block, scorer)
            step = max(1, SCORES_IN_A_BLOCK_ON_A_GPU // num_entities)
        else:
            counted = _count(scores, *block, num_entities, scorer)
        found.above[chosen], found.tied[chosen], found.answer[chosen] = counted
        found.negatives[chosen] = num_entities - np.diff(indptr)[block[0]]
        start = stop
    # A target that is not known was counted as a candidate of its own query.
    alone = ~known.contains(queries, targets)
    found.tied[alone] -= 1
    found.negatives[alone] -= 1
    return found


def _count(
    scores: Any,
    rows: NDArray[np.int64],
    targets: NDArray[np.int64],
    indptr: NDArray[np.int64],
    known: NDArray[np.int32],
    num_entities: int,
    scorer: Scorer,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    from trueedge.kernels.ranking.filtered import count_filtered

    if scores is None:
        raise InputError(f"{scorer_name(scorer)} returned None instead of the scores of all entities")
    table = as_array(scores, f"the scores of {scorer_name(scorer)}")
    _check_shape(table, len(indptr) - 1, num_entities, scorer)
    if table.dtype.kind not in "biuf":
        raise InputError(f"the scores of {scorer_name(scorer)} must be real numbers, got {table.dtype}")
    # Whole numbers and long doubles that a float64 does not hold would become ties.
    if table.dtype not in (np.float32, np.float64):
        as_scores(table, f"scores of {scorer_name(scorer)}")
    refuse_rounded(scores, table, f"scores of {scorer_name(scorer)}")
    kind = np.float32 if table.dtype in (np.float16, np.float32) else np.float64
    table = np.ascontiguousarray(table, dtype=kind)
    above, tied, bad = count_filtered(table, rows, targets, indptr, known)
    if bad:
        nan = int(np.isnan(table).sum())
        raise InputError(describe_nonfinite(nan, bad - nan, table.size, f"scores of {scorer_name(scorer)}"))
    return above, tied, table[rows, targets].astype(np.float64)


def _count_on_gpu(
    scores: Any,
    rows: NDArray[np.int64],
    targets: NDArray[np.int64],
    indptr: NDArray[np.int64],
    known: NDArray[np.int32],
    scorer: Scorer,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    import torch

    with torch.no_grad():
        place, true = (torch.from_numpy(one).to(scores.device) for one in (rows, targets))
        filtered = scores[place]
        answer = filtered.gather(1, true[:, None])
        # The known answers of each target's query; the target itself is among them.
        sizes = np.diff(indptr)[rows]
        total = int(sizes.sum())
        shift = np.repeat(indptr[rows] - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes)
        columns = torch.from_numpy(known[np.arange(total) + shift].astype(np.int64)).to(scores.device)
        owners = torch.from_numpy(np.repeat(np.arange(len(rows)), sizes)).to(scores.device)
        finite = torch.isfinite(scores).all()
        filtered[owners, columns] = -torch.inf
        above = (filtered > answer).sum(1)
        tied = (filtered == answer).sum(1)
        if not bool(finite):
            nan, infinite = int(torch.isnan(scores).sum()), int(torch.isinf(scores).sum())
            what = f"scores of {scorer_name(scorer)}"
            raise InputError(describe_nonfinite(nan, infinite, scores.numel(), what))
        return above.cpu().numpy(), tied.cpu().numpy(), answer[:, 0].double().cpu().numpy()


def _check_shape(scores: Any, count: int, num_entities: int, scorer: Scorer) -> None:
    shape = tuple(scores.shape)
    if shape != (count, num_entities):
        raise InputError(
            f"{scorer_name(scorer)} must score {num_entities} entities for each of {count} queries, as shape"
            f" {(count, num_entities)}, but it answered with {shape}"
        )


def _is_on_gpu(scores: object) -> bool:
    """Return whether scores are ranked on their device; tensors of other kinds are read as arrays."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(scores, torch.Tensor) or scores.device.type in ("cpu", "meta"):
        return False
    kinds = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
    return scores.layout == torch.strided and scores.dtype in kinds
