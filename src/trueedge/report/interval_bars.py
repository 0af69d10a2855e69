"""Small bars of intervals, for the rows of a table or a list: all rows share one scale."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from trueedge.report.colours import use
from trueedge.report.markup import Markup, tag

# In pixels; a page may show a bar wider than it is high, but never distorts it.
WIDTH, HEIGHT = 120.0, 16.0
# The share of the range that is left free at either end.
MARGIN = 0.04


@dataclass(frozen=True)
class BarScale:
    """The range that the bars of several rows share.

    Attributes:
        low: the value at the left edge.
        high: the value at the right edge.
        zero: whether 0 is marked by a line.
        width: in pixels.
    """

    low: float
    high: float
    zero: bool = False
    width: float = WIDTH

    @classmethod
    def of(cls, values: Iterable[float], *, zero: bool = False, width: float = WIDTH) -> BarScale:
        """Return the scale that shows all finite values, and 0 if it is marked."""
        finite = [value for value in values if math.isfinite(value)] + ([0.0] if zero else [])
        low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
        room = MARGIN * (high - low) or 1.0
        return cls(low - room, high + room, zero, width)

    def at(self, value: float) -> float:
        """Return the place of a value, within the bar."""
        share = (value - self.low) / (self.high - self.low)
        return self.width * min(1.0, max(0.0, share))


def interval_bar(
    scale: BarScale,
    value: float,
    low: float | None,
    high: float | None,
    *,
    colour: str = "c1",
    said: str = "",
) -> Markup:
    """Draw a value as a dot and its interval as a bar; without an interval, the dot is hollow.

    Args:
        scale: shared by all rows.
        value: the estimate.
        low: the lower end of its interval, or None.
        high: the upper end.
        colour: a name of :mod:`trueedge.report.colours`.
        said: the same in words; empty if a text beside the bar says it.
    """
    # Numbers and names of our own, which need no escaping: a page has a hundred bars.
    middle, ink = f"{HEIGHT / 2:.0f}", use(colour)
    drawn = ""
    if scale.zero:
        line = f"M{scale.at(0.0):.1f} 0V{HEIGHT:.0f}"
        drawn = f'<path d="{line}" style="stroke:{use("muted")};stroke-width:1.5"></path>'
    known = low is not None and high is not None
    if low is not None and high is not None:
        ends = f"M{scale.at(low):.1f} {middle}H{scale.at(high):.1f}"
        style = f"stroke:{ink};stroke-width:5;stroke-opacity:.45"
        drawn += f'<path d="{ends}" style="{style}" stroke-linecap="round"></path>'
    style = f"fill:{ink if known else 'none'};stroke:{ink};stroke-width:1.5"
    drawn += f'<circle cx="{scale.at(value):.1f}" cy="{middle}" r="4" style="{style}"></circle>'
    spoken = {"role": "img", "aria_label": said} if said else {"aria_hidden": "true"}
    box, wide = f"0 0 {scale.width:.0f} {HEIGHT:.0f}", f"--wide:{scale.width:.0f}px"
    return tag("svg", Markup(drawn), viewBox=box, class_="interval", style=wide, **spoken)
