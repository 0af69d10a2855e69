"""Ranks of positives among their negatives, and the area under the ROC curve."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.graphs import Sizes
from benchmarks.timing import OURS, Bar, Contender, Row, absent_rows, invite, race
from trueedge.metrics import evaluate

NAMES = ("mrr", "hits@1", "hits@3", "hits@10")
Scores = NDArray[np.float32]


def measure(sizes: Sizes, repeats: int, with_peers: bool = True) -> list[Row]:
    """The metrics OGB's evaluator computes for ogbl-citation2, then the AUC of shared negatives."""
    rng = np.random.default_rng(0)
    positive, negative = scores(rng, sizes.ranked[:1]), scores(rng, sizes.ranked)
    rows: list[Row] = []
    # A quarter first: memory that does not grow from it to the whole is flat.
    for share, bar in ((4, None), (1, Bar("ratio", 3))):
        count = sizes.ranked[0] // share
        above, below = positive[:count], negative[:count]
        peers, absent = invite({"OGB": partial(ogb, above, below, bar)} if with_peers else {})
        task = f"MRR and Hits@1, 3, 10 of {count:,} × {sizes.ranked[1]:,}"
        ours = Contender(OURS, partial(evaluate, above, below, NAMES), in_order)
        rows += race(task, ours, peers, repeats, agree_to_float32) + absent_rows(task, absent)
    above, below = scores(rng, (sizes.separated,)), scores(rng, (sizes.separated,))
    peers, absent = invite({"scikit-learn": partial(scikit_learn, above, below)} if with_peers else {})
    task = f"AUC of {sizes.separated:,} and {sizes.separated:,}"
    ours = Contender(OURS, partial(evaluate, above, below, ["auc"]), lambda found: [found["auc"]])
    return rows + race(task, ours, peers, repeats) + absent_rows(task, absent)


def scores(rng: np.random.Generator, shape: tuple[int, ...]) -> Scores:
    """Normal scores on a grid of 1/1024, so that there are ties."""
    drawn = rng.standard_normal(shape, dtype=np.float32)
    np.round(drawn * np.float32(1024), out=drawn)
    return drawn / np.float32(1024)


def in_order(found: dict[str, float]) -> list[float]:
    """The values in the order of their names."""
    return [found[name] for name in NAMES]


def agree_to_float32(ours: Any, theirs: Any) -> None:
    """OGB averages in float32: as many digits are compared."""
    from benchmarks.timing import DisagreementError

    if not np.allclose(ours, theirs, rtol=2e-5, atol=1e-7):
        raise DisagreementError(f"{ours} and {theirs}")


def ogb(positive: Scores, negative: Scores, bar: Bar | None = None) -> Contender:
    """OGB's evaluator, which takes torch tensors (its numpy branch fails)."""
    import torch
    from ogb.linkproppred import Evaluator

    evaluator = Evaluator(name="ogbl-citation2")
    above, below = torch.from_numpy(positive), torch.from_numpy(negative)

    def run() -> dict[str, float]:
        found = evaluator.eval({"y_pred_pos": above, "y_pred_neg": below})
        return {name: float(found[f"{name}_list"].mean()) for name in NAMES}

    return Contender("OGB", run, in_order, bar=bar)


def scikit_learn(positive: Scores, negative: Scores) -> Contender:
    """scikit-learn's AUC, with the labels and scores put together beforehand."""
    from sklearn.metrics import roc_auc_score

    labels = np.repeat([1, 0], [len(positive), len(negative)])
    together = np.concatenate([positive, negative])
    return Contender("scikit-learn", lambda: roc_auc_score(labels, together), lambda auc: [auc])
