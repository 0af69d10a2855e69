"""Squirrel and Chameleon over splits and draws: how far shared negatives decide the MRR.

Each method is trained once on every split, with a seed of its own. A trained model scores the negatives of
its split and other draws of them, which cost little. All methods of a split score the same draws.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
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
from trueedge.statistics.nested_variance import nested_variance
from trueedge.studies.lpformer.tables import BLOCKS
from trueedge.studies.published_values import PublishedValue, published
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
# Within a split, what takes longest is run first, so that no process waits for it at the end.
LONGEST_FIRST = (("squirrel", "chameleon"), ("ncnc", "lpformer", "buddy", "gcn"))
SPLITS = 5
# The same budget for all methods, since that of the paper is not published: about 490 steps of 1,024 edges on
# either graph, a validation check after each third of them, no early stop, and a constant learning rate.
BUDGET: dict[str, Any] = {
    "learning_rate": 0.005,
    "decay": 1.0,
    "batch_size": 1024,
    "select": "mrr",
    "patience": 3,
}
BUDGETS: dict[str, dict[str, int]] = {
    "squirrel": {"epochs": 3, "evaluate_every": 1},
    "chameleon": {"epochs": 18, "evaluate_every": 6},
}
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
MINUS = " − "
Floats = NDArray[np.float64]
# The values of a method in percent: for each split, its own draw and the others, float64 (draws,).
Values = Mapping[int, Floats]


def _run(plan: Plan) -> Finding:
    names = chosen(plan.datasets, DATASETS, f"data set of {NAME}")
    wanted = chosen(plan.methods, METHODS, f"method of {NAME}")
    present, missing = [], []
    for name in names:
        try:
            datasets.available(name)
            present.append(name)
        except datasets.MissingFile as error:
            missing.append(str(error))
    splits = plan.seeds or SPLITS
    # A generator: processes read only a few cells ahead, and take them nearly in order.
    cells = cells_of(present, wanted, plan)
    records, failed = run_all(cells, plan, total=len(present) * len(wanted) * splits)
    rows, notes, known = [], [], places(records.values())
    every: dict[str, dict[str, Values]] = {}
    for name in present:
        found = {method.name: own for (dataset, _, method), own in records.items() if dataset == name}
        values = on_same_splits({method: by_split(found[method]) for method in wanted if method in found})
        for method, own in values.items():
            rows += rows_of(name, method, own, places_of(found[method], known))
        for first, second in combinations(values, 2):
            rows += difference_rows(name, (first, second), values)
        every |= {name: values} if values else {}
        notes += order_notes(name, rows)
    need(rows, NAME, [*missing, *failed])
    figures = [medians(every), *(curves(name, values) for name, values in every.items())]
    return Finding(rows, [*missing, *failed], known, figures, notes)


def cells_of(names: Sequence[str], wanted: Sequence[str], plan: Plan) -> Iterator[Cell]:
    """Yield the cells, split by split: a run that is cut off has all methods of the first splits."""
    of_split = [
        (dataset, _method(dataset, name, plan))
        for dataset in sorted(names, key=LONGEST_FIRST[0].index)
        for name in sorted(wanted, key=LONGEST_FIRST[1].index)
    ]
    for split in range(plan.seeds or SPLITS):
        for dataset, method in of_split:
            # The seed of the training is that of the split.
            yield Cell(dataset, "existing", method, split, {}, plan.device)


def _method(dataset: str, name: str, plan: Plan) -> Method:
    """Return a method with the budget of a data set."""
    budget = {**BUDGET, **BUDGETS[dataset]}
    settings = {key: value for key, value in budget.items() if key in methods.get(name).space()}
    if name == "ncnc" and dataset in BLOCKS:
        settings["completion_block"] = BLOCKS[dataset]
    return plan.with_settings(methods.create(name, settings))


def by_split(records: Sequence[Record]) -> Values:
    """Return the MRR in percent on all draws of each split: its own negatives first."""
    found = {}
    for record in records:
        others = record.redraws("mrr")
        own = [record.test["mrr"]]
        found[int(record.task_seed)] = 100 * np.concatenate([own, [] if others is None else others])
    return dict(sorted(found.items()))


def on_same_splits(values: Mapping[str, Values]) -> dict[str, Values]:
    """Return the values on the splits that all methods finished, so that their means can be compared.

    If there is no such split, each method keeps its own.
    """
    shared = set.intersection(*(set(own) for own in values.values())) if values else set()
    if not shared:
        return dict(values)
    return {
        method: {split: found for split, found in own.items() if split in shared}
        for method, own in values.items()
    }


def rows_of(dataset: str, method: str, values: Values, where: tuple[int, ...]) -> list[Comparison]:
    """Return the mean over splits and draws beside the published value, quantiles, and what varies.

    The standard deviation of the first row is that of one value: of one training, split and draw.
    """
    table = np.stack(list(values.values()))
    printed, place = _printed(dataset, method), (dataset, "existing", method)
    theirs = (None, None) if printed is None else (printed.mean, printed.std)
    std = float(table.std(ddof=1)) if table.size > 1 else 0.0
    rows = [Comparison(*place, "mrr", float(table.mean()), std, len(table), *theirs, places=where)]
    numbers = {f"{share:.0%} of draws below": float(np.quantile(table, share)) for share in QUANTILES}
    parts = nested_variance(table)
    numbers["std, negatives alone"] = math.sqrt(parts.within)
    numbers["std, split and training"] = math.sqrt(parts.between)
    numbers["variance due to negatives, %"] = 100 * parts.share_within
    for metric, value in numbers.items():
        # Nothing is known of the variance over splits with one split.
        if math.isfinite(value):
            rows.append(Comparison(*place, f"mrr, {metric}", value, 0.0, len(table), None))
    return rows


def _printed(dataset: str, method: str) -> PublishedValue | None:
    for value in published("lpformer"):
        if value.table == "lpformer/table-B.2" and (value.dataset, value.method) == (dataset, method):
            return value
    return None


def difference_rows(dataset: str, pair: tuple[str, str], values: Mapping[str, Values]) -> list[Comparison]:
    """Return the difference of two methods on the same splits and draws, with its interval over splits.

    Draws of one split share a training, so the interval counts splits: Student's with one degree less.
    """
    first, second = (values[name] for name in pair)
    shared = [split for split in first if split in second and len(first[split]) == len(second[split])]
    if not shared:
        return []
    gaps = np.stack([first[split] - second[split] for split in shared])
    low, high = clustered_interval(gaps.ravel(), np.repeat(shared, gaps.shape[1]).tolist())
    numbers = {
        "mrr": float(gaps.mean()),
        "mrr, lower end of 95 %": low,
        "mrr, upper end of 95 %": high,
        "draws on which the first is better, %": 100 * float((gaps > 0).mean()),
    }
    place = (dataset, "existing", MINUS.join(pair))
    # With one split there is no interval.
    known = {metric: value for metric, value in numbers.items() if math.isfinite(value)}
    return [Comparison(*place, metric, value, 0.0, len(shared), None) for metric, value in known.items()]


def order_notes(dataset: str, rows: Sequence[Comparison]) -> list[str]:
    """Return sentences on which methods differ significantly on a data set."""
    differences: dict[str, dict[str, float]] = {}
    for row in rows:
        if row.dataset == dataset and MINUS in row.method:
            differences.setdefault(row.method, {})[row.metric] = row.ours
    notes = []
    for pair, found in differences.items():
        first, second = pair.split(MINUS)
        low, high = (found.get(f"mrr, {end} end of 95 %") for end in ("lower", "upper"))
        if low is None or high is None:
            continue
        if low > 0 or high < 0:
            better, worse = (first, second) if low > 0 else (second, first)
            ends = f"{min(abs(low), abs(high)):.1f} to {max(abs(low), abs(high)):.1f}"
            notes.append(f"{dataset}: {better} is above {worse}, by {ends} points")
        else:
            notes.append(f"{dataset}: {first} and {second} do not differ significantly")
    return notes


def curves(dataset: str, values: Mapping[str, Values]) -> Figure:
    """Draw the distribution over splits and draws: the MRR below which a share of the values lies."""
    series = []
    for method, own in values.items():
        ordered = np.sort(np.concatenate(list(own.values())))
        shares = (np.arange(len(ordered)) + 0.5) / len(ordered)
        series.append(Series(method, tuple((100 * shares).tolist()), tuple(ordered.tolist())))
    return Figure(
        name=f"draws-{dataset}",
        title=f"MRR on {dataset} over splits and draws of shared negatives",
        kind="lines",
        x_label="draws with a lower MRR, %",
        y_label="test MRR, %",
        series=tuple(series),
        note=_made_of(values),
    )


def medians(values: Mapping[str, Mapping[str, Values]]) -> Figure:
    """Draw the median and the inner 90 % of each method on each data set, beside the published values.

    Args:
        values: by data set and method.
    """
    ours: list[tuple[str, list[float]]] = []
    theirs: list[tuple[str, list[float]]] = []
    for dataset, of_methods in values.items():
        for method, own in of_methods.items():
            name = f"{method}, {dataset}"
            found = np.concatenate(list(own.values()))
            ours.append((name, np.quantile(found, [0.5, 0.05, 0.95]).tolist()))
            printed = _printed(dataset, method)
            if printed is not None and printed.mean is not None:
                mean, std = printed.mean, printed.std or 0.0
                theirs.append((name, [mean, mean - std, mean + std]))
    listed = {"ours: median, 5 % to 95 % of draws": ours, "published: mean ± std": theirs}
    return Figure(
        name="draws",
        title="MRR over splits and draws of shared negatives, and published",
        kind="bars",
        x_label="method and data set",
        y_label="test MRR, %",
        series=tuple(_bars(name, found) for name, found in listed.items() if found),
        note="; ".join(f"{dataset}: {_made_of(own)}" for dataset, own in values.items()),
    )


def _bars(name: str, found: Sequence[tuple[str, list[float]]]) -> Series:
    places, numbers = [place for place, _ in found], np.array([one for _, one in found])
    return Series(name, tuple(places), *(tuple(column.tolist()) for column in numbers.T))


def _made_of(values: Mapping[str, Values]) -> str:
    """Return how many splits and draws there are, in words."""
    splits = {len(own) for own in values.values()}
    draws = max(len(found) for own in values.values() for found in own.values())
    number = str(min(splits)) if len(splits) == 1 else f"{min(splits)} to {max(splits)}"
    return f"{number} split{'s' * (max(splits) > 1)} with a training each, {draws} draws of negatives"


register_listed(NAME, _run)
