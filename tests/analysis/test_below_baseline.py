"""A method below the best baseline of its table is flagged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import trueedge as te
from small_interactions import Neighbours, Unpopular, small_interactions
from trueedge.analysis.below_baseline import BelowBaseline, below_baseline, is_baseline
from trueedge.analysis.tables import tables
from trueedge.methods.method import METHODS
from trueedge.report import write
from trueedge.results.record import Record


@pytest.fixture(scope="module")
def records() -> list[Record]:
    task = te.task(small_interactions())
    methods = ("popularity", "random", Neighbours(), Unpopular())
    return [te.run(task, method=method) for method in methods]


def test_only_the_method_below_popularity_is_flagged(records) -> None:
    (table,) = tables(records)
    (found,) = table.below
    assert (found.label, found.baseline, found.metric) == ("test-unpopular", "popularity", "ndcg@20")
    by_method = {one.method: one for one in records}
    gaps = by_method["test-unpopular"].unit_values("ndcg@20") - by_method["popularity"].unit_values("ndcg@20")
    assert found.gap == pytest.approx(gaps.mean())
    # A paired interval over users: 60 users, the 97.5 % quantile of t with 59 degrees of freedom.
    half = 2.001 * gaps.std(ddof=1) / np.sqrt(len(gaps))
    assert (found.low, found.high) == pytest.approx((gaps.mean() - half, gaps.mean() + half), abs=1e-4)
    assert not found.significant
    assert found.sentence.startswith("test-unpopular is below popularity on this split: -32.2 [-40.")


def test_three_seeds_make_a_gap_significant(records) -> None:
    repeated = [replace(one, seed=seed, key=f"{one.key}{seed}") for one in records for seed in range(3)]
    (table,) = tables(repeated)
    (found,) = table.below
    assert found.significant
    assert found.sentence.startswith("test-unpopular is significantly below popularity: -32.2 [-40.")
    (table,) = tables([one for one in repeated if one.seed < 2])
    assert not table.below[0].significant


def test_a_gap_of_two_splits_has_no_interval() -> None:
    shop = small_interactions()
    runs = [te.run(shop, method=one, seed=seed) for one in ("popularity", Unpopular()) for seed in (0, 1)]
    (table,) = tables(runs)
    (found,) = table.below
    assert (found.low, found.high, found.significant) == (None, None, False)


def test_without_values_per_user_there_is_no_interval(records) -> None:
    (table,) = tables([replace(one, units={}) for one in records])
    (found,) = table.below
    assert (found.low, found.significant) == (None, False)
    assert found.sentence == "test-unpopular is below popularity: -32.2"


def test_a_table_without_baselines_flags_nothing(records) -> None:
    (table,) = tables([one for one in records if one.method.startswith("test-")])
    assert table.below == ()


def test_the_strongest_baseline_counts_and_baselines_are_not_flagged() -> None:
    names = {one: one for one in ("popularity", "random", "mine", "yours", "theirs")}
    values = {"popularity": 0.1, "random": 0.2, "mine": 0.15, "yours": 0.05, "theirs": 0.2}
    found = below_baseline(values, names, "ndcg@20")
    assert [(one.label, one.baseline) for one in found] == [("mine", "random"), ("yours", "random")]


def test_a_lower_rank_is_better() -> None:
    names = {"relation-frequency": "relation-frequency", "mine": "mine", "yours": "yours"}
    (found,) = below_baseline({"relation-frequency": 30.0, "mine": 40.0, "yours": 20.0}, names, "mr")
    assert found.sentence == "mine is worse than relation-frequency: +10.00"


def test_a_gap_that_may_be_chance_is_called_not_significant() -> None:
    found = BelowBaseline("kgcn", "popularity", "ndcg@20", -0.001, -0.004, 0.002)
    assert found.sentence == "kgcn is not significantly different from popularity: -0.1 [-0.4, +0.2]"


def test_baselines_are_those_that_count_or_vote() -> None:
    found = {name for name in METHODS.names() if is_baseline(name)}
    assert {"popularity", "random", "relation-frequency", "target-degree", "label-propagation"} <= found
    assert not found & {"gcn", "katz", "distmult"}
    assert not is_baseline("nobody-knows-this-one")


def test_a_weak_model_of_triples_is_flagged_too() -> None:
    runs = [te.run("umls", method=method) for method in ("relation-frequency", "entity-degree")]
    fake = replace(runs[1], method="mine", key="mine")
    (table,) = tables([runs[0], fake])
    assert [one.sentence.split(":")[0] for one in table.below] == [
        "mine is below relation-frequency on this split"
    ]


def test_the_page_says_who_is_below_popularity_even_where_there_are_many_remarks(records, tmp_path) -> None:
    noisy = [replace(one, warnings=tuple(f"remark {number}" for number in range(9))) for one in records]
    page = write(noisy, tmp_path / "page.html").read_text()
    before_folds = page[: page.index("more remark")]
    assert "▼ test-unpopular is below popularity on this split: -32.2" in before_folds
    assert page.count("is below popularity on this split") == 2  # the remark, and the hint of the row
