"""Studies of other studies' numbers: Figures 6 and 15 from evidence on small networks."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from small_networks import NETWORKS
from trueedge import datasets, studies
from trueedge.errors import InputError
from trueedge.studies import Comparison, Finding, Plan
from trueedge.studies.degree_bias import correlations, three_benchmarks
from trueedge.studies.degree_bias.alignment import ALIGNED
from trueedge.studies.degree_bias.network_statistics import COLUMNS, statistics_of
from trueedge.studies.evidence import read_finding

sys.path.append(str(Path(__file__).parents[2] / "tools"))
import pictures
from degree_bias_tables import render

METHODS = ("pa", "cn", "lrw", "ra")
PLACE = {"device": "cpu", "machine": {"cores": 2}, "versions": {"numpy": "2"}}


def store(folder: Path, name: str, rows: list[Comparison]) -> None:
    studies.write(studies.get(name), Finding(rows, places=[PLACE]), folder / f"{name.replace('/', '-')}.json")


@pytest.fixture
def evidence(folder) -> Path:
    """A folder with evidence on the AUC of four methods on the small networks."""
    made = folder / "stored"
    made.mkdir()
    rng = np.random.default_rng(0)
    rows = [
        Comparison(network, "uniform", method, "auc", float(rng.random()), 0.01, 5, 0.5)
        for network in NETWORKS
        for method in METHODS
    ]
    store(made, "degree-bias/auc-uniform", rows)
    store(
        made, "degree-bias/learned-uniform", [Comparison("polbooks", "uniform", "gcn", "auc", 0.9, 0, 3, 1)]
    )
    both = [
        Comparison(network, protocol, method, "auc", 0.1 * place + number / 100, 0.02, 3, None)
        for place, protocol in enumerate(ALIGNED)
        for number, method in enumerate(METHODS)
        for network in NETWORKS
    ]
    store(made, "degree-bias/recommendation", both)
    return made


def publish_statistics(folder: Path) -> None:
    """Put all published statistics there: those of the networks themselves."""
    with (folder / "networks" / "published_stats.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["network", *COLUMNS.values()])
        for name in NETWORKS:
            rows.writerow([name, *statistics_of(datasets.load(name).largest_component()).values()])


def test_rows_of_evidence_are_read_back_and_each_place_once(evidence) -> None:
    found = read_finding("degree-bias/auc-uniform", evidence)
    assert len(found.rows) == len(NETWORKS) * len(METHODS)
    assert found.rows[0].method == "pa"
    assert found.places == [PLACE]


def test_evidence_that_is_not_there_is_named_with_its_command(tmp_path) -> None:
    with pytest.raises(
        InputError, match=r"trueedge reproduce degree-bias/auc-uniform -o .*auc-uniform\.json"
    ):
        read_finding("degree-bias/auc-uniform", tmp_path)


@pytest.mark.parametrize("change", [{"study": "heart/table-1"}, {"rows": [{"dataset": "a", "run": 0}]}])
def test_evidence_of_another_shape_is_refused(evidence, change) -> None:
    path = evidence / "degree-bias-auc-uniform.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(InputError, match=r"auc-uniform\.json"):
        read_finding("degree-bias/auc-uniform", evidence)


def test_correlations_are_those_of_scipy_and_of_the_published_numbers(folder, evidence, monkeypatch) -> None:
    monkeypatch.setattr(correlations, "DRAWS", 20)
    publish_statistics(folder)
    told: list[str] = []
    plan = Plan(evidence=evidence, progress=lambda text, done, total: told.append(text))
    finding = studies.get("degree-bias/figure-15").run(plan)
    assert told == ["4 methods on 3 networks"]
    rows = {(row.method, row.metric): row for row in finding.rows}
    assert len(rows) == 2 * (len(COLUMNS) + len(METHODS) - 1)
    stored = read_finding("degree-bias/auc-uniform", evidence).rows
    aucs = {row.dataset: row.ours for row in stored if row.method == "pa"}
    for statistic in ("nodes", "transitivity"):
        values = [statistics_of(datasets.load(n).largest_component())[statistic] for n in aucs]
        for kind, twin in (("pearson", scipy.stats.pearsonr), ("spearman", scipy.stats.spearmanr)):
            row = rows["pa", f"{kind} correlation with {statistic}"]
            assert row.ours == pytest.approx(twin(list(aucs.values()), values).statistic)
            # The made-up published AUC is the same everywhere.
            assert row.theirs == 0.0
    assert rows["pa", "pearson correlation with nodes"].std > 0
    figures = {figure.name: figure for figure in finding.figures}
    assert set(figures) == {"degrees-3", "ahead-3", "lead-3", "all-3-ours", "all-3-published"}
    assert set(figures["lead-3"].series[0].x) == set(COLUMNS) - {"log-normal σ"}
    assert figures["ahead-3"].series[0].x[0] == "pa"
    # More methods were published than were run.
    assert len(figures["all-3-published"].series) > len(figures["all-3-ours"].series) == len(METHODS)


def test_without_published_statistics_ours_stand_alone(evidence, monkeypatch) -> None:
    monkeypatch.setattr(correlations, "DRAWS", 5)
    study = studies.get("degree-bias/figure-15")
    finding = study.run(Plan(evidence=evidence))
    assert all(row.theirs is None for row in finding.rows)
    without = study.run(Plan(evidence=evidence, methods=("cn", "lrw", "ra")))
    assert [figure.name for figure in without.figures] == ["all-3-ours"]
    with pytest.raises(InputError, match="no three methods on the same three networks"):
        study.run(Plan(evidence=evidence, methods=("cn",)))


def test_families_are_drawn_as_a_whole() -> None:
    names = ["p2p-Gnutella04", "p2p-Gnutella05", "polbooks"]
    sizes: list[set[int]] = []
    low, high = correlations._interval(
        names, lambda kept: sizes.append(set(kept.tolist())) or float(len(kept))
    )
    assert {frozenset(one) for one in sizes} == {frozenset({0, 1}), frozenset({2}), frozenset({0, 1, 2})}
    assert (low, high) == (2.0, 4.0)


def test_means_and_places_under_each_benchmark_stand_beside_the_published(evidence) -> None:
    finding = studies.get("degree-bias/figure-6").run(Plan(evidence=evidence))
    rows = {(row.protocol, row.method, row.metric): row for row in finding.rows}
    assert len(rows) == len(ALIGNED) * (len(METHODS) + 1)
    cn = rows["degree-corrected", "cn", "auc"]
    assert (cn.dataset, cn.seeds) == ("mean of 3 networks", 3)
    assert cn.ours == pytest.approx(0.11)
    # A spread of 0.02 on each of three networks.
    assert cn.std == pytest.approx(0.02 / 3**0.5)
    assert cn.theirs == pytest.approx(0.70)
    place = rows["heart", "pa", "place by the mean AUC, of 4"]
    assert (place.ours, place.theirs) == (4.0, 1.0)
    names = [figure.name for figure in finding.figures]
    assert names == ["benchmarks-1-ours", "benchmarks-1-published"]
    assert [one.name for one in finding.figures[0].series][-1] == three_benchmarks.TITLES["heart-20"]
    assert finding.figures[0].series[0].x == ("ra", "lrw", "cn", "pa")
    with pytest.raises(InputError, match="method of degree-bias/figure-6"):
        studies.get("degree-bias/figure-6").run(Plan(evidence=evidence, methods=("oracle",)))


def test_networks_without_published_values_have_ours_alone(folder, evidence) -> None:
    path = folder / "networks" / "published_auc.csv"
    kept = [line for line in path.read_text().splitlines() if not line.startswith("netscience,heart")]
    path.write_text("\n".join(kept))
    finding = studies.get("degree-bias/figure-6").run(Plan(evidence=evidence))
    assert all(row.theirs is None for row in finding.rows)
    assert [figure.name for figure in finding.figures] == ["benchmarks-1-ours"]


def test_the_tables_and_pictures_are_those_of_the_evidence(evidence, monkeypatch) -> None:
    store_study = studies.get("degree-bias/figure-6")
    path = evidence / "degree-bias-figure-6.json"
    studies.write(store_study, store_study.run(Plan(evidence=evidence)), path)
    text = render("benchmarks", evidence)
    assert "![AUC under each benchmark, 4 methods on 3 networks, ours](degree-bias-6.svg)" in text
    assert "| cn | 0.010 / 0.700 | 0.110 / 0.700 | 0.210 / 0.700 | 0.310 / 0.700 |" in text
    assert "| mean of 3 networks | place by the mean AUC, of 4 | heart | 4 | 1 |" in text
    where = pictures.PICTURES["docs/degree-bias-6.svg"]
    assert pictures.picture(evidence, *where).startswith("<svg")
    assert pictures.picture(evidence, "degree-bias-none", "a") == ""
    assert "Nothing is stored yet" in render("correlations", evidence)


@pytest.mark.parametrize("name", ["networks", "figure-6", "figure-15"])
@pytest.mark.parametrize(
    ("plan", "option"), [(Plan(seeds=2), "--seeds"), (Plan(settings={"dim": 8}), "--set")]
)
def test_a_study_that_runs_no_method_refuses_what_would_do_nothing(name, plan, option) -> None:
    with pytest.raises(InputError, match=f"degree-bias/{name} runs no method: remove {option}"):
        studies.get(f"degree-bias/{name}").run(plan)


def test_a_command_reads_the_evidence_of_the_folder_it_names(evidence, trueedge) -> None:
    status, out, _ = trueedge("reproduce", "degree-bias/figure-6", "--evidence", str(evidence))
    assert status == 0
    assert "place by the mean AUC" in out
    status, _, err = trueedge("reproduce", "degree-bias/figure-6")
    assert status != 0
    assert "degree-bias-recommendation.json is not there" in " ".join(err.split())
