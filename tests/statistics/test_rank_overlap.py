"""Rank-biased overlap against values computed by hand and a slow twin."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, permutations, product

import numpy as np
import pytest

from trueedge.errors import InputError
from trueedge.statistics.rank_overlap import rank_groups, rbo


def overlap_by_definition(first: list, second: list, p: float, depth: int = 4000) -> float:
    """Sum the definition to a great depth, with the agreement extrapolated as Webber et al. assume."""
    short, long = sorted((first, second), key=len)
    s, length = len(short), len(long)
    at_s, at_l = len(set(short) & set(long[:s])), len(set(short) & set(long))
    total = 0.0
    for d in range(1, depth + 1):
        seen = len(set(short[:d]) & set(long[:d]))
        if d <= s:
            agreement = seen / d
        elif d <= length:  # items of the short list we have not seen agree as often as those we have
            agreement = (seen + (d - s) * at_s / s) / d
        else:
            agreement = (at_l - at_s) / length + at_s / s
        total += (1 - p) * p ** (d - 1) * agreement
    return total


def orders(ranking: list) -> list[list]:
    """Every order that groups of tied items allow."""
    groups = [list(entry) if isinstance(entry, (list, set, frozenset)) else [entry] for entry in ranking]
    return [
        list(chain.from_iterable(choice)) for choice in product(*(permutations(group) for group in groups))
    ]


def mean_over_orders(first: list, second: list, p: float) -> float:
    values = [
        overlap_by_definition(one, other, p, depth=200) for one in orders(first) for other in orders(second)
    ]
    return float(np.mean(values))


def test_the_same_ranking_overlaps_with_itself_wholly():
    for p in (0.01, 0.5, 0.98):
        assert rbo(list("abcdefg"), list("abcdefg"), p) == pytest.approx(1.0, abs=1e-12)


def test_rankings_without_a_shared_item_do_not_overlap():
    assert rbo(list("abc"), list("xyz")) == 0.0


def test_swapping_the_first_two_of_three_costs_what_the_hand_computes():
    # Agreement 0, 1, 1, then 1 for ever: 1 - (1 - p).
    assert rbo(list("abc"), list("bac"), 0.5) == pytest.approx(0.5)
    assert rbo(list("abc"), list("bac"), 0.9) == pytest.approx(0.9)


def test_swapping_the_last_two_of_three_costs_half_the_weight_of_the_second_place():
    # Agreement 1, 1/2, 1, …: 1 - (1 - p) p / 2.
    assert rbo(list("abc"), list("acb"), 0.5) == pytest.approx(1 - 0.5 * 0.5 / 2)


def test_a_reversed_ranking_of_four_is_what_fractions_say():
    p = Fraction(1, 2)
    agreement = [Fraction(0), Fraction(0), Fraction(2, 3), Fraction(1)]
    value = sum((1 - p) * p**place * share for place, share in enumerate(agreement)) + p**4
    assert rbo(list("abcd"), list("dcba"), 0.5) == pytest.approx(float(value), abs=1e-15)


def test_a_prefix_overlaps_wholly_with_the_longer_ranking():
    # What was seen agrees at every depth, and is thought to go on so.
    assert rbo(list("ab"), list("abcde"), 0.7) == pytest.approx(1.0)


def test_uneven_lists_come_out_as_the_definition_summed_to_a_great_depth():
    rng = np.random.default_rng(0)
    for _ in range(200):
        first = rng.permutation(12)[: rng.integers(1, 13)].tolist()
        second = rng.permutation(12)[: rng.integers(1, 13)].tolist()
        p = float(rng.uniform(0.05, 0.97))
        assert rbo(first, second, p) == pytest.approx(overlap_by_definition(first, second, p), abs=1e-9)


def test_ties_come_out_as_the_mean_over_all_orders():
    rng = np.random.default_rng(1)
    for _ in range(60):
        rankings = []
        for _ in range(2):
            items = rng.permutation(7)[: rng.integers(1, 6)].tolist()
            cuts = sorted(rng.choice(range(1, len(items) + 1), size=min(len(items), 3), replace=False))
            pieces = [items[a:b] for a, b in zip([0, *cuts], [*cuts, len(items)], strict=True)]
            rankings.append([piece for piece in pieces if piece])
        p = float(rng.uniform(0.05, 0.9))
        assert rbo(*rankings, p) == pytest.approx(mean_over_orders(*rankings, p), abs=1e-8)


def test_two_items_tied_in_both_lists_overlap_by_three_quarters_at_one_half():
    # Depth 1 agrees in half of the orders: 1/2 · 1/2 + 1/2.
    assert rbo([["a", "b"]], [{"a", "b"}], 0.5) == pytest.approx(0.75)


def test_which_ranking_comes_first_does_not_matter():
    first, second = ["a", ["b", "c"], "d", "e"], [["e", "a"], "c", "f"]
    assert rbo(first, second, 0.8) == pytest.approx(rbo(second, first, 0.8), abs=1e-15)


def test_the_order_within_a_group_and_of_the_items_names_does_not_matter():
    first, second = [["b", "a", "c"], "d"], ["c", ["d", "b"], "a"]
    renamed = {"a": "z", "b": "y", "c": "x", "d": "w"}
    other = [
        [[renamed[i] for i in e] if isinstance(e, list) else renamed[e] for e in r] for r in (first, second)
    ]
    assert rbo(first, second) == rbo([["a", "c", "b"], "d"], ["c", ["b", "d"], "a"]) == rbo(*other)


def test_agreement_at_the_top_weighs_more_the_smaller_p_is():
    top = [rbo(list("abcdef"), list("abwxyz"), p) for p in (0.1, 0.5, 0.9)]
    assert top[0] > top[1] > top[2]
    bottom = [rbo(list("abcdef"), list("bacdef"), p) for p in (0.1, 0.5, 0.9)]
    assert bottom[0] < bottom[1] < bottom[2]


def test_a_long_list_is_walked_once(thorough):
    items = list(range(100_000 if thorough else 20_000))
    assert rbo(items, items, 0.99) == pytest.approx(1.0)
    assert rbo([items], items, 0.99) < 0.1


def test_tuples_and_numbers_are_items():
    assert rbo([(1, 2), (3, 4)], [(1, 2), (3, 4)]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("first", "second", "p", "says"),
    [
        ([], ["a"], 0.5, "first ranking is empty"),
        (["a"], [], 0.5, "second ranking is empty"),
        (["a", "a"], ["a"], 0.5, "'a' twice"),
        (["a", ["b", "a"]], ["a"], 0.5, "'a' twice"),
        (["a"], ["b", []], 0.5, "group 1 of the second ranking is empty"),
        ("ab", ["a"], 0.5, "a list of items"),
        ({"a", "b"}, ["a"], 0.5, "in order"),
        (3, ["a"], 0.5, "a list of items"),
        ([{}], ["a"], 0.5, "hashable"),
        ([float("nan")], ["a"], 0.5, "equal to itself"),
        (["a"], ["a"], 0, "between 0 and 1"),
        (["a"], ["a"], 1, "between 0 and 1"),
        (["a"], ["a"], float("nan"), "between 0 and 1"),
        (["a"], ["a"], "0.5", "between 0 and 1"),
        (["a"], ["a"], True, "between 0 and 1"),
    ],
)
def test_what_is_no_ranking_is_refused_with_a_sentence(first, second, p, says):
    with pytest.raises(InputError, match=says):
        rbo(first, second, p)


def test_scores_become_groups_best_first():
    scores = {"ra": 0.9, "pa": 0.5, "cn": 0.9, "lrw": 0.95}
    assert rank_groups(scores) == [["lrw"], ["cn", "ra"], ["pa"]]
    assert rank_groups(scores, higher_is_better=False) == [["pa"], ["cn", "ra"], ["lrw"]]
    assert rank_groups({}) == []


def test_infinite_scores_stand_at_the_ends_and_nan_is_refused():
    assert rank_groups({"a": 0.0, "b": np.inf, "c": -np.inf}) == [["b"], ["a"], ["c"]]
    with pytest.raises(InputError, match="'b' has no place"):
        rank_groups({"a": 0.0, "b": float("nan")})
