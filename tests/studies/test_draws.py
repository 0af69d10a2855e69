"""Squirrel and Chameleon over draws: means, quantiles and paired differences."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from trueedge.studies.lpformer.draws import (
    BUDGET,
    BUDGETS,
    DATASETS,
    METHODS,
    TRAININGS,
    by_draw,
    cells_of,
    difference_rows,
    figure_of,
    rows_of,
)
from trueedge.studies.study import Plan


def records(*values: tuple[int, float]) -> list[Any]:
    return [SimpleNamespace(task_seed=draw, test={"mrr": value}) for draw, value in values]


@pytest.mark.parametrize("dataset", DATASETS)
def test_every_method_has_every_draw_and_the_same_budget(dataset: str) -> None:
    cells = cells_of(dataset, METHODS, Plan())
    assert len(cells) == 4 * 20 * TRAININGS[dataset]
    assert {cell.task_seed for cell in cells} == set(range(20))
    budget = {**BUDGET, **BUDGETS[dataset]}
    for key in ("epochs", "learning_rate", "select", "batch_size", "evaluate_every", "patience"):
        assert {getattr(cell.method, key) for cell in cells} == {budget[key]}


def test_a_draw_counts_once_however_often_it_was_trained_on() -> None:
    found = by_draw(records((1, 0.2), (0, 0.1), (1, 0.4)))
    assert list(found) == [0, 1]
    assert found == pytest.approx({0: 10.0, 1: 30.0})


def test_rows_have_the_published_value_and_quantiles_of_draws() -> None:
    first, *others = rows_of("chameleon", "gcn", {0: 10.0, 1: 30.0}, (0,))
    assert (first.ours, first.seeds, first.theirs, first.places) == (20.0, 2, 20.74, (0,))
    assert {row.metric: row.ours for row in others}["mrr, 50% of draws below"] == 20.0


def test_differences_are_taken_on_the_same_draw() -> None:
    own = {"gcn": records((0, 0.5), (1, 0.1), (2, 0.9)), "buddy": records((0, 0.4), (1, 0.0))}
    mean, low, high = (row.ours for row in difference_rows("chameleon", own))
    assert (mean, low, high) == pytest.approx((10.0, 10.0, 10.0))


def test_the_picture_is_the_sorted_draws() -> None:
    (series,) = figure_of("chameleon", {"gcn": {0: 30.0, 1: 10.0}}).series
    assert series.y == (10.0, 30.0)
    assert series.x == (0.25, 0.75)
