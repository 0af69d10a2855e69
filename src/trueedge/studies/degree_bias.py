"""The degree-corrected benchmark's AUC on each network."""

from __future__ import annotations

import csv
from functools import partial

from trueedge import datasets, methods
from trueedge.datasets.sources import locate
from trueedge.results import Cell
from trueedge.studies.study import (
    Comparison,
    Finding,
    Plan,
    Study,
    chosen,
    mean_and_std,
    need,
    register,
    run_all,
)

PAPER = "Aiyappa et al., Implicit Degree Bias in the Link Prediction Task, ICML 2025"
SPLITS = 5
# Their names, ours, and the settings that make ours theirs.
METHODS: dict[str, tuple[str, dict[str, object]]] = {
    "preferentialAttachment": ("pa", {}),
    "commonNeighbors": ("cn", {}),
    "adamicAdar": ("aa", {"log_floor": 1.0}),
    "jaccardIndex": ("jaccard", {}),
    "resourceAllocation": ("ra", {}),
    "localRandomWalk": ("lrw", {}),
    "localPathIndex": ("lpi", {}),
}
# What the published runs did where it is not what the paper says.
PUBLISHED_RUNS = {"redraw": "target"}
SAMPLERS = {"uniform": "uniform", "degree-corrected": "degreeBiased"}


def _run(plan: Plan, *, protocol: str) -> Finding:
    theirs = _published(SAMPLERS[protocol])
    names = chosen(plan.datasets, sorted({network for network, _ in theirs}), "network")
    wanted = chosen(plan.methods, [ours for ours, _ in METHODS.values()], "method of the study")
    cells = [
        Cell(network, protocol, methods.create(ours, settings), seed, PUBLISHED_RUNS, plan.device)
        for network in names
        for seed in range(plan.seeds or SPLITS)
        for ours, settings in METHODS.values()
        if ours in wanted
    ]
    records, missing = run_all(cells, plan)
    rows = []
    for network in names:
        for their_name, (ours, settings) in METHODS.items():
            found = records.get((network, protocol, methods.create(ours, settings)))
            if found is None or (network, their_name) not in theirs:
                continue
            measured = mean_and_std(found, "auc")
            assert measured is not None
            where = (network, protocol, ours, "auc")
            rows.append(Comparison(*where, *measured, len(found), theirs[network, their_name]))
    need(rows, f"degree-bias/auc-{protocol}", missing)
    return Finding(rows, missing)


def _published(sampler: str) -> dict[tuple[str, str], float]:
    """The published AUC of each network and method under a sampler, from the networks' own folder."""
    with locate(datasets.SourceFile("networks/published_auc.csv")).open(newline="") as file:
        return {
            (row["network"], row["method"]): float(row["auc"])
            for row in csv.DictReader(file)
            if row["negatives"] == sampler and row["auc"]
        }


for _protocol in SAMPLERS:
    register(
        Study(
            name=f"degree-bias/auc-{_protocol}",
            title=f"AUC of the topology-based predictors on each network, {_protocol} negatives",
            citation=PAPER,
            decimals=4,
            run=partial(_run, protocol=_protocol),
        )
    )
