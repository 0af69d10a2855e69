"""Comparisons of methods: from records, paired within tasks, and honest about what cannot be compared."""

from __future__ import annotations

import math
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import trueedge as te
from ranks_in_records import ranks_as_units
from trueedge.analysis.comparison import compare, compare_over_datasets, unit_values
from trueedge.errors import InputError
from trueedge.statistics.significance import difference, gap_at, spread_of
from trueedge.statistics.tails import quantile


@pytest.fixture(scope="module")
def task() -> te.LinkTask:
    return te.task("karate", "heart", seed=0, k=20)


@pytest.fixture(scope="module")
def records(task) -> list[te.Record]:
    return [te.run(task, method=name) for name in ("cn", "aa", "pa")]


def made_up(record: te.Record, method: str, seed: int, ranks: np.ndarray, negatives: int = 500) -> te.Record:
    test = {
        "mrr": float(np.mean(1 / ranks)),
        "hits@10": float(np.mean(ranks <= 10)),
        "auc": float(1 - (ranks - 1).mean() / negatives),
    }
    key = f"{method}-{seed}"
    changed = {"method": method, "settings": {}, "seed": seed, "headline": "mrr", "key": key}
    return replace(record, **changed, metrics={"test": test}, units=ranks_as_units(ranks))


@pytest.fixture(scope="module")
def drawn(records) -> list[te.Record]:
    """Two good methods that are alike, and one that is worse, three seeds each on the same 400 edges."""
    rng = np.random.default_rng(0)
    hard = 1.5 + 1.4 * rng.standard_normal(400)
    found = []
    for method, lag in (("worse", 0.8), ("good", 0.0), ("alike", 0.02)):
        for seed in range(3):
            ranks = np.clip(np.ceil(np.exp(hard + lag + 0.3 * rng.standard_normal(400))), 1, 501)
            found.append(made_up(records[0], method, seed, ranks))
    return found


@pytest.mark.parametrize("protocol", ["existing", "heart", "uniform", "degree-corrected", "triplet"])
def test_the_values_of_positives_have_the_recorded_mean(protocol: str) -> None:
    options = {"k": 20} if protocol == "heart" else {}
    record = te.run("karate", protocol, "aa", seed=1, **options)
    for name in ("mrr", "auc"):
        assert unit_values(record, name).mean() == pytest.approx(record.test[name], abs=1e-12)


def test_the_auc_of_a_positive_is_the_share_of_negatives_below_it(task) -> None:
    record = te.run(task, method="cn")
    positive, negative = task.scores(te.methods.create("cn").fit(task))
    wins = (positive[:, None] > negative).mean(axis=1) + 0.5 * (positive[:, None] == negative).mean(axis=1)
    assert unit_values(record, "auc") == pytest.approx(wins)
    assert unit_values(record, "hits@10").mean() == record.test["hits@10"]


def test_values_the_ranks_do_not_tell_are_refused_by_name(records) -> None:
    record = records[0]
    with pytest.raises(InputError, match=r"mrr\.optimistic is not a mean over positives"):
        unit_values(record, "mrr.optimistic")
    with pytest.raises(InputError, match="hits@7 was not recorded"):
        unit_values(record, "hits@7")
    with pytest.raises(InputError, match="holds no values for each test positive"):
        unit_values(replace(record, units={}), "mrr")
    shared = replace(record, metrics={"test": {**record.test, "hits@10": 0.0}})
    with pytest.raises(InputError, match="tie at the K-th place"):
        unit_values(shared, "hits@10")
    assert set(unit_values(record, "rank-hits@1").tolist()) <= {0.0, 1.0}
    perfect = made_up(record, "perfect", 0, np.ones(5))
    assert unit_values(perfect, "auc").tolist() == [1.0] * 5


def test_methods_are_listed_best_first_with_letters_and_corrected_pairs(drawn) -> None:
    (found,) = compare(drawn)
    assert found.metric == "mrr"
    assert [one.seeds for one in found.methods] == [3, 3, 3]
    means = {one.label: one.estimate.value for one in found.methods}
    assert list(means) == sorted(means, key=means.__getitem__, reverse=True)
    assert {one.label: one.letters for one in found.methods} == {
        "good": ("a",),
        "alike": ("a",),
        "worse": ("b",),
    }
    values = {name: [unit_values(one, "mrr") for one in drawn if one.method == name] for name in means}
    pair = found.pair("worse", "good")
    assert (pair.first, pair.second) == ("good", "worse")
    assert pair.difference == difference(values["good"], values["worse"])
    assert pair.p_holm >= pair.difference.p
    assert pair.difference.better > 0.5 > pair.difference.worse
    assert found.smallest_gap == pytest.approx(np.median([one.smallest_gap for one in found.pairs]))
    assert found.pair("good", "alike").p_holm > 0.05
    with pytest.raises(InputError, match="'good' and 'nobody' were not compared"):
        found.pair("good", "nobody")


def test_the_order_of_records_does_not_matter_and_the_last_of_a_request_counts(drawn) -> None:
    (found,) = compare(drawn)
    (turned,) = compare(drawn[::-1])
    assert turned.pair("good", "worse").difference.p == pytest.approx(
        found.pair("good", "worse").difference.p
    )
    stale = replace(drawn[0], units=ranks_as_units(np.ones(400)))
    (again,) = compare([stale, *drawn])
    assert [one.seeds for one in again.methods] == [3, 3, 3]
    assert again.left_out == ()


def test_a_lower_mean_rank_is_better(drawn) -> None:
    (found,) = compare(drawn, "mr")
    assert found.methods[-1].label == "worse"
    assert found.methods[0].estimate.low >= 1
    (auc,) = compare(drawn, "auc")
    assert auc.methods[-1].label == "worse"
    assert auc.methods[0].estimate.high <= 1


def test_records_of_other_tasks_are_never_paired(drawn) -> None:
    elsewhere = [
        replace(one, provenance={**one.provenance, "task": "another"}) if one.method == "good" else one
        for one in drawn
    ]
    (found,) = compare(elsewhere)
    assert {(one.first, one.second) for one in found.pairs} == {("alike", "worse")}
    assert any("have no task in common" in sentence for sentence in found.left_out)
    assert found.tasks == 2


def test_seeds_with_splits_of_their_own_are_compared_task_by_task() -> None:
    runs = [te.run("karate", "uniform", name, seed=seed) for seed in range(4) for name in ("cn", "ra")]
    (found,) = compare(runs)
    assert (found.metric, found.tasks) == ("auc", 4)
    ours = found.pair("cn", "ra").difference
    gaps = [one.test["auc"] - other.test["auc"] for one, other in zip(runs[::2], runs[1::2], strict=True)]
    assert ours.over == "tasks"
    assert ours.p == pytest.approx(stats.ttest_1samp(gaps, 0).pvalue)
    assert abs(ours.value) == pytest.approx(abs(np.mean(gaps)))


def test_what_cannot_be_compared_is_left_out_with_the_reason(drawn, records) -> None:
    old = [replace(one, units={}) if one.method == "worse" else one for one in drawn]
    (found,) = compare(old)
    assert {one.label for one in found.methods} == {"good", "alike"}
    assert len(found.left_out) == 3
    assert "holds no values for each test positive" in found.left_out[0]
    (nothing,) = compare([replace(records[0], units={})])
    assert nothing.methods == nothing.pairs == ()
    assert math.isnan(nothing.smallest_gap)
    (alone,) = compare(records[:1])
    assert alone.methods[0].letters == ("a",)
    assert compare([]) == []
    trial = replace(records[0], metrics={"valid": records[0].test})
    assert compare([trial]) == []


def test_protocols_and_settings_stay_apart(task) -> None:
    runs = [
        te.run("karate", protocol, "katz", settings={"beta": beta})
        for beta in (0.005, 0.01)
        for protocol in ("existing", "uniform")
    ]
    found = compare(runs)
    assert [one.protocol for one in found] == ["existing", "uniform"]
    assert {one.label for one in found[0].methods} == {"katz", "katz (beta=0.01)"}


def test_several_data_sets_give_ranks_and_a_critical_difference(drawn) -> None:
    tables = [
        comparison
        for name in ("one", "two", "three")
        for comparison in compare([replace(one, dataset=name) for one in drawn])
    ]
    labels, found = compare_over_datasets(tables)
    assert found.datasets == 3
    assert labels[int(np.argmax(found.mean_ranks))] == "worse"
    with pytest.raises(InputError, match="one metric"):
        compare_over_datasets([tables[0], *compare(drawn, "auc")])
    with pytest.raises(InputError, match="two common methods and two data sets"):
        compare_over_datasets(tables[:1])


def test_more_positives_cost_no_more_steps(records) -> None:
    """Ten methods are compared in whole arrays: Python calls are as many for twenty times the positives."""

    def calls_for(positives: int) -> int:
        rng = np.random.default_rng(1)
        runs = [
            made_up(records[0], f"m{number}", seed, rng.integers(1, 400, positives).astype(float))
            for number in range(10)
            for seed in range(2)
        ]
        compare(runs)
        calls = 0

        def count(frame: object, event: str, argument: object) -> None:
            nonlocal calls
            calls += event in ("call", "c_call")

        before = sys.getprofile()
        sys.setprofile(count)
        try:
            (found,) = compare(runs)
        finally:
            sys.setprofile(before)
        assert len(found.pairs) == 45
        return calls

    assert calls_for(20_000) < 1.2 * calls_for(1_000)


def test_the_smallest_gap_passes_the_first_step_of_holm(drawn) -> None:
    (found,) = compare(drawn)
    assert len(found.pairs) == 3
    for pair in found.pairs:
        gap = pair.difference
        critical = quantile(1 - 0.05 / 3 / 2, gap.df, gap.tail_df)
        assert pair.smallest_gap == pytest.approx((critical + stats.t.ppf(0.8, gap.df)) * gap.std_error)
    # A difference as large as the gap is told, as the first of a table.
    (two,) = compare([one for one in drawn if one.method != "alike"])
    assert two.pairs[0].smallest_gap < found.pair("good", "worse").smallest_gap


def test_a_difference_above_the_smallest_gap_is_told_apart_however_many_methods_there_are(records) -> None:
    rng = np.random.default_rng(4)
    runs = [
        made_up(records[0], f"m{number}", 0, rng.integers(1, 4 + 2 * number, 80).astype(float))
        for number in range(12)
    ]
    (found,) = compare(runs)
    sizes = [(pair, abs(pair.difference.value)) for pair in found.pairs]
    above = [pair for pair, size in sizes if size > pair.smallest_gap]
    assert above
    assert all(pair.p_holm < 0.05 for pair in above)
    # Uncorrected that would not hold.
    uncorrected = [pair for pair, size in sizes if size > gap_at(spread_of(pair.difference))]
    assert any(pair.p_holm > 0.05 for pair in uncorrected)


def test_an_earlier_version_of_the_code_is_left_out_of_a_comparison(drawn) -> None:
    def by(record: te.Record, code: str) -> te.Record:
        key = f"{record.key} {code}"
        return replace(record, key=key, provenance={**record.provenance, "code": code})

    old = [by(one, "old") for one in drawn]
    new = [by(one, "new") for one in drawn if one.method == "good" and one.seed < 2]
    (found,) = compare([*old, *new])
    assert {one.label: one.seeds for one in found.methods} == {"good": 2, "alike": 3, "worse": 3}
    assert found.left_out == ("3 records of an earlier version of good are left out",)
    (again,) = compare([*old, *new, *old])
    assert {one.label: one.seeds for one in again.methods} == {"good": 3, "alike": 3, "worse": 3}
