"""How often intervals hold the truth, as tables for the documentation, from the measured coverage."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

Rows = list[dict[str, Any]]


def simulated(results: Path) -> list[list[str]]:
    """Return a row for each kind of simulated split: the range of the coverage over its cases, in percent."""
    found: Rows = json.loads((results / "coverage-of-intervals.json").read_text())
    groups: dict[tuple[bool, bool, int], Rows] = {}
    for row in found:
        case = row["case"]
        groups.setdefault((case["shared"], case["nodes"] > 0, case["edges"]), []).append(row)
    return [
        [
            "shared" if shared else "own",
            "yes" if nodes else "no",
            f"{edges:,}",
            str(len(rows)),
            _span(rows, "mean"),
            _span(rows, "difference"),
        ]
        for (shared, nodes, edges), rows in groups.items()
    ]


def redrawn(results: Path) -> list[list[str]]:
    """Return a row for each method and difference on redrawn splits, of the MRR."""
    rows: Rows = json.loads((results / "coverage-of-redraws.json").read_text())
    return [
        [
            row["what"].replace("-", "−"),
            str(row["splits"]),
            f"{100 * row['truth']:.1f}",
            f"{100 * row['std']:.1f}",
            f"{100 * row['error']:.1f} ({100 * row['error_units']:.1f})",
            f"{100 * row['covered']:.0f} %",
            f"{100 * row['covered_units']:.0f} %",
        ]
        for row in rows
        if row["metric"] == "mrr"
    ]


def test_parts(results: Path) -> list[list[str]]:
    """Return a row for each number of seeds on one test part: ranges over its cases, in percent."""
    found: Rows = json.loads((results / "coverage-of-test-parts.json").read_text())
    groups: dict[int, Rows] = {}
    for row in found:
        groups.setdefault(row["case"]["seeds"], []).append(row)
    lines = []
    for seeds, rows in groups.items():
        wrong = [100 * row["letters"] for row in rows if row["letters"] is not None]
        letters = f"{statistics.median(wrong):.1f} %, at most {max(wrong):.1f} %" if wrong else "–"
        lines.append([str(seeds), str(len(rows)), _span(rows, "mean"), _span(rows, "difference"), letters])
    return lines


def _span(rows: Rows, name: str) -> str:
    shares = [100 * row[name] for row in rows]
    inside = sum(93 <= share <= 97 for share in shares)
    return f"{min(shares):.1f}–{max(shares):.1f} % ({inside} in 93–97)"
