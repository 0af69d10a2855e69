"""Run the benchmarks, all or some: a table on the terminal, and a file for each subject.

python -m benchmarks.run                      all subjects, at full size, with the peers
python -m benchmarks.run pairs ppr            some of them
python -m benchmarks.run --size small         a tenth of it
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from dataclasses import asdict, replace
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numba
from rich.console import Console
from rich.table import Table

import trueedge
from benchmarks.graphs import EXPONENT, SIZES
from benchmarks.timing import Row
from trueedge.runs.provenance import machine, versions

SUBJECTS = (
    "pairs",
    "ppr",
    "heart",
    "building",
    "sampling",
    "metrics",
    "asking",
    "filtered_ranking",
    "scaling",
    "epochs",
    "pairwise",
    "pairwise_epochs",
)
# Where these train can be chosen.
TRAINED = ("epochs", "pairwise", "pairwise_epochs")
PEERS = (
    "networkit",
    "python-graphblas",
    "suitesparse-graphblas",
    "igraph",
    "networkx",
    "scikit-network",
    "ogb",
    "scikit-learn",
    "polars",
    "pyarrow",
    "pykeen",
)
RESULTS = Path(__file__).parent / "results"


def main(arguments: list[str] | None = None) -> int:
    """Measure what was asked for; 1 where a bar was missed."""
    options = _parse(arguments)
    console = Console(width=None if sys.stdout.isatty() else 160)
    missed, before = 0, source_hash()
    for subject in options.subjects or SUBJECTS:
        measure = import_module(f"benchmarks.{subject}").measure
        where = {"device": options.device} if subject in TRAINED else {}
        rows: list[Row] = measure(SIZES[options.size], options.repeats, options.peers, **where)
        if options.size != "full":
            # The bars are for full sizes: on less work the fixed costs decide.
            rows = [replace(row, bar="", reached=None) for row in rows]
        console.print(table(subject, rows))
        name = f"{subject}-{options.device}" if where else subject
        write(options.output / f"{name}.json", subject, options, rows)
        if source_hash() != before:
            console.print("the package's code changed while it was measured: run this again")
        missed += sum(row.reached is False for row in rows)
    if missed:
        console.print(f"{missed} bars are missed")
    return int(options.strict and missed > 0)


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.run", description="Time trueedge beside its peers."
    )
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help=f"some of {', '.join(SUBJECTS)}")
    parser.add_argument("--size", choices=tuple(SIZES), default="full")
    parser.add_argument("--repeats", type=int, default=5, help="turns each; the median counts")
    parser.add_argument("--no-peers", dest="peers", action="store_false", help="time trueedge alone")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="where epochs are trained")
    parser.add_argument("--output", type=Path, default=RESULTS, help="the folder of the results")
    parser.add_argument("--strict", action="store_true", help="fail where a bar is missed")
    options = parser.parse_args(arguments)
    for subject in options.subjects:
        if subject not in SUBJECTS:
            parser.error(f"there is no subject {subject!r}; there are {', '.join(SUBJECTS)}")
    if options.repeats < 1:
        parser.error(f"--repeats must be 1 or more, got {options.repeats}")
    return options


def table(subject: str, rows: list[Row]) -> Table:
    """The rows as they are shown on a terminal."""
    shown = Table(title=subject)
    for column in ("task", "package"):
        shown.add_column(column)
    for column in ("seconds", "user", "first", "MiB", "others", "ratio", "bar", ""):
        shown.add_column(column, justify="right")
    shown.add_column("note")
    before = ""
    for row in rows:
        shown.add_row("" if row.task == before else row.task, *cells(row))
        before = row.task
    return shown


def cells(row: Row) -> list[str]:
    """What a table says of a row, after its task."""
    if row.exponent is not None:
        figures = ["", "", "", "", "", f"{row.exponent:.2f}"]
    elif row.seconds is None:
        figures = [""] * 6
    else:
        figures = [
            figure(row.seconds),
            figure(row.user),
            figure(row.first),
            "" if row.memory is None else f"{row.memory / 2**20:,.0f}",
            "" if row.others is None else f"{row.others:.0%}",
            "" if row.ratio is None else f"{row.ratio:,.1f} ×",
        ]
    outcome = {True: "reached", False: "missed", None: ""}[row.reached]
    return [row.who, *figures, row.bar, outcome, row.note]


def figure(seconds: float | None) -> str:
    """Seconds to three digits."""
    if seconds is None:
        return ""
    return f"{seconds:,.0f}" if seconds >= 100 else f"{seconds:.3g}"


def write(path: Path, subject: str, options: argparse.Namespace, rows: list[Row]) -> None:
    """The rows as a file, with what they were measured on."""
    content: dict[str, Any] = {
        "subject": subject,
        "size": options.size,
        "repeats": options.repeats,
        "graph_exponent": EXPONENT,
        "threads": numba.get_num_threads(),
        "source": source_hash(),
        "machine": machine(),
        "versions": {**versions(), **_peer_versions()},
        "rows": [asdict(row) for row in rows],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def source_hash() -> str:
    """A SHA-256 of the package's code: which state of it was measured, committed or not."""
    package = Path(trueedge.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(f"{path.relative_to(package)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def _peer_versions() -> dict[str, str]:
    found = {}
    for package in PEERS:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


if __name__ == "__main__":
    sys.exit(main())
