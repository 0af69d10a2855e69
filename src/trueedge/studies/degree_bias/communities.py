"""What negatives a graph neural network should be trained with, judged by the communities it finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from trueedge import methods
from trueedge.analysis.figure import Figure
from trueedge.datasets.lfr import lfr
from trueedge.results import Record
from trueedge.runs import Cell
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
from trueedge.studies.published_values import published
from trueedge.studies.study import (
    Comparison,
    Finding,
    Plan,
    chosen,
    comparison,
    need,
    places,
    register_listed,
    run_all,
)
from trueedge.tasks.communities import DIRECTIONS, MEASURES, CommunityTask

NAME = "degree-bias/communities"
# The exponent of the degree distribution, by the name of its graphs.
EXPONENTS = {"lfr-2.5": 2.5, "lfr-3": 3.0}
MIXINGS = (0.1, 0.3, 0.5, 0.7, 0.9)
GRAPHS = 5
METHODS = ("gcn", "sage", "gin", "gat")
SAMPLERS = ("uniform", "degree-corrected", "heart")
# A network whose vectors are all the same finds one community, which tells nothing of the true ones.
COLLAPSED = "share of trainings whose vectors are one point"
# What is compared with training on uniform negatives, on the same graphs.
AGAINST = "uniform"
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


def _run(plan: Plan) -> Finding:
    asked = cells(plan)
    records, missing = run_all(list(asked.values()), plan)
    found = {}
    for place, cell in asked.items():
        of_cell = records.get((cell.name, cell.protocol, cell.method))
        if of_cell:
            found[place] = of_cell[0]
    rows = rows_of(found)
    need(rows, NAME, missing)
    return Finding(rows, missing, places(records.values()), figures_of(found))


@dataclass(frozen=True, order=True)
class Place:
    """Where a record belongs.

    Attributes:
        graphs: the name of the graphs' settings, of :data:`EXPONENTS`.
        method: the network's name.
        sampler: what its training negatives were drawn by.
        mixing: the graph's μ.
        number: the graph's number, which is its seed and that of the training.
    """

    graphs: str
    method: str
    sampler: str
    mixing: float
    number: int


def cells(plan: Plan, settings: Mapping[str, Any] | None = None) -> dict[Place, Cell]:
    """Return all cells: every kind of graph, μ, graph number, network and sampler.

    The numbers of graphs come first, so that a run which is cut short has fewer graphs and nothing else is
    missing.

    Args:
        plan: data sets (kinds of graphs), methods, the number of graphs, and the device.
        settings: further settings of every network, for a quick look.
    """
    kinds = chosen(plan.datasets, list(EXPONENTS), f"data set of {NAME}")
    names = chosen(plan.methods, METHODS, f"method of {NAME}")
    found = {}
    for number in range(plan.seeds or GRAPHS):
        for kind in kinds:
            for mixing in MIXINGS:
                for name in names:
                    for sampler in SAMPLERS:
                        place = Place(kind, name, sampler, mixing, number)
                        found[place] = _cell(place, plan, settings or {})
    return found


def _cell(place: Place, plan: Plan, settings: Mapping[str, Any]) -> Cell:
    # The paper's negatives are pairs that are not joined.
    how = {"negatives": place.sampler, "reject_edges": True, **settings}
    task = community_task(place.graphs, place.mixing, place.number)
    method = plan.with_settings(methods.create(place.method, how))
    return Cell(task, task.protocol, method, place.number, device=plan.device)


@cache
def community_task(graphs: str, mixing: float, number: int) -> CommunityTask:
    """Return a graph with 3,000 nodes and its communities; other settings are those of the paper."""
    return CommunityTask.of(*lfr(mixing=mixing, degree_exponent=EXPONENTS[graphs], seed=number))


def rows_of(records: Mapping[Place, Record]) -> list[Comparison]:
    """Return the area of each curve, its difference from uniform negatives, and Table 3 of the paper."""
    rows = []
    for metric in TITLES:
        curves = curves_of(records, metric)
        for (graphs, method, sampler), found in _areas(curves).items():
            rows.append(_row(graphs, sampler, method, f"area, {metric}", found))
        for (graphs, method, sampler), found in gaps_of(curves).items():
            rows.append(_row(graphs, f"{sampler} - {AGAINST}", method, f"area, {metric}", found))
    return rows + _collapsed(records) + _printed(curves_of(records, "element-centric"))


def figures_of(records: Mapping[Place, Record]) -> list[Figure]:
    """Return the curves of each kind of graphs and method, the areas, and their differences."""
    curves = curves_of(records, "element-centric")
    figures = []
    for graphs, method in dict.fromkeys((graphs, method) for graphs, method, _ in curves):
        chosen_curves = {owner[2]: curves[owner] for owner in curves if owner[:2] == (graphs, method)}
        title = f"{method} trained with three kinds of negatives, {_kind(graphs)}"
        name = _figure_name(graphs, method)
        figures.append(curve_figure(name, title, TITLES["element-centric"], chosen_curves))
    for graphs in dict.fromkeys(owner[0] for owner in curves):
        for metric in MEASURES:
            areas = _by_series(_areas(curves_of(records, metric)), graphs)
            title = f"Area under the curve, {_kind(graphs)}"
            name = _figure_name("area", graphs, metric)
            figures.append(area_figure(name, title, TITLES[metric], areas))
        for sampler in SAMPLERS:
            gaps = {
                metric: _by_series(gaps_of(curves_of(records, metric)), graphs).get(sampler, {})
                for metric in TITLES
            }
            gaps = {SHORT_TITLES[metric]: found for metric, found in gaps.items() if found}
            if gaps:
                title = f"Area with {sampler} minus area with {AGAINST} negatives, {_kind(graphs)}"
                name = _figure_name("difference", graphs, sampler)
                figures.append(area_figure(name, title, "difference of areas", gaps))
    return figures


def as_markdown(card: Mapping[str, Any]) -> str:
    """Return the areas and differences in the evidence of the study as Markdown tables."""
    drawn, parts = card["figures"], []
    names = {figure["name"] for figure in drawn}
    for graphs in [kind for kind in EXPONENTS if _figure_name("area", kind, "nmi") in names]:
        for metric in MEASURES:
            parts.append(f"{_kind(graphs)}, {TITLES[metric]}, area under the curve:")
            parts.append(areas_as_markdown(drawn, _figure_name("area", graphs, metric)))
        for sampler in SAMPLERS:
            name = _figure_name("difference", graphs, sampler)
            if name in names:
                parts.append(f"{_kind(graphs)}, area with {sampler} minus area with {AGAINST} negatives:")
                parts += [areas_as_markdown(drawn, name), verdict(drawn, name, sampler)]
    collapsed = [row for row in card.get("rows", ()) if row["metric"] == COLLAPSED]
    if collapsed:
        parts += ["Training runs that ended with the same vector for every node:", _collapses(collapsed)]
    return "\n\n".join(parts)


def _collapses(rows: Sequence[Mapping[str, Any]]) -> str:
    lines = ["| graphs | network | negatives | training runs |", "| --- | --- | --- | --- |"]
    for row in rows:
        count = f"{round(row['ours'] * row['seeds'])} of {row['seeds']}"
        lines.append(f"| {_kind(row['dataset'])} | {row['method']} | {row['protocol']} | {count} |")
    return "\n".join(lines)


def printed_as_markdown(card: Mapping[str, Any]) -> str:
    """Return our values and Table 3 of the paper as a Markdown table."""
    lines = ["| graphs | network | metric | ours | published |", "| --- | --- | --- | --- | --- |"]
    for row in card["rows"]:
        if row["theirs"] is not None:
            # Without the sign of what rounds to nothing.
            ours = f"{round(row['ours'], 3) + 0.0:.3f} ± {row['std']:.3f}"
            texts = [_kind(row["dataset"]), row["method"], row["metric"], ours, f"{row['theirs']:.3f}"]
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


def _printed(curves: Mapping[Owner, Values]) -> list[Comparison]:
    """Return our values next to Table 3, which does not state the exponent of its graphs."""
    rows = []
    for value in published("degree-bias-communities"):
        metric, _, mixing = value.metric.partition(", mixing ")
        for owner in [(graphs, value.method, value.protocol) for graphs in EXPONENTS]:
            found = list(curves.get(owner, {}).get(float(mixing), {}).values())
            if found:
                where = (owner[0], value.protocol, value.method, f"{metric}, mixing {mixing}")
                rows.append(comparison(where, found, value.mean, value.std))
    return rows


def _figure_name(*parts: str) -> str:
    """Return a name without dots, which would not work in links."""
    return "-".join(["communities", *parts]).replace(".", "-")


def _kind(graphs: str) -> str:
    return f"τ1 = {EXPONENTS[graphs]:g}"


register_listed(NAME, _run)
