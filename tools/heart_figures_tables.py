"""The pictures and the table of docs/published.md on common neighbours, from three files of evidence."""

from __future__ import annotations

import json
from pathlib import Path

import pictures
from tables import table

# The second and third have what the first has, and HeaRT's negatives too.
EVIDENCE = ("heart-figure-3", "heart-figure-4", "heart-figure-5")
NONE, MEAN = "without a common neighbour, %", "common neighbours, mean"
COLUMNS = {
    "positives": ("existing", "positives"),
    "negatives, existing": ("existing", "negatives"),
    "negatives, HeaRT": ("heart", "negatives"),
}
# By setting, kind of pair and metric.
Values = dict[tuple[str, str, str], float]


def render(results: Path) -> str:
    """Return the pictures and the table, or a sentence where there is no evidence.

    Args:
        results: the folder of evidence.
    """
    found: dict[tuple[str, str], Values] = {}
    for name in EVIDENCE:
        path = results / f"{name}.json"
        for row in json.loads(path.read_text())["rows"] if path.is_file() else []:
            setting, released, _ = row["protocol"].partition("-released")
            values = found.setdefault((row["dataset"], released), {})
            if values.setdefault((setting, row["method"], row["metric"]), row["ours"]) != row["ours"]:
                raise SystemExit(f"{path.name} does not agree with another figure: {row}")
    if not found:
        return "No results are stored yet. The commands above compute them."
    head = ["data set", "protocols", *(f"{name}: none" for name in COLUMNS)]
    lines = [
        [dataset, ", ".join(f"{setting}{released}" for setting in dict.fromkeys(s for s, *_ in values))]
        + [*_cells(values, NONE, " %"), *_cells(values, MEAN)]
        for (dataset, released), values in found.items()
    ]
    head += [f"{name}: mean" for name in COLUMNS]
    return "\n\n".join([*pictures.images(results, EVIDENCE), table(head, lines)])


def _cells(found: Values, metric: str, ending: str = "") -> list[str]:
    values = [found.get((*where, metric)) for where in COLUMNS.values()]
    return ["–" if value is None else f"{value:.2f}{ending}" for value in values]
