"""Areas under curves of a score over the mixing of communities, and their intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from trueedge.errors import InputError
from trueedge.metrics.partitions import area_under_curve
from trueedge.studies.degree_bias.community_curves import area, curve_figure, paired


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
