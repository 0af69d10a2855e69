"""Methods over data sets: the fullest table there is, tested, drawn, or refused in a line."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up import record, records
from test_records_page import headings, shown
from test_shell import HOSTILE, Reading

from trueedge.analysis.comparison import compare, compare_over_datasets
from trueedge.analysis.tables import tables
from trueedge.report import report
from trueedge.report.over_datasets import _fullest, over_datasets, panel
from trueedge.results.record import Record
from trueedge.statistics.rank_tests import friedman

ROOM = 10**6


def valued(dataset: str, method: str, value: float, **changed: object) -> Record:
    """A record that is nothing but its number."""
    return record(dataset, method=method, metrics={"test": {"mrr": value}}, units={}, **changed)


def test_it_is_the_test_over_comparisons() -> None:
    many = records(6, 2, 5, 2)
    for one in over_datasets(tables(many)):
        chosen = [record for record in many if record.protocol == one.protocol]
        labels, test = compare_over_datasets(compare(chosen))
        assert one.test is not None
        assert one.datasets == tuple(f"data-{place}" for place in range(6))
        order = [labels.index(label) for label in one.labels]
        assert one.test.mean_ranks == pytest.approx(test.mean_ranks[order])
        assert (one.test.p, one.test.critical_difference) == (test.p, test.critical_difference)


def test_every_protocol_with_two_data_sets_has_its_plot_and_its_numbers() -> None:
    text = report(records(6, 2, 5, 1), with_slices=False)
    assert headings(text)[:4] == ["Results", "All methods", "Across protocols", "Across data sets"]
    for one in over_datasets(tables(records(6, 2, 5, 1))):
        assert one.test is not None
        assert f"Mean rank by mrr, {one.protocol}" in shown(text)
        assert f"critical difference {one.test.critical_difference:.2f}" in shown(text)
        for rank in one.test.mean_ranks:
            assert f"{rank:.3f}" in shown(text)
    assert shown(text).count("Data sets: data-0, data-1, data-2, data-3, data-4, data-5.") == 2


def test_one_data_set_has_no_such_part() -> None:
    assert "Across data sets" not in headings(report(records(1, 2, 3, 1), with_slices=False))


@pytest.mark.parametrize("methods", [2, 3, 5, 12])
def test_too_few_data_sets_are_said_to_be_too_few_with_how_many_it_takes(methods: int) -> None:
    (found,) = over_datasets(tables(records(2, 1, methods, 1)))
    best = [list(range(methods, 0, -1))]
    told = [n for n in range(2, 30) if friedman(best * n).critical_difference < methods - 1]
    assert found.needed == told[0]
    text = panel([found], ROOM)
    assert "<svg" not in text
    assert f"2 data sets are too few to compare {methods} methods" in text
    assert f"it takes at least {told[0]}" in text


def test_methods_without_a_data_set_in_common_are_said_to_have_none() -> None:
    (found,) = over_datasets(tables([record("one", method="a"), record("two", method="b")]))
    assert found.test is None
    assert "heart: no two methods were run on the same two data sets" in panel([found], ROOM)


def test_a_data_set_with_few_methods_and_a_method_with_few_data_sets_are_left_out_and_named() -> None:
    full = records(6, 1, 5, 1)
    extra = [record("small", "protocol-0", "method-0"), record("data-0", "protocol-0", "rare")]
    (found,) = over_datasets(tables([*full, *extra]))
    assert found.without == ("small",)
    assert found.left_out == ("rare",)
    text = panel([found], ROOM)
    assert "Data sets left out because methods are missing: small." in text
    assert "Methods left out because data sets are missing: rare." in text


@given(st.lists(st.frozensets(st.sampled_from("abcdef")), min_size=2, max_size=6))
def test_no_other_methods_and_data_sets_make_more_comparisons(rows: list[frozenset[str]]) -> None:
    def comparisons(methods: frozenset[str]) -> int:
        return (len(methods) - 1) * (sum(methods <= row for row in rows) - 1)

    every = [frozenset(some) for size in range(2, 7) for some in combinations("abcdef", size)]
    best = max(map(comparisons, every))
    found = _fullest(rows)
    assert comparisons(found) == best if best > 0 else found == frozenset()


def test_thousands_of_data_sets_with_other_methods_each_are_no_work() -> None:
    rng = np.random.default_rng(0)
    rows = [frozenset(rng.choice(40, 20, replace=False).astype(str).tolist()) for _ in range(300)]
    assert len(_fullest(rows)) >= 2


def test_protocols_with_other_options_and_metrics_are_not_mixed() -> None:
    plain = records(5, 1, 3, 1)
    other = [replace(one, options={"k": 7}, key=f"{one.key}k") for one in plain]
    judged = [replace(one, headline="auc", protocol="uniform", key=f"{one.key}u") for one in plain]
    found = over_datasets(tables([*plain, *other, *judged]))
    assert [(one.protocol, one.metric) for one in found] == [
        ("protocol-0", "mrr"),
        ("protocol-0 (k=7)", "mrr"),
        ("uniform", "auc"),
    ]


def test_small_is_good_where_the_metric_says_so() -> None:
    values = [valued(f"d{d}", f"m{m}", 1.0 + m) for d in range(5) for m in range(3)]
    small = [replace(one, headline="mr", metrics={"test": {"mr": one.value}}) for one in values]
    (large_first,) = over_datasets(tables(values))
    (small_first,) = over_datasets(tables(small))
    ranks = [dict(zip(one.labels, one.test.mean_ranks, strict=True)) for one in (large_first, small_first)]  # type: ignore[union-attr]
    assert (ranks[0]["m2"], ranks[1]["m2"]) == (1.0, 3.0)


def test_a_value_that_is_no_number_is_taken_for_missing() -> None:
    values = [valued(f"d{d}", f"m{m}", 1.0 / (m + 1)) for d in range(5) for m in range(3)]
    values.append(valued("d5", "m0", float("nan")))
    (found,) = over_datasets(tables(values))
    assert found.without == ("d5",)


def test_two_graphs_of_one_name_count_once() -> None:
    full = records(4, 1, 3, 1)
    again = [
        replace(one, provenance={**one.provenance, "source": "copy"}, key=f"{one.key}c")
        for one in full
        if one.dataset == "data-0"
    ]
    (found,) = over_datasets(tables([*full, *again]))
    assert found.test is not None
    assert found.test.datasets == 4


def test_where_friedman_finds_nothing_it_is_said() -> None:
    rng = np.random.default_rng(5)
    (found,) = over_datasets(
        tables([valued(f"d{d}", f"m{m}", float(rng.random())) for d in range(8) for m in range(4)])
    )
    assert found.test is not None
    assert found.test.p > 0.05
    assert "finds no significant difference between the methods" in panel([found], ROOM)
    assert "finds no significant difference" not in panel(over_datasets(tables(records(8, 1, 5, 1))), ROOM)


def test_a_hundred_methods_are_listed_and_not_drawn() -> None:
    (found,) = over_datasets(
        tables([valued(f"d{d}", f"m{m}", 1 / (m + 1)) for d in range(9) for m in range(100)])
    )
    text = panel([found], ROOM)
    assert "<svg" not in text
    assert "<details open>" in text
    assert text.count("<tr>") == 101


def test_names_cannot_do_anything() -> None:
    named = [
        record(f"{HOSTILE}{d}", HOSTILE, f"{HOSTILE}{m}", shift=m, key=f"{d}{m}")
        for d in range(5)
        for m in range(3)
    ]
    text = panel(over_datasets(tables(named)), ROOM)
    found = Reading(text)
    assert found.count("script") == 0
    assert found.count("img") == 0
    assert found.open == []
    assert found.count("svg") == 2


def test_what_does_not_fit_is_left_out_and_said() -> None:
    found = over_datasets(tables(records(6, 3, 5, 1)))
    one = len(panel(found[:1], ROOM).encode())
    text = panel(found, one)
    assert text.count("<figure") == 1
    assert re.search(r"2 of 3 protocols are omitted", text)
