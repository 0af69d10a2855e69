"""Which statistics of a network the AUC goes along with (Figure 15), from the evidence on AUC."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from trueedge import datasets
from trueedge.analysis.figure import Figure, Series
from trueedge.randomness import generator
from trueedge.studies.degree_bias.alignment import Scope, scopes
from trueedge.studies.degree_bias.auc import (
    LEARNED,
    SAMPLERS,
    TOPOLOGY,
    networks,
    published_auc,
    published_statistics,
    refuse_runs,
)
from trueedge.studies.degree_bias.families import family
from trueedge.studies.degree_bias.laws import correlation
from trueedge.studies.degree_bias.network_statistics import COLUMNS, statistics_of
from trueedge.studies.evidence import read_finding
from trueedge.studies.study import Comparison, Finding, Plan, chosen, need, register_listed

NAME = "degree-bias/figure-15"
PROTOCOL = "uniform"
SOURCES = (f"degree-bias/auc-{PROTOCOL}", f"degree-bias/learned-{PROTOCOL}")
DEGREES, SIGMA = "pa", "log-normal σ"
KINDS = {"spearman": True, "pearson": False}
# The figures and intervals are of ranks: a few networks have nearly all of the variance of some statistics.
SHOWN = "spearman"
# Fewer have no meaningful correlation.
LEAST_NETWORKS = 3
DRAWS, LEVEL = 1000, 0.95
LABEL, NOTE = "Spearman's correlation", "95 % intervals over families of networks"
# Title, horizontal and vertical axis of each figure of bars.
DRAWN = {
    "degrees": ("Correlation of the degree product's AUC with statistics", "statistic", LABEL),
    "ahead": ("Correlation of AUC with σ, methods ahead of the degree product", "method", LABEL),
    "lead": ("How much stronger the correlation with σ is", "statistic", "difference of absolute values"),
}
Floats = NDArray[np.float64]
ByPlace = Mapping[tuple[str, str], float]


@dataclass(frozen=True)
class Side:
    """The values of ours, or of the paper.

    Attributes:
        aucs: the AUC by network and method.
        statistics: each statistic by network.
        spreads: the standard deviation over splits by network and method; nothing where none is known.
    """

    aucs: ByPlace
    statistics: Mapping[str, Mapping[str, float]]
    spreads: ByPlace

    def methods(self, networks: Sequence[str]) -> list[str]:
        """Return the methods with an AUC on each of some networks, if these have all statistics."""
        if not all(network in self.statistics[name] for network in networks for name in COLUMNS):
            return []
        names = dict.fromkeys(method for _, method in self.aucs)
        return [name for name in names if all((network, name) in self.aucs for network in networks)]

    def ahead(self, networks: Sequence[str]) -> list[str]:
        """Return the methods whose mean AUC is above that of the degree product, best first."""
        means = {m: sum(self.aucs[n, m] for n in networks) for m in self.methods(networks)}
        order = sorted(means, key=lambda method: -means[method])
        return order[: order.index(DEGREES)] if DEGREES in order else order

    def columns(
        self, networks: Sequence[str], method: str, statistic: str
    ) -> tuple[list[float], list[float]]:
        """Return the AUC and the statistic of each network."""
        return [self.aucs[n, method] for n in networks], [self.statistics[statistic][n] for n in networks]

    def correlation(
        self, networks: Sequence[str], method: str, statistic: str, ranked: bool = KINDS[SHOWN]
    ) -> float:
        """Return the correlation of a method's AUC with a statistic over some networks."""
        return correlation(*self.columns(networks, method, statistic), ranked)


def _run(plan: Plan) -> Finding:
    refuse_runs(plan, NAME)
    stored = [read_finding(name, plan.evidence) for name in SOURCES]
    names = [entry.label for entry in (*TOPOLOGY, *LEARNED)]
    wanted, there = chosen(plan.methods, names, f"method of {NAME}"), networks(plan)
    kept = {
        (row.dataset, row.method): row
        for one in stored
        for row in one.rows
        if row.metric == "auc" and row.method in wanted and row.dataset in there
    }
    graphs = {network: datasets.load(network).largest_component() for network, _ in kept}
    found = {network: statistics_of(graph) for network, graph in graphs.items()}
    ours = Side(
        {place: row.ours for place, row in kept.items()},
        {name: {network: own[name] for network, own in found.items()} for name in COLUMNS},
        {place: row.std for place, row in kept.items()},
    )
    published = published_auc(SAMPLERS[PROTOCOL])
    theirs = Side(
        {
            (network, entry.label): published[network, entry.theirs]
            for entry in (*TOPOLOGY, *LEARNED)
            for network in there
            if entry.label in wanted and (network, entry.theirs) in published
        },
        {name: published_statistics(column) for name, column in COLUMNS.items()},
        {},
    )
    rows, figures = [], []
    for scope in [one for one in scopes({p: {} for p in kept}) if len(one.networks) >= LEAST_NETWORKS]:
        sides = {"ours": ours} | ({"published": theirs} if theirs.methods(scope.networks) else {})
        rows += _rows(scope, sides)
        figures += _figures(scope, sides)
        if plan.progress is not None:
            plan.progress(scope.name, len(rows), len(rows))
    need(rows, NAME, [f"{plan.evidence} has no three methods on the same three networks"])
    where = [place for one in stored for place in one.places]
    places = [place for at, place in enumerate(where) if place not in where[:at]]
    return Finding(rows, places=places, figures=figures)


def _rows(scope: Scope, sides: Mapping[str, Side]) -> list[Comparison]:
    """Return both correlations of the degree product with each statistic, and of each method with σ."""
    where, size, rows = f"{len(scope.networks)} networks", len(scope.networks), []
    for method in scope.methods:
        known = [side for side in sides.values() if method in side.methods(scope.networks)]
        for statistic in COLUMNS if method == DEGREES else [SIGMA]:
            for kind, ranked in KINDS.items():
                own, *printed = (
                    side.correlation(scope.networks, method, statistic, ranked) for side in known
                )
                spread = _spread(scope.networks, known[0], method, statistic, ranked)
                place = (where, PROTOCOL, method, f"{kind} correlation with {statistic}")
                rows.append(Comparison(*place, own, spread, size, printed[0] if printed else None))
    return rows


def _spread(networks: Sequence[str], side: Side, method: str, statistic: str, ranked: bool) -> float:
    """Return the standard deviation of a correlation over drawn splits of the same networks."""
    aucs, values = side.columns(networks, method, statistic)
    errors = [side.spreads[network, method] for network in networks]
    drawn = generator(0, "correlations", method).normal(aucs, errors, (DRAWS, len(aucs)))
    return float(np.std([correlation(one, values, ranked) for one in drawn.tolist()], ddof=1))


def _interval(networks: Sequence[str], value: Callable[[NDArray[np.int64]], float]) -> tuple[float, float]:
    """Return the bootstrap interval of a value over networks, which are drawn by family.

    Args:
        networks: their names.
        value: returns the value of some networks, whose numbers it is given.
    """
    families = [family(network) for network in networks]
    members = [np.flatnonzero([one == name for one in families]) for name in dict.fromkeys(families)]
    rng, found = generator(0, "correlations", "families"), []
    for _ in range(DRAWS):
        drawn = rng.integers(0, len(members), len(members))
        found.append(value(np.concatenate([members[place] for place in drawn])))
    low, high = np.quantile(found, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def _figures(scope: Scope, sides: Mapping[str, Side]) -> list[Figure]:
    """Return Figures 15A and 15B, how much σ leads the other statistics, and all correlations."""
    size, ours = len(scope.networks), sides["ours"]
    heats = [_heat(f"all-{size}-{whose}", scope, side, whose) for whose, side in sides.items()]
    if DEGREES not in scope.methods:
        return heats
    order = sorted(COLUMNS, key=lambda one: -abs(ours.correlation(scope.networks, DEGREES, one)))
    ahead = dict.fromkeys(name for side in reversed([*sides.values()]) for name in side.ahead(scope.networks))
    bars: dict[str, dict[str, tuple[str, str, str | None]]] = {
        "degrees": {one: (DEGREES, one, None) for one in order},
        "ahead": {one: (one, SIGMA, None) for one in (DEGREES, *ahead)},
        "lead": {one: (DEGREES, SIGMA, one) for one in order if one != SIGMA},
    }
    found = []
    for name, (title, what, label) in DRAWN.items():
        series = tuple(_bars(whose, scope.networks, side, bars[name]) for whose, side in sides.items())
        title = f"{title}, {size} networks"
        found.append(Figure(f"{name}-{size}", title, "bars", what, label, series, note=NOTE))
    return [*found, *heats]


def _bars(
    whose: str, networks: Sequence[str], side: Side, bars: Mapping[str, tuple[str, str, str | None]]
) -> Series:
    """Return correlations with their intervals; nan for methods without values.

    Args:
        whose: the name of the series.
        networks: the networks.
        side: the values.
        bars: by its name on the axis, a bar's method, its statistic, and one that it is compared with.
    """
    found, known = [], side.methods(networks)
    for method, statistic, other in bars.values():
        if method not in known:
            found.append((math.nan,) * 3)
            continue
        aucs, first = map(np.array, side.columns(networks, method, statistic))
        second = None if other is None else np.array(side.columns(networks, method, other)[1])
        value = partial(_value, aucs, first, second)
        found.append((value(np.arange(len(aucs))), *_interval(networks, value)))
    return Series(whose, tuple(bars), *zip(*found, strict=True))


def _value(aucs: Floats, first: Floats, second: Floats | None, kept: NDArray[np.int64]) -> float:
    """Return a correlation over some networks, or by how much it is stronger than another."""
    ranked = KINDS[SHOWN]
    found = correlation(aucs[kept].tolist(), first[kept].tolist(), ranked)
    if second is None:
        return found
    return abs(found) - abs(correlation(aucs[kept].tolist(), second[kept].tolist(), ranked))


def _heat(name: str, scope: Scope, side: Side, whose: str) -> Figure:
    """Draw the correlation of each method's AUC with each statistic."""
    series = [
        Series(
            method,
            tuple(COLUMNS),
            tuple(side.correlation(scope.networks, method, statistic) for statistic in COLUMNS),
        )
        for method in side.methods(scope.networks)
    ]
    title = f"AUC of each method and statistics of the networks, {scope.name}, {whose}"
    return Figure(name, title, "heat", "", LABEL, tuple(series))


register_listed(NAME, _run)
