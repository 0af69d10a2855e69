"""The kernel of filtered ranks against plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from trueedge.kernels.ranking import filtered


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(3))
def test_counts_equal_plain_loops(dtype: type, seed: int, monkeypatch) -> None:
    # Several blocks, so that threads share the work.
    monkeypatch.setattr(filtered, "LEAST_SCORES_PER_BLOCK", 50)
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 5, size=(9, 20)).astype(dtype)
    rows = np.sort(rng.integers(0, 9, size=40))
    targets = rng.integers(0, 20, size=40)
    known = [np.flatnonzero(rng.random(20) < 0.3).astype(np.int32) for _ in range(9)]
    indptr = np.concatenate([[0], np.cumsum([len(one) for one in known])])
    above, tied, bad = filtered.count_filtered(scores, rows, targets, indptr, np.concatenate(known))
    assert bad == 0
    for place, (row, target) in enumerate(zip(rows, targets, strict=True)):
        left = np.delete(scores[row], known[row])
        assert above[place] == (left > scores[row, target]).sum()
        assert tied[place] == (left == scores[row, target]).sum()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_scores_that_are_not_finite_are_counted(value: float) -> None:
    scores = np.zeros((3, 4))
    scores[1, 2] = scores[2, 0] = value
    none = np.empty(0, dtype=np.int32)
    found = filtered.count_filtered(scores, np.arange(3), np.arange(3), np.zeros(4, np.int64), none)
    assert found[2] == 2
