"""The settings that papers published for a method on a data set, read from a table."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trueedge.tasks import Task

ANY = "*"
# Which column of the table a protocol reads: the setting of the paper that it comes from.
PAPERS = {
    "existing": "existing",
    "existing-released": "existing",
    "heart": "heart",
    "heart-released": "heart",
    "uniform": "degree-bias",
    "degree-corrected": "degree-bias",
    "triplet": "degree-bias",
    "recommendation": "degree-bias",
    "communities": "degree-bias",
    "filtered": "kg",
    "inductive": "kg",
    "node-classification": "hgb",
    "typed-links": "hgb",
}


def published_settings(method: str, task: Task) -> dict[str, Any]:
    """Return the settings published for a method on a task's data set under its protocol, by name.

    Rows for one data set or one method override rows for all.
    """
    paper = PAPERS.get(task.protocol)
    found: dict[str, Any] = {}
    for key in ((ANY, ANY), (task.dataset, ANY), (ANY, method), (task.dataset, method)):
        found.update(_table().get((paper, *key), {}))
    return found


@cache
def _table() -> dict[tuple[str | None, str, str], dict[str, Any]]:
    text = (files("trueedge.methods") / "published_settings.csv").read_text("utf-8")
    table: dict[tuple[str | None, str, str], dict[str, Any]] = {}
    for row in csv.DictReader(text.splitlines()):
        place = table.setdefault((row["paper"], row["dataset"], row["method"]), {})
        place[row["setting"]] = _value(row["value"])
    return table


def _value(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
