"""Rankings of methods: benchmarks beside recommendation, ours beside the published, and their tables."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from trueedge.analysis.figure import Figure, Series
from trueedge.errors import InputError
from trueedge.statistics.rank_overlap import rbo
from trueedge.studies import Comparison
from trueedge.studies.degree_bias.alignment import (
    Scope,
    alignment_figures,
    alignment_rows,
    overlaps,
    scopes,
    split_rows,
)
from trueedge.studies.degree_bias.benchmarks import BENCHMARKS, HARDEST
from trueedge.studies.degree_bias.ranks import rank_rows, spread_figures

# The tables of the documentation are made by a tool.
sys.path.append(str(Path(__file__).parents[2] / "tools"))
from degree_bias_tables import render

# Rankings beside that of recommendation.


def made_up(orders: dict[str, list[str]], network: str = "one") -> dict:
    """Metrics that rank methods, best first, as asked."""
    names = {"ndcg@100": orders["target"]} | {
        f"{benchmark} auc": orders.get(benchmark, orders["target"])
        for benchmark in (*BENCHMARKS, *(f"heart-{k}" for k in HARDEST))
    }
    return {
        (network, method): {metric: -float(order.index(method)) for metric, order in names.items()}
        for method in orders["target"]
    }


def test_a_benchmark_that_ranks_as_recommendation_does_overlaps_wholly() -> None:
    orders = {"target": list("abcd"), "uniform": list("bacd"), "heart": list("dcba")}
    measured = made_up(orders)
    (scope,) = scopes(measured)
    assert overlaps(measured, scope, "degree-corrected auc").tolist() == [1.0]
    assert overlaps(measured, scope, "uniform auc").tolist() == [rbo(orders["uniform"], list("abcd"))]
    worst = overlaps(measured, scope, "heart auc", ascending=True)
    assert worst.tolist() == [rbo(list("abcd"), list("dcba"))]
    assert overlaps(measured, scope, "uniform auc", p=0.9)[0] == pytest.approx(0.9)


def test_networks_with_more_methods_make_a_scope_of_their_own() -> None:
    measured = made_up({"target": list("abcd")}, "small") | made_up({"target": list("abc")}, "large")
    whole, rich = scopes(measured)
    assert (whole.networks, whole.methods) == (("small", "large"), ("a", "b", "c"))
    assert (rich.networks, rich.methods) == (("small",), tuple("abcd"))
    assert scopes(made_up({"target": ["a", "b"]})) == []
    assert scopes({}) == []


def test_the_mean_over_networks_and_its_interval_are_drawn() -> None:
    rng = np.random.default_rng(0)
    measured: dict = {}
    for network in range(12):
        draw = {benchmark: list(rng.permutation(list("abcdef"))) for benchmark in BENCHMARKS}
        measured |= made_up(
            {"target": list("abcdef"), **draw, "degree-corrected": list("abcdef")}, f"n{network}"
        )
    rows = {(row.dataset, row.protocol, row.metric): row.ours for row in alignment_rows(measured)}
    each = [rows[f"n{network}", "uniform", "rbo"] for network in range(12)]
    assert rows["mean of 12 networks", "uniform", "rbo"] == pytest.approx(np.mean(each))
    assert rows["mean of 12 networks", "degree-corrected", "rbo"] == 1.0
    for values in measured.values():
        values |= {f"ndcg@{k}": values["ndcg@100"] for k in (10, 25, 50)}
        values |= {f"vcmpr@{k}": values["ndcg@100"] for k in (10, 25, 50, 100)}
        values |= {f"{b} precision@{k}": values[f"{b} auc"] for b in BENCHMARKS for k in (10, 25, 50, 100)}
    figures = {figure.name: figure for figure in alignment_figures(measured)}
    (bars,) = figures["alignment-1"].series
    at = bars.x.index("uniform")
    assert bars.y[at] == pytest.approx(np.mean(each))
    assert bars.low[at] < bars.y[at] < bars.high[at]
    (gaps,) = figures["differences-1"].series
    at = gaps.x.index("degree-corrected − uniform")
    assert gaps.y[at] == pytest.approx(1 - np.mean(each))
    assert gaps.low[at] > 0
    places = {series.name: series.y for series in figures["ranks-1"].series}
    assert [places[method][-1] for method in "abcdef"] == [1, 2, 3, 4, 5, 6]
    assert all(sum(column) == 21 for column in zip(*places.values(), strict=True))
    assert len({figure.name for figure in figures.values()}) == len(figures)
    for figure in figures.values():
        assert type(figure).from_dict(figure.to_dict()) == figure


def test_one_network_has_an_overlap_and_no_spread() -> None:
    rows = [row for row in alignment_rows(made_up({"target": list("abc")})) if row.dataset.startswith("mean")]
    assert {row.std for row in rows} == {0.0}
    assert Scope("", ("one",), tuple("abc")).networks == ("one",)


def test_two_splits_agree_by_the_mean_over_their_pairs() -> None:
    splits = [made_up({"target": list(order)}) for order in ("abc", "abc", "bac")]
    rows = {row.protocol: row for row in split_rows(splits)}
    assert rows["recommendation"].ours == pytest.approx((1 + 0.5 + 0.5) / 3)
    assert rows["heart"].metric == "rbo between splits"
    assert split_rows(splits[:1]) == []
    assert split_rows([splits[0], {}]) == []


# Our ranking beside the published one.


def compared(ours: list[str], theirs: list[str], network: str, protocol: str = "uniform") -> list[Comparison]:
    return [
        Comparison(network, protocol, m, "auc", 1 - 0.1 * ours.index(m), 0.0, 3, 0.9 - 0.1 * theirs.index(m))
        for m in ours
    ]


def test_our_ranking_overlaps_with_the_published_one_by_what_the_hand_computes() -> None:
    rows = compared(list("abc"), list("abc"), "x") + compared(list("abc"), list("bac"), "y")
    found = {(row.dataset, row.metric): row.ours for row in rank_rows(rows)}
    assert found["x", "rbo"] == 1.0
    assert found["y", "rbo"] == pytest.approx(0.5)
    assert found["mean of 2 networks", "rbo"] == pytest.approx(0.75)
    # In the mean a and b tie by theirs: each order is half of it.
    assert found["mean AUC over 2 networks", "rbo"] == pytest.approx(0.75)


def test_numbers_nobody_published_do_not_enter_a_ranking() -> None:
    rows = [replace(row, theirs=None) for row in compared(list("abc"), list("abc"), "x")]
    assert rank_rows(rows) == []
    assert spread_figures(rows) == []


def test_the_spread_over_networks_is_drawn_for_both_samplers() -> None:
    rows = [
        row
        for protocol in ("uniform", "degree-corrected")
        for network in "xyz"
        for row in compared(list("abc"), list("cba"), network, protocol)
    ]
    (figure,) = spread_figures(rows)
    assert [series.name for series in figure.series] == ["uniform", "degree-corrected"]
    assert figure.series[0].x == ("a", "b", "c")
    assert figure.series[0].y == pytest.approx((1.0, 0.9, 0.8))


# The tables of the documentation.


def card(folder, name: str, rows: list[Comparison], figures: list = ()) -> None:
    plain = [{**asdict(row), "run": 0} for row in rows]
    drawn = [{**figure.to_dict(), "run": 0} for figure in figures]
    text = json.dumps({"study": f"degree-bias/{name}", "rows": plain, "figures": drawn})
    (folder / f"degree-bias-{name}.json").write_text(text)


def test_a_table_without_its_evidence_says_what_computes_it(tmp_path) -> None:
    for table in ("laws", "ranks", "places", "alignment", "hardness", "weights", "groups"):
        assert "trueedge reproduce degree-bias/" in render(table, tmp_path)
    with pytest.raises(InputError, match="did you mean 'ranks'"):
        render("rank", tmp_path)


def test_the_table_of_alignment_has_intervals_from_the_figures(tmp_path) -> None:
    measured = made_up({"target": list("abc"), "heart": list("bac")}, "x") | made_up(
        {"target": list("abc")}, "y"
    )
    for values in measured.values():
        values |= {f"ndcg@{k}": values["ndcg@100"] for k in (10, 25, 50)}
        values |= {f"vcmpr@{k}": values["ndcg@100"] for k in (10, 25, 50, 100)}
        values |= {f"{b} precision@{k}": values[f"{b} auc"] for b in BENCHMARKS for k in (10, 25, 50, 100)}
    for (_, method), values in measured.items():
        values["published heart auc"] = {"a": 0.5, "b": 0.9, "c": 0.1}[method]
    rows = alignment_rows(measured) + split_rows([measured, measured])
    card(tmp_path, "recommendation", rows, alignment_figures(measured))
    text = render("alignment", tmp_path)
    assert "| 3 methods on 2 networks | heart | 0.750 | -2.427 to 3.927 | 0.500 | 0.938 | 1.000 |" in text
    assert "| degree-corrected − heart | 0.250 |" in text
    assert "| a | 1 | 1 | 1.5 | 1 | 1 |" in render("places", tmp_path)
    card(tmp_path, "recommendation", rows)
    with pytest.raises(InputError, match="holds no figure"):
        render("places", tmp_path)


def test_the_other_tables_hold_what_the_evidence_holds(tmp_path) -> None:
    for name in ("figure-1c", "figure-1e", "figure-4"):
        card(tmp_path, name, [Comparison("mean of 28 networks", name, "pa", "auc", 0.8431, 0.1, 28, None)])
    assert "| figure-4 | auc, mean of 28 networks | 0.843 | – |" in render("laws", tmp_path)
    for name in ("auc-uniform", "learned-uniform", "auc-degree-corrected", "learned-degree-corrected"):
        rows = compared(["linear", *"abc"], [*"abc", "linear"], "x", name.partition("-")[2])
        card(tmp_path, name, rows)
    table = render("ranks", tmp_path)
    assert "| uniform | ranking of 3 methods, without linear | mean of 1 networks | 1.000 |" in table
    assert "ranking of 4 methods |" in table
    rows = [
        Comparison("x", "heart-20", m, "auc", 0.5, 0.0, 3, theirs) for m, theirs in (("a", 0.4), ("b", 0.8))
    ]
    drawn = Figure("hardness-1", "t, 3 methods", "lines", "k", "o", (Series("heart", (2, 20), (0.1, 0.4)),))
    card(tmp_path, "recommendation", rows, [drawn])
    table = render("hardness", tmp_path)
    assert "| overlap, 3 methods |" in table
    assert "| heart-20 | 0.200 | 2 | 0.400 |" in table
    card(tmp_path, "table-2", [Comparison("all-graphs", "uniform", "lrw", "c", 1.234, 0.0, 28, 11.52)])
    assert "| all-graphs | lrw | 1.23 | 11.52 | 28 |" in render("weights", tmp_path)
    rows = [
        Comparison(network, "heart", "pa", "entropy", value, 0.0, 3, None)
        for network, value in (("x", 0.5), ("y", 1.0))
    ]
    card(tmp_path, "figure-5", rows)
    assert "| heart | entropy | 0.750 | 0.500 | 1.000 |" in render("groups", tmp_path)
