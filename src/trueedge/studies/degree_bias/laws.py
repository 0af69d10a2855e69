"""What degrees alone achieve: preferential attachment, and the laws that predict its AUC."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge import datasets, methods, tasks
from trueedge.analysis.figure import Figure, Series
from trueedge.metrics import evaluate
from trueedge.statistics.degree_laws import expected_auc, lognormal_sigma
from trueedge.statistics.graph_statistics import degree_assortativity
from trueedge.studies.degree_bias.auc import SAMPLERS, here, networks, published_auc, published_statistics
from trueedge.studies.study import Comparison, Finding, Plan, comparison, need, register_listed
from trueedge.tasks import LinkTask

SEEDS = 5
# Edges list the smaller node first, and ids may correlate with degree: a triplet keeps a random end, as the
# law assumes.
OPTIONS: dict[str, dict[str, Any]] = {"triplet": {"keep": "random"}}
# Our own bins: the paper shades each point by its value.
ASSORTATIVITY = (("below −0.05", -1.0, -0.05), ("−0.05 to 0.05", -0.05, 0.05), ("above 0.05", 0.05, 1.01))
Floats = NDArray[np.float64]


def pa_auc(network: str, protocol: str, seeds: int) -> Floats:
    """Return the AUC of the degree product over all test pairs of a protocol, float64 (seeds,)."""
    found = []
    for seed in range(seeds):
        task = tasks.task(network, protocol, seed, **OPTIONS.get(protocol, {}))
        assert isinstance(task, LinkTask)
        positive, negative = task.scores(methods.create("pa").fit(task))
        # The law is about all pairs, for triplets too.
        found.append(evaluate(positive, negative.reshape(-1), ["auc"])["auc"])
    return np.array(found)


def _run(plan: Plan, *, protocol: str, name: str) -> Finding:
    names = networks(plan)
    graphs = {network: datasets.load(network).largest_component() for network in names}
    sigmas = {network: lognormal_sigma(graph.degrees) for network, graph in graphs.items()}
    aucs = {}
    for number, network in enumerate(names, 1):
        aucs[network] = pa_auc(network, protocol, plan.seeds or SEEDS)
        if plan.progress is not None:
            plan.progress(network, number, len(names))
    triplets = protocol == "triplet"
    theirs = {} if triplets else published_auc(SAMPLERS[protocol])
    rows = _rows(sigmas, aucs, protocol, {n: theirs.get((n, "preferentialAttachment")) for n in names})
    need(rows, name, ())
    law = None if protocol == "degree-corrected" else partial(expected_auc, triplets=triplets)
    means = {network: float(values.mean()) for network, values in aucs.items()}
    mixing = {network: degree_assortativity(graph) for network, graph in graphs.items()}
    title = f"AUC of the degree product against {protocol} negatives"
    figures = [_against_sigma(title, sigmas, means, law)]
    if protocol == "uniform":
        figures.append(_by_assortativity(sigmas, means, mixing))
    return Finding(rows, places=here(), figures=figures)


def _rows(
    sigmas: dict[str, float], aucs: dict[str, Floats], protocol: str, theirs: dict[str, float | None]
) -> list[Comparison]:
    """Return the AUC and σ of each network, their means, and the correlation of the AUC with its law."""
    rows = []
    printed = published_statistics("lognorm_sigma")
    for network, values in aucs.items():
        where = (network, protocol, "pa")
        rows.append(comparison((*where, "auc"), values, theirs[network]))
        rows.append(Comparison(*where, "sigma", sigmas[network], 0.0, 1, printed.get(network)))
    ours = [float(values.mean()) for values in aucs.values()]
    known = [value for value in theirs.values() if value is not None]
    all_known = len(known) == len(ours)
    many = f"mean of {len(ours)} networks"
    mean = float(np.mean(known)) if all_known and known else None
    rows.append(comparison((many, protocol, "pa", "auc"), ours, mean))
    if protocol != "degree-corrected" and len(ours) > 2:
        law = [expected_auc(sigma, triplets=protocol == "triplet") for sigma in sigmas.values()]
        for metric, ranked in (("pearson", False), ("spearman", True)):
            own = correlation(law, ours, ranked)
            published = correlation(law, known, ranked) if all_known else None
            what = f"{metric} correlation with its law"
            rows.append(Comparison(f"{len(ours)} networks", protocol, "pa", what, own, 0.0, 1, published))
    return rows


def correlation(first: Sequence[float], second: Sequence[float], ranked: bool = False) -> float:
    """Return Pearson's correlation of two rows of numbers, or Spearman's."""
    from scipy.stats import rankdata

    both = np.array([first, second], dtype=np.float64)
    if ranked:
        both = np.array([rankdata(row) for row in both])
    return float(np.corrcoef(both[0], both[1])[0, 1]) if both.std(axis=1).min() > 0 else 0.0


def _against_sigma(
    title: str, sigmas: dict[str, float], means: dict[str, float], law: Callable[[float], float] | None
) -> Figure:
    """Draw the AUC on each network over σ, and the law (Figures 1C and 4)."""
    figure = over_sigma("sigma", title, "AUC", sigmas, {"networks": means})
    if law is None:
        return figure
    grid = tuple(np.linspace(min(sigmas.values()), max(sigmas.values()), 30).tolist())
    return replace(
        figure, series=(*figure.series, Series("the law of log-normal degrees", grid, tuple(map(law, grid))))
    )


def over_sigma(
    name: str,
    title: str,
    label: str,
    sigmas: Mapping[str, float],
    values: Mapping[str, Mapping[str, float]],
) -> Figure:
    """Draw values of networks over the σ of their degrees, one series per name."""
    order = sorted(sigmas, key=lambda network: sigmas[network])
    x = tuple(sigmas[network] for network in order)
    series = [Series(one, x, tuple(own[network] for network in order)) for one, own in values.items()]
    return Figure(name, title, "points", "σ of the degrees", label, tuple(series))


def _by_assortativity(sigmas: dict[str, float], means: dict[str, float], mixing: dict[str, float]) -> Figure:
    """Draw the AUC over the expected one, by degree assortativity (Figure 7A)."""
    series = []
    for name, low, high in ASSORTATIVITY:
        own = [network for network in sigmas if low <= mixing[network] < high]
        x = tuple(expected_auc(sigmas[network]) for network in own)
        series.append(Series(name, x, tuple(means[network] for network in own)))
    return Figure(
        "assortativity",
        "AUC of the degree product by degree assortativity",
        "points",
        "Φ(σ)",
        "AUC",
        tuple(one for one in series if one.x),
        diagonal=True,
    )


for _figure, _protocol in (("1c", "uniform"), ("1e", "degree-corrected"), ("4", "triplet")):
    _name = f"degree-bias/figure-{_figure}"
    register_listed(_name, partial(_run, protocol=_protocol, name=_name))
