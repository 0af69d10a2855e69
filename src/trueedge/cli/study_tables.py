"""Tables and figures of studies on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from trueedge.cli import showing

if TYPE_CHECKING:
    from trueedge.analysis.figure import Figure
    from trueedge.studies import Comparison, Study

NUMBERS = ("ours", "published", "difference", "seeds")
# Longer tables are easier to read as a figure.
MOST_LINES = 24


def show(study: Study, rows: Sequence[Comparison]) -> None:
    """Print the comparisons as a table; columns with a single value move to the title."""
    digits = study.decimals
    columns = {
        "data set": [row.dataset for row in rows],
        "protocol": [row.protocol for row in rows],
        "method": [row.method for row in rows],
        "metric": [row.metric for row in rows],
        "ours": [_value(row.ours, row.std if row.seeds > 1 else None, digits) for row in rows],
        "published": [
            "" if row.theirs is None else _value(row.theirs, row.their_std, digits) for row in rows
        ],
        "difference": [_difference(row.difference, digits) for row in rows],
        "seeds": [str(row.seeds) for row in rows],
    }
    if all(row.theirs is None for row in rows):
        columns = {
            name: column for name, column in columns.items() if name not in ("published", "difference")
        }
    title = [f"{study.name}: {study.title}"]
    for name in ("data set", "protocol", "metric", "seeds"):
        if len(set(columns[name])) == 1:
            shared = columns.pop(name)[0]
            title.append(showing.count(int(shared), "seed") if name == "seeds" else shared)
    numbers = [place for place, name in enumerate(columns) if name in NUMBERS]
    lines = list(zip(*columns.values(), strict=True))
    showing.table(" · ".join(title), list(columns), lines, numbers=numbers)


def show_figure(figure: Figure) -> None:
    """Print a figure as a table: one row per x, one column per series."""
    places = list(dict.fromkeys(place for series in figure.series for place in series.x))
    found = [dict(zip(series.x, series.y, strict=True)) for series in figure.series]
    lines = [
        [_short(place), *("" if place not in values else _short(values[place]) for values in found)]
        for place in places[:MOST_LINES]
    ]
    columns = [figure.x_label, *(series.name for series in figure.series)]
    showing.table(
        f"{figure.title} ({figure.y_label})", columns, lines, numbers=range(1, len(columns)), texts=(0,)
    )
    if len(places) > MOST_LINES:
        showing.note(f"{len(places) - MOST_LINES:,} more lines not shown")
    if figure.note:
        showing.note(figure.note)


def _short(value: float | str) -> str:
    # Rounding errors around zero are shown as zero.
    return value if isinstance(value, str) else f"{0.0 if abs(value) < 1e-12 else value:.4g}"


def _value(mean: float, std: float | None, digits: int) -> str:
    return f"{mean:.{digits}f}" if std is None else f"{mean:.{digits}f}±{std:.{digits}f}"


def _difference(gap: float | None, digits: int) -> str:
    """Return a difference with its sign, unless it rounds to zero."""
    if gap is None:
        return ""
    text = f"{gap:+.{digits}f}"
    return text if float(text) else text[1:]
