"""Time and memory of the models on DBLP: HGB's Figure 2."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from trueedge import datasets, methods, tasks
from trueedge.analysis.figure import Figure, Series
from trueedge.errors import InputError
from trueedge.methods import Method
from trueedge.runs.provenance import machine, peak_memory, versions
from trueedge.studies.study import Comparison, Finding, Plan, chosen, need, register_listed
from trueedge.tasks import Task

STUDY = "hgb/cost"
DATASET = "dblp"
PROTOCOL = "node-classification"
# Epochs of the first fit, which also warms up, and of the timed one besides.
WARM, TIMED = 3, 20
MEGABYTE = 1e6


def _run(plan: Plan) -> Finding:
    known = [kind.name for kind in methods.catalogue() if _is_trained(kind)]
    names = chosen(plan.methods, known, f"method of {STUDY}")
    rows, missing = [], []
    found: dict[str, tuple[float, float]] = {}
    for dataset in chosen(plan.datasets, [DATASET], f"data set of {STUDY}"):
        try:
            datasets.available(dataset)
        except datasets.MissingFile as error:
            missing.append(str(error))
            continue
        task = tasks.task(dataset, PROTOCOL)
        for number, name in enumerate(names):
            if plan.progress is not None:
                plan.progress(f"{name} on {dataset}", number, len(names))
            try:
                seconds, memory = _cost(plan.with_settings(methods.create(name)), task, plan.device)
            except InputError as error:
                missing.append(f"{name} on {dataset}: {error}")
                continue
            found[name] = seconds, memory
            where = (dataset, PROTOCOL, name)
            rows.append(Comparison(*where, "milliseconds per epoch", 1000 * seconds, 0.0, 1, None))
            rows.append(Comparison(*where, "peak memory in MB", memory / MEGABYTE, 0.0, 1, None))
    need(rows, STUDY, missing)
    series = tuple(
        Series(name, (1000 * seconds,), (memory / MEGABYTE,)) for name, (seconds, memory) in found.items()
    )
    figure = Figure(
        "figure-2",
        f"Time and memory on {DATASET}",
        "points",
        "milliseconds per epoch",
        "peak memory in MB",
        series,
        log_x=True,
        log_y=True,
    )
    place = {"device": plan.device, "machine": machine(), "versions": versions()}
    return Finding(rows, missing, [place], [figure])


def _is_trained(kind: type[Method]) -> bool:
    return kind.family == "typed" and kind.can_do("nodes")


def _cost(method: Any, task: Task, device: str) -> tuple[float, float]:
    """Return the seconds of an epoch and the peak memory of training.

    Two fits that differ in their number of epochs alone tell the time of an epoch from that of everything
    before and after.
    """
    filled = method.for_task(task)
    filled = replace(filled, patience=10**6, evaluate_every=10**6, features=filled.features or "one-hot")
    if "supervised" in filled.space():
        # Steps on random walks come before all epochs: the same encoder is trained for classes instead.
        filled = replace(filled, supervised=True)
    spent = []
    peak = 0.0
    for epochs in (WARM, WARM, WARM + TIMED):
        memory = _memory(device)
        with peak_memory() as used:
            start = time.perf_counter()
            replace(filled, epochs=epochs).fit(task, seed=0, device=device)
            if device.startswith("cuda"):
                memory.synchronize()
            spent.append(time.perf_counter() - start)
        peak = memory.max_memory_allocated() if device.startswith("cuda") else float(used.memory)
    return max(spent[2] - spent[1], 0.0) / TIMED, peak


def _memory(device: str) -> Any:
    """Return torch's module of GPUs, with its peak reset."""
    import torch

    if device.startswith("cuda"):
        torch.cuda.reset_peak_memory_stats()
    return torch.cuda


register_listed(STUDY, _run)
