"""Where the AUC comes from: degree groups, the weight of degree among other features, and Hits@K."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trueedge import datasets, methods
from trueedge.methods.classifiers.coefficients import coefficients
from trueedge.methods.classifiers.examples import topology_and_degrees
from trueedge.metrics import evaluate
from trueedge.metrics.degree_groups import entropy, in_upper_half
from trueedge.statistics.degree_laws import lognormal_sigma
from trueedge.studies.degree_bias.auc import SAMPLERS, here, networks
from trueedge.studies.degree_bias.benchmarks import BENCHMARKS, LIST_SIZES, BenchmarksTask, benchmarks
from trueedge.studies.degree_bias.laws import over_sigma
from trueedge.studies.published_values import published
from trueedge.studies.study import Comparison, Finding, Plan, comparison, need, register_listed
from trueedge.tasks import LinkTask

SEEDS = 3
# The printed name of each column of :func:`topology_and_degrees`.
FEATURES = ("adamic-adar", "jaccard-index", "resource-allocation", "local-random-walk", "degree-product")
# The printed name of each group of networks, and the σ above which a network is in it.
GROUPS = {"all-graphs": -np.inf, "graphs-sigma>1": 1.0, "graphs-sigma>1.5": 1.5}
Floats = NDArray[np.float64]


def shares(task: LinkTask) -> Floats:
    """Return the shares of high-high, high-low, low-high and low-low degree comparisons, float64 (4,).

    Aiyappa et al., Implicit Degree Bias in the Link Prediction Task, ICML 2025, appendix D.
    """
    positive, negative = task.scores(methods.create("pa").fit(task))
    upper = [float(one.mean()) for one in in_upper_half(positive, negative.reshape(-1))]
    return np.array([p * q for p in (upper[0], 1 - upper[0]) for q in (upper[1], 1 - upper[1])])


def weights(task: LinkTask) -> Floats:
    """Return the logistic coefficients of Table 2 for a task with shared negatives, float64 (5,)."""
    pairs = task.pairs()
    labels = np.repeat([1.0, 0.0], [len(task.test.positives), len(task.test.negatives)])
    return coefficients(topology_and_degrees(task.graph, pairs), labels)[0]


def pa_hits(task: LinkTask) -> Floats:
    """Return the paper's Hits@K of the degree product for each list size, float64 (sizes,)."""
    positive, negative = task.scores(methods.create("pa").fit(task))
    found = evaluate(positive, negative.reshape(-1), [f"precision@{k}" for k in LIST_SIZES])
    return np.array(list(found.values()))


def _sigmas(names: list[str]) -> dict[str, float]:
    return {name: lognormal_sigma(datasets.load(name).largest_component().degrees) for name in names}


def _tasks(network: str, plan: Plan) -> list[BenchmarksTask]:
    return [benchmarks(network, seed) for seed in range(plan.seeds or SEEDS)]


def _decomposition(plan: Plan) -> Finding:
    """Compute Figures 5 and 11: entropy of the groups, easy comparisons, Hits@K of the degree product."""
    names = networks(plan)
    sigmas = _sigmas(names)
    found: dict[tuple[str, str], Floats] = {}
    hits: dict[tuple[str, str], Floats] = {}
    for number, network in enumerate(names, 1):
        made = _tasks(network, plan)
        for benchmark in BENCHMARKS:
            found[network, benchmark] = np.mean([shares(task.links[benchmark]) for task in made], axis=0)
        for benchmark in SAMPLERS:
            hits[network, benchmark] = np.mean([pa_hits(task.links[benchmark]) for task in made], axis=0)
        if plan.progress is not None:
            plan.progress(network, number, len(names))
    rows = []
    for (network, benchmark), cells in found.items():
        for metric, value in (("entropy", entropy(cells)), ("high against low", float(cells[1]))):
            rows.append(Comparison(network, benchmark, "pa", metric, value, 0.0, plan.seeds or SEEDS, None))
    need(rows, "degree-bias/figure-5", ())
    level = {one: {n: entropy(found[n, one]) for n in names} for one in BENCHMARKS}
    easy = {one: {n: float(found[n, one][1]) for n in names} for one in BENCHMARKS}
    figures = [
        over_sigma("entropy", "Entropy of the degree groups", "entropy", sigmas, level),
        over_sigma("easy", "High degree against low degree", "share of comparisons", sigmas, easy),
    ]
    for place, k in enumerate(LIST_SIZES):
        own = {one: {n: float(hits[n, one][place]) for n in names} for one in SAMPLERS}
        title = f"Hits@{k} of the degree product"
        figures.append(over_sigma(f"hits-{k}", title, f"Hits@{k}", sigmas, own))
    return Finding(rows, places=here(), figures=figures)


def _importance(plan: Plan) -> Finding:
    """Compute Table 2: mean absolute coefficients over groups of networks, uniform negatives."""
    names = networks(plan)
    sigmas = _sigmas(names)
    found: dict[str, Floats] = {}
    for number, network in enumerate(names, 1):
        made = _tasks(network, plan)
        found[network] = np.mean([np.abs(weights(task.links["uniform"])) for task in made], axis=0)
        if plan.progress is not None:
            plan.progress(network, number, len(names))
    printed = {
        (one.dataset, one.method): one.mean
        for one in published("degree-bias")
        if one.table == "degree-bias/table-2"
    }
    rows = []
    for group, least in GROUPS.items():
        own = np.array([found[network] for network in names if sigmas[network] > least])
        for place, feature in enumerate(FEATURES):
            if len(own):
                where = (group, "uniform", feature, "mean absolute coefficient")
                rows.append(comparison(where, own[:, place], printed[group, feature]))
    need(rows, "degree-bias/table-2", ())
    drawn = {one: {n: float(found[n][place]) for n in names} for place, one in enumerate(FEATURES)}
    title = "Weight of each feature, uniform negatives"
    figure = over_sigma("weights", title, "absolute coefficient", sigmas, drawn)
    return Finding(rows, places=here(), figures=[figure])


register_listed("degree-bias/figure-5", _decomposition)
register_listed("degree-bias/table-2", _importance)
