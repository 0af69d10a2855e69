"""Heat maps: a row a series, a column a place, the value in the cell."""

from __future__ import annotations

import math

from trueedge.analysis.figure import Figure, Series
from trueedge.report.colours import use
from trueedge.report.frames import NARROW, SMALL, WIDTH, name_below, short_text, shortened, text_width
from trueedge.report.markup import Markup, joined, tag
from trueedge.report.scales import number_text

# At most so much of the colour over the surface: ink stays readable on it, in the light and in the dark.
STRONGEST, FAINTEST = 0.6, 0.03
ROW, LINE = 26.0, 14.0
# Of the names of columns; where they are slanted there is room for it.
LONGEST = 28


def heat(figure: Figure, whole: float = WIDTH) -> tuple[Markup, float]:
    """The cells, the names beside and below them, and the height of it all.

    Values of one sign run from faint to strong; where both signs occur, each has a colour and 0 has none.

    Args:
        figure: a row a series.
        whole: the width of the picture.
    """
    columns = list(dict.fromkeys(value for one in figure.series for value in one.x))
    if not any(isinstance(value, str) for value in columns):
        columns = sorted(columns, key=float)
    names = [value if isinstance(value, str) else number_text(value) for value in columns]
    most = 28 if whole > NARROW else 16
    rows = [shortened(one.name, most) for one in figure.series]
    left = 16.0 + max(text_width(name, SMALL) for name in rows)
    width = (whole - left - 8) / len(columns)
    slanted = max(text_width(line, SMALL) for name in names for line in _in_lines(name)) + 8 > width
    widest = max(text_width(shortened(name, LONGEST), SMALL) for name in names)
    height = max(10.0, ROW if len(rows) <= 40 else 1040 / len(rows))
    bottom = 8.0 + height * len(rows)
    values = [v for one in figure.series for v in one.y if math.isfinite(v)]
    decimals = _decimals(values)
    longest = max(text_width(_short(value, decimals), SMALL) for value in values)
    labelled = longest + 6 <= width and height >= 14
    places = {value: place for place, value in enumerate(columns)}
    names_beside, texts = [], []
    boxes: dict[str, list[Markup]] = {"heat": [], "heat-below": []}
    empty: list[str] = []
    for row, one in enumerate(figure.series):
        y = 8.0 + row * height
        if height >= 11:
            names_beside.append(
                short_text(one.name, most, x=f"{left - 8:.1f}", y=f"{y + height / 2 + 4:.1f}")
            )
        for number, (at, value) in enumerate(zip(one.x, one.y, strict=True)):
            x = left + places[at] * width
            if not math.isfinite(value):
                empty.append(f"M{x + 1:.1f} {y + 1:.1f}h{width - 2:.1f}v{height - 2:.1f}h{2 - width:.1f}z")
                continue
            told = said(one, number, names[places[at]])
            colour, box = _box(x, y, width, height, value, values, told)
            boxes[colour].append(box)
            if labelled:
                middle = {"x": f"{x + width / 2:.1f}", "y": f"{y + height / 2 + 4:.1f}"}
                texts.append(tag("text", _short(value, decimals), **middle))
    cells = [tag("g", *boxes[colour], style=f"fill:{use(colour)}") for colour in ("heat", "heat-below")]
    cells.append(
        tag("path", d="".join(empty), style=f"fill:none;stroke:{use('grid')}", stroke_dasharray="3 3")
    )
    over = f"fill:{use('ink')};font-size:{SMALL:g}px;pointer-events:none"
    cells.append(tag("g", *texts, style=over, text_anchor="middle"))
    beside = f"fill:{use('ink')};font-size:{SMALL:g}px"
    cells.append(tag("g", *names_beside, style=beside, text_anchor="end"))
    below = _column_names(names, left, width, bottom, slanted)
    lines = max(len(_in_lines(name)) for name in names)
    room = 0.64 * widest + 18 if slanted else 24.0 + LINE * (lines - 1)
    named = name_below(figure.x_label, left + (whole - left) / 2, bottom + room + 10, whole)
    return joined([*cells, *below, named, *_key(figure, values, bottom + room, whole)]), bottom + room + 44


def strength(value: float, values: list[float]) -> tuple[str, float]:
    """The colour of a value, and how strong it is, among all values."""
    low, high = min(values), max(values)
    if low < 0 < high:
        share = abs(value) / max(-low, high)
        return ("heat" if value >= 0 else "heat-below"), share * STRONGEST
    share = (value - low) / (high - low) if high > low else 0.5
    return "heat", FAINTEST + share * (STRONGEST - FAINTEST)


def said(one: Series, number: int, column: str) -> str:
    """What is shown where a pointer rests on a cell: its value, and its interval where it has one."""
    text = f"{one.name}, {column}: {number_text(float(f'{one.y[number]:.4g}'))}"
    ends = (one.low[number], one.high[number]) if one.low else ()
    if ends and all(map(math.isfinite, ends)):
        text += f" ({' to '.join(number_text(float(f'{end:.4g}')) for end in ends)})"
    return text


def _box(
    x: float, y: float, width: float, height: float, value: float, values: list[float], told: str
) -> tuple[str, Markup]:
    """The colour and the rectangle of a cell."""
    box = {"x": f"{x + 1:.1f}", "y": f"{y + 1:.1f}", "rx": 3}
    box |= {"width": f"{max(width - 2, 1):.1f}", "height": f"{max(height - 2, 1):.1f}"}
    colour, share = strength(value, values)
    return colour, tag("rect", tag("title", told), fill_opacity=f"{share:.2f}", **box)


def _decimals(values: list[float]) -> int:
    """How many decimals the cells have: three digits for the largest of them, whole numbers none."""
    if all(value == round(value) for value in values):
        return 0
    largest = max(abs(value) for value in values)
    return min(6, max(1, 2 - math.floor(math.log10(largest))))


def _short(value: float, decimals: int) -> str:
    return number_text(round(value, decimals) + 0.0, 10.0**-decimals)


def _column_names(names: list[str], left: float, width: float, bottom: float, slanted: bool) -> list[Markup]:
    every = max(1, math.ceil((SMALL + 2) / width)) if slanted else 1
    parts = []
    for place in range(0, len(names), every):
        x, text = left + (place + 0.5) * width, shortened(names[place], LONGEST)
        hint = tag("title", names[place]) if text != names[place] else None
        style = f"fill:{use('muted')};font-size:{SMALL:g}px"
        if slanted:
            turn = f"translate({x + 4:.1f} {bottom + 14:.1f}) rotate(-40)"
            parts.append(tag("text", text, hint, transform=turn, text_anchor="end", style=style))
        else:
            for number, line in enumerate(_in_lines(names[place])):
                at = {"x": f"{x:.1f}", "y": f"{bottom + 16 + LINE * number:.1f}", "text_anchor": "middle"}
                parts.append(tag("text", line, hint, style=style, **at))
    return parts


def _in_lines(name: str) -> list[str]:
    """A name with something in brackets after it in two lines, any other in one."""
    first, bracket, rest = name.rpartition(" (")
    return [shortened(first), f"({rest}"] if bracket and rest.endswith(")") else [shortened(name)]


def _key(figure: Figure, values: list[float], y: float, whole: float) -> list[Markup]:
    """What the colours say, and a strip of them with both ends where there is more than one value."""
    small = f"fill:{use('muted')};font-size:{SMALL:g}px"
    low, high = min(values), max(values)
    decimals = _decimals(values)
    if high <= low:
        return [tag("text", figure.y_label, x=8, y=f"{y + 34:.1f}", style=small)]
    lowest, end = _short(low, decimals), _short(high, decimals)
    ends = 132 + text_width(f": {lowest}{end}", SMALL)
    labels = (shortened(figure.y_label, most) for most in range(len(figure.y_label), 4, -1))
    label = next((one for one in labels if text_width(one, SMALL) <= whole - ends), "")
    x = 14.0 + text_width(f"{label}: {lowest}", SMALL)
    parts = [tag("text", f"{label}: {lowest}", x=8, y=f"{y + 34:.1f}", style=small)]
    for step in range(12):
        value = low + (high - low) * step / 11
        colour, share = strength(value, values)
        box = {"x": f"{x + 9 * step:.1f}", "y": f"{y + 24:.1f}", "width": 9, "height": 12}
        parts.append(tag("rect", style=f"fill:{use(colour)};fill-opacity:{share:.2f}", **box))
    parts.append(tag("text", end, x=f"{x + 116:.1f}", y=f"{y + 34:.1f}", style=small))
    return parts
