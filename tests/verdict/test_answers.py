"""The answer in words never contradicts its interval, and is short."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import trueedge as te
from trueedge.audit import Finding
from trueedge.audit.check import Verdict
from trueedge.errors import InputError
from trueedge.statistics.tie_groups import holm
from trueedge.verdict import judge, rows
from trueedge.verdict.answers import LEVEL, answer, degree_share, joined, step_levels
from trueedge.verdict.benchmark import sentences
from trueedge.verdict.models import telling_name


@pytest.mark.parametrize("seed", range(20))
def test_the_rate_of_a_step_decides_as_holm_does(seed: int) -> None:
    values = np.random.default_rng(seed).random(8) ** 4 * 0.1
    p_values = {str(place): float(value) for place, value in enumerate(values)}
    levels = step_levels(p_values)
    corrected = holm(values)
    for (label, p), fixed in zip(p_values.items(), corrected, strict=True):
        assert (p <= levels[label]) == (fixed <= LEVEL)


@pytest.fixture(scope="module")
def verdict() -> te.verdict.Verdict:
    """A verdict on a weak model, on four splits of a small graph."""

    def weak(graph: te.Graph):
        return lambda pairs: graph.degrees[pairs].sum(axis=1)

    return judge(weak, te.load("karate"), ["existing", "degree-corrected"], 4, name="weak", checks=False)


def test_words_and_intervals_agree(verdict: te.verdict.Verdict) -> None:
    for table in verdict.tables:
        for line in table.lines:
            found = answer(table, line.label)
            assert found is not None
            assert found.low is not None
            assert found.high is not None
            assert found.low <= found.difference <= found.high
            if found.place == "above":
                assert found.low > 0
            if found.best in found.beside:
                assert (found.high < 0) == (found.place == "below")


def test_the_sentence_names_the_model_once_and_each_protocol(verdict: te.verdict.Verdict) -> None:
    assert verdict.sentence.count("weak") == 1
    for one in verdict.answers:
        assert f"under {one.protocol}" in verdict.sentence or f"and {one.protocol}" in verdict.sentence
    assert verdict.sentence.endswith(".")


def test_protocols_with_the_same_answer_are_named_together(verdict: te.verdict.Verdict) -> None:
    first = verdict.answers[0]
    both = joined([first, replace(first, detail="heart (x)")])
    assert both.count(first.stem) == 1
    assert both.endswith("and heart (x)")


def test_two_splits_are_too_few() -> None:
    found = judge("ra", "karate", ["existing"], 2, checks=False)
    assert [one.place for one in found.answers] == ["unknown"]
    assert "has too few splits to compare" in found.sentence
    assert any("seeds=5" in one for one in found.advice)


def test_a_fixed_scorer_meets_one_training_graph() -> None:
    found = judge(np.ones((34, 2)), "karate", ["existing", "heart", "degree-corrected"])
    graphs = {one.provenance["hashes"]["graph"] for one in found.records if "hashes" in one.provenance}
    assert len(graphs) <= 1
    assert {one.protocol for one in found.records} == {"existing", "heart", "degree-corrected"}
    assert not found.ok


def test_a_list_of_tasks_holds_tasks_alone() -> None:
    with pytest.raises(InputError, match="a list with a task holds tasks alone, got 'karate' in it"):
        judge("ppr", [te.task("karate", "heart"), "karate"])


def test_more_seeds_are_not_asked_of_a_fixed_scorer() -> None:
    vectors = np.random.default_rng(0).normal(size=(34, 4))
    found = judge(vectors, te.task("karate", "heart"), checks=False)
    assert [one.place for one in found.answers] == ["tied"]
    assert not any("--seeds" in one for one in found.advice)
    assert any("fit(task)" in one for one in found.advice)


def test_the_share_of_degree_is_that_of_the_auc_above_chance() -> None:
    assert degree_share(0.9, 0.7) == pytest.approx(0.5)
    assert degree_share(0.9, 0.95) == 0
    assert degree_share(0.55, 0.5) is None


def test_problems_of_benchmarks_stand_once_with_what_to_do_and_the_rest_is_counted() -> None:
    def finding(check: str, verdict: Verdict, advice: str) -> Finding:
        return Finding(check, verdict, "1", f"{check} is high", {"value": 1.0}, advice=advice)

    found = [
        finding("degree-auc", "look", "Use `-p degree-corrected`"),
        finding("shortcut-pa", "broken", "Use `-p degree-corrected`"),
        finding("isolated-nodes", "look", "Report these positives separately"),
        finding("distances", "look", "Use `-p heart`"),
    ]
    warnings = [(protocol, one) for protocol in ("existing", "heart") for one in found]
    assert sentences(warnings) == [
        "existing (and heart): shortcut-pa is high. Use `-p degree-corrected`",
        "existing (and heart): isolated-nodes is high. Report these positives separately",
        "existing (and heart): distances is high. Compare with the results under heart",
    ]
    assert sentences(warnings, most=1)[1:] == ["2 more problems: run 'trueedge audit' for each protocol"]
    assert sentences([]) == []


def test_stars_agree_with_the_intervals_and_no_interval_is_wider_than_the_scale(
    verdict: te.verdict.Verdict,
) -> None:
    for one in verdict.answers:
        assert len(one.comparisons) == 10
        for compared in one.comparisons:
            assert compared.clear == (compared.low > 0 or compared.high < 0)
            assert -1 <= compared.low <= compared.high <= 1


def test_a_table_shows_how_far_the_model_is_ahead(verdict: te.verdict.Verdict) -> None:
    table = verdict.tables[0]
    head, body = rows.cells(table, verdict.answer_in(table), verdict.label)
    assert head[-1] == "weak minus method"
    found = {row[0]: row[-1] for row in body}
    assert found["weak"] == ""
    stars = {label for label, cell in found.items() if cell.endswith("*")}
    answers = verdict.answer_in(table)
    assert answers is not None
    assert stars == {one.baseline for one in answers.comparisons if one.clear}


def test_groups_that_heuristics_define_are_not_held_against_them(verdict: te.verdict.Verdict) -> None:
    assert not any("dominant factor" in sentence for sentence in verdict.groups)
    assert any(one.name == "factor" for sliced in verdict.sliced for one in sliced.slicings)


@pytest.mark.parametrize(
    ("place", "name", "told"),
    [
        ("my_gcn.py", "fit", "my_gcn"),
        ("models.deep", "train", "deep"),
        ("mine.py", "gcn", "gcn"),
        ("__main__", "the lambda", "my model"),
    ],
)
def test_a_model_is_called_by_the_name_that_tells_most(place: str, name: str, told: str) -> None:
    assert telling_name(place, name) == told


def test_an_interval_that_says_nothing_is_not_printed_and_nothing_is_called_equal() -> None:
    def noise(graph: te.Graph):
        return np.random.default_rng(0).normal(size=(graph.num_nodes, 4))

    found = judge(noise, "karate", ["existing"], 3, name="noise", checks=False)
    (one,) = found.answers
    assert not one.equal
    assert not any("does as well" in advice for advice in found.advice)
    if one.place == "tied":
        assert "cannot be distinguished from" in one.stem
        assert "[" not in one.detail


@pytest.mark.parametrize(("low", "high", "equal"), [(-0.01, 0.015, True), (-0.03, 0.01, False)])
def test_equal_means_that_the_whole_interval_is_small(
    verdict: te.verdict.Verdict, low: float, high: float, equal: bool
) -> None:
    assert replace(verdict.answers[0], place="tied", low=low, high=high).equal is equal


def test_a_split_by_time_is_one_split() -> None:
    times = np.arange(60.0)
    pairs = [(node, (node + step) % 20) for node in range(20) for step in (1, 2, 3)]
    graph = te.Graph.from_edges(pairs, name="ring", edge_data={"time": times})
    found = judge("ra", graph, ["existing"], 3, checks=False, options={"split": "time"})
    assert {one.seed for one in found.records} == {0}
    assert any("one split by time" in note for note in found.notes)


def test_an_auc_on_one_split_by_time_is_said_to_be_of_this_split_and_no_more_are_asked_for() -> None:
    pairs = np.array([(u, (u + step) % 30) for step in (1, 2) for u in range(30)])
    graph = te.Graph.from_edges(pairs, name="ring", edge_data={"time": np.repeat([1.0, 2.0, 3.0], 20)})
    options = {"split": "time", "fraction": 0.3}
    found = judge("ra", graph, ["degree-corrected"], checks=False, options=options)
    assert "AUC [" in found.sentence
    assert "on this split" in found.sentence
    assert not any("more splits" in one for one in found.advice)
    assert any("share the time of a cut" in note for note in found.notes)


def test_random_numbers_of_a_users_model_are_those_of_the_seed() -> None:
    def fit(graph: te.Graph):
        return np.random.randn(graph.num_nodes, 3)  # noqa: NPY002

    first, second = (judge(fit, "karate", ["existing"], 1, name="own", checks=False) for _ in range(2))
    values = [[one.test["mrr"] for one in found.records if one.method == "own"] for found in (first, second)]
    assert values[0] == values[1]


def test_two_baselines_are_both() -> None:
    from trueedge.verdict.answers import _words

    assert _words("above", "ra", [], 2)[0] == "beats both baselines"
    assert _words("above", "ra", [], 3)[0] == "beats all 3 baselines"
