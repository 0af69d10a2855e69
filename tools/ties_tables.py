"""The table of docs/published.md on ties among HeaRT's negatives of ogbl-ddi."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

Table = Callable[[list[str], list[list[str]]], str]
WAYS = ("random", "torch", "id")


def render(root: Path, table: Table) -> str:
    """Return MRR and Hits@K of heuristics with ties broken in three ways, beside published values and ours.

    Args:
        root: the folder of the project.
        table: makes a table of columns and rows.
    """
    found = json.loads((root / "benchmarks" / "results" / "released-ties.json").read_text())
    measured = found["scores"]
    stored = {}
    for name in ("heart-table-5", "heart-table-16"):
        for row in json.loads((root / "results" / f"{name}.json").read_text())["rows"]:
            stored[row["method"], row["metric"]] = row
    rows = []
    for method, metrics in measured["random"].items():
        for metric in metrics:
            row = stored[method, metric]
            ways = [f"{measured[way][method][metric]:.1f}" for way in WAYS]
            rows.append([method, metric, f"{row['theirs']:.1f}", *ways, f"{row['ours']:.1f}"])
    ways = ["ties at random", f"ties by torch {found['torch']}", "ties by id"]
    return table(["method", "metric", "published", *ways, "ours, ranked to the end"], rows)
