"""Squirrel and Chameleon over splits and draws: distribution, parts of the variance, paired differences."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import trueedge as te
from trueedge import studies
from trueedge.results import Store
from trueedge.runs import Cell, StoredOnly, run_cells
from trueedge.studies.evidence import figures, write
from trueedge.studies.lpformer import draws as study
from trueedge.studies.lpformer.draws import (
    BUDGET,
    BUDGETS,
    DATASETS,
    METHODS,
    SPLITS,
    by_split,
    cells_of,
    curves,
    difference_rows,
    medians,
    on_same_splits,
    order_notes,
    rows_of,
)
from trueedge.studies.study import Plan
from trueedge.tasks.redraws import REDRAWS, draws


def record(split: int, own: float, *others: float) -> Any:
    return SimpleNamespace(task_seed=split, test={"mrr": own}, redraws=lambda _: np.array(others))


def values(**found: list[list[float]]) -> dict[str, dict[int, Any]]:
    return {method: dict(enumerate(map(np.array, rows))) for method, rows in found.items()}


def test_every_method_has_every_split_and_the_same_budget() -> None:
    cells = list(cells_of(DATASETS, METHODS, Plan()))
    assert len(cells) == 2 * 4 * SPLITS
    assert all(cell.redraws and cell.seed == cell.split_seed for cell in cells)
    for dataset in DATASETS:
        own = [cell for cell in cells if cell.source == dataset]
        assert {(cell.method.name, cell.seed) for cell in own} == {
            (name, split) for name in METHODS for split in range(SPLITS)
        }
        budget = {**BUDGET, **BUDGETS[dataset]}
        for key in budget:
            given = {getattr(cell.method, key) for cell in own if key in cell.method.space()}
            assert given == {budget[key]}


@pytest.mark.parametrize("dataset", DATASETS)
def test_budgets_have_about_as_many_steps_and_checks(dataset: str) -> None:
    edges = round(0.85 * int(te.datasets.get(dataset).num_edges or 0))
    steps = BUDGETS[dataset]["epochs"] * -(-edges // BUDGET["batch_size"])
    assert steps == pytest.approx(490, abs=10)
    checks = BUDGETS[dataset]["epochs"] / BUDGETS[dataset]["evaluate_every"]
    assert checks == BUDGET["patience"] == 3


def test_a_run_that_is_cut_off_has_all_methods_and_data_sets_of_its_first_splits() -> None:
    first = list(islice(cells_of(DATASETS, METHODS, Plan(seeds=7)), 16))
    assert {(cell.source, cell.method.name, cell.seed) for cell in first} == {
        (dataset, name, split) for dataset in DATASETS for name in METHODS for split in range(2)
    }


def test_the_split_s_own_draw_comes_first_and_values_are_in_percent() -> None:
    found = by_split([record(1, 0.2, 0.3), record(0, 0.1, 0.4)])
    assert list(found) == [0, 1]
    assert found[1].tolist() == pytest.approx([20.0, 30.0])


def test_methods_are_compared_on_the_splits_that_all_have() -> None:
    own = {"gcn": by_split([record(0, 0.1), record(1, 0.2)]), "buddy": by_split([record(1, 0.3)])}
    assert {method: list(found) for method, found in on_same_splits(own).items()} == {
        "gcn": [1],
        "buddy": [1],
    }
    apart = {"gcn": own["gcn"], "buddy": by_split([record(2, 0.3)])}
    assert on_same_splits(apart) == apart


def test_rows_have_the_published_value_the_quantiles_and_the_parts_of_the_variance() -> None:
    (own,) = values(gcn=[[0.0, 2.0], [5.0, 9.0]]).values()
    first, *others = rows_of("chameleon", "gcn", own, (0,))
    assert (first.ours, first.seeds, first.theirs, first.their_std) == (4.0, 2, 20.74, 8.08)
    assert first.std == pytest.approx(np.std([0, 2, 5, 9], ddof=1))
    found = {row.metric: row.ours for row in others}
    assert found["mrr, 50% of draws below"] == 3.5
    assert found["mrr, std, negatives alone"] == pytest.approx(5.0**0.5)
    assert found["mrr, std, split and training"] == pytest.approx(15.5**0.5)
    assert found["mrr, variance due to negatives, %"] == pytest.approx(100 * 5.0 / 20.5)


def test_one_split_says_nothing_of_the_variance_over_splits() -> None:
    (own,) = values(gcn=[[0.0, 2.0]]).values()
    metrics = {row.metric for row in rows_of("chameleon", "gcn", own, ())}
    assert "mrr, std, negatives alone" in metrics
    assert "mrr, std, split and training" not in metrics


def test_differences_are_taken_on_the_same_draw_and_intervals_count_splits() -> None:
    own = values(gcn=[[50, 10], [90, 30]], buddy=[[40, 0], [78, 18]])
    rows = {row.metric: row.ours for row in difference_rows("chameleon", ("gcn", "buddy"), own)}
    # The means of the two splits are 10 and 12: 11 ± t(1 degree of freedom).
    assert rows["mrr"] == 11.0
    reach = 12.706204736
    ends = [rows[f"mrr, {end} end of 95 %"] for end in ("lower", "upper")]
    assert ends == pytest.approx([11 - reach, 11 + reach])
    assert rows["draws on which the first is better, %"] == 100.0


def test_one_split_gives_a_difference_without_an_interval() -> None:
    rows = difference_rows("chameleon", ("gcn", "buddy"), values(gcn=[[50, 10]], buddy=[[40, 0]]))
    assert [row.metric for row in rows] == ["mrr", "draws on which the first is better, %"]
    assert order_notes("chameleon", rows) == []


def test_notes_say_which_methods_differ() -> None:
    own = values(gcn=[[50, 50], [52, 52]], buddy=[[10, 10], [12.2, 12.2]], ncnc=[[60, 60], [30, 30]])
    pairs = [("gcn", "buddy"), ("gcn", "ncnc")]
    rows = [row for pair in pairs for row in difference_rows("chameleon", pair, own)]
    first, second = order_notes("chameleon", rows)
    assert first == "chameleon: gcn is above buddy, by 38.6 to 41.2 points"
    assert second == "chameleon: gcn and ncnc do not differ significantly"


def test_the_curve_of_a_method_is_its_sorted_draws() -> None:
    (series,) = curves("chameleon", values(gcn=[[30.0], [10.0]])).series
    assert series.y == (10.0, 30.0)
    assert series.x == (25.0, 75.0)


def test_medians_stand_beside_the_published_mean_with_its_deviation() -> None:
    drawn = medians({"chameleon": values(gcn=[list(range(101))])})
    ours, theirs = drawn.series
    assert (ours.y, ours.low, ours.high) == ((50.0,), (5.0,), (95.0,))
    assert theirs.y == (20.74,)
    assert (*theirs.low, *theirs.high) == pytest.approx((12.66, 28.82))
    assert "1 split with a training each, 101 draws" in drawn.note


def test_all_methods_of_a_split_score_the_same_draws() -> None:
    one, other, next_split = (te.task("karate", "existing", seed=seed) for seed in (0, 0, 1))
    assert one is not other
    assert np.array_equal(draws(one), draws(other))
    assert draws(one).shape != draws(next_split).shape or not np.array_equal(draws(one), draws(next_split))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the study run heuristics on two small graphs."""

    monkeypatch.setattr(study, "DATASETS", ("karate", "cora"))
    monkeypatch.setattr(study, "METHODS", ("ra", "cn"))
    monkeypatch.setattr(study, "LONGEST_FIRST", (("karate", "cora"), ("cn", "ra")))
    monkeypatch.setattr(study, "BUDGETS", {"karate": {}, "cora": {}})


@pytest.mark.usefixtures("small")
def test_a_run_that_was_cut_off_gives_rows_of_the_splits_it_finished(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    planned = Plan(seeds=5, store=store)
    cells: list[Cell] = list(cells_of(study.DATASETS, study.METHODS, planned))
    # Two splits and a part of the third.
    assert len(list(run_cells(cells[:9], store))) == 9
    finding = studies.get("lpformer/draws").run(Plan(seeds=5, store=store, runner=StoredOnly()))
    means = [row for row in finding.rows if row.metric == "mrr" and "−" not in row.method]
    assert {(row.dataset, row.method) for row in means} == {
        (dataset, name) for dataset in ("karate", "cora") for name in ("ra", "cn")
    }
    assert {row.seeds for row in means} == {2}
    assert any("not in the store" in sentence for sentence in finding.missing)
    path = write(studies.get("lpformer/draws"), finding, tmp_path / "draws.json")
    assert [one.name for one in figures(path)] == ["draws", "draws-karate", "draws-cora"]
    assert len(json.loads(path.read_text())["rows"]) == len(finding.rows)
    curve = figures(path)[1].series[0]
    assert len(curve.y) == 2 * (REDRAWS + 1)


@pytest.mark.usefixtures("small")
def test_a_run_that_was_cut_off_in_its_first_split_still_gives_rows(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    cells = list(cells_of(study.DATASETS, study.METHODS, Plan(store=store)))
    assert len(list(run_cells(cells[:2], store))) == 2
    finding = studies.get("lpformer/draws").run(Plan(store=store, runner=StoredOnly()))
    assert {row.dataset for row in finding.rows} == {"karate"}
    write(studies.get("lpformer/draws"), finding, tmp_path / "draws.json")


def test_the_tables_and_pictures_of_the_docs_come_from_the_evidence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "tools"))
    import draws_tables
    import pictures

    assert "No results are stored yet" in draws_tables.render(tmp_path)
    assert pictures.picture(tmp_path, draws_tables.EVIDENCE, "draws") == ""
    own = values(gcn=[[50, 54], [50, 54]], buddy=[[10, 10], [10, 14]])
    rows = [row for method, found in own.items() for row in rows_of("chameleon", method, found, ())]
    rows += difference_rows("chameleon", ("gcn", "buddy"), own)
    finding = studies.Finding(rows, figures=[medians({"chameleon": own}), curves("chameleon", own)])
    write(studies.get("lpformer/draws"), finding, tmp_path / f"{draws_tables.EVIDENCE}.json")
    made = draws_tables.render(tmp_path)
    assert "![MRR over splits and draws of shared negatives, and published](draws.svg)" in made
    assert "draws-squirrel.svg" not in made
    line = "chameleon | `gcn` | 2 | 52.0 ± 2.3 | 20.7 ± 8.1 | 52.0 | 50.0 to 54.0 | 2.8 | 0.0 | 100.0 %"
    assert line in made
    assert "chameleon | gcn − buddy | 2 | **+41.0 [+28.3, +53.7]** | 100 %" in made
    assert pictures.picture(tmp_path, draws_tables.EVIDENCE, "draws").startswith("<svg")
    assert pictures.picture(tmp_path, draws_tables.EVIDENCE, "draws-squirrel") == ""
