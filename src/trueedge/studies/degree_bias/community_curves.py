"""Curves of a score over the mixing of communities: their areas, how sure those are, and their pictures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.analysis.figure import Figure, Series
from trueedge.errors import InputError, must_be
from trueedge.statistics.significance import mean_interval
from trueedge.studies.evidence import figure_of

# The values of a curve: for each μ those of its graphs, by the graph's number.
Values = Mapping[float, Mapping[int, float]]
# Whose curve it is: the kind of graphs, the method, and what its training negatives were drawn by.
Owner = tuple[str, str, str]


@dataclass(frozen=True)
class Area:
    """The area under a mean curve, divided by its width, with its interval over graphs.

    Attributes:
        value: the area: the mean height of the curve.
        low: the interval's lower end; nan where a μ has a single graph.
        high: the upper end.
        std: the standard deviation of the area of one graph for each μ; 0 where that is not known.
        graphs: how many graphs a μ has at least.
    """

    value: float
    low: float
    high: float
    std: float
    graphs: int


def area(values: Values, level: float = 0.95) -> Area:
    """Return the area under the mean curve, with Student's interval over graphs.

    The graphs of one μ have nothing to do with those of another: variances add up, each weighed by the square
    of its share in the area, with Satterthwaite's degrees of freedom.

    Args:
        values: two values of μ or more, with a graph each at least.
        level: the interval's, between 0 and 1.

    Satterthwaite, An Approximate Distribution of Estimates of Variance Components, Biometrics 1946.
    """
    from scipy.special import stdtrit

    if not 0 < level < 1:
        raise must_be("level", "area", "between 0 and 1", level)
    places = sorted(place for place, found in values.items() if found)
    if len(places) < 2:
        raise InputError(f"an area needs two values of mixing at least, got {len(places)}")
    samples = [np.array(list(values[place].values()), dtype=np.float64) for place in places]
    shares = shares_of(np.array(places))
    value = float(sum(share * sample.mean() for share, sample in zip(shares, samples, strict=True)))
    fewest = min(map(len, samples))
    if fewest < 2:
        return Area(value, math.nan, math.nan, 0.0, fewest)
    parts = np.array([w**2 * s.var(ddof=1) / len(s) for w, s in zip(shares, samples, strict=True)])
    error = math.sqrt(parts.sum())
    reach = 0.0
    if error > 0:
        freedom = parts.sum() ** 2 / np.sum(parts**2 / (np.array([len(s) for s in samples]) - 1))
        reach = float(stdtrit(freedom, (1 + level) / 2)) * error
    return Area(value, value - reach, value + reach, error * math.sqrt(fewest), fewest)


def shares_of(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the trapezoid weights of rising places (m,), which sum to 1, float64 (m,)."""
    gaps = np.diff(places)
    shares = np.zeros(len(places))
    shares[:-1] += gaps / 2
    shares[1:] += gaps / 2
    result: NDArray[np.float64] = shares / gaps.sum()
    return result


def paired(first: Values, second: Values) -> dict[float, dict[int, float]]:
    """Return the first curve minus the second, on each graph that both have."""
    gaps = {
        place: {number: value - second[place][number] for number, value in found.items() if number in there}
        for place, found in first.items()
        if (there := second.get(place, {}))
    }
    return {place: found for place, found in gaps.items() if found}


def curve_figure(name: str, title: str, score: str, curves: Mapping[str, Values]) -> Figure:
    """Draw mean curves over μ with the interval of each point."""
    series = []
    for curve, values in curves.items():
        places = sorted(values)
        points = [_point(list(values[place].values())) for place in places]
        means, lows, highs = zip(*points, strict=True)
        series.append(Series(curve, tuple(places), means, lows, highs))
    return Figure(name, title, "lines", "mixing μ", score, tuple(series), note=_graphs(curves.values()))


def area_figure(name: str, title: str, label: str, areas: Mapping[str, Mapping[str, Area]]) -> Figure:
    """Draw areas as bars with their intervals: for each series, the areas by their name on the axis."""
    series = []
    for one, found in areas.items():
        ends = [tuple(getattr(each, end) for each in found.values()) for end in ("value", "low", "high")]
        series.append(Series(one, tuple(found), *ends))
    return Figure(name, title, "bars", "", label, tuple(series), note="95 % intervals over graphs")


def _point(values: Sequence[float]) -> tuple[float, float, float]:
    found = mean_interval([values])
    # Of one graph the interval is not known.
    sure = math.isfinite(found.low) and math.isfinite(found.high)
    return found.value, found.low if sure else math.nan, found.high if sure else math.nan


def _graphs(curves: Any) -> str:
    counts = sorted({len(found) for values in curves for found in values.values()})
    many = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"means over {many} graphs for each μ, with 95 % intervals"


def areas_as_markdown(figures: Sequence[Mapping[str, Any]], name: str, decimals: int = 3) -> str:
    """Return a figure's areas and intervals as a Markdown table, one column per series."""
    figure = _named(figures, name)
    columns = {one.name: dict(zip(one.x, _texts(one, decimals), strict=True)) for one in figure.series}
    lines = [["", *columns]]
    for place in dict.fromkeys(place for one in figure.series for place in one.x):
        lines.append([str(place), *(column.get(place, "") for column in columns.values())])
    rows = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([rows[0], f"|{' --- |' * len(lines[0])}", *rows[1:]])


def verdict(figures: Sequence[Mapping[str, Any]], name: str, winner: str) -> str:
    """Return a sentence on the first series of a figure of differences; positive ones favour ``winner``."""
    one = _named(figures, name).series[0]
    groups: dict[str, list[str]] = {"better": [], "worse": [], "no significant difference": []}
    for place, low, high in zip(one.x, one.low, one.high, strict=True):
        where = "better" if low > 0 else "worse" if high < 0 else "no significant difference"
        groups[where].append(str(place))
    said = {where: f"{where} for {', '.join(names)}" for where, names in groups.items() if names}
    unclear = said.pop("no significant difference", "")
    sentence = f"By {one.name}, {winner} negatives " + (f"are {', '.join(said.values())}" if said else "make")
    return sentence + ("; " if said and unclear else " " if unclear else "") + unclear + "."


def _named(figures: Sequence[Mapping[str, Any]], name: str) -> Figure:
    for figure in figures:
        if figure["name"] == name:
            return figure_of(figure)
    raise InputError(f"there is no figure {name!r} in the evidence")


def _texts(series: Series, decimals: int) -> list[str]:
    texts = []
    for value, low, high in zip(series.y, series.low, series.high, strict=True):
        sure = math.isfinite(low) and math.isfinite(high)
        low, high = round(low, decimals) + 0.0, round(high, decimals) + 0.0
        ends = f" ({low:.{decimals}f} to {high:.{decimals}f})" if sure else ""
        # Without the sign of what rounds to nothing.
        texts.append(f"{round(value, decimals) + 0.0:.{decimals}f}{ends}")
    return texts
