"""What a study came to, as a file that can be shown, kept, and added to."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from trueedge.errors import InputError
from trueedge.studies.study import Finding, Study


def write(study: Study, finding: Finding, path: str | Path) -> Path:
    """Write a finding as JSON: every number, ours and theirs, and where ours were computed.

    A file that is there already is added to: rows that were not run now stay, each with the run it is from.

    Args:
        study: what was run.
        finding: what it came to.
        path: a ``.json`` file.
    """
    path = Path(path)
    kept, earlier = check_evidence(study, path)
    run = {"created": datetime.now(UTC).isoformat(timespec="seconds"), "places": finding.places}
    rows = {_place(row): {**row, "run": len(earlier)} for row in map(asdict, finding.rows)}
    # A row that was run again keeps its place in the table.
    merged = [rows.pop(_place(row), row) for row in kept] + list(rows.values())
    runs, merged = _used([*earlier, run], merged)
    card = {
        "study": study.name,
        "title": study.title,
        "citation": study.citation,
        "decimals": study.decimals,
        "missing": finding.missing,
        "runs": runs,
        "rows": merged,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(card, indent=1) + "\n")
    return path


def check_evidence(study: Study, path: str | Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows and runs that a file holds already; refuse a file that a study cannot be written to."""
    path = Path(path)
    if path.suffix != ".json":
        raise InputError(f"{path}: a study is written to a .json file")
    if not path.exists():
        return [], []
    try:
        card = json.loads(path.read_text())
        of, rows, runs = card["study"], card["rows"], card["runs"]
        sound = isinstance(rows, list) and isinstance(runs, list)
        if not sound or not all(_place(row) and row["run"] in range(len(runs)) for row in rows):
            raise ValueError
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise InputError(f"{path} is there already, and holds no study to add to") from error
    if of != study.name:
        raise InputError(f"{path} holds {of}: {study.name} goes into a file of its own")
    return rows, runs


def _place(row: dict[str, Any]) -> tuple[str, ...]:
    return row["dataset"], row["protocol"], row["method"], row["metric"]


def _used(
    runs: list[dict[str, Any]], rows: list[dict[str, Any]]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The runs that a row is from, numbered anew."""
    numbers = sorted({row["run"] for row in rows})
    new = {number: place for place, number in enumerate(numbers)}
    return [runs[number] for number in numbers], [{**row, "run": new[row["run"]]} for row in rows]
