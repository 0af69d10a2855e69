"""A figure as a picture: one piece of SVG that stands in any page."""

from __future__ import annotations

import math
from functools import partial

from trueedge.analysis.figure import Figure
from trueedge.errors import InputError
from trueedge.report import marks
from trueedge.report.colours import use
from trueedge.report.frames import NARROW, SMALL, WIDTH, Frame, axes, frame, legend, shortened, text_width
from trueedge.report.heat import heat
from trueedge.report.markup import Markup, joined, tag
from trueedge.report.scales import number_text

FONT = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif"
PITCH = 16.0
# Up to so many single points carry their names; more are told apart by a key.
MOST_NAMED_POINTS = 30
# A picture on a phone holds so many columns of cells, names on its axis, bars and names beside points.
MOST_CELLS, MOST_NAMES, MOST_BARS, MOST_BESIDE = 8, 18, 60, 10
# Names at the ends of lines leave the lines this share of the width at least; wider ones stand in a key.
LINES_SHARE = 0.65
# What can be seen at once, on a phone, of a picture that is too wide for one.
SEEN = 370.0


def draw(
    figure: Figure, flip_y: bool = False, *, narrow: bool = False, looks: marks.Looks | None = None
) -> Markup:
    """Draw a figure as one self-contained SVG, as wide as what it stands in.

    Colours are CSS custom properties (:mod:`trueedge.report.colours`), so that the picture follows the page
    into the dark, and the light ones where it stands alone. What has no place (NaN, infinite, 0 on a
    logarithmic axis) is left out.

    Args:
        figure: of any kind.
        flip_y: whether small values stand on top, as with ranks.
        narrow: whether it is drawn for a phone.
        looks: the number of the colour and mark of what is named so; others have that of their place.
    """
    width, known = NARROW if narrow else WIDTH, looks or {}
    kinds = {
        kind: partial(how, flip_y=flip_y, width=width, looks=known)
        for kind, how in (("lines", _lines), ("points", _points), ("bars", _bars))
    }
    if figure.kind not in (*kinds, "heat"):
        raise InputError(f"the figure {figure.name!r} is of a kind that cannot be drawn: {figure.kind!r}")
    if not any(math.isfinite(value) for one in figure.series for value in one.y):
        content, height = _nothing(width)
    elif figure.kind == "heat":
        content, height = heat(figure, width)
    else:
        content, height = kinds[figure.kind](figure)
    return svg(content, width, height, spoken(figure))


def fits_a_phone(figure: Figure) -> bool:
    """Whether all of a figure can be read where it is drawn for a phone."""
    places = {x for one in figure.series for x in one.x}
    if figure.kind == "heat":
        return len(places) <= MOST_CELLS
    names = sum(isinstance(x, str) for x in places)
    bars = sum(len(one.x) for one in figure.series) if figure.kind == "bars" else 0
    return names <= MOST_NAMES and bars <= MOST_BARS


def _key(figure: Figure, width: float, looks: marks.Looks) -> tuple[Markup, float]:
    """The key above a picture, within what a phone shows where there is no picture for a phone."""
    swatches = [marks.swatch(figure.kind, look) for look in marks.looks_of(figure, looks)]
    room = width if fits_a_phone(figure) else SEEN
    return legend([one.name for one in figure.series], swatches, room)


def svg(
    content: Markup, width: float, height: float, said: str, style: str = "", **attributes: object
) -> Markup:
    """A picture as wide as what it stands in, with what it shows in words."""
    return tag(
        "svg",
        content,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        role="img",
        aria_label=said,
        style=f"width:100%;height:auto;{style}color:{use('ink')}",
        font_family=FONT,
        **attributes,
    )


def spoken(figure: Figure) -> str:
    """What the figure shows, in words for those who do not see it."""
    names = [one.name for one in figure.series]
    listed = ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
    values = [value for one in figure.series for value in one.y if math.isfinite(value)]
    span = f" from {number_text(min(values))} to {number_text(max(values))}" if values else ", no values"
    return f"{figure.title}: {figure.y_label}{span} by {figure.x_label}; {listed}"


def _nothing(width: float) -> tuple[Markup, float]:
    style = f"fill:{use('muted')};font-size:{SMALL:g}px"
    return tag("text", "no values", x=f"{width / 2:.0f}", y=40, text_anchor="middle", style=style), 70.0


def _lines(figure: Figure, flip_y: bool, width: float, looks: marks.Looks) -> tuple[Markup, float]:
    """Lines with their names at their ends, or in a key where these would leave no room for the lines."""
    names = [shortened(one.name, 26) for one in figure.series]
    right = 40.0 + max(text_width(name, SMALL) for name in names)
    field = max(290.0, PITCH * len(names))
    key, top, ended = Markup(""), 12.0, len(names) > 1
    if len(names) == 1 or right > (1 - LINES_SHARE) * width or not fits_a_phone(figure):
        right, ended = 16.0, False
        if len(names) > 1:
            key, top = _key(figure, width, looks)
    found = frame(figure, right=right, top=top, flip_y=flip_y, field=field, width=width)
    drawn = [key, axes(found, figure), *([marks.diagonal(found)] if figure.diagonal else [])]
    ends = _ends(figure, found, names, looks) if ended else []
    return joined([*drawn, marks.lines(figure, found, looks), *ends]), found.height


def _ends(figure: Figure, found: Frame, names: list[str], looks: marks.Looks) -> list[Markup]:
    """The names of lines, each as near to its end as the others leave room for."""
    placed = []
    for place, one in enumerate(figure.series):
        shown = marks.visible(one, found)
        if shown:
            x, y = found.x.at(one.x[shown[-1]]), found.y.at(one.y[shown[-1]])
            placed.append((y, x, place))
    placed.sort()
    heights = spread([y for y, _, _ in placed], PITCH, found.top, found.bottom)
    parts = []
    for (y, x, place), height in zip(placed, heights, strict=True):
        edge = found.right + 6
        leader = f"M{x + 4:.1f} {y:.1f}L{edge:.1f} {height:.1f}"
        parts.append(tag("path", d=leader, style=f"stroke:{use('line')};fill:none"))
        look = looks.get(figure.series[place].name, place)
        mark = tag("g", marks.swatch("lines", look), transform=f"translate({edge + 8:.1f} {height:.1f})")
        text = tag(
            "text",
            names[place],
            tag("title", figure.series[place].name),
            x=f"{edge + 22:.1f}",
            y=f"{height + 4:.1f}",
            style=f"fill:{use('ink')};font-size:{SMALL:g}px",
        )
        parts += [mark, text]
    return parts


def spread(places: list[float], gap: float, low: float, high: float) -> list[float]:
    """Sorted places moved apart until neighbours are a gap away from each other, within bounds if it goes.

    Neighbours that are too close form a block around the mean of where they wanted to be, and blocks that
    meet become one.
    """
    blocks: list[tuple[float, int]] = []
    for wanted in places:
        centre, size = wanted, 1
        while True:
            half = (size - 1) * gap / 2
            centre = min(max(centre, low + half), max(high - half, low + half))
            if not blocks:
                break
            before, count = blocks[-1]
            if centre - half - (before + (count - 1) * gap / 2) >= gap - 1e-9:
                break
            blocks.pop()
            centre, size = (centre * size + before * count) / (size + count), size + count
        blocks.append((centre, size))
    return [centre + (place - (size - 1) / 2) * gap for centre, size in blocks for place in range(size)]


def _points(figure: Figure, flip_y: bool, width: float, looks: marks.Looks) -> tuple[Markup, float]:
    """Points; single ones with their names beside them, clouds with a key."""
    several = len(figure.series) > 1
    single = several and all(len(one.x) == 1 for one in figure.series)
    named = single and len(figure.series) <= (MOST_NAMED_POINTS if width > NARROW else MOST_BESIDE)
    key, top = Markup(""), 12.0
    if several and not named:
        key, top = _key(figure, width, looks)
    found = frame(figure, top=top, flip_y=flip_y, width=width)
    drawn = [key, axes(found, figure), *([marks.diagonal(found)] if figure.diagonal else [])]
    labels = _point_names(figure, found) if named else []
    return joined([*drawn, marks.points(figure, found, looks), *labels]), found.height


def _point_names(figure: Figure, found: Frame) -> list[Markup]:
    """The name of each point on the side of it that is free."""
    where = {}
    for place, one in enumerate(figure.series):
        if marks.visible(one, found):
            where[place] = (found.x.at(one.x[0]), found.y.at(one.y[0]))
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y in where.values()]
    parts = []
    for place, (x, y) in where.items():
        name = shortened(figure.series[place].name)
        width = text_width(name, SMALL)
        sides = [(x + 8, y + 4), (x - 8 - width, y + 4), (x - width / 2, y - 9), (x - width / 2, y + 18)]
        sides += [(x + 8, y - 8), (x + 8, y + 16), (x - 8 - width, y - 8), (x - 8 - width, y + 16)]
        boxes = [(left, base - 10, left + width, base + 3) for left, base in sides]
        costs = [_cost(box, taken, found) for box in boxes]
        best = costs.index(min(costs))
        taken.append(boxes[best])
        left, base = sides[best]
        style = f"fill:{use('ink')};font-size:{SMALL:g}px"
        parts.append(tag("text", name, x=f"{left:.1f}", y=f"{base:.1f}", style=style))
    return parts


def _cost(
    box: tuple[float, float, float, float], taken: list[tuple[float, float, float, float]], found: Frame
) -> float:
    """How much of a box is covered already, or lies outside of the field."""
    covered = 0.0
    for other in taken:
        wide = min(box[2], other[2]) - max(box[0], other[0])
        high = min(box[3], other[3]) - max(box[1], other[1])
        covered += max(wide, 0.0) * max(high, 0.0)
    outside = max(0.0, found.left - box[0]) + max(0.0, box[2] - found.width)
    outside += max(0.0, found.top - 8 - box[1]) + max(0.0, box[3] - found.bottom)
    return covered + 20 * outside


def _bars(figure: Figure, flip_y: bool, width: float, looks: marks.Looks) -> tuple[Markup, float]:
    key, top = Markup(""), 12.0
    if len(figure.series) > 1:
        key, top = _key(figure, width, looks)
    found = frame(figure, top=top, flip_y=flip_y, width=width)
    return joined([key, axes(found, figure), marks.bars(figure, found, looks)]), found.height
