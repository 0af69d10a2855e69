"""What methods cost: time and memory, and quality against time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from statistics import median

from trueedge.analysis.figure import Figure, Series
from trueedge.analysis.tables import Table
from trueedge.report.blocks import MISSING, Cell, Column, figure, paragraph, table
from trueedge.report.marks import Looks
from trueedge.report.markup import Markup, joined, tag
from trueedge.report.naming import method_looks
from trueedge.report.room import fitting
from trueedge.results.record import Record

MEGABYTE = 2.0**20
WHOLE_PROCESS = "of the whole process: the data, the libraries and what ran before count too"


def cost(tables: Sequence[Table], room: int) -> Markup:
    """Time and memory of every method."""
    said = paragraph(
        "Medians over seeds: fitting with all of its training, and scoring the pairs of the validation and"
        " test parts; a single run may include the compiler's time. Memory is the largest resident memory of"
        " the whole process, data and libraries with it, so it is shown only where methods differ in it by a"
        " tenth or more. Times of different machines or devices do not compare.",
        quiet=True,
    )
    build = partial(_cost, looks=method_looks(tables))
    return joined([said, *fitting(tables, build, room, "data sets and protocols")])


def _cost(one: Table, looks: Mapping[str, Looks]) -> Markup:
    rows, series = [], []
    peaks = {line.label: median(record.peak_memory for record in line.records) for line in one.lines}
    differ = max(peaks.values()) > 1.1 * min(peaks.values())
    for line in one.lines:
        records = line.records
        fit, score = (
            median(record.seconds.get(name, 0.0) for record in records) for name in ("fit", "score")
        )
        memory = peaks[line.label] / MEGABYTE
        peak = Cell(f"{memory:,.0f} MB" if memory else MISSING, sort=memory or math.nan)
        devices = ", ".join(dict.fromkeys(_device(record) for record in records))
        rows.append(
            [
                line.label,
                Cell(seconds(fit), sort=fit),
                Cell(seconds(score), sort=score),
                *([peak] if differ else []),
                devices,
            ]
        )
        series.append(Series(line.label, (max(fit + score, 1e-4),), (100 * line.value,)))
    columns: list[Column | str] = [
        "method",
        Column("fit", number=True, hint="median over seeds"),
        Column("score", number=True, hint="median over seeds"),
        *([Column("peak memory", number=True, hint=WHOLE_PROCESS)] if differ else []),
        "device",
    ]
    drawn = Figure(
        f"cost-{one.where}",
        f"{one.headline} against time, {one.where}",
        "points",
        "seconds to fit and score",
        f"{one.headline}, percent",
        tuple(series),
        log_x=True,
    )
    return tag(
        "div",
        figure(drawn, listed=False, looks=looks[one.first.dataset]),
        table(columns, rows, label=one.where),
        class_="pictures",
    )


def seconds(value: float) -> str:
    """A time as a person says it."""
    if value < 0.0009995:
        return f"{1e6 * value:.2g} µs" if value < 9.95e-5 else f"{1e6 * value:.0f} µs"
    if value < 0.9995:
        return f"{1000 * value:.3g} ms"
    if value < 600:
        return f"{value:.3g} s"
    return f"{value / 60:,.0f} min" if value < 36_000 else f"{value / 3600:,.1f} h"


def _device(record: Record) -> str:
    machine = record.provenance.get("machine", {})
    return str(machine.get("accelerator") or record.provenance.get("device", "") or MISSING)
