"""The frame of a picture: its two axes, their ticks and names, and the room around them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from unicodedata import east_asian_width

from trueedge.analysis.figure import Figure
from trueedge.report.colours import use
from trueedge.report.markup import Markup, joined, tag
from trueedge.report.scales import Scale, scale, thinned

WIDTH, HEIGHT = 640.0, 380.0
# Of a picture on a phone: what it is shown on has about 300 pixels there.
NARROW = 340.0
# In units of the picture; a page shows about 0.9 pixels for each.
TEXT, SMALL = 13.0, 12.0
LONGEST_NAME = 22


@dataclass(frozen=True)
class Frame:
    """Where the values of a picture stand.

    Attributes:
        x: the horizontal scale.
        y: the vertical scale.
        height: of the whole picture.
        slanted: whether the names on the horizontal axis are slanted, for want of room.
        most: about how many values are written beside the vertical axis.
        ranks: whether these are ranks, which are whole.
        width: of the whole picture.
    """

    x: Scale
    y: Scale
    height: float
    slanted: bool
    most: int = 7
    ranks: bool = False
    width: float = WIDTH

    @property
    def left(self) -> float:
        """The left edge of the field."""
        return self.x.start

    @property
    def right(self) -> float:
        """The right edge of the field."""
        return self.x.end

    @property
    def top(self) -> float:
        """The upper edge of the field."""
        return min(self.y.start, self.y.end)

    @property
    def bottom(self) -> float:
        """The lower edge of the field."""
        return max(self.y.start, self.y.end)


def frame(
    figure: Figure,
    *,
    right: float = 16.0,
    top: float = 12.0,
    flip_y: bool = False,
    field: float = 290.0,
    width: float = WIDTH,
) -> Frame:
    """The frame that holds all values of a figure.

    Args:
        figure: what is drawn.
        right: the room to the right of the field.
        top: the room above it.
        flip_y: whether small values stand on top, as with ranks.
        field: the height of the field.
        width: of the whole picture.
    """
    bars = figure.kind == "bars"
    ys: list[float | str] = [v for one in figure.series for v in (*one.y, *one.low, *one.high)]
    xs = [v for one in figure.series for v in one.x]
    if figure.diagonal:
        xs, ys = [*xs, *ys], [*xs, *ys]
    ends = (top, top + field) if flip_y else (top + field, top)
    room = 0.06 if figure.kind == "points" or flip_y else 0.04
    y = scale(ys, *ends, log=figure.log_y, zero=bars and not figure.log_y, room=room)
    # Of ranks every one is told, and none between them.
    most = 16 if flip_y else 7
    left = 34.0 + max((text_width(text, SMALL) for _, text in y.ticks(most, flip_y)), default=0.0)
    lines = figure.kind == "lines"
    room, edge = (0.02, 0.12) if lines else (0.04, 0.5)
    x = scale(xs, left, width - right, log=figure.log_x, room=room, edge=edge)
    if bars and not x.names:
        x = _widened(x, bar_step(figure, x))
    widest = max((text_width(shortened(name), SMALL) for name in x.names), default=0.0)
    slanted = bool(x.names) and widest + 8 > (x.end - x.start) / len(x.names)
    if slanted:
        # A slanted name reaches to the left of where it stands, and the first ones beyond the edge.
        reach = 0.77 * text_width(shortened(x.names[0]), SMALL) - 0.5 * (x.end - x.start) / len(x.names)
        x = replace(x, start=max(x.start, reach))
    below = 24.0 + (0.64 * widest + 6 if slanted else 16.0) + 20.0
    return Frame(x, y, top + field + below, slanted, most, flip_y, width)


def axes(found: Frame, figure: Figure) -> Markup:
    """Grid lines, ticks and the names of both axes."""
    x, y = found.x, found.y
    texts, steps = [], []
    for value, text in y.ticks(found.most, found.ranks):
        place = y.at(value)
        steps.append(f"M{found.left:.1f} {place:.1f}H{found.right:.1f}")
        at = {"x": f"{found.left - 8:.1f}", "y": f"{place + 4:.1f}", "text_anchor": "end"}
        texts.append(tag("text", text, **at))
    needed = SMALL + 2 if found.slanted else 0.0
    shown = set(thinned(x.names, found.right - found.left, needed))
    # A number takes about 60 units of a horizontal axis.
    for number, (value, text) in enumerate(x.ticks(max(4, min(7, int((x.end - x.start) / 60))))):
        if not x.names:
            steps.append(f"M{x.at(value):.1f} {found.top:.1f}V{found.bottom:.1f}")
        if not x.names or number in shown:
            texts.append(_x_text(found, x.at(value), text))
    grid = tag("path", d="".join(steps), style=f"stroke:{use('grid')};fill:none")
    ticks = tag("g", *texts, style=f"fill:{use('muted')};font-size:{SMALL:g}px")
    zero = [tag("path", d=f"M{found.left:.1f} {y.at(0.0):.1f}H{found.right:.1f}")] if _crosses(y) else []
    edge = tag("path", d=f"M{found.left:.1f} {found.bottom:.1f}H{found.right:.1f}")
    lines = tag("g", edge, *zero, style=f"stroke:{use('muted')};stroke-opacity:.6;fill:none")
    return joined([grid, lines, ticks, *_names(found, figure)])


def bar_step(figure: Figure, x: Scale) -> float:
    """The least distance between two places of bars, in values (in factors where logarithmic)."""
    places = sorted({x.number(v) for one in figure.series for v in one.x if x.shows(v)})
    pairs = list(pairwise(places))
    if x.log:
        return min((b / a for a, b in pairs), default=2.0)
    return min((b - a for a, b in pairs), default=1.0)


def text_width(text: str, size: float) -> float:
    """About how wide a text is drawn; a little more than most fonts take."""
    return size * sum(map(_letter_width, text))


def _letter_width(letter: str) -> float:
    if east_asian_width(letter) in "WF" or letter in "MW@%…—":
        return 1.0
    return 0.84 if letter in "mw<>=+~#&" else 0.74 if letter.isupper() else 0.57


def shortened(name: str, most: int = LONGEST_NAME) -> str:
    """A name that is not too long for an axis."""
    return name if len(name) <= most else f"{name[: most - 1].rstrip()}…"


def short_text(name: str, most: int = LONGEST_NAME, **attributes: object) -> Markup:
    """A text that is not too long, with the whole name where a pointer rests on it."""
    short = shortened(name, most)
    return tag("text", short, tag("title", name) if short != name else None, **attributes)


def legend(names: Sequence[str], marks: Iterable[Markup], room: float = WIDTH) -> tuple[Markup, float]:
    """The key above a picture, in as many lines as it takes, and the room it needs.

    Args:
        names: of the series.
        marks: what each is drawn with, around the origin.
        room: how wide it may be.
    """
    parts, x, y = [], 8.0, 14.0
    for name, mark in zip(names, marks, strict=True):
        text = shortened(name, 40)
        width = 26 + text_width(text, SMALL) + 14
        if x > 8 and x + width - 14 > room:
            x, y = 8.0, y + 20
        label = short_text(name, 40, x=18, y=4, style=f"fill:{use('ink')};font-size:{SMALL:g}px")
        parts.append(tag("g", mark, label, transform=f"translate({x + 6:.0f} {y:.0f})"))
        x += width
    return joined(parts), y + 18


def name_below(name: str, centre: float, y: float, width: float) -> Markup:
    """What a horizontal axis says, around a place but within the picture."""
    most = int((width - 8) / (0.57 * TEXT))
    half = min(text_width(shortened(name, most), TEXT), width - 8) / 2
    x = min(max(centre, half + 4), width - half - 4)
    style = f"fill:{use('ink')};font-size:{TEXT:g}px"
    return short_text(name, most, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor="middle", style=style)


def _crosses(y: Scale) -> bool:
    return not y.log and y.low < 0 < y.high


def _widened(x: Scale, step: float) -> Scale:
    """Room for half a bar at either end."""
    if x.log:
        return Scale(x.low / step**0.5, x.high * step**0.5, x.start, x.end, True)
    return Scale(x.low - step / 2, x.high + step / 2, x.start, x.end)


def _x_text(found: Frame, place: float, text: str) -> Markup:
    if found.slanted:
        turn = f"translate({place + 4:.1f} {found.bottom + 16:.1f}) rotate(-40)"
        return short_text(text, transform=turn, text_anchor="end")
    return short_text(text, x=f"{place:.1f}", y=f"{found.bottom + 18:.1f}", text_anchor="middle")


def _names(found: Frame, figure: Figure) -> list[Markup]:
    style = f"fill:{use('ink')};font-size:{TEXT:g}px"
    middle = (found.top + found.bottom) / 2
    centre = (found.left + found.right) / 2
    below = name_below(figure.x_label, centre, found.height - 8, found.width)
    turn = f"translate(14 {middle:.1f}) rotate(-90)"
    # As much of it as the field is high.
    most = int((found.bottom - found.top + 40) / (0.57 * TEXT))
    return [below, short_text(figure.y_label, most, transform=turn, text_anchor="middle", style=style)]
