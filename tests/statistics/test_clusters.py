"""Intervals of means over units in clusters."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import t

from trueedge.errors import InputError
from trueedge.statistics.clusters import clustered_interval
from trueedge.studies.degree_bias.families import count_families, family


def test_single_units_give_students_interval() -> None:
    values = np.array([1.0, 4.0, 2.0, 7.0])
    low, high = clustered_interval(values, list("abcd"))
    reach = t.ppf(0.975, 3) * values.std(ddof=1) / 2
    assert (low, high) == pytest.approx((3.5 - reach, 3.5 + reach))


def test_equal_units_of_a_cluster_count_once() -> None:
    alone = clustered_interval([1.0, 4.0, 2.0], list("abc"))
    thrice = clustered_interval([1.0] * 3 + [4.0] * 3 + [2.0] * 3, list("aaabbbccc"))
    assert thrice == pytest.approx(alone)


def test_one_cluster_says_nothing() -> None:
    assert clustered_interval([1.0, 2.0], ["a", "a"]) == (-math.inf, math.inf)


def test_correlated_clusters_are_covered() -> None:
    rng = np.random.default_rng(0)
    of = np.repeat(np.arange(13), [7, 6, 3, 2, 2] + [1] * 8)
    hits = 0
    for _ in range(1000):
        values = 0.8 * rng.standard_normal(13)[of] + 0.6 * rng.standard_normal(len(of))
        low, high = clustered_interval(values, of.tolist())
        hits += low <= 0 <= high
    # Students' interval that ignores the clusters covers 75 %.
    assert 0.90 <= hits / 1000 <= 0.96


def test_wrong_input_is_one_sentence() -> None:
    with pytest.raises(InputError, match="2 values have 1 clusters"):
        clustered_interval([1.0, 2.0], ["a"])
    with pytest.raises(InputError, match="between 0 and 1"):
        clustered_interval([1.0, 2.0], ["a", "b"], level=2)


def test_networks_of_one_source_are_a_family() -> None:
    assert family("p2p-Gnutella04") == family("p2p-Gnutella25") == "gnutella"
    assert family("Amherst41") == "facebook"
    assert family("polbooks") == "polbooks"
    assert count_families(["ca-GrQc", "netscience", "polbooks", "polblogs-rachith"]) == 3
