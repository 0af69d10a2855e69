"""The tables and pictures of docs/pairwise.md on splits and draws, from the evidence of lpformer/draws."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pictures
from hgb_tables import MINUS
from tables import table

EVIDENCE = "lpformer-draws"
METHODS_HEAD = ["data set", "method", "splits", "mrr ours", "mrr published", "median", "5 % to 95 %"]
METHODS_HEAD += ["std, negatives alone", "std, split and training", "variance due to negatives"]
DIFFERENCES_HEAD = ["data set", "difference", "splits", "mrr [95 %]", "draws on which the first is better"]
Cells = dict[tuple[str, str], dict[str, dict[str, Any]]]


def render(results: Path) -> str:
    """Return the pictures and both tables, or a sentence where there is no evidence.

    Args:
        results: the folder of evidence.
    """
    path = results / f"{EVIDENCE}.json"
    if not path.is_file():
        return "No results are stored yet. The command above computes them."
    cells: Cells = {}
    for row in json.loads(path.read_text())["rows"]:
        cells.setdefault((row["dataset"], row["method"]), {})[row["metric"]] = row
    own = [_method(*place, found) for place, found in cells.items() if MINUS not in place[1]]
    gaps = [_difference(*place, found) for place, found in cells.items() if MINUS in place[1]]
    parts = [*pictures.images(results, [EVIDENCE]), table(METHODS_HEAD, own)]
    if gaps:
        parts.append(table(DIFFERENCES_HEAD, gaps))
    return "\n\n".join(parts)


def _method(dataset: str, method: str, found: dict[str, dict[str, Any]]) -> list[str]:
    mean = found["mrr"]
    published = _spread(mean["theirs"], mean["their_std"])

    def number(metric: str, ending: str = "") -> str:
        row = found.get(f"mrr, {metric}")
        return "–" if row is None else f"{row['ours']:.1f}{ending}"

    return [
        *(dataset, f"`{method}`", str(mean["seeds"]), _spread(mean["ours"], mean["std"]), published),
        number("50% of draws below"),
        f"{number('5% of draws below')} to {number('95% of draws below')}",
        number("std, negatives alone"),
        number("std, split and training"),
        number("variance due to negatives, %", " %"),
    ]


def _spread(mean: float | None, std: float | None) -> str:
    if mean is None:
        return "–"
    return f"{mean:.1f} ± {std:.1f}" if std else f"{mean:.1f}"


def _difference(dataset: str, pair: str, found: dict[str, dict[str, Any]]) -> list[str]:
    ends = [found.get(f"mrr, {end} end of 95 %") for end in ("lower", "upper")]
    shown = f"{found['mrr']['ours']:+.1f}"
    known = [end["ours"] for end in ends if end is not None]
    if len(known) == len(ends):
        shown += f" [{known[0]:+.1f}, {known[1]:+.1f}]"
        shown = f"**{shown}**" if known[0] > 0 or known[1] < 0 else shown
    better = found["draws on which the first is better, %"]["ours"]
    return [dataset, pair, str(found["mrr"]["seeds"]), shown, f"{better:.0f} %"]
