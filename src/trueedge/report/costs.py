"""What methods cost: time, memory, and quality against time."""

from __future__ import annotations

import math
from statistics import median

from trueedge.analysis.figure import Figure, Series
from trueedge.analysis.tables import Table
from trueedge.metrics import scale
from trueedge.report.blocks import MISSING, Cell, Column, figure, paragraph, table
from trueedge.report.marks import Looks
from trueedge.report.markup import Markup, joined, tag
from trueedge.report.numbers import axis_label
from trueedge.results.record import Record

MEGABYTE = 2.0**20
# A clock around a call tells no less than this, in seconds.
SHORTEST = 1e-3
# If all methods are faster, nobody chooses by time.
WORTH_A_PICTURE = 0.1
SAID = (
    "Medians over seeds; a single run may include compilation. Peak memory is shown where methods differ by"
    " 10 % or more. Times on different machines or devices are not comparable."
)
WHOLE_PROCESS = "of the whole process, including data, libraries and earlier runs"


def cost(one: Table, looks: Looks) -> Markup:
    """Return time and memory of every method of a table."""
    rows, series = [], []
    peaks = {line.label: median(record.peak_memory for record in line.records) for line in one.lines}
    differ = max(peaks.values()) > 1.1 * min(peaks.values())
    slowest = 0.0
    for line in one.lines:
        records = line.records
        fit, score = (
            median(record.seconds.get(name, 0.0) for record in records) for name in ("fit", "score")
        )
        slowest = max(slowest, fit + score)
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
        series.append(Series(line.label, (max(fit + score, SHORTEST),), (scale(one.headline) * line.value,)))
    columns: list[Column | str] = [
        "method",
        Column("fit", number=True, hint="median over seeds, with all training"),
        Column("score", number=True, hint="median over seeds, of the validation and test parts"),
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
    picture = [figure(drawn, listed=False, looks=looks)] if slowest >= WORTH_A_PICTURE else []
    return joined(
        [
            paragraph(SAID, quiet=True),
            tag("div", table(columns, rows, label="cost"), *picture, class_="pictures"),
        ]
    )


def seconds(value: float) -> str:
    """Return a time in its usual unit; what is shorter than a clock can tell is ``<1 ms``."""
    if value < SHORTEST:
        return "<1 ms"
    if value < 0.9995:
        return f"{1000 * value:.3g} ms"
    if value < 600:
        return f"{value:.3g} s"
    return f"{value / 60:,.0f} min" if value < 36_000 else f"{value / 3600:,.1f} h"


def _device(record: Record) -> str:
    machine = record.provenance.get("machine", {})
    return str(machine.get("accelerator") or record.provenance.get("device", "") or MISSING)
