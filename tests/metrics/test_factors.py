"""Links that one factor alone speaks for, beside the algorithm written out."""

from __future__ import annotations

import numpy as np
import pytest

from trueedge.errors import InputError
from trueedge.metrics.factors import NONE, by_factor, dominant_factors


def written_out(cn, ppr, cosine, percentile):
    """Algorithm B.1, a link at a time."""
    bars = [np.percentile(scores, percentile) for scores in (cn, ppr, cosine)]
    answer = []
    for link in zip(cn, ppr, cosine, strict=True):
        above = [score >= bar for score, bar in zip(link, bars, strict=True)]
        answer.append(
            {(1, 0, 0): "cn", (0, 1, 0): "ppr", (0, 0, 1): "cosine"}.get(tuple(map(int, above)), NONE)
        )
    return answer


@pytest.mark.parametrize("percentile", [0, 50, 80, 90, 100])
def test_dominant_factors_are_those_of_the_algorithm(percentile):
    rng = np.random.default_rng(percentile)
    scores = {"cn": rng.poisson(2, 500), "ppr": rng.random(500), "cosine": rng.random(500).astype(np.float32)}
    found = dominant_factors(scores, percentile)
    expected = written_out(*(np.asarray(values, dtype=float) for values in scores.values()), percentile)
    assert found.tolist() == expected
    if percentile == 90:
        assert {"cn", "ppr", "cosine", NONE} == set(found.tolist())


def test_a_link_that_two_factors_speak_for_belongs_to_none():
    found = dominant_factors({"cn": [0, 0, 0, 9, 9], "ppr": [0, 0, 1, 0, 1]}, 60)
    assert found.tolist() == ["", "", "ppr", "cn", ""]


def test_where_the_percentile_is_the_lowest_score_the_factor_is_high_everywhere():
    found = dominant_factors({"cn": [0] * 19 + [1], "ppr": np.arange(20)}, 90)
    assert found.tolist() == ["cn"] * 18 + ["", ""]


def test_the_metric_of_each_factor_is_over_its_links_alone():
    factors = np.array(["cn", "", "cn", "ppr"])
    assert by_factor(factors, [1, 5, 4, 2]) == {"cn": (0.625, 2), "ppr": (0.5, 1), "": (0.2, 1)}
    assert list(by_factor(factors, [1, 5, 4, 2])) == ["cn", "ppr", ""]
    assert by_factor(factors, [1, 5, 4, 2], "mr")["cn"] == (2.5, 2)
    assert by_factor(factors, [1, 5, 4, 2], "hits@3") == {"cn": (0.5, 2), "ppr": (1.0, 1), "": (0.0, 1)}


@pytest.mark.parametrize(
    ("scores", "percentile", "words"),
    [
        ({}, 90, "at least"),
        ({"cn": [1.0, 2.0], "ppr": [1.0]}, 90, r"same links.*cn \(2,\), ppr \(1,\)"),
        ({"cn": [1.0, np.nan]}, 90, "cn scores"),
        ({"cn": [[1.0, 2.0]]}, 90, "same links"),
        ({"": [1.0]}, 90, "must not be empty"),
        ({"cn": [1.0]}, 101, "percentile"),
        ({"cn": [1.0]}, float("nan"), "percentile"),
        ({"cn": []}, 90, "cn scores"),
    ],
)
def test_wrong_scores_are_refused_with_a_word_on_them(scores, percentile, words):
    with pytest.raises(InputError, match=words):
        dominant_factors(scores, percentile)


def test_wrong_ranks_are_refused_with_a_word_on_them():
    with pytest.raises(InputError, match="ranks of shape"):
        by_factor(["cn"], [1, 2])
    with pytest.raises(InputError, match="1 or more, got 0"):
        by_factor(["cn"], [0])
    with pytest.raises(InputError, match="metric"):
        by_factor(["cn"], [1], "auc")
