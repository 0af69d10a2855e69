"""How good BPR-MF is and how long it is trained, beside implicit's BPR.

python -m benchmarks.bpr -o benchmarks/results/bpr.json
python -m benchmarks.bpr --datasets ml-100k-kg --epochs 20

Both get vectors of the same size with a bias for each item, the same number of epochs and the same number of
threads. The learning rate and the regularization of both are those of the same grid with the best ndcg@20 on
the validation part. Then both are trained in turns, each time with another seed, and evaluated on the test
part by the same code. Data sets that are too large for a grid (``--timed``) are only timed, with the settings
of ml-1m-kg. If the file exists, rows of other data sets are kept.
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
LENDER = "ml-1m-kg"
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
        for pair in itertools.product(options.rates, options.regularizations)
    }
    return max(values, key=lambda pair: values[pair])


def measure(
    name: str, fits: dict[str, Fit], known: list[dict[str, Any]], options: argparse.Namespace
) -> list[dict[str, Any]]:
    """Choose settings, train in turns, and print and return a row for each.

    Args:
        name: the data set.
        fits: trains each contender.
        known: rows that were measured before.
        options: the options of the command.
    """
    task = te.task(name)
    assert isinstance(task, ItemTask)
    timed = name in options.timed.split(",")
    lent = {
        row["who"]: (row["learning_rate"], row["regularization"])
        for row in known
        if row["dataset"] == LENDER and timed
    }
    settings = {who: lent.get(who) or chosen(fit, task, options) for who, fit in fits.items()}
    turns: dict[str, list[tuple[float, float, float]]] = {who: [] for who in fits}
    with Bystanders() as bystanders:
        for seed, (who, fit) in itertools.product(range(options.repeats), fits.items()):
            start, processor = time.perf_counter(), time.process_time()
            scorer = fit(task, *settings[who], seed, options)
            seconds = time.perf_counter() - start, time.process_time() - processor
            value = np.nan if timed else task.evaluate(scorer, metrics=[METRIC])[METRIC]
            turns[who].append((*seconds, value))
    popular = te.methods.create("popularity").fit(task)
    baseline = np.nan if timed else task.evaluate(popular, metrics=[METRIC])[METRIC]
    found = []
    for who, rows in turns.items():
        seconds, processor_seconds, values = zip(*rows, strict=True)
        row = {
            "dataset": name, "who": who, "interactions": task.graph.num_interactions,
            "learning_rate": settings[who][0], "regularization": settings[who][1],
            "settings_from": LENDER if who in lent else name,
            "grid": [] if who in lent else [options.rates, options.regularizations],
            METRIC: None if timed else mean(values), "by_seed": [] if timed else values,
            "popularity": None if timed else baseline,
            "repeats": options.repeats, "seconds": median(seconds),
            "cpu_seconds": median(processor_seconds), "others": bystanders.share,
        }  # fmt: skip
        found.append(row)
        print(
            f"{name:12} {who:9} ndcg@20 {mean(values):.4f} (popularity {baseline:.4f})"
            f"  {row['seconds']:7.2f} s  CPU {row['cpu_seconds']:7.2f} s"
            f"  rate {settings[who][0]:g}  reg {settings[who][1]:g}",
            flush=True,
        )
    return found


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and write a file if asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--datasets", default="ml-1m-kg,lastfm-kg,ml-100k-kg,amazon-book")
    parser.add_argument("--timed", default="amazon-book", help="data sets that are only timed")
    parser.add_argument("--dim", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=50)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    numbers: Any = {"type": float, "nargs": "+"}
    parser.add_argument("--rates", default=[0.005, 0.01, 0.03, 0.1, 0.2], **numbers)
    parser.add_argument("--regularizations", default=[0.001, 0.01, 0.03], **numbers)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args(arguments)
    numba.set_num_threads(min(options.threads, numba.config.NUMBA_NUM_THREADS))
    fits: dict[str, Fit] = {"trueedge": ours}
    if importlib.util.find_spec("implicit") is not None:
        fits["implicit"] = implicit
    peers = {who: version(who) for who in fits if who != "trueedge"}
    content = {
        "dim": options.dim, "epochs": options.epochs, "threads": options.threads,
        "source": source_hash(), "machine": machine(), "versions": {**versions(), **peers},
    }  # fmt: skip
    rows = []
    if options.output is not None and options.output.exists():
        rows = json.loads(options.output.read_text())["rows"]
    for name in options.datasets.split(","):
        rows = [row for row in rows if row["dataset"] != name] + measure(name, fits, rows, options)
        if options.output is not None:
            options.output.write_text(json.dumps({**content, "rows": rows}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
