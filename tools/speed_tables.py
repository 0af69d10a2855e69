"""What the benchmarks measured, as tables."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pictures
from tables import ROOT, table


def speed_table(subject: str) -> str:
    """What `make bench` measured on one subject: a line for each task and package, and the machine."""
    path = ROOT / "benchmarks" / "results" / f"{subject}.json"
    if not path.is_file():
        asked = subject.replace("-cuda", " --device cuda").replace("-cpu", "")
        return f"No results are stored yet. `python -m benchmarks.run {asked}` measures them."
    measured = json.loads(path.read_text())

    def figure(value: float | None, unit: str = "") -> str:
        return "–" if value is None else f"{value:,.0f}{unit}" if value >= 100 else f"{value:.3g}{unit}"

    lines = []
    for row in measured["rows"]:
        memory = None if row["memory"] is None else row["memory"] / 2**20
        ratio = figure(row["ratio"], " ×") if row["exponent"] is None else f"exponent {row['exponent']:.2f}"
        outcome = {True: ": reached", False: ": missed", None: ""}[row["reached"]]
        figures = [figure(value) for value in (row["seconds"], row["user"], row["first"], memory)]
        others = "–" if row["others"] is None else f"{row['others']:.0%}"
        lines.append([row["task"], row["who"], *figures, others, ratio, row["bar"] + outcome, row["note"]])
    head = ["task", "package", "seconds", "user CPU", "first call", "MiB", "other load", "vs. trueedge"]
    head += ["target", "note"]
    packages = measured["versions"]
    listed = ", ".join(f"{name} {packages[name]}" for name in packages)
    return f"{table(head, lines)}\n\n{_place(measured)}; {measured['repeats']} repeats; {listed}."


def large_table() -> str:
    """Hard negatives at the size of the largest graphs: the stages of each run, and the machine."""
    lines, where = [], ""
    for size in ("citation2", "ppa"):
        run = json.loads((ROOT / "benchmarks" / "results" / f"large-heart-{size}.json").read_text())
        graph, gigabytes = run["graph"], run["peak_memory"] / 2**30
        stages = {stage["name"]: stage["seconds"] for stage in run["stages"]}
        bars = run["bars"]
        outcome = "reached" if all(bar["reached"] for bar in bars.values()) else "missed"
        lines.append(
            [
                f"ogbl-{size}'s",
                f"{graph['nodes']:,}",
                f"{graph['edges']:,}",
                f"{run['positives']:,}",
                f"{run['eps']:g}",
                f"{stages['make the graph']:.1f}",
                f"{stages['make the negatives']:.1f}",
                f"{sum(stages.values()):.1f}",
                f"{gigabytes:.2f}",
                f"{bars['seconds']['below']:,} s, {bars['gibibytes']['below']} GiB: {outcome}",
            ]
        )
        where = f"{_place(run)}."
    head = [
        "size",
        "nodes",
        "edges",
        "positives",
        "eps",
        "graph (s)",
        "negatives (s)",
        "total (s)",
    ]
    return f"{table([*head, 'peak GiB', 'targets'], lines)}\n\n{where}"


def epochs_picture(device: str, results: Path = ROOT / "benchmarks" / "results") -> str:
    """Draw how long an epoch of LPFormer and NCNC takes on each data set, as SVG; nothing if not measured.

    On a CPU these are seconds of the processor, which other processes do not change.

    Args:
        device: where it was measured, ``cpu`` or ``cuda``.
        results: the folder of the measurements.
    """
    # Here: what is imported first changes the order of the catalogue.
    from trueedge.analysis.figure import Figure, Series

    path = results / f"pairwise_epochs-{device}.json"
    if not path.is_file():
        return ""
    found: dict[str, list[tuple[float, str, float]]] = {}
    for row in json.loads(path.read_text())["rows"]:
        ((method, dataset, degree),) = re.findall(r"(.+), (.+), mean degree (.+), \w+", row["task"])
        seconds = row["user"] if device == "cpu" else row["seconds"]
        found.setdefault(method, []).append((float(degree), f"{dataset} ({degree})", seconds))
    series = []
    for method, several in found.items():
        _, names, seconds = zip(*sorted(several), strict=True)
        series.append(Series(method, names, seconds))
    return pictures.drawn(
        Figure(
            name="pairwise-epochs",
            title="Seconds of an epoch of LPFormer and NCNC",
            kind="points",
            x_label="data set (mean degree)",
            y_label="CPU seconds of an epoch" if device == "cpu" else "seconds of an epoch",
            series=tuple(series),
            log_y=True,
        )
    )


def _place(measured: dict[str, Any]) -> str:
    where, threads = measured["machine"], measured["threads"]
    return f"{where['processor']}, {where['cores']} cores, {threads} thread{'s' * (threads > 1)}"
