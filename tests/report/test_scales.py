"""Axes hold all values, and their ticks are round."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueedge.report.scales import number_text, scale, thinned

NUMBERS = st.floats(-1e12, 1e12, allow_nan=False)


@given(st.lists(NUMBERS, min_size=1, max_size=20), st.booleans())
def test_every_value_stands_between_the_ends_of_its_axis(values: list[float], zero: bool) -> None:
    found = scale(values, 0.0, 100.0, zero=zero)
    assert all(-1e-6 <= found.at(value) <= 100 + 1e-6 for value in values)
    if zero:
        assert found.low <= 0 <= found.high


@given(st.lists(st.floats(1e-12, 1e12), min_size=1, max_size=20))
def test_a_logarithmic_axis_keeps_the_order_and_the_factors(values: list[float]) -> None:
    found = scale(values, 0.0, 100.0, log=True)
    low, high = min(values), max(values)
    middle = math.sqrt(low * high)
    assert math.isclose(found.at(middle), (found.at(low) + found.at(high)) / 2, abs_tol=1e-6)
    assert 0 <= found.at(low) <= found.at(high) <= 100


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e9), st.integers(2, 12))
def test_ticks_are_round_evenly_spaced_and_on_the_axis(low: float, width: float, most: int) -> None:
    found = scale([low, low + width], 0.0, 1.0)
    ticks = [value for value, _ in found.ticks(most)]
    slack = 1e-6 * (found.high - found.low)
    assert len(ticks) <= most + 1
    assert all(found.low - slack <= tick <= found.high + slack for tick in ticks)
    steps = [b - a for a, b in itertools.pairwise(ticks)]
    for step in steps:
        assert math.isclose(step, steps[0], rel_tol=1e-3)
        first = float(f"{step:e}".split("e")[0])
        assert min(abs(first - round_one) for round_one in (1, 2, 5, 10)) < 0.02


@given(st.floats(1e-9, 1e9), st.floats(1.001, 1e9))
def test_a_logarithmic_axis_has_two_ticks_or_more_and_not_too_many(low: float, factor: float) -> None:
    found = scale([low, low * factor], 0.0, 1.0, log=True)
    ticks = [value for value, _ in found.ticks()]
    assert 2 <= len(ticks) <= 9
    assert all(found.low * (1 - 1e-6) <= tick <= found.high * (1 + 1e-6) for tick in ticks)


@pytest.mark.parametrize(
    ("value", "step", "text"),
    [
        (0.0, 0.1, "0.0"),
        (-0.0, 0.5, "0.0"),
        (0.30000000000000004, 0.1, "0.3"),
        (0.25, 0.25, "0.25"),
        (-2.0, 1.0, "−2"),
        (12_000.0, 2_000.0, "12,000"),
        (1e6, 0.0, "10⁶"),
        (-1e6, 0.0, "−10⁶"),
        (3e-7, 0.0, "3 × 10⁻⁷"),
        (0.123456, 0.0, "0.1235"),
        (1234.5, 0.0, "1,234"),
    ],
)
def test_numbers_are_written_as_people_write_them(value: float, step: float, text: str) -> None:
    assert number_text(value, step) == text


def test_an_axis_of_names_has_each_once_in_order_and_one_name_in_the_middle() -> None:
    found = scale(["b", "a", "b", "c"], 0.0, 90.0)
    assert found.names == ("b", "a", "c")
    assert [found.at(name) for name in found.names] == pytest.approx([15, 45, 75])
    assert scale(["alone"], 0.0, 10.0, edge=0.1).at("alone") == 5


@pytest.mark.parametrize("values", [[], [math.nan], [math.inf], [0.0, -1.0]])
def test_an_axis_without_a_value_it_could_show_is_still_an_axis(values: list[float]) -> None:
    found = scale(values, 0.0, 1.0, log=True)
    assert found.low < found.high
    assert found.ticks()
    assert not any(found.shows(value) for value in values)


def test_shares_do_not_run_below_0_or_above_1_for_the_sake_of_room() -> None:
    found = scale([0.0, 1.0], 0.0, 1.0)
    assert (found.low, found.high) == (0.0, 1.0)


def test_one_value_many_times_has_room_around_it() -> None:
    found = scale([5.0, 5.0], 0.0, 1.0)
    assert found.low < 5 < found.high


def test_names_that_do_not_fit_are_thinned_evenly() -> None:
    assert thinned(list("abcdef"), 100.0, 10.0) == [0, 1, 2, 3, 4, 5]
    assert thinned(list("abcdef"), 30.0, 10.0) == [0, 2, 4]


@pytest.mark.parametrize(
    ("values", "log"),
    [
        ((-1e308, 1e308), False),
        ((0.0, 1.7e308), False),
        ((0.0, 5e-324), False),
        ((1e-200, 2e-200), False),
        ((1.0, 1e308), True),
        ((1e-308, 1e308), True),
        ((5e-324, 1.0), True),
        ((1e18, 1e18 + 256), True),
        ((1e18, 1e18 + 256), False),
        ((math.inf, math.nan), False),
    ],
)
def test_numbers_at_the_ends_of_what_there_is_are_drawn_or_left_out(values: tuple, log: bool) -> None:
    found = scale(values, 0.0, 100.0, log=log)
    assert all(0 <= found.at(value) <= 100 for value in values if found.shows(value))
    assert all(text for _, text in found.ticks())
    assert all(number_text(value) for value in values)
