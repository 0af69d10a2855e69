"""Communities that networks find, by the negatives they were trained with."""

from __future__ import annotations

import math
from dataclasses import asdict, replace

import numpy as np
import pytest

import trueedge as te
from trueedge import studies
from trueedge.analysis.figure import Figure
from trueedge.errors import InputError
from trueedge.metrics.partitions import area_under_curve
from trueedge.results import Store
from trueedge.runs import Cell, run_cells
from trueedge.studies.degree_bias import communities
from trueedge.studies.degree_bias.communities import Place, cells, figures_of, gaps_of, rows_of
from trueedge.studies.degree_bias.community_curves import area, areas_as_markdown, curve_figure, paired
from trueedge.studies.study import Plan
from trueedge.tasks.communities import CommunityTask


@pytest.fixture
def small(monkeypatch):
    """The study on small graphs with short trainings: everything else is as it is."""
    plain = communities.lfr

    def graph(mixing, degree_exponent, seed):
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
    monkeypatch.setattr(communities, "MIXINGS", (0.1, 0.5))
    communities.community_task.cache_clear()
    yield {"epochs": 2, "dim": 8, "layers": 1}
    communities.community_task.cache_clear()


def record_of(value: float, **others: float):
    """A record with these values."""
    metrics = dict.fromkeys(communities.TITLES, value) | others
    from trueedge.results import Record

    return Record("k", "g", "communities", {}, "gcn", {}, 0, 0, "element-centric", {"test": metrics}, {}, 0)


def records_of(height, methods=("gcn",), graphs=("lfr-3",), numbers=3, mixings=(0.1, 0.5, 0.9)):
    """Records whose value is that of a function of a place."""
    places = [
        Place(kind, method, sampler, mixing, number)
        for kind in graphs
        for method in methods
        for sampler in communities.SAMPLERS
        for mixing in mixings
        for number in range(numbers)
    ]
    return {place: record_of(height(place)) for place in places}


def test_the_grid_has_every_graph_method_and_sampler_and_the_first_graphs_come_first() -> None:
    asked = cells(Plan(seeds=3, methods=("gcn", "gin")))
    assert len(asked) == 3 * 2 * len(communities.MIXINGS) * 2 * 3
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
    asked = cells(plan, small)
    first = list(run_cells(asked.values(), store))
    assert [outcome.reason for outcome in first] == [""] * len(asked)
    again = list(run_cells(cells(plan, small).values(), store))
    assert not any(outcome.fresh for outcome in again)
    assert [o.record.test for o in again] == [o.record.test for o in first]
    assert set(again[0].record.test) == set(communities.TITLES)
    assert again[0].record.settings["negatives"] == "uniform"


def test_the_study_comes_to_areas_differences_and_figures(small, monkeypatch, tmp_path) -> None:
    plain = communities.cells
    monkeypatch.setattr(communities, "cells", lambda plan: plain(plan, small))
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


def test_an_unknown_part_of_the_grid_is_named() -> None:
    with pytest.raises(InputError, match="did you mean 'lfr-3'"):
        cells(Plan(datasets=("lfr3",)))
    with pytest.raises(InputError, match="method of degree-bias/communities"):
        cells(Plan(methods=("node2vec",)))


def test_areas_are_those_under_the_mean_curve() -> None:
    rng = np.random.default_rng(0)
    places = [0.1, 0.2, 0.5, 0.9]
    values = {place: dict(enumerate(rng.random(4))) for place in places}
    means = [np.mean(list(values[place].values())) for place in places]
    assert area(values).value == pytest.approx(area_under_curve(places, means) / 0.8)
    backwards = {place: values[place] for place in reversed(places)}
    assert area(backwards) == area(values)
    # With the same number of graphs everywhere it is also the mean of the graphs' own areas.
    own = [area_under_curve(places, [values[place][n] for place in places]) / 0.8 for n in range(4)]
    assert area(values).value == pytest.approx(np.mean(own))


def test_an_area_s_interval_covers_the_truth_nineteen_times_out_of_twenty() -> None:
    rng = np.random.default_rng(1)
    places, spread = np.array([0.1, 0.3, 0.5, 0.7, 0.9]), np.array([0.01, 0.1, 0.2, 0.1, 0.02])
    held = 0
    for _ in range(2000):
        drawn = rng.normal(0.5, spread, size=(3, 5))
        found = area({place: dict(enumerate(drawn[:, at])) for at, place in enumerate(places)})
        held += found.low <= 0.5 <= found.high
    assert 0.93 <= held / 2000 <= 0.98


def test_an_area_of_two_places_has_welch_s_interval() -> None:
    from scipy.stats import ttest_ind

    rng = np.random.default_rng(2)
    first, second = rng.normal(size=4), rng.normal(1.0, 3.0, size=6)
    # The area of (first, -second) over two places is half of the difference of their means.
    found = area({0.0: dict(enumerate(first)), 1.0: dict(enumerate(-second))})
    welch = ttest_ind(first, second, equal_var=False).confidence_interval(0.95)
    np.testing.assert_allclose([found.low, found.high], np.array([welch.low, welch.high]) / 2)


def test_one_graph_has_an_area_and_no_interval() -> None:
    found = area({0.1: {0: 1.0}, 0.9: {0: 0.0, 1: 0.5}})
    assert found.value == pytest.approx((1.0 + 0.25) / 2)
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert (found.std, found.graphs) == (0.0, 1)
    flat = area({0.1: {0: 1.0, 1: 1.0}, 0.9: {0: 1.0, 1: 1.0}})
    assert (flat.low, flat.value, flat.high) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("values", [{}, {0.1: {0: 1.0}}, {0.1: {0: 1.0}, 0.5: {}}])
def test_an_area_of_a_point_is_refused(values) -> None:
    with pytest.raises(InputError, match="two values of mixing at least"):
        area(values)
    with pytest.raises(InputError, match="level must be between 0 and 1"):
        area({0.1: {0: 1.0}, 0.2: {0: 1.0}}, level=1.0)


def test_only_graphs_that_both_have_are_paired() -> None:
    first = {0.1: {0: 3.0, 1: 5.0}, 0.5: {2: 1.0}, 0.9: {0: 1.0}}
    second = {0.1: {1: 1.0, 2: 9.0}, 0.5: {0: 1.0}}
    assert paired(first, second) == {0.1: {1: 4.0}}


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
    assert gaps_of(communities.curves_of(left, "nmi")) == {}
    assert not any("-" in figure.name and "difference" in figure.name for figure in figures_of(left))


def test_a_single_mixing_has_curves_and_no_areas() -> None:
    records = records_of(lambda place: 0.5, mixings=(0.1,))
    rows = rows_of(records)
    assert {row.metric for row in rows} == {"element-centric, mixing 0.1"}
    assert all(row.ours == 0.5 for row in rows)


def test_a_curve_s_points_have_student_s_intervals() -> None:
    from scipy.stats import t

    values = [0.2, 0.5, 0.6]
    figure = curve_figure("n", "t", "s", {"uniform": {0.1: dict(enumerate(values)), 0.3: {0: 1.0}}})
    (series,) = figure.series
    low, high = t.interval(0.95, 2, np.mean(values), np.std(values, ddof=1) / math.sqrt(3))
    assert (series.low[0], series.high[0]) == (pytest.approx(low), pytest.approx(high))
    assert math.isnan(series.low[1])
    assert series.y[1] == 1.0
    assert "1 to 3 graphs" in figure.note


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
        at = communities.SAMPLERS.index(place.sampler)
        return 0.5 + gain + noise[place.number, int(10 * place.mixing), at]

    found = records_of(height, tuple(better), ("lfr-2.5", "lfr-3"), numbers=4)
    # As evidence holds them: each with the number of the run it is from.
    drawn = [{**figure.to_dict(), "run": 0} for figure in figures_of(found)]
    text = communities.as_markdown({"figures": drawn})
    wanted = (
        "degree-corrected negatives are better for gcn, worse for gin; no significant difference for sage."
    )
    assert text.count(wanted) == 2
    assert "τ1 = 2.5" in text
    assert "τ1 = 3," in text
    assert communities.as_markdown({"figures": []}) == ""
    assert "Training runs that ended" not in text
    card = {"rows": [asdict(row) for row in rows_of(found)]}
    lines = communities.printed_as_markdown(card).splitlines()
    assert len(lines) == 2 + 2 * 3
    assert any(line.startswith("| τ1 = 3 | sage | element-centric, mixing 0.1 | 0.") for line in lines)
    assert lines[-1].endswith("| -0.001 |")


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
    rows = [row for row in rows_of(found) if row.metric == communities.COLLAPSED]
    high = [place for place in found if place.method == "gin" and place.sampler == "heart"]
    nothing = sum(place.mixing > 0.4 for place in high)
    assert 0 < nothing < len(high)
    assert [(row.method, row.protocol, row.seeds) for row in rows] == [("gin", "heart", len(high))]
    assert rows[0].ours == pytest.approx(nothing / len(high))
    card = {
        "figures": [figure.to_dict() for figure in figures_of(found)],
        "rows": [asdict(row) for row in rows],
    }
    text = communities.as_markdown(card)
    assert text.endswith(f"| τ1 = 3 | gin | heart | {nothing} of {len(high)} |")
    assert "| gin | 0.500" in text
    assert "-0.000" not in text
