"""The variance between and within groups, against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from trueedge.errors import InputError
from trueedge.statistics.nested_variance import nested_variance


def test_the_parts_are_those_of_a_balanced_analysis_of_variance() -> None:
    # Within: variances 2 and 8. Between: the means 1 and 7 have the variance 18, of which 5 / 2 is noise.
    found = nested_variance([[0.0, 2.0], [5.0, 9.0]])
    assert found == pytest.approx((18.0 - 2.5, 5.0))
    assert found.share_within == pytest.approx(5.0 / 20.5)


def test_the_parts_of_drawn_values_have_no_bias() -> None:
    rng = np.random.default_rng(0)
    groups, size, between, within = 4000, 6, 9.0, 4.0
    values = rng.normal(0, 3, (groups, 1)) + rng.normal(0, 2, (groups, size))
    assert nested_variance(values) == pytest.approx((between, within), rel=0.1)


def test_groups_that_differ_by_less_than_chance_have_no_variance_between() -> None:
    found = nested_variance([[0.0, 2.0], [0.0, 2.0]])
    assert found == (0.0, 2.0)
    assert found.share_within == 1.0


@pytest.mark.parametrize(("values", "unknown"), [([[1.0, 3.0]], "between"), ([[1.0], [3.0]], "within")])
def test_what_needs_more_values_is_nan(values: list[list[float]], unknown: str) -> None:
    found = nested_variance(values)
    assert math.isnan(getattr(found, unknown))
    assert math.isnan(found.share_within)


def test_equal_values_have_no_shares() -> None:
    assert math.isnan(nested_variance(np.ones((3, 2))).share_within)


@pytest.mark.parametrize("values", [[1.0, 2.0], [], np.empty((0, 3))])
def test_other_shapes_are_refused(values: object) -> None:
    with pytest.raises(InputError, match="nested_variance"):
        nested_variance(values)  # type: ignore[arg-type]
