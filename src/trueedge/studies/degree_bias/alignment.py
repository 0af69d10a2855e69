"""How far the ranking of methods by a benchmark is that by recommendation: overlaps, intervals, pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from trueedge.analysis.figure import Figure, Series
from trueedge.statistics.clusters import clustered_interval
from trueedge.statistics.rank_overlap import rank_groups, rbo
from trueedge.studies.degree_bias.auc import SAMPLERS
from trueedge.studies.degree_bias.benchmarks import BENCHMARKS, HARDEST, LIST_SIZES
from trueedge.studies.degree_bias.families import count_families, family
from trueedge.studies.study import Comparison, comparison

# HeaRT with its five hundred negatives of a positive, and with the twenty hardest of them: the paper does not
# print how many it took, and no number gives its published AUC (table ``hardness``, which has them all).
ALIGNED = (*BENCHMARKS, "heart-20")
DIFFERENCES = (
    ("degree-corrected", "uniform"),
    ("uniform", "heart"),
    ("degree-corrected", "heart"),
    ("uniform", "heart-20"),
    ("degree-corrected", "heart-20"),
)
PUBLISHED = "rbo of the published auc"
P = 0.5
GRID = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)
TARGET = "ndcg@100"
# Fewer methods make no meaningful ranking.
LEAST_METHODS = 3
Floats = NDArray[np.float64]
Measured = Mapping[tuple[str, str], Mapping[str, float]]


@dataclass(frozen=True)
class Scope:
    """Networks and methods of which every method was measured on every network.

    Attributes:
        name: what it is called in tables.
        networks: the networks.
        methods: the methods.
    """

    name: str
    networks: tuple[str, ...]
    methods: tuple[str, ...]


def scopes(measured: Measured) -> list[Scope]:
    """Return all networks with the methods measured on each, and the networks with all methods."""
    networks = tuple(dict.fromkeys(network for network, _ in measured))
    methods = tuple(dict.fromkeys(method for _, method in measured))
    everywhere = tuple(m for m in methods if all((network, m) in measured for network in networks))
    complete = tuple(n for n in networks if all((n, method) in measured for method in methods))
    found = [Scope(_count(networks, everywhere), networks, everywhere)]
    if len(everywhere) < len(methods) and complete:
        found.append(Scope(_count(complete, methods), complete, methods))
    return [scope for scope in found if scope.networks and len(scope.methods) >= LEAST_METHODS]


def overlaps(
    measured: Measured, scope: Scope, metric: str, target: str = TARGET, p: float = P, ascending: bool = False
) -> Floats:
    """Return the rank-biased overlap of two metrics' rankings of the methods, float64 (networks,).

    Args:
        measured: each metric's value by network and method.
        scope: which networks and methods.
        metric: the benchmark's, such as ``uniform auc``.
        target: the metric to compare with.
        p: smaller values give the first methods more weight.
        ascending: start with the worst method, as the published runs did.
    """
    found = []
    for network in scope.networks:
        by = {name: {m: measured[network, m][name] for m in scope.methods} for name in (metric, target)}
        found.append(rbo(rank_groups(by[metric], not ascending), rank_groups(by[target], not ascending), p))
    return np.array(found)


def alignment_rows(measured: Measured) -> list[Comparison]:
    """Return each benchmark's overlap with recommendation, on each network and on average.

    Where the published AUC is among the metrics (``published uniform auc``), so is its ranking's overlap.
    """
    rows = []
    for scope in scopes(measured):
        who = f"ranking of {len(scope.methods)} methods"
        for benchmark in ALIGNED:
            values = overlaps(measured, scope, f"{benchmark} auc")
            worst = overlaps(measured, scope, f"{benchmark} auc", ascending=True)
            for network, value in zip(scope.networks, values.tolist(), strict=True):
                rows.append(Comparison(network, benchmark, who, "rbo", value, 0.0, 1, None))
            found = {"rbo": values, "rbo, worst first": worst}
            if _measures(measured, scope, f"published {benchmark} auc"):
                found[PUBLISHED] = overlaps(measured, scope, f"published {benchmark} auc")
            for metric, each in found.items():
                rows.append(comparison((f"mean of {len(each)} networks", benchmark, who, metric), each))
    return rows


def split_rows(splits: Sequence[Measured]) -> list[Comparison]:
    """Return how well two of our splits agree, an upper bound for any overlap."""
    if len(splits) < 2:
        return []
    everywhere = [place for place in splits[0] if all(place in one for one in splits)]
    rows = []
    for scope in scopes({place: splits[0][place] for place in everywhere}):
        who = f"ranking of {len(scope.methods)} methods"
        for name, metric in {**{b: f"{b} auc" for b in ALIGNED}, "recommendation": TARGET}.items():
            rankings = [
                [rank_groups({m: one[network, m][metric] for m in scope.methods}) for one in splits]
                for network in scope.networks
            ]
            values = [float(np.mean([rbo(*pair, P) for pair in combinations(own, 2)])) for own in rankings]
            rows.append(
                comparison((f"mean of {len(values)} networks", name, who, "rbo between splits"), values)
            )
    return rows


def alignment_figures(measured: Measured) -> list[Figure]:
    """Return Figures 2, 9, 10 and 11 (I to L) of the paper, for each scope."""
    return [
        figure
        for number, scope in enumerate(scopes(measured), 1)
        for figure in (
            *_from_auc(measured, scope, number),
            *_by_size(measured, scope, number),
            _by_hits(measured, scope, number),
        )
    ]


def figures_from_auc(measured: Measured) -> list[Figure]:
    """Return the figures that need nothing but each benchmark's AUC and NDCG@100, for each scope."""
    return [
        figure
        for number, scope in enumerate(scopes(measured), 1)
        for figure in _from_auc(measured, scope, number)
    ]


def _from_auc(measured: Measured, scope: Scope, number: int) -> tuple[Figure, ...]:
    return (
        _ranks(measured, scope, number),
        _alignment(measured, scope, number),
        _differences(measured, scope, number),
        _by_depth(measured, scope, number),
        _by_hardness(measured, scope, number),
    )


def _ranks(measured: Measured, scope: Scope, number: int) -> Figure:
    """Draw each method's place by its mean over networks (Figure 2A)."""
    columns = {benchmark: f"{benchmark} auc" for benchmark in ALIGNED} | {"recommendation": TARGET}
    places: dict[str, list[float]] = {method: [] for method in scope.methods}
    for metric in columns.values():
        means = {m: float(np.mean([measured[n, m][metric] for n in scope.networks])) for m in scope.methods}
        place = 1
        for group in rank_groups(means):
            for method in group:
                places[method].append(place + (len(group) - 1) / 2)
            place += len(group)
    order = sorted(scope.methods, key=lambda method: places[method][-1])
    return Figure(
        f"ranks-{number}",
        f"Places of the methods under each benchmark, {scope.name}",
        "heat",
        "benchmark",
        "place, 1 is best",
        tuple(Series(method, tuple(columns), tuple(places[method])) for method in order),
        note=f"By the mean over networks: AUC for the benchmarks, {TARGET} for recommendation.",
    )


def _alignment(measured: Measured, scope: Scope, number: int) -> Figure:
    """Draw the mean overlap with recommendation (Figure 2B)."""
    values = [overlaps(measured, scope, f"{benchmark} auc") for benchmark in ALIGNED]
    return Figure(
        f"alignment-{number}",
        f"Overlap of each benchmark's ranking with recommendation's, {scope.name}",
        "bars",
        "benchmark",
        f"rank-biased overlap, p = {P:g}",
        (_with_intervals(scope, "mean over networks", ALIGNED, values),),
        note=f"Best methods first; {_of_intervals(scope)}",
    )


def _differences(measured: Measured, scope: Scope, number: int) -> Figure:
    values = {benchmark: overlaps(measured, scope, f"{benchmark} auc") for benchmark in ALIGNED}
    names = [f"{high} − {low}" for high, low in DIFFERENCES]
    found = _with_intervals(
        scope, "mean over networks", names, [values[high] - values[low] for high, low in DIFFERENCES]
    )
    return Figure(
        f"differences-{number}",
        f"Differences between benchmarks on the same network, {scope.name}",
        "bars",
        "benchmarks",
        "difference of overlaps",
        (found,),
        note=f"{_of_intervals(scope).capitalize()}",
    )


def _by_depth(measured: Measured, scope: Scope, number: int) -> Figure:
    """Draw the overlap for each p (Figure 9A and B)."""
    return Figure(
        f"depths-{number}",
        f"Overlap by how deep it looks, {scope.name}",
        "lines",
        "p",
        "rank-biased overlap",
        _curves(scope, ALIGNED, GRID, lambda one, p: overlaps(measured, scope, f"{one} auc", p=p)),
    )


def _by_size(measured: Measured, scope: Scope, number: int) -> list[Figure]:
    """Draw the overlap with lists of each size (Figures 9C and D, 10)."""
    found = []
    for metric, title in (("ndcg", "NDCG@K"), ("vcmpr", "VCMPR@K")):
        sizes = [k for k in LIST_SIZES if _measures(measured, scope, f"{metric}@{k}")]
        series = _curves(scope, ALIGNED, sizes, partial(_overlap_at, measured, scope, metric))
        name = f"{metric}-sizes-{number}"
        text = f"Overlap with recommendation by {title}, {scope.name}"
        found.append(Figure(name, text, "lines", "K", f"rank-biased overlap, p = {P:g}", series))
    return found


def _by_hits(measured: Measured, scope: Scope, number: int) -> Figure:
    """Draw the overlap of the paper's Hits@K with recommendation (Figure 11, I to L)."""
    sizes = [k for k in LIST_SIZES if _measures(measured, scope, f"uniform precision@{k}")]
    return Figure(
        f"hits-{number}",
        f"Overlap of the ranking by Hits@K with recommendation's, {scope.name}",
        "lines",
        "K",
        f"rank-biased overlap, p = {P:g}",
        _curves(scope, SAMPLERS, sizes, lambda one, k: overlaps(measured, scope, f"{one} precision@{k}")),
        note="Hits@K is the share of positives among the K best of all test pairs.",
    )


def _by_hardness(measured: Measured, scope: Scope, number: int) -> Figure:
    """Draw the overlap of the AUC against only the hardest negatives, by their number."""
    values = [overlaps(measured, scope, f"heart-{k} auc") for k in HARDEST]
    return Figure(
        f"hardness-{number}",
        f"Overlap of HeaRT's ranking with recommendation's, {scope.name}",
        "lines",
        "negatives of a positive, the hardest first",
        f"rank-biased overlap, p = {P:g}",
        (_with_intervals(scope, "heart", HARDEST, values),),
        log_x=True,
    )


def _overlap_at(measured: Measured, scope: Scope, metric: str, benchmark: str, k: float) -> Floats:
    return overlaps(measured, scope, f"{benchmark} auc", f"{metric}@{k}")


def _curves(
    scope: Scope, benchmarks: Iterable[str], x: Sequence[float], overlap: Callable[[str, float], Floats]
) -> tuple[Series, ...]:
    return tuple(_with_intervals(scope, one, x, [overlap(one, place) for place in x]) for one in benchmarks)


def _with_intervals(scope: Scope, name: str, x: Sequence[float | str], values: Sequence[Floats]) -> Series:
    """Return means over networks, with intervals by family."""
    families = [family(network) for network in scope.networks]
    ends = [clustered_interval(one, families) for one in values]
    # Where all networks are of one family, nothing is known.
    known = all(np.isfinite(end).all() for end in ends)
    low, high = (tuple(end[side] for end in ends) if known else () for side in (0, 1))
    return Series(name, tuple(x), tuple(float(np.mean(one)) for one in values), low, high)


def _of_intervals(scope: Scope) -> str:
    families = count_families(scope.networks)
    return f"intervals of 95 % by family: {len(scope.networks)} networks are from {families} sources."


def _measures(measured: Measured, scope: Scope, metric: str) -> bool:
    return all(metric in measured[network, m] for network in scope.networks for m in scope.methods)


def _count(networks: Sequence[str], methods: Sequence[str]) -> str:
    return f"{len(methods)} methods on {len(networks)} networks"
