"""HeaRT's tables: the released split, both settings."""

from __future__ import annotations

from functools import partial

from trueedge import datasets, methods
from trueedge.methods import Method
from trueedge.results import Cell
from trueedge.studies.published_values import PublishedValue, published
from trueedge.studies.study import (
    Comparison,
    Finding,
    Plan,
    Study,
    chosen,
    mean_and_std,
    need,
    places,
    register,
    run_all,
)

PAPER = "Li et al., Evaluating Graph Neural Networks for Link Prediction, NeurIPS 2023"
TITLES = {
    1: "Cora, Citeseer and Pubmed, existing setting: MRR and AUC",
    2: "OGB, existing setting: the leaderboards' metrics and AUC",
    4: "Cora, Citeseer and Pubmed under HeaRT: MRR and Hits@10",
    5: "OGB under HeaRT: MRR and Hits@20",
    10: "Cora, existing setting: Hits@K",
    11: "Citeseer, existing setting: Hits@K",
    12: "Pubmed, existing setting: Hits@K",
    13: "OGB, existing setting: Hits@K",
    15: "Cora, Citeseer and Pubmed under HeaRT: Hits@1, 3, 100",
    16: "OGB under HeaRT: Hits@50 and Hits@100",
}
# The paper's heuristics on OGB count walks up to this length.
OGB_KATZ_LENGTH = 2


def _protocol(value: PublishedValue) -> str:
    """Released files where there are some; OGB's own split, with negatives made anew under HeaRT."""
    return value.protocol if value.dataset.startswith("ogbl") else f"{value.protocol}-released"


def _method(value: PublishedValue) -> Method:
    """The method behind a value; a trained one is selected by that very metric, as the published were."""
    if value.method == "katz" and value.dataset.startswith("ogbl"):
        return methods.create(value.method, {"max_length": OGB_KATZ_LENGTH})
    if "select" in methods.get(value.method).space():
        return methods.create(value.method, {"select": value.metric})
    return methods.create(value.method)


def _run(plan: Plan, *, table: str) -> Finding:
    values = [value for value in published("heart") if value.table == table and value.mean is not None]
    known = {kind.name for kind in methods.catalogue()}
    names = chosen(plan.datasets, list(dict.fromkeys(v.dataset for v in values)), f"data set of {table}")
    wanted = chosen(
        plan.methods, [n for n in dict.fromkeys(v.method for v in values) if n in known], f"method of {table}"
    )
    values = [value for value in values if value.dataset in names and value.method in wanted]
    cells, missing = _cells(values, plan)
    records, failed = run_all(cells, plan)
    rows = []
    for value in values:
        found = records.get((value.dataset, _protocol(value), _method(value)))
        measured = None if found is None else mean_and_std(found, value.metric)
        if found is None or measured is None:
            continue
        ours, std = 100 * measured[0], 100 * measured[1]
        where = (value.dataset, _protocol(value), value.method, value.metric)
        rows.append(Comparison(*where, ours, std, len(found), value.mean or 0.0, value.std))
    need(rows, table, [*missing, *failed])
    return Finding(rows, [*missing, *failed], places(records.values()))


def _cells(values: list[PublishedValue], plan: Plan) -> tuple[list[Cell], list[str]]:
    """The cells behind some values, for the data sets whose files are here."""
    cells: dict[tuple[str, str, Method, int], Cell] = {}
    missing: dict[str, str] = {}
    for value in values:
        protocol = _protocol(value)
        absent = missing.get(value.dataset) or _absent(value.dataset, protocol)
        if absent:
            missing[value.dataset] = absent
            continue
        method = _method(value)
        # A heuristic on a fixed split has nothing left to draw.
        seeds = 1 if method.family == "heuristics" else plan.seeds or 10
        for seed in range(seeds):
            key = (value.dataset, protocol, method, seed)
            cells[key] = Cell(value.dataset, protocol, method, seed, device=plan.device, task_seed=0)
    ordered = sorted(cells.items(), key=lambda item: item[0][:2])
    return [cell for _, cell in ordered], list(missing.values())


def _absent(dataset: str, protocol: str) -> str:
    """Why a data set cannot be read here; empty where it can."""
    try:
        datasets.available(dataset, released=protocol.endswith("-released"))
    except datasets.MissingFile as error:
        return str(error)
    return ""


for _number, _title in TITLES.items():
    register(
        Study(
            name=f"heart/table-{_number}",
            title=_title,
            citation=PAPER,
            decimals=2,
            run=partial(_run, table=f"heart/table-{_number}"),
        )
    )
