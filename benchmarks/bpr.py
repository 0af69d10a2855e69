"""How good BPR-MF is and how long it is trained, beside implicit's BPR.

python -m benchmarks.bpr -o benchmarks/results/bpr.json
python -m benchmarks.bpr --datasets ml-100k-kg --epochs 20

Both get vectors of the same size with a bias for each item, the same number of epochs and the same number of
threads. The learning rate and the regularization of both are those of the same grid with the best ndcg@20 on
the validation part; for data sets that are too large for that (``--timed``), they are taken from the first
data set. Then both are trained in turns, each time with another seed, and evaluated on the test part by the
same code.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from statistics import mean, median
from typing import Any

import numba
import numpy as np

import trueedge as te
from benchmarks.run import source_hash
from benchmarks.timing import Bystanders
from trueedge.methods.recommend.bpr_mf import BprMF
from trueedge.runs.provenance import machine, versions
from trueedge.scorers.items import FactorScorer
from trueedge.tasks import ItemTask

METRIC = "ndcg@20"
RATES = (0.003, 0.01, 0.03, 0.1, 0.2)
REGULARIZATIONS = (0.001, 0.01, 0.03)
Fit = Callable[[ItemTask, float, float, int, argparse.Namespace], FactorScorer]


def ours(task: ItemTask, rate: float, regularization: float, seed: int, options: Any) -> FactorScorer:
    """Train BPR-MF to the last epoch."""
    method = BprMF(
        dim=options.dim, epochs=options.epochs, evaluate_every=options.epochs, learning_rate=rate,
        regularization=regularization, validation_users=1,
    )  # fmt: skip
    return method.fit(task, seed)


def implicit(task: ItemTask, rate: float, regularization: float, seed: int, options: Any) -> FactorScorer:
    """Train implicit's BPR; it adds the biases as one more number of each vector."""
    from implicit.cpu.bpr import BayesianPersonalizedRanking
    from scipy.sparse import csr_matrix

    users, items = task.graph.pairs.T
    shape = task.num_users, task.num_items
    table = csr_matrix((np.ones(len(users), dtype=np.float32), (users, items)), shape=shape)
    model = BayesianPersonalizedRanking(
        factors=options.dim, learning_rate=rate, regularization=regularization, iterations=options.epochs,
        num_threads=options.threads, random_state=seed,
    )  # fmt: skip
    model.fit(table, show_progress=False)
    return FactorScorer(model.user_factors, model.item_factors)


def chosen(fit: Fit, task: ItemTask, options: argparse.Namespace) -> tuple[float, float]:
    """Return the learning rate and the regularization that are best on the validation part."""
    values = {
        pair: task.evaluate(fit(task, *pair, 0, options), "valid", [METRIC])[METRIC]
        for pair in itertools.product(RATES, REGULARIZATIONS)
    }
    return max(values, key=lambda pair: values[pair])


def measure(name: str, fits: dict[str, Fit], found: dict[str, Any], options: argparse.Namespace) -> None:
    """Choose settings, train in turns, and print and add a row for each."""
    task = te.task(name)
    assert isinstance(task, ItemTask)
    settings = found["settings"]
    if name not in options.timed.split(",") or not settings:
        settings = {who: chosen(fit, task, options) for who, fit in fits.items()}
        found["settings"] = found["settings"] or settings
    turns: dict[str, list[tuple[float, float, float]]] = {who: [] for who in fits}
    with Bystanders() as bystanders:
        for seed, (who, fit) in itertools.product(range(options.repeats), fits.items()):
            start, processor = time.perf_counter(), time.process_time()
            scorer = fit(task, *settings[who], seed, options)
            seconds = time.perf_counter() - start, time.process_time() - processor
            turns[who].append((*seconds, task.evaluate(scorer, metrics=[METRIC])[METRIC]))
    popular = task.evaluate(te.methods.create("popularity").fit(task), metrics=[METRIC])[METRIC]
    for who, rows in turns.items():
        seconds, processor_seconds, values = zip(*rows, strict=True)
        row = {
            "dataset": name, "who": who, "interactions": task.graph.num_interactions,
            "learning_rate": settings[who][0], "regularization": settings[who][1],
            "settings_from": options.datasets.split(",")[0] if name in options.timed else name,
            METRIC: mean(values), "by_seed": values, "popularity": popular,
            "seconds": median(seconds), "cpu_seconds": median(processor_seconds), "others": bystanders.share,
        }  # fmt: skip
        found["rows"].append(row)
        print(
            f"{name:12} {who:9} ndcg@20 {row[METRIC]:.4f} (popularity {popular:.4f})  {row['seconds']:7.2f} s"
            f"  CPU {row['cpu_seconds']:7.2f} s  rate {settings[who][0]:g}  reg {settings[who][1]:g}",
            flush=True,
        )


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and write a file if asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--datasets", default="ml-1m-kg,lastfm-kg,ml-100k-kg,amazon-book")
    parser.add_argument("--timed", default="amazon-book", help="data sets for which no settings are chosen")
    parser.add_argument("--dim", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=50)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args(arguments)
    numba.set_num_threads(min(options.threads, numba.config.NUMBA_NUM_THREADS))
    fits: dict[str, Fit] = {"trueedge": ours}
    if importlib.util.find_spec("implicit") is not None:
        fits["implicit"] = implicit
    found: dict[str, Any] = {"settings": {}, "rows": []}
    for name in options.datasets.split(","):
        measure(name, fits, found, options)
    if options.output is not None:
        peers = {who: version(who) for who in fits if who != "trueedge"}
        content = {
            "dim": options.dim, "epochs": options.epochs, "threads": options.threads,
            "repeats": options.repeats, "rates": RATES, "regularizations": REGULARIZATIONS,
            "source": source_hash(), "machine": machine(), "versions": {**versions(), **peers},
            "rows": found["rows"],
        }  # fmt: skip
        options.output.write_text(json.dumps(content, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
