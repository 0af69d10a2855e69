"""Metrics of links clustered by head, against loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from trueedge import metrics
from trueedge.errors import InputError
from trueedge.metrics.by_head import HeadScores


def _scores(seed: int, heads: int, relations: int, levels: int) -> HeadScores:
    rng = np.random.default_rng(seed)
    positive_head = np.concatenate([np.arange(heads), rng.integers(0, heads, 2 * heads)])
    negative_head = np.concatenate([np.arange(heads), rng.integers(0, heads, 3 * heads)])
    relation = np.arange(heads) % relations
    positive, negative = (rng.integers(0, levels, len(one)) / 4 for one in (positive_head, negative_head))
    return HeadScores.check(positive, negative, positive_head, negative_head, relation)


def _rank(scores: HeadScores, place: int) -> float:
    own = scores.negative[scores.negative_head == scores.positive_head[place]]
    value = scores.positive[place]
    return 1 + float((own > value).sum()) + float((own == value).sum()) / 2


@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(1, 2), st.integers(2, 30))
def test_metrics_by_head_equal_loops(seed: int, heads: int, relations: int, levels: int) -> None:
    scores = _scores(seed, heads, relations, levels)
    ranks = np.array([_rank(scores, place) for place in range(len(scores.positive))])
    assert np.array_equal(scores.positive_ranks, ranks)
    first, each, areas = [], [], []
    for relation in range(relations):
        units = np.flatnonzero(scores.relation == relation)
        mine = [ranks[scores.positive_head == unit] for unit in units]
        first.append(np.mean([1 / one.min() for one in mine]))
        each.append(np.mean([np.mean(1 / one) for one in mine]))
        above = scores.positive[np.isin(scores.positive_head, units)]
        below = scores.negative[np.isin(scores.negative_head, units)]
        truth = np.repeat([1, 0], [len(above), len(below)])
        areas.append(roc_auc_score(truth, np.concatenate([above, below])))
    for name, expected in (("head-mrr", first), ("mrr-by-head", each), ("roc-auc", areas)):
        assert metrics.get(name).value(scores) == pytest.approx(np.mean(expected))


def test_scores_by_head_come_back_from_their_arrays_and_refuse_what_does_not_fit() -> None:
    scores = _scores(0, 5, 2, 9)
    assert HeadScores.from_arrays(scores.arrays()).hash == scores.hash
    arrays = scores.arrays()
    with pytest.raises(InputError, match="has no relation"):
        HeadScores.from_arrays({**arrays, "relation": arrays["relation"][:2]})
    with pytest.raises(InputError, match="needs a positive"):
        HeadScores.from_arrays({**arrays, "relation": np.append(arrays["relation"], 0)})
    with pytest.raises(InputError, match="heads of"):
        HeadScores.from_arrays({**arrays, "positive": arrays["positive"][:3]})
