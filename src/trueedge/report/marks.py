"""What stands for the values: lines with bands, points with whiskers, bars."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from trueedge.analysis.figure import Figure, Series
from trueedge.report.colours import of_series, use
from trueedge.report.frames import NARROW, Frame, bar_step
from trueedge.report.markup import Markup, joined, tag
from trueedge.report.scales import number_text

# After eight colours a line of the same colour has other dashes.
DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 2")
SHAPES = ("circle", "square", "triangle", "diamond", "cross")
# Which colour, dashes and shape what has a name has, by their number.
Looks = Mapping[str, int]
# Above this many a mark has no text of its own: a page must stay small.
MOST_HINTS = 300
# A line of more values than twice the pixels keeps the extremes of each pixel.
MOST_VALUES = 2000


def looks_of(figure: Figure, looks: Looks) -> list[int]:
    """The look of each series: the one its name has everywhere, else that of its place in the figure."""
    return [looks.get(one.name, place) for place, one in enumerate(figure.series)]


def lines(figure: Figure, found: Frame, looks: Looks) -> Markup:
    """A line for each series, and a band where it has intervals."""
    total = sum(len(one.x) for one in figure.series)
    listed = list(zip(figure.series, looks_of(figure, looks), strict=True))
    bands = [_band(one, found, place) for one, place in listed if one.low]
    drawn = [_line(one, found, place, figure, total <= MOST_HINTS) for one, place in listed]
    return joined([*bands, *drawn])


def points(figure: Figure, found: Frame, looks: Looks) -> Markup:
    """A mark for each value, of another shape for each series, with whiskers where it has intervals.

    Where there is one series alone, and what stands on the axis has looks, its marks have these.
    """
    hints = sum(len(one.x) for one in figure.series) <= MOST_HINTS
    shown = [
        (part, place)
        for one, place in zip(figure.series, looks_of(figure, looks), strict=True)
        for part, place in (_apart(one, looks, place) if len(figure.series) == 1 else [(one, place)])
    ]
    return joined(_cloud(one, found, place, figure, hints) for one, place in shown)


def _apart(one: Series, looks: Looks, place: int) -> list[tuple[Series, int]]:
    """A series over names as one series for each name that has a look of its own."""
    if not all(isinstance(x, str) and x in looks for x in one.x):
        return [(one, place)]
    parts = []
    for i, x in enumerate(one.x):
        ends = (one.low[i : i + 1], one.high[i : i + 1])
        parts.append((Series(one.name, (x,), one.y[i : i + 1], *ends), looks[str(x)]))
    return parts


def bars(figure: Figure, found: Frame, looks: Looks) -> Markup:
    """Bars side by side where there are several series."""
    step = bar_step(figure, found.x)
    ends = (1.0, step) if found.x.log else (found.x.low, found.x.low + step)
    room = abs(found.x.at(ends[1]) - found.x.at(ends[0])) * 0.82
    width = room / max(1, len(figure.series))
    hints = sum(len(one.x) for one in figure.series) <= 2 * MOST_HINTS
    parts = []
    for place, one in enumerate(figure.series):
        shift = -room / 2 + place * width
        look = looks.get(one.name, place)
        parts.append(_bars(one, found, shift, width, look, figure, hints))
    return joined(parts)


def diagonal(found: Frame) -> Markup:
    """The line of equal values, within the field."""
    low, high = max(found.x.low, found.y.low), min(found.x.high, found.y.high)
    if low >= high:
        return Markup("")
    ends = [f"{found.x.at(value):.1f} {found.y.at(value):.1f}" for value in (low, high)]
    return tag("path", d=f"M{ends[0]}L{ends[1]}", style="stroke:currentColor;stroke-opacity:.5", fill="none",
               stroke_dasharray="5 4")  # fmt: skip


def swatch(kind: str, place: int) -> Markup:
    """What stands for a series in the key, around the origin."""
    if kind == "bars":
        return tag("rect", x=-6, y=-6, width=12, height=12, rx=2, style=f"fill:{of_series(place)}")
    if kind == "lines":
        return tag("path", d="M-8 0H10", style=_stroke(place), stroke_dasharray=dashes(place))
    return tag("path", d=shape(place, 0, 0, 5), style=f"fill:{of_series(place)}")


def dashes(place: int) -> str | None:
    """The dashes of the line at a place."""
    return DASHES[place // 8 % len(DASHES)] or None


def shape(place: int, x: float, y: float, size: float) -> str:
    """The outline of the mark at a place, as an SVG path."""
    kind = SHAPES[place % len(SHAPES)]
    if kind == "circle":
        half = f"{size:.1f} {size:.1f} 0 1 0"
        return f"M{x - size:.1f} {y:.1f}a{half} {2 * size:.1f} 0a{half} {-2 * size:.1f} 0z"
    if kind == "square":
        side = 0.9 * size
        return f"M{x - side:.1f} {y - side:.1f}h{2 * side:.1f}v{2 * side:.1f}h{-2 * side:.1f}z"
    if kind == "triangle":
        return f"M{x:.1f} {y - 1.15 * size:.1f}l{1.1 * size:.1f} {2 * size:.1f}h{-2.2 * size:.1f}z"
    if kind == "diamond":
        s = 1.2 * size
        return f"M{x:.1f} {y - s:.1f}l{s:.1f} {s:.1f}l{-s:.1f} {s:.1f}l{-s:.1f} {-s:.1f}z"
    s = 0.5 * size
    return (
        f"M{x - s:.1f} {y - 2 * s:.1f}h{2 * s:.1f}v{s:.1f}h{s:.1f}v{2 * s:.1f}h{-s:.1f}v{s:.1f}"
        f"h{-2 * s:.1f}v{-s:.1f}h{-s:.1f}v{-2 * s:.1f}h{s:.1f}z"
    )


def hint(one: Series, place: int, figure: Figure, found: Frame) -> Markup | None:
    """What is shown where a pointer rests on a mark, which a phone has none of."""
    if found.width <= NARROW:
        return None
    x = one.x[place]
    where = x if isinstance(x, str) else f"{figure.x_label} {number_text(x)}"
    text = f"{one.name}, {where}: {number_text(one.y[place])}"
    if one.low and math.isfinite(one.low[place]) and math.isfinite(one.high[place]):
        text += f" ({number_text(one.low[place])} to {number_text(one.high[place])})"
    return tag("title", text)


def visible(one: Series, found: Frame) -> list[int]:
    """The places of a series' values that can be shown."""
    return [i for i in range(len(one.x)) if found.x.shows(one.x[i]) and found.y.shows(one.y[i])]


def _stroke(place: int) -> str:
    return f"stroke:{of_series(place)};stroke-width:2;fill:none;stroke-linejoin:round"


def _line(one: Series, found: Frame, place: int, figure: Figure, hints: bool) -> Markup:
    parts = []
    for run in _runs(one, found):
        corners = _decimated([(found.x.at(one.x[i]), found.y.at(one.y[i])) for i in run])
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in corners)
        parts.append(tag("path", tag("title", one.name), d=f"M{path}", style=_stroke(place),
                         stroke_dasharray=dashes(place)))  # fmt: skip
    dots = []
    for i in visible(one, found) if hints else ():
        at = {"cx": f"{found.x.at(one.x[i]):.1f}", "cy": f"{found.y.at(one.y[i]):.1f}"}
        dots.append(tag("circle", hint(one, i, figure, found), r="3", **at))
    if dots:
        parts.append(tag("g", *dots, style=f"fill:{of_series(place)}"))
    elif len(visible(one, found)) == 1:
        parts.append(tag("path", d=_dots(one, found), style=_dotted(place)))
    return joined(parts)


def _band(one: Series, found: Frame, place: int) -> Markup:
    parts = []
    for run in _runs(one, found):
        ends = [i for i in run if found.y.shows(one.low[i]) and found.y.shows(one.high[i])]
        if len(ends) < 2:
            continue
        there = _decimated([(found.x.at(one.x[i]), found.y.at(one.high[i])) for i in ends])
        back = _decimated([(found.x.at(one.x[i]), found.y.at(one.low[i])) for i in ends])[::-1]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in [*there, *back])
        parts.append(tag("path", d=f"M{path}z", style=f"fill:{of_series(place)};fill-opacity:.16"))
    alone = [run[0] for run in _runs(one, found) if len(run) == 1]
    return joined([*parts, *_whiskers(one, alone, found, place)])


def _runs(one: Series, found: Frame) -> list[list[int]]:
    """The places of values that follow each other without a gap."""
    runs: list[list[int]] = []
    last = -2
    for i in visible(one, found):
        if i == last + 1:
            runs[-1].append(i)
        else:
            runs.append([i])
        last = i
    return runs


def _decimated(corners: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The corners of a line; where there are thousands, the first, lowest, highest and last of each pixel."""
    if len(corners) <= MOST_VALUES:
        return list(corners)
    columns: dict[int, list[tuple[float, float]]] = {}
    for corner in corners:
        columns.setdefault(int(corner[0]), []).append(corner)
    kept: list[tuple[float, float]] = []
    for column in columns.values():
        ends = {0, len(column) - 1}
        ends |= {min(range(len(column)), key=lambda i: column[i][1])}
        ends |= {max(range(len(column)), key=lambda i: column[i][1])}
        kept += [column[i] for i in sorted(ends)]
    return kept


def _cloud(one: Series, found: Frame, place: int, figure: Figure, hints: bool) -> Markup:
    style = f"fill:{of_series(place)};fill-opacity:.85"
    whiskers = _whiskers(one, visible(one, found), found, place) if one.low else []
    if not hints:
        return joined(
            [*whiskers, tag("path", tag("title", one.name), d=_dots(one, found), style=_dotted(place))]
        )
    marks = []
    for i in visible(one, found):
        outline = shape(place, found.x.at(one.x[i]), found.y.at(one.y[i]), 4.5)
        marks.append(tag("path", hint(one, i, figure, found), d=outline))
    return joined([*whiskers, tag("g", *marks, style=style)])


def _dots(one: Series, found: Frame) -> str:
    """Many marks as one path of points; those that would cover each other are drawn once."""
    places = {(round(found.x.at(one.x[i])), round(found.y.at(one.y[i]))) for i in visible(one, found)}
    return "".join(f"M{x} {y}h0" for x, y in sorted(places))


def _dotted(place: int) -> str:
    cap = "square" if place % 2 else "round"
    return f"stroke:{of_series(place)};stroke-width:5;stroke-linecap:{cap};stroke-opacity:.55"


def _whiskers(one: Series, places: Sequence[int], found: Frame, place: int) -> list[Markup]:
    steps = []
    for i in places:
        low, high = one.low[i], one.high[i]
        if found.y.shows(low) and found.y.shows(high):
            x = found.x.at(one.x[i])
            steps.append(f"M{x:.1f} {found.y.at(low):.1f}V{found.y.at(high):.1f}")
    if not steps:
        return []
    return [
        tag("path", d="".join(steps), style=f"stroke:{of_series(place)};stroke-opacity:.7;stroke-width:1.5")
    ]


def _bars(
    one: Series, found: Frame, shift: float, width: float, place: int, figure: Figure, hints: bool
) -> Markup:
    ground = found.y.at(found.y.low if found.y.log else 0.0)
    drawn, steps = [], []
    for i in visible(one, found):
        left, top = found.x.at(one.x[i]) + shift, found.y.at(one.y[i])
        box = {"x": f"{left:.1f}", "width": f"{max(width - 1, 0.5):.1f}"}
        box |= {"y": f"{min(top, ground):.1f}", "height": f"{abs(ground - top):.1f}"}
        drawn.append(tag("rect", hint(one, i, figure, found) if hints else None, **box))
        if one.low and found.y.shows(one.low[i]) and found.y.shows(one.high[i]):
            middle = left + width / 2
            steps.append(f"M{middle:.1f} {found.y.at(one.low[i]):.1f}V{found.y.at(one.high[i]):.1f}")
    # A seam in the colour of the ground: one of the colours of bars is that of the whiskers.
    strokes = [f"stroke:{use('surface')};stroke-width:3.2", "stroke:currentColor;stroke-width:1.5"]
    whiskers = [tag("path", d="".join(steps), style=stroke) for stroke in strokes if steps]
    return joined([tag("g", *drawn, style=f"fill:{of_series(place)}"), *whiskers])
