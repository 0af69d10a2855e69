"""The statistics of the networks beside the published ones, and their tables."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.stats

import trueedge as te
from small_networks import NETWORKS
from trueedge import studies
from trueedge.errors import InputError
from trueedge.studies import Plan
from trueedge.studies.degree_bias.network_statistics import (
    COLUMNS,
    PROTOCOL,
    statistics_as_published,
    statistics_of,
)

sys.path.append(str(Path(__file__).parents[2] / "tools"))
from degree_bias_tables import render

STUDY = studies.get("degree-bias/networks")


def test_the_statistics_of_a_graph_are_those_of_networkx_and_scipy(random_graph) -> None:
    graph = random_graph(3, 60, 200).largest_component()
    found, other = statistics_of(graph), nx.Graph(graph.edges.tolist())
    degrees = [degree for _, degree in other.degree()]
    wanted = {
        "nodes": other.number_of_nodes(),
        "edges": other.number_of_edges(),
        "mean degree": np.mean(degrees),
        "largest degree": max(degrees),
        "degree variance": np.var(degrees),
        "degree skewness": scipy.stats.skew(degrees),
        "degree kurtosis": scipy.stats.kurtosis(degrees),
        "degree assortativity": nx.degree_assortativity_coefficient(other),
        "transitivity": nx.transitivity(other),
    }
    assert list(found) == list(COLUMNS)
    assert {name: found[name] for name in wanted} == pytest.approx(wanted, abs=1e-9)


def test_the_published_search_stops_near_the_formula_and_the_other_maximum_is_smaller() -> None:
    graph = te.load("price:nodes=300,edges=1200,exponent=2.6").largest_component()
    exact, published = statistics_of(graph), statistics_as_published(graph)
    for name in ("log-normal e^μ", "log-normal σ"):
        assert published[name] == pytest.approx(exact[name], abs=2e-4)
    assert published["degree heterogeneity"] > exact["degree heterogeneity"]


def test_a_regular_graph_has_statistics_too() -> None:
    found = statistics_of(te.Graph.from_edges([[node, (node + 1) % 8] for node in range(8)]))
    assert found["degree skewness"] == found["degree heterogeneity"] == found["log-normal σ"] == 0.0
    assert found["degree kurtosis"] == -3.0


def test_the_study_puts_each_network_beside_the_published_statistics(folder) -> None:
    told: list[str] = []
    finding = STUDY.run(Plan(progress=lambda text, done, total: told.append(text)))
    assert sorted(told) == sorted(NETWORKS)
    rows = {(row.dataset, row.method, row.metric): row for row in finding.rows}
    assert len(rows) == 3 * (len(COLUMNS) + 3)
    assert rows["polbooks", "formula", "nodes"].difference == 0
    assert rows["polbooks", "formula", "nodes"].protocol == PROTOCOL
    # A statistic that the file does not have stands alone.
    assert rows["polbooks", "formula", "transitivity"].theirs is None
    only = STUDY.run(Plan(datasets=("polbooks",), methods=("published-code",)))
    assert [row.metric for row in only.rows] == [*list(COLUMNS)[9:10], *list(COLUMNS)[-2:]]
    with pytest.raises(InputError, match=r"method of degree-bias/networks.*'formula'"):
        STUDY.run(Plan(methods=("formla",)))


def test_every_published_statistic_is_found_in_all_its_digits(data_folder) -> None:
    finding = STUDY.run(Plan(datasets=("polbooks", "opsahl-ucsocial", "ca-GrQc")))
    as_published = {(row.dataset, row.metric) for row in finding.rows if row.method == "published-code"}
    for row in finding.rows:
        if row.method == "published-code" or (row.dataset, row.metric) not in as_published:
            assert row.ours == pytest.approx(row.theirs, rel=1e-12), row


def test_the_tables_say_how_many_digits_agree(tmp_path) -> None:
    def row(method: str, metric: str, ours: float, theirs: float, network: str = "polbooks") -> dict:
        values = {"ours": ours, "std": 0.0, "seeds": 1, "theirs": theirs}
        return {"dataset": network, "protocol": PROTOCOL, "method": method, "metric": metric, **values}

    metrics = [name for name in COLUMNS if name != "nodes"]
    rows = [row("formula", name, 2.0, 2.0) for name in metrics]
    rows += [row("formula", "nodes", 1234.0, 1234.0), row("formula", "nodes", 10.0, 10.002, "netscience")]
    rows += [row("published-code", "degree heterogeneity", 0.5, 0.5)]
    rows += [row("formula", name, 1.0, 1.0, "netscience") for name in metrics]
    (tmp_path / "degree-bias-networks.json").write_text(json.dumps({"study": STUDY.name, "rows": rows}))
    lines = render("statistics", tmp_path).splitlines()
    assert lines[-1] == "| nodes | 2 | 2e-03 | 3 |  |  |"
    assert "| degree heterogeneity | 2 | 0 | 15 | 0 | 15 |" in lines
    assert (
        render("networks", tmp_path).splitlines()[2].startswith("| polbooks | 1,234 | 2 | 2 | 2.00 | 2.000")
    )
