"""The history of a task: every entry by its date, and the best ranked value so far."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Sequence

from trueedge.leaderboard.board.board import Board
from trueedge.leaderboard.board.rows import Row, Standing
from trueedge.leaderboard.pages.parts import heads, rank_text, tabs, tier_badge, trail, value_text
from trueedge.leaderboard.pages.shell import page, part
from trueedge.metrics import format_value, scale
from trueedge.metrics import get as get_metric
from trueedge.report.colours import use
from trueedge.report.markup import Markup, joined, tag
from trueedge.report.numbers import axis_label
from trueedge.report.scales import Scale

# More entries than this are drawn, but only the latest are listed.
LISTED = 200
# At most so many lines across, and two at least.
LINES = 8
Place = Callable[[float], float]


def history_page(board: Board, standing: Standing) -> str:
    """Return the page that shows how results have grown."""
    shown = [row for row in standing.rows if row.value is not None and row.entry.card.submitted]
    shown.sort(key=lambda row: (row.entry.card.submitted, row.entry.name))
    task = standing.task
    if not shown:
        content: list[object] = [part("History", tag("p", "There are no entries yet."))]
    else:
        told = (
            f"{axis_label(task.headline)} of every entry by the day of its submission. "
            "Filled dots are ranked; "
            "the line is the best ranked entry so far."
        )
        drawn = [
            tag("div", history_picture(task.headline, shown, 720, 300), class_="wideonly"),
            tag("div", history_picture(task.headline, shown, 360, 280), class_="phoneonly"),
        ]
        content = [
            part("History", tag("p", told, class_="quiet"), *drawn),
            part("Entries by date", _table(standing, shown)),
        ]
    return page(f"{task.title}: history", content, up="../", trail=trail(board), tabs=tabs("History"))


def history_picture(metric: str, rows: Sequence[Row], width: int, height: int) -> Markup:
    """Draw the values of entries over time, and the best ranked one so far as a stepped line."""
    days = [datetime.date.fromisoformat(row.entry.card.submitted).toordinal() for row in rows]
    first, last = min(days), max(days)
    left, right, top, bottom = 56, 12, 10, 30
    axis = value_axis(metric, [row.value for row in rows if row.value is not None], height - bottom, top)
    factor = scale(metric)

    def across(day: float) -> float:
        share = 0.5 if last == first else (day - first) / (last - first)
        return left + (width - left - right) * (0.03 + 0.94 * share)

    def up(value: float) -> float:
        return axis.at(factor * value)

    parts: list[object] = []
    for shown, text in axis.ticks(LINES):
        place = axis.at(shown)
        line = f"M{left} {place:.1f}H{width - right}"
        parts.append(tag("path", d=line, style=f"stroke:{use('grid')};stroke-width:1"))
        parts.append(tag("text", text, x=left - 6, y=f"{place + 4:.1f}", text_anchor="end"))
    parts += _dates(first, last, across, height)
    parts.append(_best(metric, rows, days, across, up, width - right))
    if len(rows) > LISTED:
        parts += _many_dots(rows, days, across, up)
    else:
        parts += _dots(metric, rows, days, across, up)
    dates = f"from {rows[0].entry.card.submitted} to {rows[-1].entry.card.submitted}"
    label = f"{axis_label(metric)} by date, {dates}"
    return tag(
        "svg", joined(parts), viewBox=f"0 0 {width} {height}", class_="history", role="img", aria_label=label
    )


def value_axis(metric: str, values: Sequence[float], bottom: float, top: float) -> Scale:
    """Return the axis of a metric as it is displayed: no room below its least value or above its greatest."""
    rule, factor = get_metric(metric), scale(metric)
    low, high = min(values), max(values)
    room = 0.08 * (high - low) or 0.5 * abs(high) or 1.0
    low, high = max(low - room, rule.low), min(high + room, rule.high)
    return Scale(factor * low, factor * high, bottom, top)


def _dots(
    metric: str, rows: Sequence[Row], days: Sequence[int], across: Place, up: Place
) -> Iterator[Markup]:
    """Draw a dot for each entry, with a title."""
    for row, day in zip(rows, days, strict=True):
        if row.value is None:
            continue
        fill = use("c1") if row.places else "none"
        colour = use("c1") if row.places else use("muted")
        title = f"{row.entry.card.name}, {row.entry.card.submitted}: {format_value(metric, row.value)}"
        place = {"cx": f"{across(day):.1f}", "cy": f"{up(row.value):.1f}", "r": 4}
        style = f"fill:{fill};stroke:{colour};stroke-width:1.5"
        yield tag("circle", tag("title", title), **place, style=style)


def _many_dots(rows: Sequence[Row], days: Sequence[int], across: Place, up: Place) -> Iterator[Markup]:
    """Draw all dots as two lines without length and with round ends: a page of thousands stays small."""
    for ranked in (False, True):
        dots = [
            f"M{across(day):.0f} {up(row.value):.0f}h0"
            for row, day in zip(rows, days, strict=True)
            if row.value is not None and bool(row.places) == ranked
        ]
        colour = use("c1") if ranked else use("muted")
        style = f"stroke:{colour};stroke-width:{8 if ranked else 5};stroke-linecap:round"
        if dots:
            yield tag("path", d="".join(dict.fromkeys(dots)), style=style)


def _dates(first: int, last: int, across: Place, height: int) -> list[Markup]:
    places = [first] if first == last else [first, last]
    anchors = ["middle"] if first == last else ["start", "end"]
    return [
        tag(
            "text",
            datetime.date.fromordinal(day).isoformat(),
            x=f"{across(day):.1f}",
            y=height - 8,
            text_anchor=anchor,
        )
        for day, anchor in zip(places, anchors, strict=True)
    ]


def _best(
    metric: str, rows: Sequence[Row], days: Sequence[int], across: Place, up: Place, end: int
) -> Markup | None:
    """Draw the best ranked value of each day so far as a stepped line."""
    sign = 1 if get_metric(metric).higher_is_better else -1
    steps: dict[int, float] = {}
    best = None
    for row, day in zip(rows, days, strict=True):
        if row.places is None or row.value is None or (best is not None and sign * row.value <= sign * best):
            continue
        best = steps[day] = row.value
    if not steps:
        return None
    parts = [f"H{across(day):.1f}V{up(value):.1f}" for day, value in steps.items()]
    first, value = next(iter(steps.items()))
    parts[0] = f"M{across(first):.1f} {up(value):.1f}"
    line = f"stroke:{use('c1')};stroke-width:2;fill:none;stroke-opacity:.6"
    return tag("path", d=f"{''.join(parts)}H{end}", style=line)


def _table(standing: Standing, rows: Sequence[Row]) -> Markup:
    # The latest first; those of one day by name, as a stable sort leaves them.
    newest = sorted(rows[-LISTED:], key=lambda row: row.entry.card.submitted, reverse=True)
    lines = [
        tag(
            "tr",
            tag("th", row.entry.card.submitted, scope="row"),
            tag("td", tag("a", row.entry.card.name, href=f"entries/{row.entry.name}.html")),
            tag("td", value_text(standing.task, row), class_="n"),
            tag("td", rank_text(row), class_="n"),
            tag("td", tier_badge(row)),
        )
        for row in newest
    ]
    names = ("submitted", "entry", standing.task.headline, "rank", "tier")
    body = tag("table", heads(names, numeric=(2, 3)), tag("tbody", *lines))
    more = f"The latest {LISTED} of {len(rows)}." if len(rows) > LISTED else ""
    box = tag("div", body, class_="scroll", tabindex=0, role="region", aria_label="Entries by date")
    return joined([tag("p", more, class_="quiet") if more else None, box])
