"""The critical-difference plot: mean ranks on an axis; bars join methods without significant difference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from trueedge.errors import InputError
from trueedge.report.charts import spread, svg
from trueedge.report.colours import use
from trueedge.report.frames import SMALL, text_width
from trueedge.report.markup import Markup, joined, tag
from trueedge.report.numbers import p_text
from trueedge.report.scales import Scale
from trueedge.statistics.rank_tests import RankTest

# One unit is one pixel where there is room: on a desk the plot lies, on a phone it stands.
LYING, STANDING = 760.0, 320.0
LINE, BETWEEN = 14.0, 4.0
# A label that is wider goes on in the next line, and none has more than three.
WIDEST, MOST_LINES = 200.0, 3
LEAST_STEP = 22.0
# Where a standing axis has its place: to the left of it are its ranks and the critical difference.
LEFT = 46.0
SHORTEST_AXIS = 200.0
# The bars of each lane, as ends in mean ranks.
Lanes = list[list[tuple[float, float]]]


@dataclass(frozen=True)
class _Method:
    """A method on the plot: its label in lines and whole, its mean rank, and the room for that beside it."""

    lines: tuple[str, ...]
    label: str
    rank: float
    indent: float

    @property
    def height(self) -> float:
        return LINE * len(self.lines) + BETWEEN

    @property
    def width(self) -> float:
        """Of the label with the rank beside it."""
        return max(text_width(line, SMALL) for line in self.lines) + self.indent

    @property
    def rank_text(self) -> str:
        return f"{self.rank:.2f}"


def critical_difference(labels: Sequence[str], test: RankTest, *, upright: bool = False) -> Markup:
    """Draw mean ranks over data sets as one self-contained SVG, the best to the left.

    A bar joins methods without significant difference. The length of the critical difference is drawn
    above the axis; Friedman's p-value and the number of data sets are written below.

    Args:
        labels: of the methods, in the order of the test's columns.
        test: from :func:`trueedge.analysis.comparison.compare_over_datasets` or
            :func:`trueedge.statistics.rank_tests.friedman`.
        upright: whether the axis runs from top to bottom with all labels on one side, for narrow places.

    Demšar, Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 2006, Figure 1.
    """
    ranks = [float(rank) for rank in test.mean_ranks]
    if len(labels) != len(ranks):
        raise InputError(
            f"critical_difference needs a label for each of {len(ranks)} methods, got {len(labels)}"
        )
    if not ranks or not all(map(math.isfinite, (*ranks, test.critical_difference))):
        raise InputError("critical_difference needs ranks and a critical difference that are finite numbers")
    lanes = lanes_of(test)
    indent = 6 + max(text_width(f"{rank:.2f}", SMALL) for rank in ranks)
    room = WIDEST if not upright else STANDING - _beyond(lanes) - 20 - indent
    methods = sorted(
        (
            _Method(_in_lines(label, room), label, rank, indent)
            for label, rank in zip(labels, ranks, strict=True)
        ),
        key=lambda one: one.rank,
    )
    content, width, height = (_standing if upright else _lying)(methods, lanes, test)
    limits = f"min-width:0;max-width:{width:.0f}px;"
    return svg(content, width, height, _spoken(methods, labels, test), limits, font_size=f"{SMALL:g}")


def _spoken(methods: Sequence[_Method], labels: Sequence[str], test: RankTest) -> str:
    """What the plot shows, in words for those who do not see it."""
    ranks = ", ".join(f"{one.label} {one.rank_text}" for one in methods)
    joined_up = [", ".join(labels[member] for member in group) for group in test.groups if len(group) > 1]
    told = f"no significant difference: {'; '.join(joined_up)}" if joined_up else "all differ significantly"
    return f"Mean ranks, best first: {ranks}. {caption(test)}. {_difference(test)}; {told}"


def caption(test: RankTest) -> str:
    """Return what the test found, in words."""
    p = p_text(test.p)
    return f"Friedman’s test over {test.datasets} data sets: p {p if p.startswith('<') else f'= {p}'}"


def _difference(test: RankTest) -> str:
    return f"critical difference {test.critical_difference:.2f}"


def _in_lines(label: str, room: float) -> tuple[str, ...]:
    """A label in as many lines as it takes, broken between words where it goes; what is too long is cut."""
    lines: list[str] = []
    rest = " ".join(label.split()) or "–"
    while (most := _fitting(rest, room)) < len(rest):
        if len(lines) == MOST_LINES - 1:
            rest = f"{rest[: most - 1].rstrip()}…"
            break
        # Between words, else within one after a sign, else anywhere.
        ends = [place for place in range(1, most + 1) if rest[place] == " "]
        ends = ends or [place for place in range(most // 3, most) if rest[place - 1] in "=,-_:/"]
        end = ends[-1] if ends else most
        lines.append(rest[:end].rstrip())
        rest = rest[end:].lstrip()
    return (*lines, rest)


def _fitting(text: str, room: float) -> int:
    """How many letters of a text there is room for, two at least."""
    width, count = 0.0, 0
    for count, letter in enumerate(text):
        width += text_width(letter, SMALL)
        if width > room:
            return max(count, 2)
    return len(text)


def lanes_of(test: RankTest) -> Lanes:
    """Return the bars, as ends in mean ranks, in as many lanes as it takes for none to meet another."""
    lanes: Lanes = []
    # Two bars that almost touch would be read as one.
    gap = 0.03 * max(len(test.mean_ranks) - 1, test.critical_difference)
    for group in test.groups:
        ranks = [float(test.mean_ranks[member]) for member in group]
        if len(group) < 2:
            continue
        free = (lane for lane in lanes if lane[-1][1] + gap < min(ranks))
        lane = next(free, None)
        if lane is None:
            lanes.append(lane := [])
        lane.append((min(ranks), max(ranks)))
    return lanes


def _axis(count: int, test: RankTest, start: float, end: float) -> Scale:
    """From 1 to the number of methods, or to what the critical difference takes."""
    high = max(2.0, float(count), 1 + test.critical_difference, *map(float, test.mean_ranks))
    return Scale(min(1.0, *map(float, test.mean_ranks)), math.ceil(high - 1e-9), start, end)


def _ticks(axis: Scale) -> list[int]:
    """The whole ranks that are written beside the axis, the first among them."""
    step = LEAST_STEP * (axis.high - axis.low) / (axis.end - axis.start)
    chosen = next((s for s in (1, 2, 5, 10, 20, 50, 100, 200, 500) if s >= step), 1000)
    first = chosen if chosen > 2 else 1 + chosen
    return [1, *range(first, int(axis.high) + 1, chosen)]


def _lying(methods: Sequence[_Method], lanes: Lanes, test: RankTest) -> tuple[Markup, float, float]:
    """The axis from left to right; the better half of the labels to the left, the others to the right."""
    half = (len(methods) + 1) // 2
    sides = methods[:half], methods[: half - 1 : -1]
    margins = [max((one.width for one in side), default=0.0) + 12 for side in sides]
    axis = _axis(len(methods), test, max(margins[0], 24.0), LYING - max(margins[1], 24.0))
    base = 58.0
    below = base + 8 + 8 * len(lanes) + 6
    parts = [_ruler(axis, base, test)]
    for side, ranked in enumerate(sides):
        y = below
        edge = axis.start - 4 if side == 0 else axis.end + 4
        for one in ranked:
            middle = y + one.height / 2
            x = axis.at(one.rank)
            parts.append(_leader(f"M{x:.1f} {base:.1f}V{middle:.1f}H{edge:.1f}"))
            parts.append(_label(one, edge - 4 if side == 0 else edge + 4, middle, on_left=side == 0))
            y += one.height
    parts += [_dot(axis.at(one.rank), base) for one in methods]
    for number, lane in enumerate(lanes):
        y = base + 11 + 8 * number
        parts += [_bar(f"M{axis.at(low) - 4:.1f} {y:.1f}H{axis.at(high) + 4:.1f}") for low, high in lane]
    end = below + max(sum(one.height for one in side) for side in sides)
    parts.append(_text(caption(test), LYING / 2, end + 22, "middle", "muted"))
    return joined(parts), LYING, end + 32


def _ruler(axis: Scale, base: float, test: RankTest) -> Markup:
    """The axis with its ranks above, and the length of the critical difference above these."""
    ends = axis.at(1.0), axis.at(1.0 + test.critical_difference)
    steps = "".join(f"M{axis.at(tick):.1f} {base:.1f}v-5" for tick in _ticks(axis))
    line = f"M{axis.start:.1f} {base:.1f}H{axis.end:.1f}{steps}"
    texts = [_text(str(tick), axis.at(tick), base - 9, "middle", "muted") for tick in _ticks(axis)]
    length = f"M{ends[0]:.1f} 18v8m0 -4H{ends[1]:.1f}m0 -4v8"
    return joined(
        [_stroke(line, "muted"), *texts, _stroke(length, "ink"), _text(_difference(test), ends[0], 12)]
    )


def _standing(methods: Sequence[_Method], lanes: Lanes, test: RankTest) -> tuple[Markup, float, float]:
    """The axis from top to bottom, the best on top; all labels to the right."""
    pitch = max(one.height for one in methods)
    top, base = 24.0 + max(10.0, pitch / 2), LEFT
    axis = _axis(len(methods), test, top, top + max(SHORTEST_AXIS, pitch * (len(methods) - 1)))
    step, beyond = _lane_step(lanes), _beyond(lanes)
    steps = "".join(f"M{base:.1f} {axis.at(tick):.1f}h-5" for tick in _ticks(axis))
    parts = [_stroke(f"M{base:.1f} {axis.start:.1f}V{axis.end:.1f}{steps}", "muted")]
    parts += [_text(str(tick), base - 9, axis.at(tick) + 4, "end", "muted") for tick in _ticks(axis)]
    ends = axis.at(1.0), axis.at(1.0 + test.critical_difference)
    parts.append(_stroke(f"M4 {ends[0]:.1f}h8m-4 0V{ends[1]:.1f}m-4 0h8", "ink"))
    parts.append(_text(_difference(test), 2, 13))
    heights = spread([axis.at(one.rank) for one in methods], pitch, axis.start, axis.end)
    for one, middle in zip(methods, heights, strict=True):
        y = axis.at(one.rank)
        parts.append(_leader(f"M{base:.1f} {y:.1f}H{beyond:.1f}L{beyond + 14:.1f} {middle:.1f}"))
        parts.append(_label(one, beyond + 18, middle, on_left=False))
    parts += [_dot(base, axis.at(one.rank)) for one in methods]
    for number, lane in enumerate(lanes):
        x = base + 9 + step * number
        parts += [_bar(f"M{x:.1f} {axis.at(low) - 3:.1f}V{axis.at(high) + 3:.1f}") for low, high in lane]
    end = max(axis.end, heights[-1]) + pitch / 2
    parts.append(_text(caption(test), 2, end + 20, "start", "muted"))
    return joined(parts), STANDING, end + 28


def _lane_step(lanes: Lanes) -> float:
    return min(8.0, 64.0 / max(1, len(lanes)))


def _beyond(lanes: Lanes) -> float:
    """Where the bars beside a standing axis end."""
    return LEFT + 6 + _lane_step(lanes) * len(lanes)


def _label(one: _Method, x: float, middle: float, on_left: bool) -> Markup:
    """The mean rank next to the plot, and beside it the lines of the label."""
    inwards = -one.indent if on_left else one.indent
    top = middle + 4 - LINE * (len(one.lines) - 1) / 2
    rank = tag("tspan", one.rank_text, x=f"{x:.1f}", y=f"{middle + 4:.1f}", style=f"fill:{use('muted')}")
    rows = [
        tag("tspan", line, x=f"{x + inwards:.1f}", y=f"{top + LINE * number:.1f}")
        for number, line in enumerate(one.lines)
    ]
    whole = tag("title", f"{one.label}: {one.rank:.3f}")
    anchor = "end" if on_left else None
    return tag("text", rank, *rows, whole, text_anchor=anchor, style=f"fill:{use('ink')}")


def _text(text: str, x: float, y: float, anchor: str = "start", colour: str = "ink") -> Markup:
    where = {"x": f"{x:.1f}", "y": f"{y:.1f}", "text_anchor": None if anchor == "start" else anchor}
    return tag("text", text, **where, style=f"fill:{use(colour)}")


def _stroke(path: str, colour: str) -> Markup:
    return tag("path", d=path, fill="none", style=f"stroke:{use(colour)}")


def _leader(path: str) -> Markup:
    return tag(
        "path", d=path, fill="none", class_="leader", style=f"stroke:{use('muted')};stroke-opacity:.55"
    )


def _dot(x: float, y: float) -> Markup:
    return tag("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=3, style=f"fill:{use('ink')}")


def _bar(path: str) -> Markup:
    style = f"stroke:{use('c1')};stroke-width:4"
    return tag("path", d=path, fill="none", class_="bar", stroke_linecap="round", style=style)
