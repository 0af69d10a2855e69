"""The published rule of HeaRT's negatives, written plainly."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from benchmarks.released_ties import ALPHA, page_rank, pick, ranks

# A star with the centre 0, and an edge between 1 and 2.
INDPTR = np.array([0, 4, 6, 8, 9, 10])
INDICES = np.array([1, 2, 3, 4, 0, 2, 0, 1, 0, 0])


def test_tied_nodes_get_their_worst_place_and_zeros_the_one_after_the_last() -> None:
    scores = np.array([5.0, 3.0, 3.0, 1.0, 0.0, 9.0])
    masked = np.array([False, False, False, False, False, True])
    assert ranks(scores, masked)[:5].tolist() == [1, 3, 3, 4, 5]


def test_a_tied_best_group_has_rank_one_and_moves_the_others_up() -> None:
    assert ranks(np.array([5.0, 5.0, 3.0, 0.0]), np.zeros(4, bool)).tolist() == [1, 1, 2, 3]


def test_without_a_positive_score_all_share_the_first_rank() -> None:
    assert ranks(np.zeros(3), np.zeros(3, bool)).tolist() == [1, 1, 1]


def test_pushes_sum_to_one_up_to_what_is_left() -> None:
    found = page_rank(0, INDPTR, INDICES)
    assert found.sum() == pytest.approx(1, abs=1e-3)
    assert found[0] > ALPHA
    assert found[1] == pytest.approx(found[2], abs=1e-4)


@pytest.mark.parametrize("way", ["random", "torch", "id"])
def test_better_ranks_are_picked_however_ties_are_broken(way: str) -> None:
    rank = np.concatenate([np.full(300, 2.0), np.full(100, 1.0), np.full(50, np.inf)])
    picked = pick(rank, way, np.random.default_rng(0))
    assert len(set(picked.tolist())) == 250
    assert set(range(300, 400)) <= set(picked.tolist())
    assert picked.max() < 400
