"""The tables on ties among HeaRT's negatives: of ogbl-ddi, and of the networks of the degree-bias study."""

from __future__ import annotations

import json
from typing import Any

from tables import ROOT, table

RESULTS = ROOT / "benchmarks" / "results"
SHOWN_NUMBERS = ("20", "60", "100", "200", "500")
WAYS = ("random", "torch", "id")


def ties_table() -> str:
    """Return MRR and Hits@K of heuristics with ties broken in three ways, published values and ours."""
    found = json.loads((RESULTS / "released-ties.json").read_text())
    measured = found["scores"]
    stored = _stored()
    rows = []
    for method, metrics in measured["random"].items():
        for metric in metrics:
            row = stored[method, metric]
            ways = [f"{measured[way][method][metric]:.1f}" for way in WAYS]
            rows.append([method, metric, f"{row['theirs']:.1f}", *ways, f"{row['ours']:.1f}"])
    ways = ["ties at random", f"ties by torch {found['torch']}", "ties by id"]
    return table(["method", "metric", "published", *ways, "ours, ranked to the end"], rows)


def learned_ties_table() -> str:
    """Return MRR and Hits@K of learned methods against random negatives, beside published values and ours."""
    stored = _stored()
    rows = []
    for run in json.loads((RESULTS / "released-ties-learned.json").read_text()):
        for metric, value in run["scores"].items():
            row = stored[run["method"], metric]
            numbers = (row["theirs"], value, row["ours"])
            rows.append([f"`{run['method']}`", metric, *(f"{one:.1f}" for one in numbers)])
    return table(["method", "metric", "published", "random negatives", "ours, hard negatives"], rows)


def _stored() -> dict[tuple[str, str], dict[str, Any]]:
    """Return the rows of Tables 5 and 16, by method and metric."""
    return {
        (row["method"], row["metric"]): row
        for name in ("heart-table-5", "heart-table-16")
        for row in json.loads((ROOT / "results" / f"{name}.json").read_text())["rows"]
        if row["dataset"] == "ogbl-ddi"
    }


def network_ties_table() -> str:
    """Return, for each network, how close two rules for hard negatives come to the published AUC."""
    rows = []
    for found in json.loads((RESULTS / "released-networks.json").read_text()):
        cells = []
        for rule in ("published", "to the end"):
            number = min(found[rule], key=found[rule].get)
            cells.append(f"{found[rule][number]:.3f} ({number})")
        size = [f"{found['nodes']:,}", f"{found['mean degree']:.1f}", f"{found['ties']:.0f} %"]
        rows.append([found["network"], *size, *cells])
    head = ["network", "nodes", "mean degree", "ties", "published rule", "ranked to the end"]
    return table(head, rows)


def heart_heuristics_table() -> str:
    """Return the mean AUC of four heuristics over the networks, by rule and number of hard negatives."""
    measured = json.loads((RESULTS / "released-networks.json").read_text())
    names = list(measured[0]["auc"]["published"])
    rows = []
    for rule, title in (("published", "published rule"), ("to the end", "ranked to the end")):
        for number in SHOWN_NUMBERS:
            means = [
                sum(one["auc"][rule][name][number] for one in measured) / len(measured) for name in names
            ]
            rows.append([title, number, *(f"{mean:.3f}" for mean in means)])
    stored = json.loads((ROOT / "results" / "degree-bias-figure-6.json").read_text())["rows"]
    theirs = {
        row["method"]: row["theirs"]
        for row in stored
        if row["protocol"] == "heart"
        and row["metric"] == "auc"
        and row["dataset"] == f"mean of {len(measured)} networks"
    }
    rows.append(["published AUC", "not known", *(f"{theirs[name]:.3f}" for name in names)])
    return table(["rule", "negatives", *names], rows)
