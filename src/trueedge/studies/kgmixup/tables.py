"""KG-Mixup's tables: all triples, groups of tail-relation degrees, its parts, and calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge import methods, tasks
from trueedge.analysis.comparison import unit_values
from trueedge.methods import Method
from trueedge.metrics.ranked import degree_groups
from trueedge.results import Record
from trueedge.studies.printed_tables import PrintedTable
from trueedge.studies.published_values import PublishedValue, published
from trueedge.studies.study import Finding, Plan, mean_and_std, register_listed

TABLES = ("kgmixup/table-4.1", "kgmixup/table-4.2", "kgmixup/table-4.4", "kgmixup/table-4.5")
GROUPS = ("zero", "low", "medium", "high")
SUFFIXES = {"over-sampling": "oversampling", "re-weighting": "reweighting"}
# KG-Mixup without mixing, and without averaging.
PARTS: dict[str, dict[str, Any]] = {
    "swa": {"synthetic_weight": 0.0},
    "augmentation": {"average_from": 0},
}
# The paper trains a model alone for up to 500 epochs, then starts again from its vectors for 250 to 400
# epochs with synthetic triples. Here each method takes one to two minutes of an H200 if nothing else runs
# there; KG-Mixup takes 1.1 to 1.9 times as long as the model alone. Batches are four times as large as the
# published ones, and learning rates twice as large: an epoch takes about half the time.
ALONE: dict[tuple[str, str], dict[str, Any]] = {
    ("fb15k-237", "conve"): {
        "epochs": 300,
        "evaluate_every": 20,
        "patience": 5,
        "batch_size": 512,
        "learning_rate": 0.002,
    },
    ("fb15k-237", "tucker"): {
        "epochs": 180,
        "evaluate_every": 12,
        "patience": 5,
        "batch_size": 512,
        "learning_rate": 0.001,
    },
    ("codex-m", "conve"): {
        "epochs": 110,
        "evaluate_every": 10,
        "patience": 5,
        "batch_size": 512,
        "learning_rate": 0.001,
    },
    ("codex-m", "tucker"): {
        "epochs": 150,
        "evaluate_every": 10,
        "patience": 5,
        "batch_size": 512,
        "learning_rate": 0.002,
    },
    ("nell-995", "conve"): {"batch_size": 512, "learning_rate": 0.001},
    ("nell-995", "tucker"): {"batch_size": 512, "learning_rate": 0.002},
}
# As in the published code, synthetic triples have no tail bias.
SECOND_STAGE: dict[str, Any] = {
    "epochs": 32,
    "evaluate_every": 4,
    "batch_size": 512,
    "learning_rate": 0.001,
    "average_from": 17,
    "average_every": 2,
    "average_rate": 0.0,
    "tail_bias": False,
    "pretrain_batch_size": 512,
    "pretrain_evaluate_every": 20,
}
MIXED: dict[tuple[str, str], dict[str, Any]] = {
    ("fb15k-237", "conve"): {
        "learning_rate": 0.002,
        "average_rate": 0.0005,
        "pretrain_epochs": 100,
        "pretrain_learning_rate": 0.002,
    },
    ("fb15k-237", "tucker"): {
        "decay": 0.97,
        "pretrain_epochs": 84,
        "pretrain_evaluate_every": 12,
        "pretrain_learning_rate": 0.001,
        "pretrain_decay": 1.0,
    },
    ("codex-m", "conve"): {
        "epochs": 28,
        "learning_rate": 0.0004,
        "pretrain_epochs": 40,
        "pretrain_evaluate_every": 10,
        "pretrain_learning_rate": 0.001,
    },
    ("codex-m", "tucker"): {
        "learning_rate": 0.00025,
        "decay": 0.98,
        "pretrain_epochs": 75,
        "pretrain_evaluate_every": 15,
        "pretrain_learning_rate": 0.002,
        "pretrain_decay": 0.99,
    },
    ("nell-995", "conve"): {"pretrain_epochs": 40, "pretrain_learning_rate": 0.001},
    ("nell-995", "tucker"): {"pretrain_epochs": 80, "pretrain_learning_rate": 0.002},
}


def _run(plan: Plan, *, table: str) -> Finding:
    values = [_ours(value) for value in published("kgmixup") if value.table == table]
    return PrintedTable(table, values, lambda _: "filtered", _method, 1, measure=_measure).run(plan)


def _ours(value: PublishedValue) -> PublishedValue:
    """Return a value with our names; the group of degrees joins the metric."""
    model, _, addition = value.method.partition("+")
    if addition in PARTS:
        method = f"{model}+kgmixup/{addition}"
    else:
        method = f"{model}+{SUFFIXES.get(addition, addition)}" if addition else model
    group = value.protocol.partition("degree-bin:")[2]
    metric = f"{value.metric} {group}" if group else value.metric
    return replace(value, method=method, metric=metric, protocol="filtered")


def _method(value: PublishedValue) -> Method:
    name, _, part = value.method.partition("/")
    model, _, addition = name.partition("+")
    place = value.dataset, model
    if addition == "kgmixup":
        return methods.create(name, {**SECOND_STAGE, **MIXED.get(place, {}), **PARTS.get(part, {})})
    return methods.create(name, ALONE.get(place, {}))


def _measure(value: PublishedValue, records: Sequence[Record]) -> tuple[float, float] | None:
    metric, _, group = value.metric.partition(" ")
    if metric == "ece":
        return mean_and_std(records, f"ece-{group}" if group else "ece")
    if not group:
        found = mean_and_std(records, metric)
        return None if found is None else (100 * found[0], 100 * found[1])
    inside = _groups(value.dataset) == GROUPS.index(group)
    if not inside.any():
        return None
    means = [100 * float(unit_values(record, metric)[inside].mean()) for record in records]
    return float(np.mean(means)), float(np.std(means, ddof=1)) if len(means) > 1 else 0.0


@cache
def _groups(dataset: str) -> NDArray[np.int64]:
    """Return the group of the tail-relation degree of each test query's answer."""
    made = tasks.task(dataset, "filtered")
    assert isinstance(made, tasks.TripleTask)
    return degree_groups(made.degrees("test"))


for _table in TABLES:
    register_listed(_table, partial(_run, table=_table))
