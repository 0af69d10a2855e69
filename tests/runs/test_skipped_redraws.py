"""Other draws of shared negatives are scored where an interval of one split needs them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import trueedge as te
from trueedge.runs import Cell, run_cells
from trueedge.runs.cells import lacks_redraws
from trueedge.statistics.shared_negatives import mean_over_seeds


def cell(seed: int, redraws: bool, protocol: str = "existing") -> Cell:
    return Cell("karate", protocol, te.methods.create("ra"), seed, redraws=redraws)


def test_draws_that_nobody_needed_are_scored_when_somebody_does(tmp_path: Path) -> None:
    store = te.Store(tmp_path)
    (first,) = run_cells([cell(0, False)], store)
    assert lacks_redraws(first.record)
    assert len(first.record.redraws("mrr")) == 0
    (again,) = run_cells([cell(0, False)], store)
    assert again.record.cached
    (second,) = run_cells([cell(0, True)], store)
    assert second.fresh
    assert not lacks_redraws(second.record)
    assert len(second.record.redraws("mrr")) == 20
    assert second.record.key == first.record.key
    assert second.record.metrics == first.record.metrics
    (last,) = run_cells([cell(0, False)], store)
    assert last.record.cached
    assert len(last.record.redraws("mrr")) == 20


def test_lists_of_own_negatives_lack_nothing() -> None:
    (found,) = run_cells([cell(0, False, "heart")])
    assert not lacks_redraws(found.record)
    assert found.record.redraws("mrr") is None


@pytest.mark.parametrize(
    ("redraws", "expected"),
    [
        ([None, None], None),
        ([np.array([1.0, 3.0]), np.array([3.0, 5.0])], [2.0, 4.0]),
        ([np.array([1.0, 3.0]), np.empty(0)], [1.0, 3.0]),
        ([np.empty(0), np.empty(0)], []),
        ([np.array([1.0, 3.0]), None], []),
        ([np.array([1.0, 3.0]), np.array([1.0])], []),
    ],
)
def test_seeds_without_draws_are_left_out_of_their_mean(redraws, expected) -> None:
    found = mean_over_seeds(redraws)
    assert found is None if expected is None else found.tolist() == expected


@pytest.mark.parametrize(("seeds", "with_draws"), [(1, {0}), (2, set())])
def test_a_verdict_on_several_splits_scores_no_other_draws(seeds: int, with_draws: set[int]) -> None:
    records = te.judge("ra", "karate", ["existing"], seeds=seeds, checks=False).records
    assert {record.seed for record in records if not lacks_redraws(record)} == with_draws
