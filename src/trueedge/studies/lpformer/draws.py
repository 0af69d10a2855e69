"""Squirrel and Chameleon over many draws: how far one split and its shared negatives decide the MRR."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge import datasets, methods
from trueedge.analysis.figure import Figure, Series
from trueedge.methods import Method
from trueedge.results import Record
from trueedge.runs import Cell
from trueedge.statistics.clusters import clustered_interval
from trueedge.studies.lpformer.tables import BLOCKS
from trueedge.studies.published_values import published
from trueedge.studies.study import (
    Comparison,
    Finding,
    Plan,
    chosen,
    need,
    places,
    places_of,
    register_listed,
    run_all,
)

NAME = "lpformer/draws"
DATASETS = ("chameleon", "squirrel")
METHODS = ("gcn", "buddy", "ncnc", "lpformer")
DRAWS = 20
# Trainings on each draw. One training on Squirrel takes as long as several on Chameleon.
TRAININGS = {"chameleon": 3, "squirrel": 1}
# The same budget for all methods, since that of the paper is not published: about 500 steps on either graph,
# ten to twelve validation checks, and no early stop.
BUDGET: dict[str, Any] = {"learning_rate": 0.005, "select": "mrr", "patience": 12}
BUDGETS: dict[str, dict[str, int]] = {
    "chameleon": {"batch_size": 1024, "epochs": 20, "evaluate_every": 2},
    "squirrel": {"batch_size": 4096, "epochs": 12, "evaluate_every": 1},
}
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
Floats = NDArray[np.float64]


def _run(plan: Plan) -> Finding:
    names = chosen(plan.datasets, DATASETS, f"data set of {NAME}")
    wanted = chosen(plan.methods, METHODS, f"method of {NAME}")
    cells, missing = [], []
    for name in names:
        try:
            datasets.available(name)
        except datasets.MissingFile as error:
            missing.append(str(error))
            continue
        cells += cells_of(name, wanted, plan)
    records, failed = run_all(cells, plan)
    rows, figures, known = [], [], places(records.values())
    for name in names:
        own = {method.name: found for (dataset, _, method), found in records.items() if dataset == name}
        values = {method: by_draw(found) for method, found in own.items()}
        for method, found in own.items():
            rows += rows_of(name, method, values[method], places_of(found, known))
        rows += difference_rows(name, own)
        figures += [figure_of(name, values)] if values else []
    need(rows, NAME, [*missing, *failed])
    return Finding(rows, [*missing, *failed], known, figures)


def cells_of(dataset: str, wanted: Sequence[str], plan: Plan) -> list[Cell]:
    """Return the cells of a data set: every method on every draw of split and negatives."""
    cells = []
    for draw in range(plan.seeds or DRAWS):
        # A study that is cut off has all methods of the draws and seeds that it reached.
        for seed in range(TRAININGS[dataset]):
            for name in wanted:
                place = (dataset, "existing", _method(dataset, name, plan), seed)
                # Intervals are over draws of split and negatives: no further negatives are needed.
                cells.append(Cell(*place, {}, plan.device, task_seed=draw, redraws=False))
    return cells


def _method(dataset: str, name: str, plan: Plan) -> Method:
    """Return a method with the budget of a data set."""
    budget = {**BUDGET, **BUDGETS[dataset]}
    settings = {key: value for key, value in budget.items() if key in methods.get(name).space()}
    if name == "ncnc":
        settings["completion_block"] = BLOCKS[dataset]
    return plan.with_settings(methods.create(name, settings))


def by_draw(records: Sequence[Record]) -> dict[int, float]:
    """Return the MRR of each draw in percent, the mean over its trainings."""
    found: dict[int, list[float]] = {}
    for record in records:
        found.setdefault(int(record.task_seed), []).append(100 * record.test["mrr"])
    return {draw: float(np.mean(found[draw])) for draw in sorted(found)}


def rows_of(dataset: str, method: str, values: dict[int, float], where: tuple[int, ...]) -> list[Comparison]:
    """Return the mean over draws beside the published value, and quantiles of the draws."""
    printed = next(
        value
        for value in published("lpformer")
        if value.table == "lpformer/table-B.2" and (value.dataset, value.method) == (dataset, method)
    )
    found = np.array(list(values.values()))
    std = float(found.std(ddof=1)) if len(found) > 1 else 0.0
    place = (dataset, "existing", method)
    mean = float(found.mean())
    rows = [Comparison(*place, "mrr", mean, std, len(found), printed.mean, printed.std, places=where)]
    for share in QUANTILES:
        value = float(np.quantile(found, share))
        rows.append(Comparison(*place, f"mrr, {share:.0%} of draws below", value, 0.0, len(found), None))
    return rows


def difference_rows(dataset: str, records: dict[str, list[Record]]) -> list[Comparison]:
    """Return the differences of methods on the same draws, with the ends of their intervals over draws."""
    rows = []
    values = {method: by_draw(found) for method, found in records.items()}
    for first, second in combinations(values, 2):
        shared = [draw for draw in values[first] if draw in values[second]]
        gaps = np.array([values[first][draw] - values[second][draw] for draw in shared])
        if len(gaps) < 2:
            continue
        ends = clustered_interval(gaps, shared)
        place = (dataset, "existing", f"{first} − {second}")
        numbers = {
            "mrr": float(gaps.mean()),
            "mrr, lower end of 95 %": ends[0],
            "mrr, upper end of 95 %": ends[1],
        }
        for metric, value in numbers.items():
            rows.append(Comparison(*place, metric, value, 0.0, len(gaps), None))
    return rows


def figure_of(dataset: str, values: dict[str, dict[int, float]]) -> Figure:
    """Draw the distribution over draws: the MRR below which a share of the draws lies."""
    series = []
    for method, found in values.items():
        ordered = sorted(found.values())
        shares = tuple((place + 0.5) / len(ordered) for place in range(len(ordered)))
        series.append(Series(method, shares, tuple(ordered)))
    draws = max(len(found) for found in values.values())
    return Figure(
        name=f"draws-{dataset}",
        title=f"MRR on {dataset} over draws of split and negatives",
        kind="lines",
        x_label="share of draws with a lower MRR",
        y_label="test MRR, %",
        series=tuple(series),
        note=f"{draws} draws, the mean of up to {TRAININGS[dataset]} trainings on each; the same budget for"
        " all methods",
    )


register_listed(NAME, _run)
