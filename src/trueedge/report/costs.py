"""What methods cost: time, memory, and quality against time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from statistics import median

from trueedge.analysis.figure import Figure, Series
from trueedge.analysis.tables import Table
from trueedge.metrics import scale
from trueedge.report.blocks import MISSING, Cell, Column, figure, paragraph, table
from trueedge.report.marks import Looks
from trueedge.report.markup import Markup, joined, tag
from trueedge.report.naming import method_looks
from trueedge.report.numbers import axis_label
from trueedge.report.size_limit import fitting
from trueedge.results.record import Record

MEGABYTE = 2.0**20
WHOLE_PROCESS = "of the whole process, including data, libraries and earlier runs"


def cost(tables: Sequence[Table], room: int) -> Markup:
    """Time and memory of every method."""
    said = paragraph(
        "Medians over seeds. Fit includes all training; score covers the validation and test parts. A single"
        " run may include compilation. Peak memory is that of the whole process, data and libraries included;"
        " it is shown where methods differ by 10 % or more. Times on different machines or devices are not"
        " comparable.",
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
        series.append(Series(line.label, (max(fit + score, 1e-4),), (scale(one.headline) * line.value,)))
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
        axis_label(one.headline),
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
    """Return a time in its usual unit."""
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
