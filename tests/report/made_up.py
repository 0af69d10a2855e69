"""Records that nobody ran: as many as are asked for, with ranks, curves and warnings."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from ranks_in_records import ranks_as_units
from trueedge.analysis.slices import Sliced, Slicing
from trueedge.analysis.tables import Table, tables
from trueedge.audit import Finding
from trueedge.results.record import Record
from trueedge.scorers.check import CheckReport, CheckResult
from trueedge.statistics.significance import Estimate
from trueedge.verdict import Verdict
from trueedge.verdict.answers import answer
from trueedge.verdict.suspicions import Suspicion

NEGATIVES = 250


def record(
    dataset: str = "made",
    protocol: str = "heart",
    method: str = "ra",
    seed: int = 0,
    links: int = 200,
    shift: float = 0.0,
    curve: int = 0,
    **changed: object,
) -> Record:
    """One record; a method's ranks are the larger the larger its shift."""
    # The links of a task are the same for all methods.
    hard = np.random.default_rng([len(dataset), len(protocol), seed]).normal(1.5, 1.2, links)
    noise = np.random.default_rng([len(method), seed, 7]).normal(0, 0.2, links)
    ranks = np.clip(np.rint(np.exp(hard + shift + noise)), 1, NEGATIVES + 1)
    test = {
        "mrr": float(np.mean(1 / ranks)),
        **{f"hits@{k}": float(np.mean(ranks <= k)) for k in (1, 3, 10, 20, 50, 100)},
        "auc": float(1 - (ranks - 1).mean() / NEGATIVES),
    }
    task = f"{dataset} {protocol} {seed}".encode().hex().ljust(64, "0")
    training = {
        "metric": "mrr",
        "best_epoch": curve,
        "looks": [[epoch, epoch / (epoch + 5)] for epoch in range(1, curve + 1)],
        "losses": [[epoch, 1 / epoch] for epoch in range(1, curve + 1)],
    }
    values: dict[str, object] = {
        "key": f"{dataset}/{protocol}/{method}/{seed}",
        "dataset": dataset,
        "protocol": protocol,
        "options": {},
        "method": method,
        "settings": {},
        "seed": seed,
        "task_seed": seed,
        "headline": "mrr",
        "metrics": {"valid": test, "test": test},
        "seconds": {"task": 1.0, "fit": 0.5 + shift**2, "score": 0.01},
        "peak_memory": 300 * 2**20,
        "provenance": {
            "source": dataset,
            "given": [],
            "task": task,
            "hashes": {name: f"{name}{task}"[:64] for name in ("graph", "valid", "test")},
            "task_settings": {"split": f"ratio, seed {seed}", "negatives": protocol},
            "versions": {"python": "3.11", "trueedge": "0.1"},
            "machine": {"system": "Linux", "cores": 2},
            "device": "cpu",
            **({"training": training} if curve else {}),
        },
        "created": "2026-01-01T00:00:00+00:00",
        "units": ranks_as_units(ranks),
    }
    return Record(**{**values, **changed})  # type: ignore[arg-type]


def records(
    datasets: int = 2, protocols: int = 2, methods: int = 3, seeds: int = 2, **changed: object
) -> list[Record]:
    """Every method on every data set under every protocol with every seed."""
    found = []
    for d, p, m, s in product(range(datasets), range(protocols), range(methods), range(seeds)):
        names = {"dataset": f"data-{d}", "protocol": f"protocol-{p}", "method": f"method-{m}"}
        found.append(record(**names, seed=s, shift=0.3 * m, **changed))  # type: ignore[arg-type]
    return found


def verdict(doubts: Sequence[Suspicion] = (), seeds: int = 4, **changed: Any) -> Verdict:
    """A verdict on a model that is ahead under one protocol, in the middle under another, and last."""
    shifts = {"existing": -0.8, "heart": 0.3, "degree-corrected": 2.5}
    baselines = {"ra": 0.0, "cn": 0.3, "ppr": 0.6, "pa": 1.0}
    found = [
        record(
            "karate", protocol, method, seed, shift=shift, options={"k": 10} if protocol == "heart" else {}
        )
        for protocol, own in shifts.items()
        for method, shift in {"mine": own, **baselines}.items()
        for seed in range(seeds)
    ]
    made = tables(found)
    finding = Finding("degree-auc", "broken", "0.93", "degree alone reaches an AUC of 0.93", {"auc": 0.93})
    values: dict[str, Any] = {
        "model": "mine",
        "dataset": "karate",
        "answers": tuple(one for table in made if (one := answer(table, "mine")) is not None),
        "degree_share": 0.62,
        "suspicions": tuple(doubts),
        "groups": ("existing, against ra: it gains most where distance = 2 (+9.1 MRR, 90 positives)",),
        "check": CheckReport(
            "mine",
            (CheckResult("look", "ties", "half of the pairs tie"), CheckResult("ok", "order", "no change")),
        ),
        "warnings": (("existing", finding), ("heart", finding)),
        "advice": ("Report heart beside existing: they disagree about this model",),
        "notes": ("Evaluated beside ra, cn, ppr, pa on 4 random splits",),
        "tables": tuple(made),
        "sliced": tuple(_groups(one) for one in made),
        "records": tuple(found),
        "seconds": 12.0,
    }
    return Verdict(**{**values, **changed})


def _groups(one: Table) -> Sliced:
    cell = Estimate(0.4, 0.3, 0.5, 0.05, 3.0, 3.0, "tasks")
    values = {line.label: (cell, None, cell) for line in one.lines}
    return Sliced("mrr", (Slicing("distance", "distance", ("2", "3", "4"), (90, 0, 40), values),), ())
