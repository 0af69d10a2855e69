"""What graph models add to pretrained vectors, by how long these were trained."""

from __future__ import annotations

from typing import Any

from trueedge import datasets, methods
from trueedge.runs import Cell
from trueedge.studies.hgb.recommendation import PROTOCOL, SCHEDULE
from trueedge.studies.study import Finding, Plan, chosen, comparison, need, places, register_listed, run_all

NAME = "hgb/pretrained"
DATASET = "lastfm-kg"
METRIC = "ndcg@20"
ALONE = "bpr-mf"
MODELS = ("kgcn", "kgat-minus", "simple-hgn-rec")
EPOCHS = (10, 30, 200)
SEEDS = 3


def _run(plan: Plan) -> Finding:
    names = chosen(plan.methods, (ALONE, *MODELS), f"method of {NAME}")
    missing: list[str] = []
    cells = []
    for dataset in chosen(plan.datasets, (DATASET,), f"data set of {NAME}"):
        try:
            datasets.available(dataset)
        except datasets.MissingFile as error:
            missing.append(str(error))
            continue
        for name in names:
            for epochs in EPOCHS:
                method = plan.with_settings(methods.create(name, _settings(name, epochs)))
                for seed in range(plan.seeds or SEEDS):
                    cells.append(Cell(dataset, PROTOCOL, method, seed, {}, plan.device, task_seed=0))
    records, failed = run_all(cells, plan)
    rows = []
    for (dataset, protocol, method), found in records.items():
        epochs = method.settings().get("pretrain_epochs", method.settings()["epochs"])
        label = f"{method.name}, {epochs} epochs of BPR-MF"
        rows.append(comparison((dataset, protocol, label, METRIC), [one.test[METRIC] for one in found]))
    need(rows, NAME, [*missing, *failed])
    return Finding(rows, [*missing, *failed], places(records.values()))


def _settings(name: str, epochs: int) -> dict[str, Any]:
    if name == ALONE:
        return {"epochs": epochs, "evaluate_every": min(epochs, 20), "bias": False}
    return {**SCHEDULE, "epochs": 40, "learning_rate": 0.001, "pretrain_epochs": epochs}


register_listed(NAME, _run)
