"""The AUC of each method against three kinds of negatives, from the evidence on recommendation (Figure 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from trueedge.analysis.figure import Figure, Series
from trueedge.studies.degree_bias.alignment import ALIGNED, Scope, scopes
from trueedge.studies.degree_bias.auc import networks, published_auc, refuse_runs
from trueedge.studies.degree_bias.recommendation import ENTRIES
from trueedge.studies.degree_bias.recommendation import NAME as SOURCE
from trueedge.studies.evidence import read_finding
from trueedge.studies.study import Comparison, Finding, Plan, chosen, need, register_listed

NAME = "degree-bias/figure-6"
# The published column of each of our benchmarks; how many of HeaRT's negatives it had is not published.
COLUMNS = {"uniform": "uniform", "degree-corrected": "degreeBiased", "heart": "heart", "heart-20": "heart"}
TITLES = {"heart": "heart, 500 negatives", "heart-20": "heart, 20 hardest"}
# What the paper says of it: first under HeaRT, last under degree-corrected negatives.
DEGREES, PLACE = "pa", "place by the mean AUC"
Values = Mapping[tuple[str, str], Mapping[str, float]]


def _run(plan: Plan) -> Finding:
    refuse_runs(plan, NAME)
    stored = read_finding(SOURCE, plan.evidence)
    wanted = chosen(plan.methods, [entry.ours for entry in ENTRIES], f"method of {NAME}")
    there = networks(plan)
    measured: dict[tuple[str, str], dict[str, float]] = {}
    spreads: dict[tuple[str, str], dict[str, float]] = {}
    for row in stored.rows:
        if row.metric == "auc" and row.protocol in ALIGNED and row.method in wanted and row.dataset in there:
            measured.setdefault((row.dataset, row.method), {})[row.protocol] = row.ours
            spreads.setdefault((row.dataset, row.method), {})[row.protocol] = row.std
    theirs = _published()
    rows, figures = [], []
    for number, scope in enumerate(scopes(measured), 1):
        rows += _rows(scope, measured, spreads, theirs)
        order = _by_mean(scope, measured, "uniform")
        for whose, values, names in (("ours", measured, ALIGNED), ("published", theirs, ALIGNED[:3])):
            if all((network, method) in values for network in scope.networks for method in scope.methods):
                figures.append(_drawn(f"benchmarks-{number}-{whose}", scope, order, values, whose, names))
    need(rows, NAME, [f"{plan.evidence} has no three methods on the same networks"])
    return Finding(rows, places=stored.places, figures=figures)


def _rows(scope: Scope, measured: Values, spreads: Values, theirs: Values) -> list[Comparison]:
    """Return the mean AUC of each method under each benchmark, and the place of the degree product."""
    where = f"mean of {len(scope.networks)} networks"
    known = all(place in theirs for place in ((n, m) for n in scope.networks for m in scope.methods))
    rows = []
    for benchmark in ALIGNED:
        places = _places(scope, measured, benchmark)
        published = _places(scope, theirs, benchmark) if known else {}
        for method in scope.methods:
            mean = _mean(scope, measured, method, benchmark)
            printed = _mean(scope, theirs, method, benchmark) if known else None
            # How far the mean is another on other splits of the same networks.
            variances = [spreads[network, method][benchmark] ** 2 for network in scope.networks]
            spread = float(np.sqrt(np.sum(variances))) / len(variances)
            size = len(scope.networks)
            rows.append(Comparison(where, benchmark, method, "auc", mean, spread, size, printed))
            if method == DEGREES:
                place = (where, benchmark, method, f"{PLACE}, of {len(scope.methods)}")
                rows.append(Comparison(*place, places[method], 0.0, size, published.get(method)))
    return rows


def _published() -> dict[tuple[str, str], dict[str, float]]:
    """Return the published AUC under each benchmark by network and our method."""
    names = {entry.theirs: entry.ours for entry in ENTRIES}
    found: dict[tuple[str, str], dict[str, float]] = {}
    for benchmark, column in COLUMNS.items():
        for (network, method), value in published_auc(column).items():
            if method in names:
                found.setdefault((network, names[method]), {})[benchmark] = value
    return {place: values for place, values in found.items() if len(values) == len(COLUMNS)}


def _mean(scope: Scope, values: Values, method: str, benchmark: str) -> float:
    return float(np.mean([values[network, method][benchmark] for network in scope.networks]))


def _by_mean(scope: Scope, values: Values, benchmark: str) -> list[str]:
    """Return the methods, best first by their mean."""
    return sorted(scope.methods, key=lambda method: -_mean(scope, values, method, benchmark))


def _places(scope: Scope, values: Values, benchmark: str) -> dict[str, float]:
    """Return the place of each method by its mean, best first."""
    order = _by_mean(scope, values, benchmark)
    return {method: float(place) for place, method in enumerate(order, 1)}


def _drawn(
    name: str, scope: Scope, order: Sequence[str], values: Values, whose: str, benchmarks: Sequence[str]
) -> Figure:
    """Draw medians and quartiles over networks, one series for each benchmark."""
    series = []
    for benchmark in benchmarks:
        own = [[values[network, method][benchmark] for network in scope.networks] for method in order]
        low, middle, high = (tuple(np.quantile(one, share) for one in own) for share in (0.25, 0.5, 0.75))
        title = TITLES.get(benchmark, benchmark) if whose == "ours" else benchmark
        series.append(Series(title, tuple(order), middle, low, high))
    title = f"AUC under each benchmark, {scope.name}, {whose}"
    note = "Medians and quartiles over networks; methods by our mean AUC under uniform negatives"
    return Figure(name, title, "bars", "method", "AUC", tuple(series), note=note)


register_listed(NAME, _run)
