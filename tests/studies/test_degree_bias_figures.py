"""The degree-bias study: laws and groups of degree, and the studies as a whole on networks of ours."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

import trueedge as te
from small_networks import NETWORKS
from trueedge import methods, studies
from trueedge.datasets.random_graphs import barabasi_albert
from trueedge.errors import InputError
from trueedge.results import Store
from trueedge.statistics.degree_laws import lognormal_sigma, power_law_bound
from trueedge.studies import Plan
from trueedge.studies.degree_bias import synthetic
from trueedge.studies.degree_bias.auc import LEARNED, TOPOLOGY
from trueedge.studies.degree_bias.benchmarks import BENCHMARKS, benchmarks
from trueedge.studies.degree_bias.groups import pa_hits, shares, weights
from trueedge.studies.degree_bias.laws import correlation, pa_auc


@pytest.fixture(scope="module")
def graph():
    """A grown graph of a size that is enumerated in no time."""
    return barabasi_albert(120, 4, seed=1)


@pytest.fixture(scope="module")
def task(graph):
    return benchmarks(graph, 0)


# Laws of degrees.


def test_correlations_are_those_of_scipy() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 6, 30).astype(float), rng.random(30)
    assert correlation(first, second) == pytest.approx(scipy.stats.pearsonr(first, second).statistic)
    wanted = scipy.stats.spearmanr(first, second).statistic
    assert correlation(first, second, ranked=True) == pytest.approx(wanted)
    assert correlation([1.0, 1.0], [1.0, 2.0]) == 0.0


def test_the_degree_product_falls_to_chance_when_negatives_are_corrected() -> None:
    name = "price:nodes=600,edges=2400,exponent=2.3"
    uniform, corrected = (pa_auc(name, protocol, 2).mean() for protocol in ("uniform", "degree-corrected"))
    assert uniform > 0.7
    assert corrected < 0.6
    assert 0.5 < pa_auc(name, "triplet", 1)[0] < uniform


def test_degrees_are_drawn_as_their_law_says() -> None:
    drawn = synthetic.draw_power_law(np.random.default_rng(0), 2.5, (40_000,))
    for degree in (1, 2, 3, 10):
        chance = degree**-2.5 / scipy.special.zeta(2.5, 1)
        error = 4 * np.sqrt(chance * (1 - chance) / 40_000)
        assert abs((drawn == degree).mean() - chance) < error
    assert drawn.min() == 1


def test_drawn_degrees_win_more_than_their_bound_and_more_the_heavier_the_tail() -> None:
    values = [
        np.mean([synthetic.drawn_auc(alpha, 2000, seed) for seed in range(3)]) for alpha in (2.2, 2.6, 3.4)
    ]
    assert values[0] > values[1] > values[2] > 0.5
    for alpha, value in zip((2.2, 2.6, 3.4), values, strict=True):
        assert value > power_law_bound(alpha) - 0.02
    assert synthetic.drawn_auc(2.6, 100, 5) == synthetic.drawn_auc(2.6, 100, 5)


def test_positives_have_the_degrees_of_equation_1() -> None:
    finding = synthetic._degree_distributions(Plan(), size=(3000, 15_000))
    (figure,) = finding.figures
    series = {one.name: np.array(one.y) for one in figure.series}
    for side in ("positives", "negatives"):
        gap = np.abs(series[f"ends of {side}"] - series[f"expected of {side}"])
        assert np.nanmax(gap) < 0.03
    assert series["ends of positives"][5] > series["ends of negatives"][5]
    means = {row.method: row.ours for row in finding.rows}
    assert means["ends of positives"] > means["ends of negatives"]


def test_price_graphs_stand_above_their_bound(monkeypatch) -> None:
    monkeypatch.setattr(synthetic, "EXPONENTS", (2.2, 3.0))
    monkeypatch.setattr(synthetic, "BATCHES", 2)
    monkeypatch.setattr(synthetic, "SAMPLES", 1000)
    finding = synthetic._power_laws(Plan(seeds=1), size=(2000, 8000))
    (figure,) = finding.figures
    curves = {series.name: series.y for series in figure.series}
    grown = curves["Price graphs of 2,000 nodes"]
    assert grown[0] > grown[1] > curves["lower bound, degrees from 4 on"][1]
    assert len(finding.rows) == 4


@pytest.mark.parametrize("plan", [Plan(datasets=("cora",)), Plan(methods=("pa",))])
def test_a_study_of_drawn_graphs_takes_no_choice(plan) -> None:
    for name in ("figure-1b", "figure-8"):
        with pytest.raises(InputError, match=f"{name} draws its own graphs"):
            studies.get(f"degree-bias/{name}").run(plan)


# Groups of degree.


def test_groups_of_degree_are_what_counting_gives(task) -> None:
    for benchmark in BENCHMARKS:
        link = task.links[benchmark]
        positive, negative = link.scores(methods.create("pa").fit(link))
        negative = negative.reshape(-1)
        cells = shares(link)
        assert cells.sum() == pytest.approx(1.0)
        every = np.concatenate([positive, np.repeat(negative, 1)])
        weight = np.repeat([0.5 / len(positive), 0.5 / len(negative)], [len(positive), len(negative)])
        order = np.argsort(every)
        median = every[order][np.searchsorted(np.cumsum(weight[order]), 0.5 - 1e-12)]
        low, high = (positive > median).mean(), (positive >= median).mean()
        assert low - 1e-9 <= cells[0] + cells[1] <= high + 1e-9
    assert shares(task.links["uniform"])[1] > shares(task.links["degree-corrected"])[1]


def test_the_weights_of_table_2_come_in_the_printed_order(task) -> None:
    found = weights(task.links["uniform"])
    assert found.shape == (5,)
    assert np.isfinite(found).all()


def test_hits_of_degrees_are_the_share_of_positives_among_the_best(task) -> None:
    link = task.links["uniform"]
    positive, negative = link.scores(methods.create("pa").fit(link))
    together = np.concatenate([positive, negative])
    last = np.sort(together)[-25]
    sure = (positive > last).sum()
    tied = (positive == last).sum() / (together == last).sum() * (25 - (together > last).sum())
    assert pa_hits(link)[1] == pytest.approx((sure + tied) / 25)


# Whole studies, on networks of ours.


def test_the_recommendation_study_runs_and_goes_on_where_it_stopped(folder) -> None:
    store = Store(folder / "runs")
    asked = Plan(
        datasets=("polbooks", "netscience"), methods=("pa", "cn", "lrw", "linear"), seeds=1, store=store
    )
    told: list[str] = []
    study = studies.get("degree-bias/recommendation")
    finding = study.run(
        replace(asked, progress=lambda text, done, total: told.append(f"{text} {done}/{total}"))
    )
    assert told[0] == "polbooks · recommendation · pa 1/8"
    assert told[-1] == "netscience · recommendation · linear 8/8"
    assert len(told) == 8
    rows = {(row.dataset, row.protocol, row.method, row.metric): row for row in finding.rows}
    assert rows["polbooks", "recommendation", "linear", "ndcg@100"].ours > 0
    assert rows["mean of 2 networks", "heart", "ranking of 4 methods", "rbo"].seeds == 2
    assert rows["polbooks", "heart-20", "cn", "auc"].theirs == 0.7
    assert rows["polbooks", "heart", "cn", "auc"].theirs is None
    assert len(store) == 8
    again = study.run(asked)
    assert len(store) == 8
    assert again.rows == finding.rows
    assert {figure.name for figure in finding.figures} >= {"ranks-1", "alignment-1", "depths-1"}
    assert finding.missing == []


def test_one_method_alone_has_numbers_and_no_alignment(folder) -> None:
    finding = studies.get("degree-bias/recommendation").run(
        Plan(datasets=("polbooks",), methods=("cn",), seeds=1)
    )
    assert {row.method for row in finding.rows} == {"cn"}
    assert finding.figures == []


def test_a_network_that_is_not_here_is_named_and_the_others_run(folder) -> None:
    (folder / "networks" / "polbooks.edges.gz").unlink()
    finding = studies.get("degree-bias/recommendation").run(
        Plan(datasets=("polbooks", "netscience"), methods=("cn",), seeds=1)
    )
    assert {row.dataset for row in finding.rows} == {"netscience"}
    assert "polbooks.edges.gz" in finding.missing[0]


def test_a_learned_method_is_not_run_on_a_large_network() -> None:
    by_name = {entry.ours: entry for entry in (*TOPOLOGY, *LEARNED)}
    assert not by_name["gcn"].runs_on("wiki-Vote")
    assert by_name["gcn"].runs_on("polbooks")
    assert by_name["lrw"].runs_on("wiki-Vote")


def test_the_ranks_study_puts_both_samplers_side_by_side(folder) -> None:
    finding = studies.get("degree-bias/ranks").run(
        Plan(datasets=("polbooks", "netscience"), methods=("pa", "cn", "ra", "eigenmap"), seeds=1)
    )
    assert {row.protocol for row in finding.rows} == {"uniform", "degree-corrected"}
    assert all(0 <= row.ours <= 1 for row in finding.rows)
    (figure,) = finding.figures
    assert len(figure.series) == 2
    with pytest.raises(InputError, match="three methods"):
        studies.get("degree-bias/ranks").run(Plan(datasets=("polbooks",), methods=("pa",), seeds=1))


@pytest.mark.parametrize("name", ["figure-1c", "figure-1e", "figure-4"])
def test_the_law_is_drawn_beside_the_networks(folder, name) -> None:
    told: list[str] = []
    finding = studies.get(f"degree-bias/{name}").run(
        Plan(seeds=2, progress=lambda text, done, total: told.append(text))
    )
    assert sorted(told) == sorted(NETWORKS)
    rows = {(row.dataset, row.metric): row for row in finding.rows}
    sigma = lognormal_sigma(te.load("polbooks").degrees)
    assert rows["polbooks", "sigma"].ours == pytest.approx(sigma)
    assert rows["polbooks", "sigma"].theirs == 1.0
    assert ("3 networks", "pearson correlation with its law") in rows or name == "figure-1e"
    points = finding.figures[0].series[0]
    assert len(points.x) == 3
    assert list(points.x) == sorted(points.x)
    assert len(finding.figures) == (2 if name == "figure-1c" else 1)


def test_the_groups_and_the_weights_of_networks_are_drawn_over_sigma(folder) -> None:
    finding = studies.get("degree-bias/figure-5").run(Plan(seeds=1))
    assert len(finding.rows) == 3 * 3 * 2
    assert {figure.name for figure in finding.figures} == {
        "entropy",
        "easy",
        *(f"hits-{k}" for k in (10, 25, 50, 100)),
    }
    finding = studies.get("degree-bias/table-2").run(Plan(seeds=1))
    printed = {(row.dataset, row.method): row.theirs for row in finding.rows}
    assert printed["all-graphs", "degree-product"] == 8.79
    assert len(finding.figures[0].series) == 5
