"""What KG-Mixup's gain is due to: its parts and other methods, all trained for the same number of steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from trueedge import datasets, methods
from trueedge.analysis.comparison import unit_values
from trueedge.methods import Method
from trueedge.results import Record
from trueedge.runs import Cell
from trueedge.statistics.significance import Difference, difference
from trueedge.studies.kgmixup.budgets import settings
from trueedge.studies.kgmixup.tables import in_group, published_values
from trueedge.studies.study import (
    Comparison,
    Finding,
    Plan,
    chosen,
    comparison,
    need,
    places,
    register_listed,
    run_all,
)

STUDY = "kgmixup/equal-steps"
DATASETS = ("fb15k-237", "codex-m")
MODELS = ("conve", "tucker")
# What is added to a model, or to its training.
ADDITIONS = (
    "",
    "/averaged",
    "+oversampling",
    "+reweighting",
    "+focal",
    "+kgmixup/swa",
    "+kgmixup/augmentation",
    "+kgmixup",
)
GROUP = "low"


def _run(plan: Plan) -> Finding:
    names = chosen(plan.datasets, DATASETS, f"data set of {STUDY}")
    every = [model + addition for model in MODELS for addition in ADDITIONS]
    wanted = chosen(plan.methods, every, f"method of {STUDY}")
    # Each is compared with the model alone.
    wanted = [name for name in every if name in wanted or any(_model(other) == name for other in wanted)]
    cells, missing = [], []
    for dataset in names:
        try:
            datasets.available(dataset)
        except datasets.MissingFile as error:
            missing.append(str(error))
            continue
        for name in wanted:
            method = _method(dataset, name, plan)
            cells += [
                Cell(dataset, "filtered", method, seed, {}, plan.device, task_seed=0)
                for seed in range(plan.seeds or 1)
            ]
    records, failed = run_all(cells, plan)
    theirs = published_values()
    rows = []
    for dataset in names:
        found = {
            name: records[dataset, "filtered", method]
            for name in wanted
            if (dataset, "filtered", method := _method(dataset, name, plan)) in records
        }
        for name in found:
            rows += _rows(dataset, name, found, theirs)
    need(rows, STUDY, [*missing, *failed])
    return Finding(rows, [*missing, *failed], places(records.values()))


def _rows(
    dataset: str,
    name: str,
    found: Mapping[str, Sequence[Record]],
    theirs: Mapping[tuple[str, str, str], float],
) -> list[Comparison]:
    """Return the rows of a method: its scores, and its gain for rare answers over the model alone.

    Those of KG-Mixup also have what mixing adds to its other parts.
    """
    records, alone = found[name], found.get(_model(name))
    where = (dataset, "filtered", name)
    inside = in_group(dataset, GROUP)
    rows = []
    for metric in ("mrr", "ece"):
        factor = 100 if metric == "mrr" else 1
        values = [factor * record.test[metric] for record in records]
        rows.append(comparison((*where, metric), values, theirs.get((dataset, name, metric))))
    low = [100 * float(unit_values(record, "mrr")[inside].mean()) for record in records]
    rows.insert(1, comparison((*where, "mrr low"), low, theirs.get((dataset, name, "mrr low"))))
    if alone is not None and _model(name) != name:
        both = [theirs.get((dataset, one, "mrr low")) for one in (name, _model(name))]
        published = None if both[0] is None or both[1] is None else both[0] - both[1]
        rows += _difference(where, "gain low", difference_of(records, alone, inside), published)
    without = found.get(f"{name}/swa")
    if without is not None:
        rows += _difference(where, "mixing low", difference_of(records, without, inside))
    return rows


def difference_of(
    records: Sequence[Record], others: Sequence[Record], inside: NDArray[np.bool_]
) -> Difference:
    """Return the difference of the MRR of some queries in percent, with its paired interval."""
    first, second = (
        [100 * unit_values(record, "mrr")[inside] for record in group] for group in (records, others)
    )
    return difference(first, second)


def _difference(
    where: tuple[str, str, str], metric: str, found: Difference, theirs: float | None = None
) -> list[Comparison]:
    """Return the rows of a difference and of the ends of its interval."""
    ends = {metric: found.value, f"{metric} from": found.low, f"{metric} to": found.high}
    return [
        comparison((*where, name), [value], theirs if name == metric else None)
        for name, value in ends.items()
    ]


def _method(dataset: str, name: str, plan: Plan) -> Method:
    return plan.with_settings(methods.create(name.partition("/")[0], settings(dataset, name)))


def _model(name: str) -> str:
    """Return the model of a method, as in conve for conve+kgmixup/swa."""
    return name.partition("/")[0].partition("+")[0]


register_listed(STUDY, _run)
