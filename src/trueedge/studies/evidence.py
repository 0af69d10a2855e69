"""What a study came to, as a file that can be shown, kept, and added to."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from operator import itemgetter
from pathlib import Path
from typing import Any

from trueedge.analysis.figure import Figure
from trueedge.errors import InputError
from trueedge.files.writing import check_target, write_text
from trueedge.studies.study import Finding, Study


def write(study: Study, finding: Finding, path: str | Path) -> Path:
    """Write a finding as JSON: every number, ours and theirs, what is drawn, and where ours were computed.

    A file that is there already is added to: rows that were not run now stay, each with the run it is from,
    and so do figures of other names.
    """
    path = Path(path)
    kept, earlier = check_evidence(study, path)
    run = {"created": datetime.now(UTC).isoformat(timespec="seconds"), "places": finding.places}
    number = len(earlier)
    rows = _merged(kept, [{**asdict(row), "run": number} for row in finding.rows], _place)
    pictures = [{**figure.to_dict(), "run": number} for figure in finding.figures]
    drawn = _merged(_drawn(path), pictures, itemgetter("name"))
    runs = _renumber([*earlier, run], [*rows, *drawn])
    card = {
        "study": study.name,
        "title": study.title,
        "citation": study.citation,
        "decimals": study.decimals,
        "missing": finding.missing,
        "runs": runs,
        "rows": rows,
        **({"figures": drawn} if drawn else {}),
    }
    return write_text(path, json.dumps(card, indent=1, allow_nan=False) + "\n", "the evidence")


def check_evidence(study: Study, path: str | Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows and runs that a file holds already; refuse a file that a study cannot be written to."""
    path = Path(path)
    check_target(path, "a study", (".json",))
    if not path.exists():
        return [], []
    try:
        card = json.loads(path.read_text())
        of, rows, runs = card["study"], card["rows"], card["runs"]
        found = [*rows, *_drawn(path)]
        sound = isinstance(rows, list) and isinstance(runs, list)
        texts = all(isinstance(word, str) for row in rows for word in _place(row))
        if not (sound and texts and all(type(one["run"]) is int for one in found)):
            raise ValueError
        if not all(0 <= one["run"] < len(runs) for one in found):
            raise ValueError
    except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
        raise InputError(f"{path} is there already, and holds no study to add to") from error
    if of != study.name:
        raise InputError(f"{path} holds {of}: {study.name} goes into a file of its own")
    return rows, runs


def figures(path: str | Path) -> list[Figure]:
    """The figures that a file of evidence holds."""
    return [figure_of(plain) for plain in _drawn(Path(path))]


def figure_of(plain: Mapping[str, Any]) -> Figure:
    """A figure as evidence holds it, with the number of the run it is from."""
    return Figure.from_dict({name: value for name, value in plain.items() if name != "run"})


def _drawn(path: Path) -> list[dict[str, Any]]:
    """The figures that a file holds already, plain; nothing where there is no file."""
    if not path.exists():
        return []
    try:
        found = json.loads(path.read_text()).get("figures", [])
        names = [figure_of(plain).name for plain in found]
        if not isinstance(found, list) or len(set(names)) < len(names):
            raise ValueError
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{path} holds no figures that can be read") from error
    return found


def _place(row: dict[str, Any]) -> tuple[str, ...]:
    return row["dataset"], row["protocol"], row["method"], row["metric"]


def _merged(
    kept: list[dict[str, Any]], found: list[dict[str, Any]], name: Callable[[dict[str, Any]], Any]
) -> list[dict[str, Any]]:
    """What was kept and what was found now; what was run again keeps its place."""
    new = {name(one): one for one in found}
    return [new.pop(name(one), one) for one in kept] + list(new.values())


def _renumber(runs: list[dict[str, Any]], found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The runs that anything is from; what is from them is numbered anew, in place."""
    numbers = sorted({one["run"] for one in found})
    new = {number: place for place, number in enumerate(numbers)}
    for one in found:
        one["run"] = new[one["run"]]
    return [runs[number] for number in numbers]
