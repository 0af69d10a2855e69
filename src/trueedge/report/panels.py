"""Parts of a report: protocols, performance by group, training, provenance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import Any

from trueedge.analysis.curves import recorded_curve
from trueedge.analysis.figure import Figure, Series
from trueedge.analysis.rankings import Ranking, rankings
from trueedge.analysis.slices import Sliced, Slicing
from trueedge.analysis.tables import Table
from trueedge.metrics import scale
from trueedge.metrics.units import plural
from trueedge.report.blocks import (
    MISSING,
    Column,
    definitions,
    figure,
    figures,
    in_words,
    notes,
    paragraph,
    table,
)
from trueedge.report.marks import Looks
from trueedge.report.markup import Markup, joined
from trueedge.report.naming import method_looks
from trueedge.report.numbers import axis_label, in_percent
from trueedge.report.size_limit import fitting
from trueedge.results.record import Record

MOST_LINES = 24
MOST_ROWS, MOST_PAIRS, MOST_SENTENCES = 100, 30, 20


def protocols(tables: Sequence[Table], room: int) -> Markup:
    """How the ranking of methods changes between protocols; nothing without a data set that has several."""
    found = rankings(tables)
    if not found:
        return Markup("")
    said = paragraph(
        "The rank of each method under each protocol, among the methods that all of them have; 1 is best. The"
        " rank-biased overlap (RBO, p = 0.5) is 1 for the same order and weighs the top most.",
        quiet=True,
    )
    build = partial(_ranking, looks=method_looks(tables))
    return joined([said, _overlaps(found), *fitting(found, build, room, "data sets")])


def _overlaps(found: Sequence[Ranking]) -> Markup:
    pairs = list(
        dict.fromkeys((one.protocols[i], one.protocols[j]) for one in found for i, j in one.overlaps)
    )
    pairs = pairs[:MOST_PAIRS]
    rows = []
    for one in found[:MOST_ROWS]:
        values = {(one.protocols[i], one.protocols[j]): value for (i, j), value in one.overlaps.items()}
        rows.append([one.dataset, *(_two(values.get(pair, math.nan)) for pair in pairs), len(one.ranks)])
    columns: list[Column | str] = [
        "data set",
        *(Column(f"{first} ↔ {second}", number=True) for first, second in pairs),
        Column("methods", number=True),
    ]
    return table(columns, rows, caption="Rank-biased overlap between protocols")


def _two(value: float) -> object:
    return f"{value:.2f}" if math.isfinite(value) else MISSING


def _ranking(one: Ranking, looks: Mapping[str, Looks]) -> Markup:
    order = sorted(one.ranks, key=lambda label: one.ranks[label][-1])
    drawn = order if len(order) <= MOST_LINES else sorted(one.ranks, key=lambda label: min(one.ranks[label]))
    series = tuple(Series(label, one.protocols, one.ranks[label]) for label in drawn[:MOST_LINES])
    note = f"Left out because a protocol is missing: {', '.join(one.left_out)}." if one.left_out else ""
    if len(order) > MOST_LINES:
        note = f"Only the {MOST_LINES} methods that rank highest under any protocol. {note}".strip()
    bump = Figure(
        f"ranks-{one.dataset}",
        f"Rank by protocol, {one.dataset}",
        "lines",
        "protocol",
        "rank",
        series,
        note=note,
    )
    places = range(len(one.protocols))
    overlaps = {**one.overlaps, **{(j, i): value for (i, j), value in one.overlaps.items()}}
    heat = Figure(
        f"overlap-{one.dataset}",
        f"Agreement of protocols, {one.dataset}",
        "heat",
        "protocol",
        "RBO",
        tuple(
            Series(one.protocols[i], one.protocols, tuple(1.0 if i == j else overlaps[i, j] for j in places))
            for i in places
        ),
    )
    return figures([figure(bump, flip_y=True, looks=looks.get(one.dataset)), figure(heat, listed=False)])


def groups(where: Table, found: Sliced, listed: bool) -> Markup:
    """Return how well methods do on groups of test units; nothing if there are no groups.

    Args:
        where: the table.
        found: the groups of its test units.
        listed: whether the numbers of the pictures are listed too.
    """
    if not found.slicings:
        return Markup("")
    said = f"{found.metric} within each group of the test part{in_percent([found.metric])}."
    drawn = [figure(slice_figure(where, found.metric, one), listed=listed) for one in found.slicings]
    return joined([paragraph(said, quiet=True), figures(drawn)])


def without_groups(missing: Mapping[tuple[str, str], Sequence[str]], tables: Sequence[Table]) -> list[str]:
    """Say why test units are not grouped, each reason once.

    Args:
        missing: the protocols by the data set and the reason.
        tables: all that could have groups.
    """
    sentences = [_without(*key, protocols, tables) for key, protocols in missing.items()]
    if len(sentences) > MOST_SENTENCES:
        sentences[MOST_SENTENCES:] = [f"and {len(sentences) - MOST_SENTENCES:,} more"]
    return sentences


def _without(dataset: str, reason: str, protocols: Sequence[str], tables: Sequence[Table]) -> str:
    """Why a data set is not grouped, with its protocols where the reason does not hold for all of them."""
    every = {one.protocol for one in tables if one.first.dataset == dataset}
    only = "" if set(protocols) == every else f" ({', '.join(dict.fromkeys(protocols))})"
    return f"{dataset}{only}: {reason}"


def slice_figure(where: Table, metric: str, one: Slicing) -> Figure:
    """Return a heat map of the methods in the groups of test units."""
    names = tuple(f"{group} ({count:,})" for group, count in zip(one.groups, one.counts, strict=True))
    factor = scale(metric)
    labels = [line.label for line in where.lines if line.label in one.values][:MOST_LINES]
    series = []
    for label in labels:
        cells = one.values[label]
        values = [
            tuple(math.nan if cell is None else factor * getattr(cell, end) for cell in cells)
            for end in ("value", "low", "high")
        ]
        series.append(Series(label, names, *values))
    return Figure(
        f"slices-{one.name}-{where.where}",
        f"{metric} by {one.title}",
        "heat",
        f"{one.name} (number of test {plural(where.found.unit)})",
        axis_label(metric),
        tuple(series),
        note=one.note,
    )


def training(one: Table, looks: Looks, listed: bool) -> Markup:
    """Return validation metric and loss by epoch; nothing if no record keeps them."""
    evaluations: list[Series] = []
    losses: list[Series] = []
    metric = ""
    for line in one.lines:
        curves = [recorded_curve(record.provenance) for record in line.records]
        curves = [curve for curve in curves if curve]
        if not curves:
            continue
        metric = metric or str(curves[0].get("metric") or "")
        evaluations += _curve(line.label, [curve.get("evaluations", []) for curve in curves], scale(metric))
        losses += _curve(line.label, [curve.get("losses", []) for curve in curves], 1.0)
    drawn = []
    if evaluations:
        title = f"{metric} on the validation part, {one.where}"
        name, axis = f"evaluations-{one.where}", axis_label(metric)
        drawn.append(Figure(name, title, "lines", "epoch", axis, tuple(evaluations)))
    if losses:
        drawn.append(
            Figure(f"losses-{one.where}", f"Loss, {one.where}", "lines", "epoch", "loss", tuple(losses))
        )
    if not drawn:
        return Markup("")
    said = paragraph(
        "Mean over the seeds still training; the band is their range. The model of the best validation epoch"
        " is the one that was evaluated.",
        quiet=True,
    )
    return joined([said, figures([figure(shown, listed=listed, looks=looks) for shown in drawn])])


def _curve(label: str, curves: Sequence[Sequence[Sequence[float]]], factor: float) -> list[Series]:
    """The mean and range over seeds at each epoch that any of them has."""
    by_epoch: dict[float, list[float]] = {}
    for curve in curves:
        for epoch, value in curve:
            by_epoch.setdefault(float(epoch), []).append(factor * float(value))
    epochs = sorted(by_epoch)
    if not epochs:
        return []
    values = [by_epoch[epoch] for epoch in epochs]
    ends = (tuple(map(min, values)), tuple(map(max, values))) if len(curves) > 1 else ((), ())
    return [Series(label, tuple(epochs), tuple(map(fmean, values)), *ends)]


def places(records: Sequence[Record], source: str) -> Markup:
    """Where the records were computed, with which versions, and when."""
    found: dict[str, tuple[Mapping[str, Any], list[Record]]] = {}
    for record in records:
        place: Mapping[str, Any] = {
            name: record.provenance.get(name, {}) for name in ("machine", "versions", "device")
        }
        found.setdefault(repr(place), (place, []))[1].append(record)
    parts = []
    for place, group in found.values():
        created = sorted(record.created for record in group if record.created)
        words = {
            "records": f"{len(group):,}",
            "finished": f"{created[0]} to {created[-1]}" if created else MISSING,
            "device": str(place["device"] or MISSING),
            **{name: in_words(place[name]) for name in ("machine", "versions")},
        }
        parts.append(definitions(words))
    shown = parts[:MOST_SENTENCES]
    if len(parts) > MOST_SENTENCES:
        shown.append(
            notes([f"{len(parts) - MOST_SENTENCES:,} more machines or sets of versions are not listed"])
        )
    return joined([paragraph(f"Records from {source}.", quiet=True) if source else "", *shown])
