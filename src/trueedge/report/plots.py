"""Figures for papers and notebooks, drawn with matplotlib."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

from trueedge.analysis.slices import Sliced, slices
from trueedge.analysis.tables import Table, higher_is_better, latest, tables
from trueedge.errors import InputError, unknown
from trueedge.metrics import scale
from trueedge.metrics.units import plural
from trueedge.report.colours import LIGHT, SERIES
from trueedge.report.numbers import axis_label, points
from trueedge.report.over_datasets import over_datasets
from trueedge.report.ranks_plot import draw_ranks, literal
from trueedge.report.tuned_names import Trials, renamed
from trueedge.results.record import Record
from trueedge.verdict.verdict import Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Kind = Literal["intervals", "ranks", "groups", "verdict"]
Source = Verdict | Table | Iterable[Record] | Iterable[Table]
MISSING = "figures need matplotlib: run 'pip install trueedge[plot]'"
# More panels or lines than these cannot be read.
MOST_PANELS, MOST_LINES = 12, 8
PANEL_WIDTH, ROW = 6.4, 0.26
PLACES = {"above": "ok", "below": "broken"}


def figure(source: Source, kind: Kind | None = None) -> Figure:
    """Draw a verdict, a table or records as a matplotlib figure.

    Args:
        source: a verdict, a table, or several tables or records.
        kind: ``intervals`` (each method with its interval, a panel for each table), ``ranks`` (mean ranks
            over data sets with the critical difference, a panel for each protocol), ``groups`` (methods
            within groups of test units, of one table) or ``verdict`` (model minus best baseline under each
            protocol). By default ``verdict`` for a verdict and ``intervals`` for everything else.

    Returns:
        a figure that is not known to pyplot: save it with ``savefig``.
    """
    chosen = kind or ("verdict" if isinstance(source, Verdict) else "intervals")
    if chosen not in get_args(Kind):
        raise unknown("kind of figure", chosen, get_args(Kind))
    empty = new_figure()
    if chosen == "verdict":
        if not isinstance(source, Verdict):
            raise InputError(f"a figure of kind 'verdict' needs a verdict, got {type(source).__name__}")
        return _verdict(source, empty)
    found = _tables(source)
    if chosen == "intervals":
        return _intervals(found, empty)
    if chosen == "ranks":
        return _ranks(found, empty)
    if isinstance(source, Verdict) and source.sliced:
        best = {one.protocol: one.best for one in source.answers}
        labels = [source.model, *best.values()]
        return groups_figure(found[0], source.sliced[0], empty, labels)
    if len(found) > 1:
        where = ", ".join(one.where for one in found[:3])
        raise InputError(f"a figure of kind 'groups' is of one table, got {len(found)} ({where}, …)")
    return groups_figure(found[0], slices(found[0].records), empty)


def new_figure() -> Figure:
    """Return an empty figure, or say how to install matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError(MISSING) from None
    return Figure(layout="constrained")


def _tables(source: Source) -> list[Table]:
    if isinstance(source, Verdict):
        return list(source.tables)
    if isinstance(source, Table):
        return [source]
    if not isinstance(source, Iterable):
        raise InputError(f"a figure is drawn of a verdict, a table or records, got {type(source).__name__}")
    given = list(source)
    found = [one for one in given if isinstance(one, Table)]
    records = [one for one in given if isinstance(one, Record)]
    if len(found) + len(records) < len(given) or not given:
        what = type(given[0]).__name__ if given else "an empty list"
        raise InputError(f"a figure is drawn of a verdict, a table or records, got {what}")
    trials = Trials(records)
    return [*found, *(renamed(one, trials.names(one)) for one in tables(latest(records)))]


def _panels(made: Figure, heights: Sequence[float], width: float = PANEL_WIDTH) -> list[Any]:
    """Return axes below each other, of these heights in inches."""
    if len(heights) > MOST_PANELS:
        raise InputError(
            f"{len(heights)} panels are too many for one figure, at most {MOST_PANELS}: choose fewer tables"
        )
    made.set_size_inches(width, sum(heights))
    axes = made.subplots(len(heights), 1, squeeze=False, height_ratios=list(heights))
    return [row[0] for row in axes]


def _intervals(found: Sequence[Table], made: Figure) -> Figure:
    panels = _panels(made, [1.0 + ROW * len(one.lines) for one in found])
    for axes, one in zip(panels, found, strict=True):
        factor = scale(one.headline)
        for place, line in enumerate(one.lines):
            known = line.estimate.estimate if line.estimate is not None else None
            value = factor * line.value
            _point(axes, value, place, None if known is None else (factor * known.low, factor * known.high))
            letters = "" if line.estimate is None else "".join(line.estimate.letters)
            axes.annotate(
                letters, (1.0, place), xycoords=("axes fraction", "data"), xytext=(6, 0), va="center",
                textcoords="offset points", fontsize=8,
            )  # fmt: skip
        _rows(axes, [line.label for line in one.lines])
        axes.set_title(literal(one.where), loc="left", fontsize=10)
        axes.set_xlabel(axis_label(one.headline))
    return made


def _verdict(source: Verdict, made: Figure) -> Figure:
    if not source.answers:
        raise InputError(f"{source.model} was evaluated alone: there is no baseline to draw it beside")
    (axes,) = _panels(made, [1.1 + 0.36 * len(source.answers)])
    for place, one in enumerate(source.answers):
        sign = (1 if higher_is_better(one.metric) else -1) * scale(one.metric)
        ends = None if one.low is None or one.high is None else sorted((sign * one.low, sign * one.high))
        colour = LIGHT[PLACES.get(one.place, "muted")] if source.ok else LIGHT["muted"]
        _point(axes, sign * one.difference, place, ends, colour)
    axes.axvline(0, color=LIGHT["ink"], linewidth=1)
    _rows(axes, [f"{one.protocol}\n{one.metric}, against {one.best}" for one in source.answers])
    axes.set_title(literal(f"{source.model} · {source.dataset}"), loc="left", fontsize=10)
    axes.set_xlabel(f"model minus best baseline{points(source.answers[0].metric)}; right is better")
    return made


def _point(
    axes: Axes, value: float, place: int, ends: Sequence[float] | None, colour: str = LIGHT["c1"]
) -> None:
    if ends is not None:
        axes.plot(ends, [place, place], color=colour, linewidth=4, alpha=0.45, solid_capstyle="round")
    axes.plot([value], [place], "o", color=colour, markersize=6, fillstyle="none" if ends is None else "full")


def _rows(axes: Axes, names: Sequence[str]) -> None:
    """Name the rows, the first on top."""
    axes.set_yticks(range(len(names)), [literal(name) for name in names], fontsize=8)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(axis="x", color=LIGHT["grid"])
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)


def _ranks(found: Sequence[Table], made: Figure) -> Figure:
    tested = [one for one in over_datasets(found) if one.test is not None]
    if not tested:
        raise InputError("mean ranks need two methods that were run on the same two data sets at least")
    panels = _panels(made, [1.3 + 0.2 * math.ceil(len(one.labels) / 2) for one in tested], 7.5)
    for axes, one in zip(panels, tested, strict=True):
        assert one.test is not None
        draw_ranks(axes, one.labels, one.test)
        axes.set_title(f"Mean rank by {one.metric}, {one.protocol}", loc="left", fontsize=10)
    return made


def groups_figure(where: Table, found: Sliced, made: Figure, labels: Iterable[str] | None = None) -> Figure:
    """Draw methods within groups of test units, a panel for each way to group them.

    Args:
        where: the table.
        found: its groups.
        made: an empty figure.
        labels: the methods to draw; by default the best of the table.
    """
    if not found.slicings:
        reason = found.reasons[0] if found.reasons else f"{where.where} has no groups of test units"
        raise InputError(reason)
    wanted = set(labels) if labels is not None else None
    lines = [line.label for line in where.lines if wanted is None or {line.label, line.row.method} & wanted]
    panels = _panels(made, [2.3] * len(found.slicings))
    for axes, way in zip(panels, found.slicings, strict=True):
        shown = [label for label in lines if label in way.values][:MOST_LINES]
        for number, label in enumerate(shown):
            kept = [(place, one) for place, one in enumerate(way.values[label]) if one is not None]
            shift = (number - (len(shown) - 1) / 2) * 0.7 / max(1, len(shown))
            factor = scale(found.metric)
            values = [factor * one.value for _, one in kept]
            below = [factor * (one.value - one.low) for _, one in kept]
            above = [factor * (one.high - one.value) for _, one in kept]
            axes.errorbar(
                [place + shift for place, _ in kept], values, [below, above], fmt="o", label=literal(label),
                color=LIGHT[f"c{number % SERIES + 1}"], markersize=4, linewidth=1.2,
            )  # fmt: skip
        names = [f"{group}\n({count:,})" for group, count in zip(way.groups, way.counts, strict=True)]
        axes.set_xticks(range(len(names)), names, fontsize=8)
        axes.set_xlabel(f"{way.title} (number of test {plural(where.found.unit)})", fontsize=8)
        axes.set_ylabel(axis_label(found.metric), fontsize=8)
        axes.grid(axis="y", color=LIGHT["grid"])
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_title(literal(where.where), loc="left", fontsize=10)
    panels[0].legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return made
