"""The critical-difference plot on matplotlib axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from trueedge.report.colours import LIGHT
from trueedge.report.critical_difference import caption, lanes_of
from trueedge.statistics.rank_tests import RankTest

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SMALL = 8


def literal(text: str) -> str:
    """Return a text as matplotlib has to get it, so that it shows dollar signs instead of formulas."""
    return text.replace("$", r"\$")


def draw_ranks(axes: Axes, labels: Sequence[str], test: RankTest) -> None:
    """Draw mean ranks, the best to the left; a bar joins methods without significant difference.

    Args:
        axes: empty axes.
        labels: of the methods, in the order of the test's columns.
        test: from :func:`trueedge.analysis.comparison.compare_over_datasets`.
    """
    methods = sorted(zip((float(rank) for rank in test.mean_ranks), labels, strict=True))
    end = max(2.0, math.ceil(max(float(len(labels)), 1 + test.critical_difference)))
    ink = LIGHT["ink"]
    axes.plot([1, end], [0, 0], color=ink, linewidth=1)
    for tick in range(1, int(end) + 1):
        axes.plot([tick, tick], [0, 0.15], color=ink, linewidth=1)
        axes.text(tick, 0.25, str(tick), ha="center", va="bottom", fontsize=SMALL)
    axes.plot([1, 1 + test.critical_difference], [1.15, 1.15], color=ink, linewidth=1, marker="|")
    axes.text(1, 1.3, f"critical difference {test.critical_difference:.2f}", va="bottom", fontsize=SMALL)
    bars = lanes_of(test)
    for number, lane in enumerate(bars):
        for low, high in lane:
            y = -0.3 - 0.3 * number
            axes.plot([low, high], [y, y], color=LIGHT["c1"], linewidth=3, solid_capstyle="round")
    half = (len(methods) + 1) // 2
    below = -0.7 - 0.3 * len(bars)
    margin = 0.04 * (end - 1)
    for place, (rank, label) in enumerate(methods):
        left = place < half
        y = below - (place if left else len(methods) - 1 - place)
        edge = 1 - margin if left else end + margin
        axes.plot([rank, rank, edge], [0, y, y], color=LIGHT["muted"], linewidth=0.8)
        axes.plot([rank], [0], "o", color=LIGHT["ink"], markersize=3.5)
        shown = literal(label)
        name = f"{shown}  {rank:.2f} " if left else f" {rank:.2f}  {shown}"
        axes.text(edge, y, name, ha="right" if left else "left", va="center", fontsize=SMALL)
    axes.text(
        (1 + end) / 2, below - half - 0.2, caption(test), ha="center", fontsize=SMALL, color=LIGHT["muted"]
    )
    axes.set_ylim(below - half - 0.7, 2.2)
    axes.set_axis_off()
