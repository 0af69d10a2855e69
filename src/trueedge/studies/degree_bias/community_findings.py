"""What the trained networks of a study of communities found: rows, figures and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trueedge.analysis.figure import Figure
from trueedge.results import Record
from trueedge.studies.degree_bias.community_curves import (
    Area,
    Owner,
    Values,
    area,
    area_figure,
    areas_as_markdown,
    curve_figure,
    paired,
    verdict,
)
from trueedge.studies.degree_bias.community_designs import (
    AGAINST,
    COMMUNITIES,
    GRAPHS,
    SAMPLERS,
    TABLE_3,
    Design,
    Place,
    kind_title,
)
from trueedge.studies.published_values import published
from trueedge.studies.study import Comparison, comparison
from trueedge.tasks.communities import DIRECTIONS, MEASURES

# A network whose vectors are all the same finds one community, which tells nothing of the true ones.
COLLAPSED = "share of trainings whose vectors are one point"
TITLES = {
    "element-centric": "adjusted element-centric similarity",
    "nmi": "normalised mutual information",
    f"element-centric{DIRECTIONS}": "adjusted element-centric similarity, vectors of length 1",
    f"nmi{DIRECTIONS}": "normalised mutual information, vectors of length 1",
}
# The same in the key of a figure that has all four.
SHORT_TITLES = {
    "element-centric": "element-centric similarity",
    "nmi": "mutual information",
    f"element-centric{DIRECTIONS}": "element-centric, vectors of length 1",
    f"nmi{DIRECTIONS}": "mutual information, vectors of length 1",
}


def rows_of(records: Mapping[Place, Record], design: Design = COMMUNITIES) -> list[Comparison]:
    """Return the area of each curve, its difference from uniform negatives, and Table 3 of the paper.

    A design of points has no areas, but its values at each μ.
    """
    rows = []
    for metric in () if design.points else TITLES:
        curves = curves_of(records, metric)
        for (graphs, method, sampler), found in _areas(curves).items():
            rows.append(_row(graphs, sampler, method, f"area, {metric}", found))
        for (graphs, method, sampler), found in gaps_of(curves).items():
            rows.append(_row(graphs, f"{sampler} - {AGAINST}", method, f"area, {metric}", found))
    return rows + _collapsed(records) + _points(curves_of(records, "element-centric"), design.points)


def figures_of(records: Mapping[Place, Record], design: Design = COMMUNITIES) -> list[Figure]:
    """Return the curves of each kind of graphs and method, the areas, and their differences."""
    curves = curves_of(records, design.curve)
    figures, many = [], {2: "two", 3: "three"}[len(design.samplers)]
    for graphs, method in dict.fromkeys((graphs, method) for graphs, method, _ in curves):
        chosen_curves = {owner[2]: curves[owner] for owner in curves if owner[:2] == (graphs, method)}
        title = f"{method} trained with {many} kinds of negatives, {kind_title(graphs)}"
        name = _figure_name(graphs, method)
        figures.append(curve_figure(name, title, TITLES[design.curve], chosen_curves))
    kinds = () if design.points else dict.fromkeys(owner[0] for owner in curves)
    return [*figures, *(figure for graphs in kinds for figure in _area_figures(records, graphs))]


def _area_figures(records: Mapping[Place, Record], graphs: str) -> list[Figure]:
    """Return the areas of a kind of graphs, and their differences from uniform negatives."""
    figures = []
    for metric in MEASURES:
        areas = _by_series(_areas(curves_of(records, metric)), graphs)
        title = f"Area under the curve, {kind_title(graphs)}"
        figures.append(area_figure(_figure_name("area", graphs, metric), title, TITLES[metric], areas))
    for sampler in SAMPLERS:
        gaps = {
            metric: _by_series(gaps_of(curves_of(records, metric)), graphs).get(sampler, {})
            for metric in TITLES
        }
        gaps = {SHORT_TITLES[metric]: found for metric, found in gaps.items() if found}
        if gaps:
            title = f"Area with {sampler} minus area with {AGAINST} negatives, {kind_title(graphs)}"
            name = _figure_name("difference", graphs, sampler)
            figures.append(area_figure(name, title, "difference of areas", gaps))
    return figures


def as_markdown(card: Mapping[str, Any]) -> str:
    """Return the areas and differences in the evidence of the study as Markdown tables."""
    drawn, parts = card["figures"], []
    names = {figure["name"] for figure in drawn}
    for graphs in [kind for kind in GRAPHS if _figure_name("area", kind, "nmi") in names]:
        for metric in MEASURES:
            parts.append(f"{kind_title(graphs)}, {TITLES[metric]}, area under the curve:")
            parts.append(areas_as_markdown(drawn, _figure_name("area", graphs, metric)))
        for sampler in SAMPLERS:
            name = _figure_name("difference", graphs, sampler)
            if name in names:
                parts.append(
                    f"{kind_title(graphs)}, area with {sampler} minus area with {AGAINST} negatives:"
                )
                parts += [areas_as_markdown(drawn, name), verdict(drawn, name, sampler)]
    collapsed = [row for row in card.get("rows", ()) if row["metric"] == COLLAPSED]
    if collapsed:
        parts += ["Training runs that ended with the same vector for every node:", _collapses(collapsed)]
    return "\n\n".join(parts)


def _collapses(rows: Sequence[Mapping[str, Any]]) -> str:
    lines = ["| graphs | network | negatives | training runs |", "| --- | --- | --- | --- |"]
    for row in rows:
        count = f"{round(row['ours'] * row['seeds'])} of {row['seeds']}"
        lines.append(f"| {kind_title(row['dataset'])} | {row['method']} | {row['protocol']} | {count} |")
    return "\n".join(lines)


def printed_as_markdown(card: Mapping[str, Any]) -> str:
    """Return our values and Table 3 of the paper as a Markdown table."""
    lines = ["| graphs | network | metric | ours | published |", "| --- | --- | --- | --- | --- |"]
    for row in card["rows"]:
        if row["theirs"] is not None:
            # Without the sign of what rounds to nothing.
            ours = f"{round(row['ours'], 3) + 0.0:.3f} ± {row['std']:.3f}"
            texts = [kind_title(row["dataset"]), row["method"], row["metric"], ours, f"{row['theirs']:.3f}"]
            lines.append(f"| {' | '.join(texts)} |")
    return "\n".join(lines)


def curves_of(records: Mapping[Place, Record], metric: str) -> dict[Owner, dict[float, dict[int, float]]]:
    """Return the values of a metric by owner, μ and graph number."""
    curves: dict[Owner, dict[float, dict[int, float]]] = {}
    for place, record in records.items():
        owner = (place.graphs, place.method, place.sampler)
        curves.setdefault(owner, {}).setdefault(place.mixing, {})[place.number] = record.test[metric]
    return curves


def gaps_of(curves: Mapping[Owner, Values]) -> dict[Owner, Area]:
    """Return how much larger each area is than with uniform negatives on the same graphs."""
    gaps: dict[Owner, Values] = {
        owner: paired(values, curves[*owner[:2], AGAINST])
        for owner, values in curves.items()
        if owner[2] != AGAINST and (*owner[:2], AGAINST) in curves
    }
    return _areas(gaps)


def _areas(curves: Mapping[Owner, Values]) -> dict[Owner, Area]:
    """Return the areas of the curves with two values of μ or more."""
    return {owner: area(values) for owner, values in curves.items() if len(values) > 1}


def _by_series(areas: Mapping[Owner, Area], graphs: str) -> dict[str, dict[str, Area]]:
    """Return the areas of a kind of graphs by sampler, then by method."""
    found: dict[str, dict[str, Area]] = {}
    for (kind, method, sampler), one in areas.items():
        if kind == graphs:
            found.setdefault(sampler, {})[method] = one
    return found


def _row(graphs: str, protocol: str, method: str, metric: str, found: Area) -> Comparison:
    return Comparison(graphs, protocol, method, metric, found.value, found.std, found.graphs, None)


def _collapsed(records: Mapping[Place, Record]) -> list[Comparison]:
    """Return the share of collapsed trainings of each network and sampler that had one."""
    found: dict[Owner, list[bool]] = {}
    for place, record in records.items():
        nothing = max(abs(record.test[metric]) for metric in TITLES) < 1e-9
        found.setdefault((place.graphs, place.method, place.sampler), []).append(nothing)
    return [
        Comparison(graphs, sampler, method, COLLAPSED, sum(each) / len(each), 0.0, len(each), None)
        for (graphs, method, sampler), each in found.items()
        if any(each)
    ]


def _points(curves: Mapping[Owner, Values], every: bool) -> list[Comparison]:
    """Return the values next to Table 3, which does not state the exponent of its graphs.

    Args:
        curves: the values of each curve.
        every: whether there are rows for values that the table does not have.
    """
    printed = {(one.protocol, one.method, one.metric): one for one in published("degree-bias-communities")}
    rows = []
    for (graphs, method, sampler), values in curves.items():
        for mixing, found in values.items():
            metric = f"element-centric, mixing {mixing:g}"
            value = printed.get((sampler, method, metric)) if graphs in TABLE_3.graphs else None
            if value is not None or every:
                theirs = (None, None) if value is None else (value.mean, value.std)
                where = (graphs, sampler, method, metric)
                rows.append(comparison(where, list(found.values()), *theirs))
    return rows


def _figure_name(*parts: str) -> str:
    """Return a name without dots, which would not work in links."""
    return "-".join(["communities", *parts]).replace(".", "-")
