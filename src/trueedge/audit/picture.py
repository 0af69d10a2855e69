"""How what a check found becomes a figure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.analysis.figure import Figure, Kind, Series

LOW, HIGH = "low ", "high "


@dataclass(frozen=True, kw_only=True)
class Picture:
    """How a check's series are drawn: the first stands along the axis, each other is a line, bars or a row.

    Two series called ``low NAME`` and ``high NAME`` are the interval of the series NAME.

    Attributes:
        title: one line above it.
        kind: lines, points, bars or heat.
        y: what the values are.
        x: what stands along the axis; the first series' name where empty.
        log_x: whether the horizontal axis is logarithmic.
        log_y: whether the vertical axis is.
        diagonal: whether the line of equal values is drawn.
        note: a sentence below it.
    """

    title: str
    kind: Kind
    y: str
    x: str = ""
    log_x: bool = False
    log_y: bool = False
    diagonal: bool = False
    note: str = ""

    def figure(self, name: str, series: Mapping[str, NDArray[Any]]) -> Figure | None:
        """The figure of some series; None where there is nothing to see, no value being other than 0.

        Args:
            name: what the figure is called in links.
            series: arrays of one length.
        """
        (along, places), *others = series.items() if series else [("", np.empty(0))]
        x = tuple(places.tolist())
        found = []
        for one, values in others:
            if one.startswith((LOW, HIGH)):
                continue
            ends = [tuple(series[side + one].tolist()) for side in (LOW, HIGH) if side + one in series]
            found.append(Series(one, x, tuple(float(value) for value in values.tolist()), *ends))
        if not any(value != 0 and math.isfinite(value) for one in found for value in one.y):
            return None
        return Figure(
            name=name,
            title=self.title,
            kind=self.kind,
            x_label=self.x or along,
            y_label=self.y,
            series=tuple(found),
            log_x=self.log_x,
            log_y=self.log_y,
            diagonal=self.diagonal,
            note=self.note,
        )
