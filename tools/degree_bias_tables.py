"""The degree-bias study's tables for the documentation, from its evidence files."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pictures
from tables import table

from trueedge.analysis.figure import Figure, Series
from trueedge.errors import InputError, unknown
from trueedge.studies.degree_bias.alignment import PUBLISHED
from trueedge.studies.degree_bias.auc import SAMPLERS
from trueedge.studies.degree_bias.network_statistics import AS_PUBLISHED, FORMULA
from trueedge.studies.degree_bias.ranks import rank_rows
from trueedge.studies.evidence import figure_of
from trueedge.studies.study import Comparison

Evidence = Mapping[str, Any]
# What ours does far better than the published one under both samplers, so that it changes the first places.
APART = ("linear",)
# The statistics of Tables 4 to 6 and three of the published file, with their decimals.
PRINTED = {"nodes": 0, "edges": 0, "largest degree": 0, "degree variance": 2, "degree assortativity": 3}
PRINTED |= {"degree heterogeneity": 2, "transitivity": 3, "local clustering": 3, "log-normal σ": 3}
_COLUMNS = [field.name for field in fields(Comparison)]


def render(asked: str, results: str | Path) -> str:
    """Return a table of the study in Markdown.

    Args:
        asked: ``laws``, ``ranks``, ``places``, ``alignment``, ``hardness``, ``weights``, ``groups``,
            ``statistics``, ``networks``, ``correlations``, ``ahead`` or ``benchmarks``.
        results: the folder of the evidence files, ``degree-bias-*.json``.
    """
    if asked not in _TABLES:
        raise unknown("table of the degree-bias study", asked, _TABLES)
    names, write = _TABLES[asked]
    cards = []
    for name in names:
        path = Path(results) / f"degree-bias-{name}.json"
        if not path.is_file():
            return f"Nothing is stored yet: `trueedge reproduce degree-bias/{name}` computes it."
        cards.append(json.loads(path.read_text()))
    drawn = pictures.images(Path(results), [f"degree-bias-{names[0]}"]) if asked in _ILLUSTRATED else []
    return "\n\n".join([*drawn, write(*cards)])


def _laws(*cards: Evidence) -> str:
    """What the degree product gets under each sampler, ours beside the published."""
    lines = []
    for card in cards:
        for row in _rows(card):
            if row.dataset.endswith(" networks"):
                theirs = "–" if row.theirs is None else f"{row.theirs:.3f}"
                lines.append([row.protocol, f"{row.metric}, {row.dataset}", f"{row.ours:.3f}", theirs])
    return table(["negatives", "what", "ours", "published numbers"], lines)


def _ranks(*cards: Evidence) -> str:
    """How far our ranking of the methods is the published one."""
    compared = [row for card in cards for row in _rows(card)]
    lines: list[list[str]] = []
    for note, left in (("", ()), (f", without {' and '.join(APART)}", APART)):
        found = rank_rows([row for row in compared if row.method not in left])
        known = {tuple(line[:3]) for line in lines}
        for row in found:
            place = (row.protocol, row.method, row.dataset)
            if row.dataset.endswith(" networks") and place not in known:
                lines.append([row.protocol, row.method + note, row.dataset, f"{row.ours:.3f}"])
    lines.sort(key=lambda line: (list(SAMPLERS).index(line[0]), -int(line[1].split()[2])))
    return table(["negatives", "what", "over", "overlap with the published ranking"], lines)


def _places(card: Evidence) -> str:
    """The place of each method under each benchmark."""
    parts = []
    for figure in _figures(card, "ranks-"):
        names = [str(name) for name in figure.series[0].x]
        lines = [[one.name, *(f"{place:g}" for place in one.y)] for one in figure.series]
        parts.append(f"{figure.title}:\n\n{table(['method', *names], lines)}")
    return "\n\n".join(parts)


def _alignment(card: Evidence) -> str:
    """The overlap of each benchmark's ranking with recommendation's, and the differences, with intervals."""
    beside = {(row.method, row.protocol, row.metric): f"{row.ours:.3f}" for row in _rows(card)}
    others = (PUBLISHED, "rbo, worst first", "rbo between splits")
    lines = []
    for means, gaps in zip(_figures(card, "alignment-"), _figures(card, "differences-"), strict=True):
        scope = means.title.partition(", ")[2]
        who = f"ranking of {scope.partition(' on ')[0]}"
        for figure in (means, gaps):
            for name, value, interval in _bars(figure.series[0]):
                more = [beside.get((who, name, other), "") for other in others]
                lines.append([scope, name, value, interval, *more])
    head = ["scope", "benchmark, or difference of two", "overlap", "95 % interval"]
    head += ["of the published AUC", "worst methods first", "between two splits"]
    return table(head, lines)


def _hardness(card: Evidence) -> str:
    """How far our AUC is from the published one, for each number of hard negatives too."""
    gaps: dict[str, list[float]] = {}
    for row in _rows(card):
        if row.difference is not None:
            gaps.setdefault(row.protocol, []).append(abs(row.difference))
    drawn = _figures(card, "hardness-")
    overlap = [
        {f"heart-{x:g}": f"{y:.3f}" for x, y in zip(f.series[0].x, f.series[0].y, strict=True)} for f in drawn
    ]
    lines = [
        [name, f"{sum(own) / len(own):.3f}", str(len(own)), *(one.get(name, "") for one in overlap)]
        for name, own in gaps.items()
    ]
    head = ["benchmark", "mean abs. difference from the published AUC", "values"]
    return table([*head, *(f"overlap, {figure.title.rpartition(', ')[2]}" for figure in drawn)], lines)


def _weights(card: Evidence) -> str:
    """Mean absolute logistic coefficients, ours beside the printed."""
    lines = [
        [row.dataset, row.method, f"{row.ours:.2f}", f"{row.theirs:.2f}", str(row.seeds)]
        for row in _rows(card)
        if row.theirs is not None
    ]
    return table(["graphs", "feature", "ours", "published", "our networks"], lines)


def _groups(card: Evidence) -> str:
    """Means over networks of the entropy and of the easy comparisons' share."""
    found: dict[tuple[str, str], list[float]] = {}
    for row in _rows(card):
        found.setdefault((row.protocol, row.metric), []).append(row.ours)
    lines = [
        [protocol, metric, f"{sum(values) / len(values):.3f}", f"{min(values):.3f}", f"{max(values):.3f}"]
        for (protocol, metric), values in found.items()
    ]
    return table(["negatives", "what", "mean over networks", "smallest", "largest"], lines)


def _statistics(card: Evidence) -> str:
    """How far each statistic of the networks agrees with the published one, computed in two ways."""
    found: dict[str, dict[str, list[Comparison]]] = {}
    for row in _rows(card):
        found.setdefault(row.metric, {}).setdefault(row.method, []).append(row)
    lines = []
    for metric, by_way in found.items():
        line = [metric, str(len(by_way[FORMULA]))]
        for way in (FORMULA, AS_PUBLISHED):
            own = by_way.get(way, [])
            gaps = [abs(row.difference) for row in own if row.difference is not None]
            line += (
                [f"{max(gaps):.0e}" if max(gaps) else "0", str(min(map(_digits, own)))] if gaps else ["", ""]
            )
        lines.append(line)
    head = ["statistic", "networks", "largest difference", "digits that agree, at least"]
    return table([*head, "largest difference, as published", "digits, as published"], lines)


def _correlations(card: Evidence) -> str:
    """How the degree product's AUC goes along with each statistic, ours beside the published numbers."""
    (means,), (leads,) = _figures(card, "degrees-28"), _figures(card, "lead-28")
    lead = {name: f"{value} ({interval})" for name, value, interval in _bars(leads.series[0])}
    theirs = {name: value for name, value, _ in _bars(means.series[-1])}
    lines = [
        [name, value, interval, theirs[name], lead.get(name, "")]
        for name, value, interval in _bars(means.series[0])
    ]
    head = ["statistic", "ours", "95 % interval", "published numbers", "by how much σ is stronger"]
    return table(head, lines)


def _ahead(card: Evidence) -> str:
    """How the AUC of methods ahead of the degree product goes along with σ."""
    lines = []
    for figure in _figures(card, "ahead-"):
        ours, theirs = (dict(zip(one.x, _texts(one), strict=True)) for one in figure.series)
        networks = figure.title.rpartition(", ")[2]
        lines += [[networks, str(name), ours[name], theirs[name]] for name in ours]
    return table(["over", "method", "ours", "published numbers"], lines)


def _texts(series: Series) -> list[str]:
    """Values with their intervals; a dash for what is missing."""
    return [
        "–" if math.isnan(y) else f"{v} ({i})" for y, (_, v, i) in zip(series.y, _bars(series), strict=True)
    ]


def _benchmarks(card: Evidence) -> str:
    """The mean AUC of each method under each benchmark, ours and published."""
    rows = [row for row in _rows(card) if row.metric == "auc"]
    names = list(dict.fromkeys(row.protocol for row in rows))
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for row in rows:
        theirs = "" if row.theirs is None else f" / {row.theirs:.3f}"
        cells.setdefault((row.dataset, row.method), {})[row.protocol] = f"{row.ours:.3f}{theirs}"
    parts = []
    for where in dict.fromkeys(row.dataset for row in rows):
        lines = [[m, *(own[name] for name in names)] for (scope, m), own in cells.items() if scope == where]
        parts.append(f"{where.capitalize()}, ours / published:\n\n{table(['method', *names], lines)}")
    places = [row for row in _rows(card) if row.metric != "auc"]
    lines = [
        [
            row.dataset,
            row.metric,
            row.protocol,
            f"{row.ours:g}",
            "–" if row.theirs is None else f"{row.theirs:g}",
        ]
        for row in places
    ]
    parts.append(table(["over", "what, of the degree product", "benchmark", "ours", "published"], lines))
    return "\n\n".join(parts)


def _digits(row: Comparison) -> int:
    """How many significant digits of a value agree with the published one, of the 15 that a number has."""
    assert row.theirs is not None
    gap = abs(row.ours - row.theirs)
    return min(15, math.floor(-math.log10(gap / abs(row.theirs)))) if gap else 15


def _networks(card: Evidence) -> str:
    """The columns of Tables 4 to 6 and three more, in the digits that are printed."""
    found: dict[str, dict[str, float]] = {}
    for row in _rows(card):
        if row.method == FORMULA:
            found.setdefault(row.dataset, {})[row.metric] = row.ours
    lines = [
        [name, *(f"{own[metric]:,.{d}f}" for metric, d in PRINTED.items())] for name, own in found.items()
    ]
    return table(["network", *PRINTED], lines)


def _rows(card: Evidence) -> list[Comparison]:
    return [Comparison(**{name: row[name] for name in _COLUMNS if name in row}) for row in card["rows"]]


def _figures(card: Evidence, start: str) -> list[Figure]:
    found = [figure_of(one) for one in card.get("figures", ()) if one["name"].startswith(start)]
    if not found:
        raise InputError(f"the evidence of {card['study']} holds no figure {start}…: run the study again")
    return found


def _bars(series: Series) -> list[tuple[str, str, str]]:
    ends = zip(series.x, series.y, series.low, series.high, strict=True)
    return [(str(x), f"{y:.3f}", f"{low:.3f} to {high:.3f}") for x, y, low, high in ends]


# Tables with the pictures of their evidence above them.
_ILLUSTRATED = ("correlations", "benchmarks")
_TABLES: dict[str, tuple[tuple[str, ...], Callable[..., str]]] = {
    "laws": (("figure-1c", "figure-1e", "figure-4"), _laws),
    "ranks": (tuple(f"{part}-{name}" for name in SAMPLERS for part in ("auc", "learned")), _ranks),
    "places": (("recommendation",), _places),
    "alignment": (("recommendation",), _alignment),
    "hardness": (("recommendation",), _hardness),
    "weights": (("table-2",), _weights),
    "groups": (("figure-5",), _groups),
    "statistics": (("networks",), _statistics),
    "networks": (("networks",), _networks),
    "correlations": (("figure-15",), _correlations),
    "ahead": (("figure-15",), _ahead),
    "benchmarks": (("figure-6",), _benchmarks),
}
