"""Records that nobody ran: as many as are asked for, with ranks, curves and warnings."""

from __future__ import annotations

from itertools import product

import numpy as np

from ranks_in_records import ranks_as_units
from trueedge.results.record import Record

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
