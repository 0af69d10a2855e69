"""The released Citeseer files and ogbl-ddi give the published numbers to the last printed digit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import trueedge as te
from trueedge import studies
from trueedge.errors import InputError
from trueedge.studies import Plan, published

EXACT = ("cn", "aa", "ra", "shortest-path")


def differences(table: str, dataset: str, methods: tuple[str, ...]) -> dict[tuple[str, str], float]:
    """Ours, rounded as printed, minus theirs, by method and metric."""
    finding = studies.get(table).run(Plan(datasets=(dataset,), methods=methods))
    assert finding.missing == []
    return {(row.method, row.metric): round(row.ours, 2) - row.theirs for row in finding.rows}


@pytest.mark.rotating(4, group="published numbers")
@pytest.mark.data("planetoid", "heart/citeseer")
@pytest.mark.parametrize("number", [1, 4, 11, 15])
def test_citeseer_equals_the_paper_to_two_decimals(number: int, data_folder: Path) -> None:
    table = f"heart/table-{number}"
    found = differences(table, "citeseer", EXACT)
    printed = {
        (value.method, value.metric)
        for value in published("heart")
        if value.table == table and value.dataset == "citeseer" and value.method in EXACT
    }
    assert set(found) == printed
    assert found == pytest.approx(dict.fromkeys(printed, 0.0), abs=1e-9)


@pytest.mark.rotating(4, group="published numbers")
@pytest.mark.data("planetoid", "heart/citeseer")
def test_katz_on_citeseer_equals_the_paper_in_rank_metrics(data_folder: Path) -> None:
    record = te.run("citeseer", "existing-released", "katz")
    values = {
        name: round(100 * record.test[name], 2) for name in ("mrr", "hits@1", "hits@3", "hits@10", "hits@100")
    }
    assert values == {"mrr": 38.16, "hits@1": 24.18, "hits@3": 54.95, "hits@10": 57.36, "hits@100": 62.64}


@pytest.mark.rotating(4, group="published numbers")
@pytest.mark.data("ogb/ogbl-ddi")
def test_ogbl_ddi_equals_the_paper_to_two_decimals(data_folder: Path) -> None:
    found = differences("heart/table-2", "ogbl-ddi", ("cn", "aa", "ra"))
    assert len(found) == 6
    assert found == pytest.approx(dict.fromkeys(found, 0.0), abs=1e-9)


@pytest.mark.rotating(4, group="published numbers")
@pytest.mark.data("planetoid")
def test_pubmed_is_named_where_its_released_files_are_absent(data_folder: Path) -> None:
    if (data_folder / "heart" / "pubmed").is_dir():
        pytest.skip("the released files of Pubmed are here")
    with pytest.raises(InputError, match="pubmed"):
        studies.get("heart/table-1").run(Plan(datasets=("pubmed",), methods=("cn",)))


@pytest.mark.rotating(4, group="published numbers")
@pytest.mark.data("networks")
@pytest.mark.parametrize(("protocol", "bound"), [("uniform", 0.005), ("degree-corrected", 0.008)])
def test_the_networks_agree_with_the_published_auc(protocol: str, bound: float, data_folder: Path) -> None:
    networks = ("netscience", "maayan-foodweb", "opsahl-ucsocial")
    finding = studies.get(f"degree-bias/auc-{protocol}").run(Plan(datasets=networks))
    gaps = [abs(row.difference) for row in finding.rows]
    assert len(gaps) == 21
    assert sum(gaps) / len(gaps) < bound


@pytest.mark.rotating(4, group="published numbers")
@pytest.mark.data("networks")
def test_embeddings_and_block_models_agree_with_the_published_auc(data_folder: Path) -> None:
    plan = Plan(datasets=("netscience",), methods=("eigenmap", "fastrp", "dc-sbm"), seeds=1)
    finding = studies.get("degree-bias/learned-degree-corrected").run(plan)
    assert {row.method for row in finding.rows} == {"eigenmap", "fastrp", "dc-sbm"}
    assert all(abs(row.difference or 0.0) < 0.04 for row in finding.rows)


@pytest.mark.rotating(4, group="published numbers")
@pytest.mark.data("networks")
def test_a_network_too_large_for_learned_methods_is_left_to_the_spectral_ones(data_folder: Path) -> None:
    plan = Plan(datasets=("ca-HepPh",), methods=("gcn",), seeds=1)
    with pytest.raises(InputError, match="there is no value for degree-bias/learned-uniform"):
        studies.get("degree-bias/learned-uniform").run(plan)


def test_lpformers_table_quotes_the_trainings_of_hearts_table_on_ogb() -> None:
    from trueedge.studies.heart.tables import heart_method
    from trueedge.studies.lpformer.tables import _method

    value = next(
        one
        for one in published("lpformer")
        if (one.table, one.dataset, one.method) == ("lpformer/table-3.5", "ogbl-ddi", "gcn")
    )
    quoted = next(
        one
        for one in published("heart")
        if (one.table, one.dataset, one.method, one.metric) == ("heart/table-5", "ogbl-ddi", "gcn", "mrr")
    )
    assert _method(value) == heart_method(quoted)
    assert _method(value).stop == "hits@20"


@pytest.mark.rotating(4, group="published numbers")
@pytest.mark.data("planetoid", "heart/citeseer")
def test_katz_by_an_inverse_in_single_precision_has_the_published_auc(data_folder: Path) -> None:
    task = te.task("citeseer", "existing-released", 0)
    adjacency = task.graph.to_scipy().toarray().astype(np.float32)
    one = np.eye(len(adjacency), dtype=np.float32)
    katz = np.linalg.inv(one - np.float32(0.005) * adjacency) - one
    pairs = [task.test.positives, task.test.negatives]
    positive, negative = (katz[pair[:, 0], pair[:, 1]] for pair in pairs)
    values = te.metrics.evaluate(positive, negative, ["auc"])
    # Scores of pairs that only long paths join are below the smallest single, and become ties with 0.
    assert 100 * values["auc"] == pytest.approx(75.37, abs=0.01)
    assert 100 * te.run("citeseer", "existing-released", "katz").test["auc"] == pytest.approx(75.52, abs=0.01)
