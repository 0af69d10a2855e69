"""How well methods rank the links that only one factor predicts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trueedge import datasets, methods, tasks
from trueedge.analysis.figure import Figure, Series
from trueedge.analysis.slices import factor_scores
from trueedge.metrics.factors import by_factor, dominant_factors
from trueedge.results import Record
from trueedge.runs import Cell
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
from trueedge.tasks import LinkTask
from trueedge.tasks.protocols import get as get_protocol

NAME = "lpformer/factors"
DATASETS = {"cora": "existing", "citeseer": "existing-released", "pubmed": "existing"}
METHODS = ("cn", "ppr", "cosine", "gcn", "buddy", "ncn", "ncnc", "lpformer")
SEEDS = 10
# The links that no factor predicts, or more than one.
OTHERS = "none or several"


def _run(plan: Plan) -> Finding:
    names = chosen(plan.datasets, list(DATASETS), f"data set of {NAME}")
    known = {kind.name for kind in methods.catalogue()}
    wanted = chosen(plan.methods, [name for name in METHODS if name in known], f"method of {NAME}")
    cells, missing = [], []
    for name in names:
        try:
            datasets.available(name, released=get_protocol(DATASETS[name]).released)
        except datasets.MissingFile as error:
            missing.append(str(error))
            continue
        for method in map(plan.with_settings, map(methods.create, wanted)):
            # A heuristic on a fixed split has nothing left to draw.
            for seed in range(1 if method.family == "heuristics" else plan.seeds or SEEDS):
                cells.append(Cell(name, DATASETS[name], method, seed, device=plan.device, task_seed=0))
    records, failed = run_all(cells, plan)
    groups = {name: factors_of(name) for name in {name for name, _, _ in records}}
    rows = []
    for (name, _, method), found in records.items():
        ranked = [record for record in found if record.ranks is not None]
        if len(ranked) < len(found):
            failed.append(f"{method.name} on {name}: a record of an older version keeps no ranks")
        rows += _rows(ranked, groups[name])
    need(rows, NAME, [*missing, *failed])
    # In the order of the data sets, and of each its methods.
    figures = [_figure(name, rows) for name in dict.fromkeys(row.dataset for row in rows)]
    return Finding(rows, [*missing, *failed], places(records.values()), figures)


def factors_of(dataset: str) -> NDArray[np.str_]:
    """Return the only factor that predicts each test positive of a data set, str (P,)."""
    task = tasks.task(dataset, DATASETS[dataset], 0)
    assert isinstance(task, LinkTask)
    return dominant_factors(factor_scores(task))


def _rows(records: list[Record], factors: NDArray[np.str_]) -> list[Comparison]:
    """Return a row for each factor that has a link."""
    found = [by_factor(factors, record.ranks) for record in records if record.ranks is not None]
    rows = []
    for factor in found[0] if found else ():
        first = records[0]
        values = [100 * one[factor].value for one in found]
        metric = f"mrr, {factor or OTHERS} ({found[0][factor].links} links)"
        rows.append(comparison((first.dataset, first.protocol, first.method, metric), values))
    return rows


def _figure(dataset: str, rows: Sequence[Comparison]) -> Figure:
    """Draw the MRR of each method on the links of each factor; the others are left out, as in the paper."""
    found: dict[str, list[Comparison]] = {}
    for row in rows:
        if row.dataset == dataset and not row.metric.startswith(f"mrr, {OTHERS} "):
            found.setdefault(row.method, []).append(row)
    seeds = sorted({row.seeds for several in found.values() for row in several if row.seeds > 1})
    number = " to ".join(dict.fromkeys(str(end) for end in (*seeds[:1], *seeds[-1:])))
    return Figure(
        name=f"{NAME.replace('/', '-')}-{dataset}",
        title=f"MRR on {dataset} on the links that only one factor predicts",
        kind="bars",
        x_label="factor (number of links)",
        y_label="test MRR, %",
        series=tuple(_series(method, several) for method, several in found.items()),
        note=f"lines are ± a standard deviation over {number} seeds" if seeds else "",
    )


def _series(method: str, rows: Sequence[Comparison]) -> Series:
    factors = tuple(row.metric.removeprefix("mrr, ").replace(" links)", ")") for row in rows)
    means, spread = np.array([row.ours for row in rows]), np.array([row.std for row in rows])
    ends = (tuple(means - spread), tuple(means + spread)) if rows[0].seeds > 1 else ()
    return Series(method, factors, tuple(means), *ends)


register_listed(NAME, _run)
