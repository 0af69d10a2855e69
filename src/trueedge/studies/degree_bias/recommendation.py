"""Which benchmark ranks methods as recommendation does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from trueedge import datasets
from trueedge.results import Record
from trueedge.runs import Cell
from trueedge.studies.degree_bias.alignment import ALIGNED, alignment_figures, alignment_rows, split_rows
from trueedge.studies.degree_bias.auc import (
    LEARNED,
    SAMPLERS,
    TOPOLOGY,
    Entry,
    networks,
    published_auc,
)
from trueedge.studies.degree_bias.benchmarks import HARDEST, benchmarks
from trueedge.studies.study import Comparison, Finding, Plan, chosen, need, places, register_listed, run_all

NAME = "degree-bias/recommendation"
ENTRIES = (*TOPOLOGY, *LEARNED)
RETRIEVER = "lrw"
# What a table shows; the figures are of more.
SHOWN = ("ndcg@100", "vcmpr@100", "auc", "mrr")
SEEDS = 3


def _run(plan: Plan) -> Finding:
    wanted = chosen(plan.methods, [entry.ours for entry in ENTRIES], f"method of {NAME}")
    entries = [entry for entry in ENTRIES if entry.ours in wanted]
    groups, missing = [], []
    for network in networks(plan):
        try:
            datasets.available(network)
        except datasets.MissingFile as error:
            missing.append(str(error))
        else:
            groups += [(network, seed) for seed in range(plan.seeds or SEEDS)]
    made = (cell for group in groups for cell in cells_of(*group, entries, plan))
    found, failed = run_all(
        made, plan, sum(entry.runs_on(network) for network, _ in groups for entry in entries)
    )
    missing += failed
    records: dict[tuple[str, str], list[Record]] = {}
    for (network, _, method), own in found.items():
        records.setdefault((network, method.name), []).extend(own)
    theirs = _published()
    measured = {
        (network, method): {
            **_means(own),
            **{
                f"published {benchmark} auc": value
                for benchmark in ALIGNED
                if (value := theirs.get((benchmark, network, method))) is not None
            },
        }
        for (network, method), own in records.items()
    }
    splits = [
        {place: record.test for place, own in records.items() for record in own if record.seed == seed}
        for seed in range(plan.seeds or SEEDS)
    ]
    rows = _rows(records, theirs) + alignment_rows(measured) + split_rows(splits)
    need(rows, NAME, missing)
    return Finding(rows, missing, places(records.values()), alignment_figures(measured))


def cells_of(network: str, seed: int, entries: Sequence[Entry], plan: Plan) -> Iterator[Cell]:
    """Yield the cells of a network and a split, grouped by task."""
    for pairwise in (False, True):
        fitting = [entry for entry in entries if entry.pairwise is pairwise and entry.runs_on(network)]
        if fitting:
            task = benchmarks(network, seed, RETRIEVER if pairwise else None)
            for entry in fitting:
                where = plan.device if entry.trained else "cpu"
                method = plan.with_settings(entry.method(network))
                yield Cell(task, task.protocol, method, seed, device=where, task_seed=seed)


def _means(records: Sequence[Record]) -> Mapping[str, float]:
    """Return each metric's mean over splits."""
    names = [name for name in records[0].test if all(name in record.test for record in records)]
    return {name: sum(record.test[name] for record in records) / len(records) for name in names}


def _rows(
    records: Mapping[tuple[str, str], Sequence[Record]], theirs: Mapping[tuple[str, str, str], float]
) -> list[Comparison]:
    rows = []
    for (network, method), own in records.items():
        for metric, mean in _means(own).items():
            spread = float(np.std([record.test[metric] for record in own], ddof=1)) if len(own) > 1 else 0.0
            benchmark, _, name = metric.rpartition(" ")
            if name not in SHOWN:
                continue
            where = (network, benchmark or "recommendation", method, name)
            printed = theirs.get((benchmark, network, method)) if name == "auc" else None
            rows.append(Comparison(*where, mean, spread, len(own), printed))
    return rows


def _published() -> dict[tuple[str, str, str], float]:
    """Return the published AUC by benchmark, network and method."""
    names = {entry.theirs: entry.ours for entry in ENTRIES}
    columns = {**SAMPLERS, **{f"heart-{k}": "heart" for k in HARDEST}}
    return {
        (benchmark, network, names[method]): value
        for benchmark, column in columns.items()
        for (network, method), value in published_auc(column).items()
        if method in names
    }


register_listed(NAME, _run)
