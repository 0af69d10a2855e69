"""Metrics of filtered ranks: closed forms, expectations under random scores, simulations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trueedge.metrics as tm
from trueedge.errors import InputError
from trueedge.metrics.ranked import RankedScores, calibration_error, degree_groups

NAMES = ("mrr", "mrr.optimistic", "mrr.pessimistic", "hits@1", "hits@10", "mr", "adjusted-mrr", "amri")


def ranked(above, tied=None, negatives=30, answer=None, degrees=None, logits=False) -> RankedScores:
    """Ranks from their counts."""
    above = np.asarray(above)
    none = np.zeros(len(above), dtype=np.int64)
    return RankedScores(
        above,
        none if tied is None else np.asarray(tied),
        np.full(len(above), negatives) if np.isscalar(negatives) else np.asarray(negatives),
        none.astype(np.float64) if answer is None else np.asarray(answer, np.float64),
        none if degrees is None else np.asarray(degrees),
        logits,
    )


def test_ranks_and_their_bounds_by_hand() -> None:
    found = tm.measure(ranked([0, 1, 4], [0, 2, 1], 20), NAMES, "query")
    assert found["mr"] == pytest.approx((1 + 3 + 5.5) / 3)
    assert found["mrr"] == pytest.approx((1 + 1 / 3 + 1 / 5.5) / 3)
    assert found["mrr.optimistic"] == pytest.approx((1 + 1 / 2 + 1 / 5) / 3)
    assert found["mrr.pessimistic"] == pytest.approx((1 + 1 / 4 + 1 / 6) / 3)
    assert found["hits@1"] == pytest.approx(1 / 3)
    assert found["hits@10"] == 1.0
    assert found["amri"] == pytest.approx(1 - (found["mr"] - 1) / 10)
    chance = sum(1 / rank for rank in range(1, 22)) / 21
    assert found["adjusted-mrr"] == pytest.approx((found["mrr"] - chance) / (1 - chance))


@pytest.mark.parametrize("name", [*NAMES, "sampled-hits@10", "sampled-hits@1"])
@pytest.mark.parametrize("sizes", [[30], [3, 17, 90]])
def test_a_metric_meets_its_expectation_over_all_ranks(name: str, sizes: list[int]) -> None:
    """Every rank once, for each number of candidates, as often as it takes to weigh them alike."""
    common = math.lcm(*(size + 1 for size in sizes))
    above = np.concatenate([np.repeat(np.arange(size + 1), common // (size + 1)) for size in sizes])
    scores = ranked(above, negatives=np.repeat(sizes, common))
    expected = tm.get(name).expectation(scores.sizes)
    assert tm.measure(scores, [name], "query")[name] == pytest.approx(expected)


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=30)
)
@settings(max_examples=60, deadline=None)
def test_metrics_stay_in_their_range_and_bounds_hold_the_mean(counts) -> None:
    above, tied, more = np.array(counts).T
    scores = ranked(above, tied, above + tied + more + 10)
    names = (*NAMES, "sampled-hits@10")
    found = tm.measure(scores, names, "query")
    for name in names:
        metric = tm.get(name)
        assert metric.low - 1e-12 <= found[name] <= metric.high + 1e-12, name
    assert found["mrr.pessimistic"] - 1e-12 <= found["mrr"] <= found["mrr.optimistic"] + 1e-12


@pytest.mark.parametrize("k", [1, 10])
def test_sampled_hits_equal_a_simulation(k: int) -> None:
    rng = np.random.default_rng(0)
    above, negatives = np.array([0, 3, 30, 90, 300]), np.array([200, 200, 200, 300, 999])
    found = tm.measure(ranked(above, negatives=negatives), [f"sampled-hits@{k}"], "query")
    drawn = rng.random((20_000, 5, 49)) < (above / negatives)[:, None]
    simulated = (drawn.sum(axis=2) < k).mean(axis=0)
    np.testing.assert_allclose(found.units.values[f"sampled-hits@{k}"], simulated, atol=0.015)


def test_the_calibration_error_by_hand() -> None:
    # Degrees 0 and 3 are two groups; ranks 1, 11, 1, 2.
    scores = ranked([0, 10, 0, 1], answer=[0, 0, 40, -40], degrees=[0, 0, 3, 3], logits=True)
    assert calibration_error(scores) == pytest.approx((2 * abs(0.5 - 0.5) + 2 * abs(1 - 0.5)) / 4)
    assert calibration_error(scores, 1) == pytest.approx(0.5)
    assert math.isnan(calibration_error(scores, 3))
    assert tm.measure(scores, ["ece"], "query")["ece"] == pytest.approx(0.25)


def test_the_calibration_error_needs_probabilities() -> None:
    with pytest.raises(InputError, match="gives_logits"):
        tm.measure(ranked([0, 1]), ["ece"], "query")


def test_degree_groups_begin_at_0_1_10_and_50() -> None:
    assert degree_groups(np.array([0, 1, 9, 10, 49, 50, 5000])).tolist() == [0, 1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize(
    ("name", "values", "sentence"),
    [
        ("above", [31, 0], "more candidates than there are"),
        ("above", [-1, 0], "from 0 to"),
        ("above", [2**62, 2**62], "from 0 to"),
        ("tied", np.array([2**63, 0], dtype=np.uint64), "from 0 to"),
        ("above", 3, "same length"),
        ("answer", ["a", "b"], "finite numbers"),
        ("answer", [1j, 0], "finite numbers"),
        ("logits", [7], "0 or 1, got 7"),
        ("logits", [np.nan], "0 or 1, got nan"),
        ("above", [0.5, 0], "whole numbers"),
        ("answer", [np.nan, 0], "finite"),
        ("degrees", [0], "same length"),
        ("logits", [], "same length"),
    ],
)
def test_arrays_that_cannot_be_ranks_are_refused(name: str, values: list[float], sentence: str) -> None:
    arrays = ranked([0, 1]).arrays()
    assert tm.measure(RankedScores.from_arrays(arrays), ["mrr"], "query")["mrr"] == 0.75
    with pytest.raises(InputError, match=sentence):
        RankedScores.from_arrays({**arrays, name: np.array(values)})
    with pytest.raises(InputError):
        RankedScores.from_arrays({key: value for key, value in arrays.items() if key != name})
