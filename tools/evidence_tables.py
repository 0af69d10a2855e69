"""Ours beside the published values, and the ledger of those that differ, as tables."""

from __future__ import annotations

import json
from typing import Any

import hgb_tables
from tables import ROOT, table

from trueedge import datasets, studies
from trueedge.studies import ledger

LARGE_NETWORK = 1_000


def comparison_table(study: str) -> str:
    """Ours beside theirs, a line for each method and a column for each metric."""
    path = ROOT / "results" / f"{study}.json"
    if not path.is_file():
        return "No results are stored yet. The command above computes them."
    evidence = json.loads(path.read_text())
    digits = evidence["decimals"]
    columns: dict[tuple[str, str], None] = {}
    lines: dict[tuple[str, str, str], dict[tuple[str, str], str]] = {}
    for row in evidence["rows"]:
        if hgb_tables.MINUS in row["method"]:
            continue  # A difference of two methods has a table of its own.
        where = (row["dataset"], row["protocol"], row["method"])
        both = (("ours", row["ours"], row["std"]), ("published", row["theirs"], row["their_std"]))
        for side, value, std in both:
            if value is None:
                continue
            columns[row["metric"], side] = None
            spread = f" ± {std:.{digits}f}" if std and row["seeds"] > 1 else ""
            lines.setdefault(where, {})[row["metric"], side] = f"{value:.{digits}f}{spread}"
    printed = {metric for metric, side in columns if side == "published"}
    head = ["data set", "protocol", "method"]
    head += [f"{metric} {side}" if metric in printed else metric for metric, side in columns]
    order = list(dict.fromkeys(dataset for dataset, _, _ in lines))
    rows = sorted(lines.items(), key=lambda line: order.index(line[0][0]))
    return table(head, [[*where, *(cells.get(c, "–") for c in columns)] for where, cells in rows])


def ledger_table(kind: str) -> str:
    """How many published values hold, by file of evidence; or the entries about those that do not."""
    found = ledger.read(ROOT / "results")
    faults = found.faults()
    if faults:
        raise SystemExit("\n".join([*faults[:20], "results/misses.toml must say why, or no longer say it"]))
    return _holding(found) if kind == "values" else _entries(found)


def _holding(found: ledger.Ledger) -> str:
    rows = []
    missed = {id(value): entry for value, entry in found.missed()}
    names = dict.fromkeys(value.evidence for value in found.values)
    for name in [*names, "all"]:
        values = [value for value in found.values if name in (value.evidence, "all")]
        entries = [entry for value in values if (entry := missed.get(id(value))) is not None]
        explained = sum(entry.status == "explained" for entry in entries)
        held = len(values) - len(entries)
        cells = [len(values), held, explained, len(entries) - explained]
        rows.append([name, *(f"{one:,}" for one in cells)])
    return table(["evidence", "published values", "hold", "missed, explained", "missed, open"], rows)


def _entries(found: ledger.Ledger) -> str:
    rows = []
    for entry, values in found.by_entry():
        names = list(dict.fromkeys(value.method for value in values))
        shown = ", ".join(f"`{name}`" for name in names[:6]) + (" and more" if len(names) > 6 else "")
        gaps = sorted(value.difference for value in values)
        where = ", ".join(dict.fromkeys(value.evidence for value in values))
        spread = f"{gaps[0]:+.3g} to {gaps[-1]:+.3g}" if len(gaps) > 1 else f"{gaps[0]:+.3g}"
        rows.append([where, shown, str(len(values)), spread, entry.status, entry.cause, entry.experiment])
    head = ["evidence", "methods", "values", "ours minus published", "status", "cause", "experiment"]
    return table(head, rows)


def spread_table() -> str:
    """How far seeds differ, in the mean over methods (HeaRT's Table 6), from the evidence of two tables."""
    printed = {
        value.protocol: value.mean
        for value in studies.published("heart")
        if value.table == "heart/table-6" and value.dataset == "citeseer"
    }
    found: dict[str, dict[str, float]] = {}
    for number, setting in ((1, "existing"), (4, "heart")):
        rows = json.loads((ROOT / "results" / f"heart-table-{number}.json").read_text())["rows"]
        found[setting] = {row["method"]: row["std"] for row in rows if row["metric"] == "mrr" and row["std"]}
    both = [name for name in found["existing"] if name in found["heart"]]
    lines = [
        [setting, *(f"{stds[name]:.2f}" for name in both), f"{sum(stds[n] for n in both) / len(both):.2f}"]
        + [f"{printed[setting]:.2f}"]
        for setting, stds in found.items()
    ]
    return table(["setting", *both, "mean", "published mean"], lines)


def plain_table() -> str:
    """Ours and the published beside a plain script at the same settings."""
    evidence = [
        row
        for study in ("heart-table-1", "heart-table-4")
        for row in json.loads((ROOT / "results" / f"{study}.json").read_text())["rows"]
    ]
    lines = []
    for path in sorted((ROOT / "benchmarks" / "results").glob("plain-*.json")):
        plain = json.loads(path.read_text())
        for row in evidence:
            if path.stem == f"plain-{row['dataset']}-{row['protocol']}-{row['method']}":
                here = plain[row["metric"]]
                pairs = (
                    (row["ours"], row["std"]),
                    (100 * here["mean"], 100 * here["std"]),
                    (row["theirs"], row["their_std"]),
                )
                values = [f"{mean:.2f} ± {std:.2f}" for mean, std in pairs]
                lines.append([row["protocol"], row["method"], row["metric"], *values])
    return table(["protocol", "method", "metric", "ours", "plain script", "published"], lines)


def networks_table(study: str) -> str:
    """The mean absolute difference of each method's AUC over the networks."""
    path = ROOT / "results" / f"degree-bias-{study}.json"
    if not path.is_file():
        return f"No results are stored yet. `trueedge reproduce degree-bias/{study}` computes them."
    rows = json.loads(path.read_text())["rows"]
    large = [row for row in rows if (datasets.get(row["dataset"]).num_edges or 0) > LARGE_NETWORK]
    lines = []
    for method in [*dict.fromkeys(row["method"] for row in rows), "all"]:
        cells = [method]
        for group in (large, rows):
            chosen = [row for row in group if method in ("all", row["method"])]
            gaps = [abs(row["ours"] - row["theirs"]) for row in chosen]
            cells += [f"{sum(gaps) / len(gaps):.4f}", str(len(gaps))]
        lines.append(cells)
    head = [
        "method",
        "mean abs. difference, networks over 1,000 edges",
        "number",
        "mean abs. difference, all networks",
        "number",
    ]
    return f"{table(head, lines)}\n\n{ranking_of_methods(rows)}"


def ranking_of_methods(rows: list[dict[str, Any]]) -> str:
    """How alike the methods are ranked, by their mean AUC over the networks that all of them were run on."""
    from scipy.stats import spearmanr

    methods_run = list(dict.fromkeys(row["method"] for row in rows))
    by_network: dict[str, dict[str, tuple[float, float]]] = {}
    for row in rows:
        by_network.setdefault(row["dataset"], {})[row["method"]] = (row["ours"], row["theirs"])
    complete = [found for found in by_network.values() if len(found) == len(methods_run)]
    means = [
        [sum(found[method][side] for found in complete) / len(complete) for method in methods_run]
        for side in (0, 1)
    ]
    alike = spearmanr(*means).statistic
    return (
        f"Spearman's correlation of the methods' mean AUC, ours and published, over the {len(complete)}"
        f" networks with all {len(methods_run)} methods: {alike:.3f}."
    )


def null_audits_table() -> str:
    """Return how often checks found something where there was nothing to find."""
    rows = [
        [
            found["kind"],
            f"{found['units']:.0f}",
            str(found["checks"]),
            f"{sum(found['small'].values()) / found['runs']:.1f}",
            f"{100 * max(found['alarms'].values(), default=0) / found['runs']:.0f} %",
            ", ".join(f"`{name}`" for name in found["alarms"]),
        ]
        for found in json.loads((ROOT / "benchmarks" / "results" / "null_audits.json").read_text())
    ]
    head = ["benchmarks", "test units", "checks", "too small to judge", "most alarms of a check", "which"]
    return table(head, rows)
