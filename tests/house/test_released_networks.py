"""Heuristics against hard negatives by two rules."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from benchmarks.released_networks import auc, last_places


def test_the_auc_counts_half_of_the_ties() -> None:
    assert auc(np.array([2.0, 1.0]), np.array([1.0, 0.0])) == pytest.approx(3.5 / 4)


def test_ranks_to_the_end_have_no_ties_and_put_masked_nodes_last() -> None:
    scores, masked = np.array([0.0, 3.0, 0.0, 9.0, 0.0]), np.array([False, False, False, True, False])
    found = last_places(scores, masked, np.random.default_rng(0))
    assert sorted(found.tolist()) == [1, 2, 3, 4, 5]
    assert found[1] == 1
    assert found[3] == 5
