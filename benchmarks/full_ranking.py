"""Full ranking of all items for all users of Amazon-book, and the same metrics as RecBole's on ML-100k.

python -m benchmarks.full_ranking -o benchmarks/results/full_ranking.json

The time is that of ``task.evaluate``: scores, checks, ranks, lists and metrics. Both data sets are read from
``$TRUEEDGE_DATA/kgrec``; without Amazon-book, random interactions of the same size are ranked.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from benchmarks.run import source_hash, table
from benchmarks.timing import OURS, Bar, Contender, DisagreementError, Row, absent_rows, invite, race
from trueedge.graph.interactions import Interactions
from trueedge.runs.provenance import machine, versions
from trueedge.scorers.items import FactorScorer
from trueedge.splits.interactions import split_interactions
from trueedge.tasks.full_ranking import SCORES_IN_A_BLOCK
from trueedge.tasks.items import ItemTask, metrics_for

USERS, ITEMS, DIMENSION = 70_679, 24_915, 64
K = 20
COMPARED = ("ndcg@20", "recall@20", "hitrate@20")
Pairs = NDArray[np.int64]


def measure(task: ItemTask, repeats: int, with_peers: bool) -> list[Row]:
    """Time the evaluation of vectors of users and items beside its bare product and other ways to do it."""
    scorer = vectors(task)
    title = f"full ranking, {task.num_users:,} users, {task.num_items:,} items, d = {DIMENSION}"
    ours = Contender(
        OURS,
        partial(task.evaluate, scorer),
        lambda found: [found[name] for name in COMPARED],
        bar=Bar("seconds", 30),
    )
    bare = Contender(
        "matrix product",
        partial(product, scorer, task.num_users),
        lambda _: None,
        note="the scores of each user once, in blocks of the same size",
    )
    plain = Contender("numpy", partial(by_numpy, task, scorer), note="product, mask, argpartition, metrics")
    peers, absent = invite({"implicit": partial(by_implicit, task, scorer)} if with_peers else {})
    rows = race(title, ours, [bare, plain, *peers], repeats, close_enough)
    return rows + absent_rows(title, absent)


def read_lists(path: Path) -> Pairs:
    """Read lines of a user and its items, int64 (n, 2)."""
    rows = [np.array(line.split(), dtype=np.int64) for line in path.read_text().splitlines()]
    return np.concatenate([np.column_stack([np.full(len(row) - 1, row[0]), row[1:]]) for row in rows])


def amazon_book(folder: Path) -> ItemTask:
    """Return the published split of Amazon-book, or random interactions of the same size."""
    if (folder / "train.txt").exists():
        train, test = read_lists(folder / "train.txt"), read_lists(folder / "test.txt")
    else:
        rng = np.random.default_rng(0)
        items = (ITEMS * rng.random(846_434) ** 3).astype(np.int64)
        drawn = np.unique(np.column_stack([rng.integers(0, USERS, 846_434), items]), axis=0)
        held = rng.random(len(drawn)) < 0.23
        train, test = drawn[~held], drawn[held]
    keys = train[:, 0] * ITEMS + train[:, 1]
    test = np.unique(test[~np.isin(test[:, 0] * ITEMS + test[:, 1], keys)], axis=0)
    data = Interactions.from_pairs(train, USERS, ITEMS, name="amazon-book", repeats="drop")
    return task_of(data, {"test": test.astype(np.int32)})


def ml_100k(path: Path) -> ItemTask:
    """Return a random split of MovieLens 100k, from RecBole's file."""
    ids = [line.split("\t")[:2] for line in path.read_text().splitlines()[1:]]
    pairs = np.array(ids, dtype=np.int64) - 1
    train, hidden = split_interactions(Interactions.from_pairs(pairs, name="ml-100k"))
    return task_of(train, hidden)


def task_of(train: Interactions, hidden: dict[str, NDArray[np.int32]]) -> ItemTask:
    """Return the task of some interactions."""
    metrics = metrics_for(train.num_items)
    return ItemTask(
        dataset=train.name,
        protocol="full-ranking",
        seed=0,
        metrics=metrics,
        headline=metrics[0],
        graph=train,
        hidden=hidden,
    )


def vectors(task: ItemTask) -> FactorScorer:
    """Return random vectors; the first number of an item is its popularity, so that some items are found."""
    rng = np.random.default_rng(0)
    shapes = (task.num_users, DIMENSION), (task.num_items, DIMENSION)
    users, items = (rng.standard_normal(shape, dtype=np.float32) for shape in shapes)
    users[:, 0], items[:, 0] = 8.0, np.log1p(task.graph.item_counts)
    return FactorScorer(users, items)


def blocks(task: ItemTask) -> list[NDArray[np.int64]]:
    """Return the users in blocks of the size that trueedge takes, so that products have the same digits."""
    users = task.questions("test").astype(np.int64)
    step = max(1, SCORES_IN_A_BLOCK // task.num_items)
    return [users[start : start + step] for start in range(0, len(users), step)]


def product(scorer: FactorScorer, users: int) -> None:
    """Multiply all vectors, in blocks."""
    step = max(1, SCORES_IN_A_BLOCK // len(scorer.items))
    for start in range(0, users, step):
        np.matmul(scorer.users[start : start + step], scorer.items.T)


def by_numpy(task: ItemTask, scorer: FactorScorer) -> list[float]:
    """Evaluate as one would in a notebook."""
    known, relevant = task.known("test"), task.relevant("test")
    discount = 1 / np.log2(np.arange(2, K + 2))
    ideal = np.cumsum(discount)
    found: list[NDArray[np.float64]] = []
    for users in blocks(task):
        scores = scorer.users[users] @ scorer.items.T
        out, own = known.of(users), relevant.of(users)
        rows = np.arange(len(users))
        scores[np.repeat(rows, np.diff(out.starts)), out.candidates] = -np.inf
        best = np.argpartition(-scores, K, axis=1)[:, :K]
        order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1)
        best = np.take_along_axis(best, order, axis=1)
        marks = np.zeros(scores.shape, dtype=np.bool_)
        marks[np.repeat(rows, np.diff(own.starts)), own.candidates] = True
        hits = np.take_along_axis(marks, best, axis=1)
        count = np.diff(own.starts)
        gain = (hits * discount).sum(axis=1) / ideal[np.minimum(count, K) - 1]
        found.append(np.stack([gain, hits.sum(axis=1) / count, hits.any(axis=1)]))
    return np.concatenate(found, axis=1).mean(axis=1).tolist()


def by_implicit(task: ItemTask, scorer: FactorScorer) -> Contender:
    """Evaluate with implicit, whose metrics are NDCG, MAP, AUC and precision of the first K."""
    from implicit.cpu.als import AlternatingLeastSquares
    from implicit.evaluation import ranking_metrics_at_k
    from scipy.sparse import csr_matrix

    model = AlternatingLeastSquares(factors=DIMENSION)
    model.user_factors, model.item_factors = scorer.users, scorer.items
    shape = task.num_users, task.num_items
    train, test = (
        csr_matrix((np.ones(len(pairs), dtype=np.float32), (pairs[:, 0], pairs[:, 1])), shape)
        for pairs in (task.graph.pairs, task.hidden["test"])
    )
    return Contender(
        "implicit",
        partial(ranking_metrics_at_k, model, train, test, K=K, show_progress=False),
        lambda found: [found["ndcg"]],
        note="its NDCG, MAP, AUC and precision of the first 20; no ranks beyond",
    )


def close_enough(ours: Any, theirs: Any) -> None:
    """Compare metrics of float32 scores, whose last digits decide a few places; a product has none."""
    if theirs is not None and not np.allclose(ours[: len(theirs)], theirs, rtol=1e-3):
        raise DisagreementError(f"{ours} and {theirs}")


def compare_with_recbole(task: ItemTask) -> list[dict[str, Any]]:
    """Compare metrics with RecBole's classes on the same scores, which have no ties."""
    import torch

    # RecBole 1.2 uses an alias that numpy dropped.
    vars(np)["float"] = np.float64
    from recbole.evaluator.collector import DataStruct
    from recbole.evaluator.metrics import MRR, NDCG, Hit, Precision, Recall

    scorer = vectors(task)
    users = task.questions("test").astype(np.int64)
    scores = torch.from_numpy(scorer.score_candidates(users))
    known, relevant = task.known("test").of(users), task.relevant("test").of(users)
    rows = np.arange(len(users))
    scores[np.repeat(rows, np.diff(known.starts)), known.candidates.astype(np.int64)] = -torch.inf
    marks = torch.zeros(scores.shape, dtype=torch.int)
    marks[np.repeat(rows, np.diff(relevant.starts)), relevant.candidates.astype(np.int64)] = 1
    sizes = [10, 20]
    first = torch.topk(scores, max(sizes), dim=1).indices
    held = DataStruct()
    held.set("rec.topk", torch.cat([marks.gather(1, first), marks.sum(1, keepdim=True)], dim=1))
    config = {"topk": sizes, "metric_decimal_place": 15}
    found = []
    for kind, name in ((Recall, "recall"), (NDCG, "ndcg"), (Hit, "hitrate"), (MRR, "list-mrr"),
                       (Precision, "list-precision")):  # fmt: skip
        theirs = list(kind(config).calculate_metric(held).values())
        for k, value in zip(sizes, theirs, strict=True):
            own = task.evaluate(scorer, metrics=[f"{name}@{k}"])[f"{name}@{k}"]
            row = {"metric": f"{name}@{k}", "trueedge": own, "recbole": float(value)}
            found.append({**row, "difference": abs(own - float(value))})
    return found


def main(arguments: list[str] | None = None) -> int:
    """Measure and compare; 1 where metrics differ or the evaluation takes too long."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3, help="turns each; the median counts")
    parser.add_argument("--no-peers", dest="peers", action="store_false", help="leave other packages out")
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args(arguments)
    data = Path(os.environ.get("TRUEEDGE_DATA", ".")) / "kgrec"
    rows = measure(amazon_book(data / "amazon-book"), options.repeats, options.peers)
    compared: list[dict[str, Any]] = []
    if options.peers:
        try:
            compared = compare_with_recbole(ml_100k(data / "ml-100k" / "ml-100k.inter"))
        except (ModuleNotFoundError, FileNotFoundError) as problem:
            print(f"RecBole's metrics are not compared: {problem}")
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(table("full_ranking", rows))
    for row in compared:
        console.print("{metric}: {trueedge:.15f}, RecBole {recbole:.15f}".format(**row))
    if options.output:
        write(options.output, options.repeats, rows, compared)
    differ = any(float(row["difference"]) > 1e-12 for row in compared)
    return int(differ or any(row.reached is False for row in rows))


def write(path: Path, repeats: int, rows: list[Row], compared: list[dict[str, Any]]) -> None:
    """Write the rows and the comparison, with what they were measured on."""
    peers = {}
    for package in ("implicit", "recbole"):
        try:
            peers[package] = version(package)
        except PackageNotFoundError:
            continue
    content = {
        "subject": "full_ranking",
        "repeats": repeats,
        "threads": numba.get_num_threads(),
        "source": source_hash(),
        "machine": machine(),
        "versions": {**versions(), **peers},
        "rows": [asdict(row) for row in rows],
        "recbole_on_ml_100k": compared,
    }
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    sys.exit(main())
