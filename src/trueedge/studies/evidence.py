"""The results of a study as a JSON file that later runs add to."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from datetime import UTC, datetime
from operator import itemgetter
from pathlib import Path
from typing import Any

from trueedge.analysis.figure import Figure
from trueedge.errors import InputError
from trueedge.files.writing import check_target, write_text
from trueedge.studies.study import Comparison, Finding, Study, get

# What is read of a row.
NAMES = tuple(field.name for field in fields(Comparison) if field.name != "places")


def write(study: Study, finding: Finding, path: str | Path) -> Path:
    """Write a finding to a .json file: our numbers, the published ones, figures, machine and versions.

    An existing file is added to: it keeps rows and figures of earlier runs that were not run again.

    Args:
        study: the study.
        finding: what was found.
        path: the file.
    """
    path = Path(path)
    kept, earlier = check_evidence(study, path)
    run = {"created": datetime.now(UTC).isoformat(timespec="seconds"), "places": finding.places}
    number = len(earlier)
    rows = _merged(kept, [{**_plain(row), "run": number} for row in finding.rows], _place)
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
    """Return the rows and runs in a file; refuse one that the study cannot be added to.

    Args:
        study: the study.
        path: the file; it need not exist.
    """
    path = Path(path)
    check_target(path, "a study", (".json",))
    if not path.exists():
        return [], []
    try:
        card = json.loads(path.read_text("utf-8"))
        of, rows, runs = card["study"], card["rows"], card["runs"]
        found = [*rows, *_drawn(path)]
        sound = isinstance(rows, list) and isinstance(runs, list)
        texts = all(isinstance(word, str) for row in rows for word in _place(row))
        if not (sound and texts and all(type(one["run"]) is int for one in found)):
            raise ValueError
        if not all(0 <= one["run"] < len(runs) for one in found):
            raise ValueError
    except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
        raise InputError(f"{path} exists, but does not contain a study to add to") from error
    if of != study.name:
        raise InputError(f"{path} contains {of}: write {study.name} to another file")
    return rows, runs


def read_finding(study: str, folder: str | Path) -> Finding:
    """Return the rows of a study in a folder of evidence, and where they were computed.

    Args:
        study: the study's name.
        folder: the folder; the file is called as the study is, with a dash for the slash.
    """
    path = Path(folder) / f"{study.replace('/', '-')}.json"
    if not path.exists():
        raise InputError(f"{path} is not there: trueedge reproduce {study} -o {path} computes it")
    rows, runs = check_evidence(get(study), path)
    try:
        # The numbers of places are those of another list here.
        found = [Comparison(**{name: row[name] for name in NAMES if name in row}) for row in rows]
        places = [place for run in runs for place in run["places"]]
    except (KeyError, TypeError) as error:
        raise InputError(f"{path} does not contain readable rows") from error
    return Finding(found, places=[place for at, place in enumerate(places) if place not in places[:at]])


def figures(path: str | Path) -> list[Figure]:
    """Return the figures in a file of evidence."""
    return [figure_of(plain) for plain in _drawn(Path(path))]


def figure_of(plain: Mapping[str, Any]) -> Figure:
    """Return a figure from its dict in a file of evidence."""
    return Figure.from_dict({name: value for name, value in plain.items() if name != "run"})


def _drawn(path: Path) -> list[dict[str, Any]]:
    """Return the figures in a file as dicts; none if there is no file."""
    if not path.exists():
        return []
    try:
        found = json.loads(path.read_text("utf-8")).get("figures", [])
        names = [figure_of(plain).name for plain in found]
        if not isinstance(found, list) or len(set(names)) < len(names):
            raise ValueError
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{path} does not contain readable figures") from error
    return found


def _plain(row: Comparison) -> dict[str, Any]:
    """Return a row as a dict; without a tuning or known places it says nothing of them."""
    found = asdict(row)
    return {name: value for name, value in found.items() if value or name not in ("tuned", "places")}


def _place(row: dict[str, Any]) -> tuple[str, ...]:
    return row["dataset"], row["protocol"], row["method"], row["metric"]


def _merged(
    kept: list[dict[str, Any]], found: list[dict[str, Any]], name: Callable[[dict[str, Any]], Any]
) -> list[dict[str, Any]]:
    """Return old and new entries; one that was run again keeps its position."""
    new = {name(one): one for one in found}
    return [new.pop(name(one), one) for one in kept] + list(new.values())


def _renumber(runs: list[dict[str, Any]], found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the runs that are still used, and renumber their entries in place."""
    numbers = sorted({one["run"] for one in found})
    new = {number: place for place, number in enumerate(numbers)}
    for one in found:
        one["run"] = new[one["run"]]
    return [runs[number] for number in numbers]
