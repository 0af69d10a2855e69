"""Draw the figures about recommendation anew, from the rows of the evidence.

    python tools/redraw_alignment.py

The evidence keeps the AUC and NDCG@100 of each network and method, so the overlaps and their intervals
follow from it without running the study. Figures of other list sizes need values that it does not keep: their
intervals, of which nothing is known by families, are left out until the study is run again.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from trueedge.analysis.figure import Figure
from trueedge.files.writing import write_text
from trueedge.studies.degree_bias.alignment import figures_from_auc
from trueedge.studies.evidence import figure_of

PATH = Path(__file__).parents[1] / "results" / "degree-bias-recommendation.json"


def measured(rows: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, float]]:
    """The metrics of each network and method, as the study names them."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows:
        if row["metric"] not in ("auc", "ndcg@100", "vcmpr@100") or row["protocol"].endswith(" own"):
            continue
        own = row["protocol"] == "recommendation"
        name = row["metric"] if own else f"{row['protocol']} {row['metric']}"
        found.setdefault((row["dataset"], row["method"]), {})[name] = row["ours"]
    return found


def without_intervals(figure: Figure) -> Figure:
    """The figure with its values alone."""
    bare = tuple(replace(one, low=(), high=()) for one in figure.series)
    return replace(figure, series=bare, note="")


def main() -> None:
    """Write the evidence with the figures drawn anew."""
    card = json.loads(PATH.read_text("utf-8"))
    drawn = {figure.name: figure for figure in figures_from_auc(measured(card["rows"]))}
    figures = []
    for plain in card["figures"]:
        old = figure_of(plain)
        new = drawn.get(old.name) or without_intervals(old)
        figures.append({**new.to_dict(), "run": plain["run"]})
    write_text(
        PATH, json.dumps({**card, "figures": figures}, indent=1, allow_nan=False) + "\n", "the evidence"
    )


if __name__ == "__main__":
    main()
