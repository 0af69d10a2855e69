"""Tables of single studies: methods against degree bias, and recommendation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pictures
from tables import ROOT, table


def equal_steps_table() -> str:
    """Methods against degree bias beside the model alone, a line for each, with paired intervals."""
    cells: dict[tuple[str, str], dict[str, float]] = {}
    for row in _stored_rows("kgmixup-equal-steps"):
        cells.setdefault((row["dataset"], row["method"]), {})[row["metric"]] = row["ours"]
    lines = []
    for where, own in cells.items():
        line = [*where, f"{own['mrr']:.2f}", f"{own['mrr low']:.2f}"]
        for name in ("gain low", "mixing low"):
            ends = [own.get(f"{name}{end}") for end in ("", " from", " to")]
            line.append("–" if None in ends else "{:+.2f} [{:+.2f}, {:+.2f}]".format(*ends))
        lines.append([*line, f"{own['ece']:.3f}"])
    head = [
        "data set",
        "method",
        "mrr",
        "mrr low",
        "low, gain over the model alone",
        "low, due to mixing",
        "ece",
    ]
    return table(head, lines)


def recommendation_table() -> str:
    """Recall and NDCG of recommenders, a line for each method and columns for each data set."""
    rows = _stored_rows("hgb-table-5")
    columns = dict.fromkeys((row["dataset"], row["metric"]) for row in rows if " " not in row["method"])
    cells: dict[str, dict[tuple[str, str], str]] = {}
    for row in rows:
        if " " not in row["method"]:
            spread = f" ± {row['std']:.4f}" if row["seeds"] > 1 else ""
            cells.setdefault(row["method"], {})[row["dataset"], row["metric"]] = f"{row['ours']:.4f}{spread}"
    head = ["method", *(f"{dataset} {metric}" for dataset, metric in columns)]
    return table(head, [[f"`{name}`", *(own[c] for c in columns)] for name, own in cells.items()])


def recommendation_differences_table() -> str:
    """Differences of NDCG between two methods over the same users, with their intervals."""
    rows = [row for row in _stored_rows("hgb-table-5") if " - " in row["method"]]
    values = {(row["method"], row["dataset"], row["metric"]): row["ours"] for row in rows}
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))
    lines = []
    for pair in dict.fromkeys(row["method"] for row in rows):
        line = [pair]
        for dataset in datasets:
            mean, low, high = (values[pair, dataset, f"ndcg@20{end}"] for end in ("", " low", " high"))
            line.append(f"{mean:+.4f} [{low:+.4f}, {high:+.4f}]")
        lines.append(line)
    return table(["ndcg@20", *datasets], lines)


def pretrained_table() -> str:
    """NDCG of vectors of BPR-MF and of graph models on top of them, by the epochs of BPR-MF."""
    rows = _stored_rows("hgb-pretrained")
    cells: dict[str, dict[str, str]] = {}
    for row in rows:
        name, epochs = row["method"].split(", ")
        cells.setdefault(name, {})[epochs] = f"{row['ours']:.4f} ± {row['std']:.4f}"
    columns = list(next(iter(cells.values())))
    return table(["ndcg@20", *columns], [[f"`{name}`", *own.values()] for name, own in cells.items()])


def factors_table(results: Path = ROOT / "results") -> str:
    """MRR on the links that only one factor predicts: a picture and a table for each data set."""
    if not (results / "lpformer-factors.json").is_file():
        return "No results are stored yet. The command above computes them."
    cells: dict[str, dict[str, dict[str, str]]] = {}
    for row in _stored_rows("lpformer-factors", results):
        spread = f" ± {row['std']:.1f}" if row["seeds"] > 1 else ""
        own = cells.setdefault(row["dataset"], {}).setdefault(
            f"`{row['method']}`", {"seeds": str(row["seeds"])}
        )
        own[row["metric"].removeprefix("mrr, ")] = f"{row['ours']:.1f}{spread}"
    found = pictures.images(results, ["lpformer-factors"])
    for dataset, methods in cells.items():
        head = list(dict.fromkeys(column for own in methods.values() for column in own))
        lines = [[name, *(own[column] for column in head)] for name, own in methods.items()]
        found.append(table([f"{dataset}, mrr", *head], lines))
    return "\n\n".join(found)


def _stored_rows(study: str, results: Path = ROOT / "results") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((results / f"{study}.json").read_text())["rows"]
    return rows
