"""Communities that networks find, by the negatives they were trained with."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest

import trueedge as te
from trueedge import studies
from trueedge.analysis.figure import Figure
from trueedge.errors import InputError
from trueedge.results import Store
from trueedge.runs import Cell, run_cells
from trueedge.studies.degree_bias import communities
from trueedge.studies.degree_bias import community_findings as findings
from trueedge.studies.degree_bias.communities import cells
from trueedge.studies.degree_bias.community_curves import areas_as_markdown
from trueedge.studies.degree_bias.community_designs import (
    COMMUNITIES,
    DESIGNS,
    FIGURE_13,
    SAMPLERS,
    TABLE_3,
    Place,
    kind_title,
)
from trueedge.studies.degree_bias.community_findings import figures_of, gaps_of, rows_of
from trueedge.studies.study import Plan
from trueedge.tasks.communities import CommunityTask


@pytest.fixture
def small(monkeypatch):
    """The study on small graphs with short trainings: everything else is as it is."""
    plain, whole, made = communities.lfr, communities.cells, []
    quick = {"epochs": 2, "dim": 8, "layers": 1}

    def graph(mixing, degree_exponent, seed, **others):
        made.append(others)
        return plain(
            120,
            mixing,
            mean_degree=8.0,
            max_degree=25,
            min_community=30,
            max_community=60,
            degree_exponent=degree_exponent,
            seed=seed,
        )

    monkeypatch.setattr(communities, "lfr", graph)
    monkeypatch.setattr(
        communities,
        "cells",
        lambda plan, *, design: whole(plan, quick, design=replace(design, mixings=design.mixings[:2])),
    )
    communities.community_task.cache_clear()
    yield made
    communities.community_task.cache_clear()


def record_of(value: float, **others: float):
    """A record with these values."""
    metrics = dict.fromkeys(findings.TITLES, value) | others
    from trueedge.results import Record

    return Record("k", "g", "communities", {}, "gcn", {}, 0, 0, "element-centric", {"test": metrics}, {}, 0)


def records_of(height, methods=("gcn",), graphs=("lfr-3",), numbers=3, mixings=(0.1, 0.5, 0.9)):
    """Records whose value is that of a function of a place."""
    places = [
        Place(kind, method, sampler, mixing, number)
        for kind in graphs
        for method in methods
        for sampler in SAMPLERS
        for mixing in mixings
        for number in range(numbers)
    ]
    return {place: record_of(height(place)) for place in places}


def test_the_grid_has_every_graph_method_and_sampler_and_the_first_graphs_come_first() -> None:
    asked = cells(Plan(seeds=3, methods=("gcn", "gin")))
    assert len(asked) == 3 * 2 * len(COMMUNITIES.mixings) * 2 * 3
    numbers = [place.number for place in asked]
    assert numbers == sorted(numbers)
    graph = next(cell.source.graph for place, cell in asked.items() if place.mixing == 0.9)
    assert graph.num_nodes == 3000
    assert abs(graph.degrees.mean() - 25) < 3
    assert {cell.method.reject_edges for cell in asked.values()} == {True}


def test_the_same_request_has_the_same_key_and_every_other_another() -> None:
    plan = Plan(seeds=2, methods=("gcn",), datasets=("lfr-3",))
    keys = [cell.key for cell in cells(plan).values()]
    assert len(set(keys)) == len(keys)
    assert [cell.key for cell in cells(plan).values()] == keys
    assert not set(keys) & {cell.key for cell in cells(replace(plan, device="cuda")).values()}


def test_the_paper_s_settings_are_filled_in() -> None:
    cell = next(iter(cells(Plan(seeds=1)).values()))
    filled = cell.method.for_task(cell.source)
    wanted = {"epochs": 250, "dim": 128, "layers": 2, "dropout": 0.2, "learning_rate": 0.01}
    assert {name: getattr(filled, name) for name in wanted} == wanted
    assert (filled.inputs, filled.predictor, filled.batch_size) == ("spectral", "dot", 5000)


def test_a_run_is_kept_in_the_store_and_found_again(small, tmp_path) -> None:
    store = Store(tmp_path)
    plan = Plan(seeds=1, methods=("gcn",), datasets=("lfr-3",), store=store)
    asked = communities.cells(plan, design=COMMUNITIES)
    first = list(run_cells(asked.values(), store))
    assert [outcome.reason for outcome in first] == [""] * len(asked)
    again = list(run_cells(communities.cells(plan, design=COMMUNITIES).values(), store))
    assert not any(outcome.fresh for outcome in again)
    assert [o.record.test for o in again] == [o.record.test for o in first]
    assert set(again[0].record.test) == set(findings.TITLES)
    assert again[0].record.settings["negatives"] == "uniform"


def test_the_study_comes_to_areas_differences_and_figures(small, tmp_path) -> None:
    plan = Plan(seeds=2, methods=("gcn", "gin"), datasets=("lfr-3",), store=Store(tmp_path))
    finding = studies.get("degree-bias/communities").run(plan)
    assert finding.missing == []
    assert finding.places[0]["device"] == "cpu"
    found = {(row.protocol, row.method, row.metric): row for row in finding.rows}
    assert len(found) == len(finding.rows)
    for method in ("gcn", "gin"):
        uniform, corrected, gap = (
            found[sampler, method, "area, element-centric"].ours
            for sampler in ("uniform", "degree-corrected", "degree-corrected - uniform")
        )
        assert gap == pytest.approx(corrected - uniform, abs=1e-12)
    printed = found["heart", "gcn", "element-centric, mixing 0.1"]
    assert printed.theirs == 0.04247
    names = [figure.name for figure in finding.figures]
    assert len(set(names)) == len(names)
    assert {"communities-lfr-3-gcn", "communities-area-lfr-3-nmi"} <= set(names)
    for figure in finding.figures:
        assert Figure.from_dict(figure.to_dict()) == figure


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("figure-13", {"mean_degree": 50.0}),
        ("figure-14", {"max_degree": 500, "max_community": 500}),
        ("table-3", {}),
    ],
)
def test_a_variant_is_the_same_study_on_other_graphs(small, tmp_path, name, wanted) -> None:
    study = studies.get(f"degree-bias/{name}")
    design = DESIGNS[study.name]
    finding = study.run(Plan(seeds=1, methods=("gcn",), datasets=design.graphs[:1], store=Store(tmp_path)))
    assert finding.missing == []
    assert small == [wanted] * 2
    assert {row.dataset for row in finding.rows} == {design.graphs[0]}
    (curves,) = [figure for figure in finding.figures if figure.kind == "lines"]
    assert [one.name for one in curves.series] == list(design.samplers)
    areas = [row for row in finding.rows if row.metric.startswith("area")]
    assert bool(areas) is (name != "table-3")
    if areas:
        assert curves.y_label == findings.TITLES["nmi"]


def test_table_3_is_beside_our_values_and_those_of_other_negatives() -> None:
    found = records_of(lambda place: 0.3, ("gat", "sage"), ("lfr-3",), mixings=TABLE_3.mixings)
    rows = {(row.protocol, row.method, row.metric): row for row in rows_of(found, TABLE_3)}
    assert len(rows) == 3 * 2 * len(TABLE_3.mixings)
    assert rows["heart", "gat", "element-centric, mixing 0.15"].theirs == 0.016
    assert rows["heart", "sage", "element-centric, mixing 0.2"].theirs == -0.00023
    assert rows["uniform", "gat", "element-centric, mixing 0.1"].theirs is None
    assert all(figure.kind == "lines" for figure in figures_of(found, TABLE_3))
    # The printed table is of the paper's own graphs.
    others = records_of(lambda place: 0.3, graphs=(FIGURE_13.graphs[0],), mixings=(0.1, 0.15))
    assert all(row.theirs is None for row in rows_of(others, FIGURE_13))


def test_other_graphs_have_other_degrees_and_communities() -> None:
    dense = communities.community_task("lfr-3-degree-50", 0.3, 0)
    assert abs(dense.graph.degrees.mean() - 50) < 4
    smaller = communities.community_task("lfr-2.5-largest-500", 0.3, 0)
    assert smaller.graph.degrees.max() <= 500
    assert np.bincount(smaller.communities).max() <= 500
    names = [kind_title(name) for design in DESIGNS.values() for name in design.graphs]
    assert "τ1 = 3, mean degree 50" in names
    assert "τ1 = 2.5, degrees and communities up to 500" in names


def test_an_unknown_part_of_the_grid_is_named() -> None:
    with pytest.raises(InputError, match="did you mean 'lfr-3'"):
        cells(Plan(datasets=("lfr3",)))
    with pytest.raises(InputError, match="method of degree-bias/communities"):
        cells(Plan(methods=("node2vec",)))


def test_pairing_takes_out_what_the_graphs_have_in_common() -> None:
    noise = np.random.default_rng(0).normal(0, 0.3, size=(4, 100))

    def height(place):
        better = 0.05 if place.sampler == "degree-corrected" else 0.0
        return noise[place.number, int(10 * place.mixing)] + better

    rows = rows_of(records_of(height, numbers=4))
    gap = next(r for r in rows if r.protocol == "degree-corrected - uniform")
    alone = next(r for r in rows if r.protocol == "uniform")
    assert gap.ours == pytest.approx(0.05)
    assert gap.std < 1e-9 < alone.std
    assert gap.seeds == 4


def test_a_sampler_without_uniform_beside_it_has_no_difference() -> None:
    records = records_of(lambda place: 0.5)
    left = {place: record for place, record in records.items() if place.sampler != "uniform"}
    assert gaps_of(findings.curves_of(left, "nmi")) == {}
    assert not any("-" in figure.name and "difference" in figure.name for figure in figures_of(left))


def test_a_single_mixing_has_curves_and_no_areas() -> None:
    records = records_of(lambda place: 0.5, mixings=(0.1,))
    rows = rows_of(records)
    assert {row.metric for row in rows} == {"element-centric, mixing 0.1"}
    assert all(row.ours == 0.5 for row in rows)


def test_the_table_of_a_figure_has_its_numbers_and_intervals() -> None:
    records = records_of(lambda place: 0.1 * place.number, methods=("gcn", "gin"))
    figures = [figure.to_dict() for figure in figures_of(records)]
    lines = areas_as_markdown(figures, "communities-area-lfr-3-element-centric").splitlines()
    assert lines[0] == "|  | uniform | degree-corrected | heart |"
    assert lines[2].startswith("| gcn | 0.100 (")
    assert len(lines) == 4
    with pytest.raises(InputError, match="no figure 'nope'"):
        areas_as_markdown(figures, "nope")


def test_the_evidence_is_told_with_what_its_intervals_say() -> None:
    better = {"gcn": 0.2, "sage": 0.0, "gin": -0.2}
    noise = np.random.default_rng(3).normal(0, 0.01, size=(4, 100, 3))

    def height(place):
        gain = better[place.method] if place.sampler == "degree-corrected" else 0.0
        at = SAMPLERS.index(place.sampler)
        return 0.5 + gain + noise[place.number, int(10 * place.mixing), at]

    found = records_of(height, tuple(better), ("lfr-2.5", "lfr-3"), numbers=4)
    # As evidence holds them: each with the number of the run it is from.
    drawn = [{**figure.to_dict(), "run": 0} for figure in figures_of(found)]
    text = findings.as_markdown({"figures": drawn})
    wanted = (
        "degree-corrected negatives are better for gcn, worse for gin; no significant difference for sage."
    )
    assert text.count(wanted) == 2
    assert "τ1 = 2.5" in text
    assert "τ1 = 3," in text
    assert findings.as_markdown({"figures": []}) == ""
    assert "Training runs that ended" not in text
    card = {"rows": [asdict(row) for row in rows_of(found)]}
    lines = findings.printed_as_markdown(card).splitlines()
    assert len(lines) == 2 + 2 * 3
    assert any(line.startswith("| τ1 = 3 | sage | element-centric, mixing 0.1 | 0.") for line in lines)
    assert sum(line.endswith("| -0.001 |") for line in lines) == 2


def test_a_network_that_has_found_the_halves_of_a_graph_is_told_so() -> None:
    rng = np.random.default_rng(0)
    half = rng.integers(0, 30, (400, 2))
    edges = np.concatenate([half, 30 + half[::-1], [[0, 30]]])
    graph = te.Graph.from_edges(edges, 60, self_loops="drop", repeats="drop", name="halves")
    task = CommunityTask.of(graph, np.repeat([7, 3], 30))
    method = te.methods.create("gcn", {"epochs": 30, "dim": 8, "layers": 2, "reject_edges": True})
    (outcome,) = run_cells([Cell(task, "communities", method)])
    assert outcome.record.test["element-centric"] > 0.9
    assert outcome.record.value == outcome.record.test["element-centric"]


def test_trainings_that_came_to_nothing_are_counted() -> None:
    def height(place):
        nothing = place.method == "gin" and place.sampler == "heart" and place.mixing > 0.4
        return -1e-17 if nothing else 0.5

    found = records_of(height, ("gcn", "gin"), ("lfr-3",), numbers=2)
    rows = [row for row in rows_of(found) if row.metric == findings.COLLAPSED]
    high = [place for place in found if place.method == "gin" and place.sampler == "heart"]
    nothing = sum(place.mixing > 0.4 for place in high)
    assert 0 < nothing < len(high)
    assert [(row.method, row.protocol, row.seeds) for row in rows] == [("gin", "heart", len(high))]
    assert rows[0].ours == pytest.approx(nothing / len(high))
    card = {
        "figures": [figure.to_dict() for figure in figures_of(found)],
        "rows": [asdict(row) for row in rows],
    }
    text = findings.as_markdown(card)
    assert text.endswith(f"| τ1 = 3 | gin | heart | {nothing} of {len(high)} |")
    assert "| gin | 0.500" in text
    assert "-0.000" not in text
