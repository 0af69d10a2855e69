"""The statistics of the networks: Tables 4 to 6 and the published file with their digits."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from trueedge import datasets
from trueedge.graph import Graph
from trueedge.statistics.degree_laws import lognormal_scale, lognormal_sigma
from trueedge.statistics.graph_statistics import (
    degree_assortativity,
    degree_heterogeneity,
    local_clustering,
    normalised_degree_variance,
    transitivity,
)
from trueedge.studies.degree_bias.auc import here, networks, published_statistics, refuse_runs
from trueedge.studies.study import Comparison, Finding, Plan, chosen, need, register_listed

NAME = "degree-bias/networks"
# The networks are published as their largest components.
PROTOCOL = "largest component"
FORMULA, AS_PUBLISHED = "formula", "published-code"
# Of each statistic, its name in the published file; that has e^μ in the column of μ.
COLUMNS = {
    "nodes": "n_nodes",
    "edges": "n_edges",
    "mean degree": "averageDegree",
    "largest degree": "maxDegree",
    "degree variance": "degreeVariance",
    "degree skewness": "degreeSkewness",
    "degree kurtosis": "degreeKurtosis",
    "normalised variance": "degreeVariance_normalized",
    "degree assortativity": "degreeAssortativity",
    "degree heterogeneity": "degreeHeterogeneity",
    "transitivity": "globalTransitivity",
    "local clustering": "localTransitivity",
    "log-normal e^μ": "lognorm_mu",
    "log-normal σ": "lognorm_sigma",
}


def statistics_of(graph: Graph) -> dict[str, float]:
    """Return each statistic of a connected graph by its name in :data:`COLUMNS`."""
    degrees = graph.degrees.astype(np.float64)
    return {
        "nodes": float(graph.num_nodes),
        "edges": float(len(graph.edges)),
        "mean degree": float(degrees.mean()),
        "largest degree": float(degrees.max()),
        "degree variance": float(degrees.var()),
        "degree skewness": _moment(degrees, 3),
        "degree kurtosis": _moment(degrees, 4) - 3,
        "normalised variance": normalised_degree_variance(graph),
        "degree assortativity": degree_assortativity(graph),
        "degree heterogeneity": degree_heterogeneity(graph.degrees),
        "transitivity": transitivity(graph),
        "local clustering": local_clustering(graph),
        "log-normal e^μ": lognormal_scale(graph.degrees),
        "log-normal σ": lognormal_sigma(graph.degrees),
    }


def statistics_as_published(graph: Graph) -> dict[str, float]:
    """Return the statistics whose published values are not those of the formula, computed as they were.

    The maximum of the heterogeneity is that for many nodes. The moments of the log-normal distribution are
    matched by a search that stops early (scipy's ``fit``), although there is a formula.
    """
    from scipy.stats import lognorm

    sigma, _, scale = lognorm.fit(graph.degrees.astype(np.float64), floc=0, method="MM")
    return {
        "degree heterogeneity": degree_heterogeneity(graph.degrees, many_nodes=True),
        "log-normal e^μ": float(scale),
        "log-normal σ": float(sigma),
    }


def _moment(degrees: NDArray[np.float64], order: int) -> float:
    """Return a standardised central moment; 0 if all degrees are equal."""
    spread = float(degrees.std())
    return float((((degrees - degrees.mean()) / spread) ** order).mean()) if spread else 0.0


def _run(plan: Plan) -> Finding:
    refuse_runs(plan, NAME)
    theirs = {name: published_statistics(column) for name, column in COLUMNS.items()}
    names = networks(plan)
    readings: Mapping[str, Callable[[Graph], dict[str, float]]]
    readings = {FORMULA: statistics_of, AS_PUBLISHED: statistics_as_published}
    wanted = chosen(plan.methods, list(readings), f"method of {NAME}")
    rows = []
    for number, network in enumerate(names, 1):
        graph = datasets.load(network).largest_component()
        for how in wanted:
            for name, value in readings[how](graph).items():
                printed = theirs[name].get(network)
                rows.append(Comparison(network, PROTOCOL, how, name, value, 0.0, 1, printed))
        if plan.progress is not None:
            plan.progress(network, number, len(names))
    need(rows, NAME, ())
    return Finding(rows, places=here())


register_listed(NAME, _run)
