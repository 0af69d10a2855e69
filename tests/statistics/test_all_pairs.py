"""All pairs at once give the numbers of single pairs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from trueedge.errors import InputError
from trueedge.statistics.all_pairs import MOST_LETTERED, all_pairs, neighbour_groups
from trueedge.statistics.significance import Sample, difference, difference_over_tasks
from trueedge.statistics.tie_groups import holm


def samples(seeds, units=40, methods=6, spread=0.1):
    rng = np.random.default_rng(3)
    shared = rng.random(units)
    found = []
    for place in range(methods):
        count = seeds[place % len(seeds)]
        rows = shared + 0.05 * place + spread * rng.normal(size=(count, units))
        found.append(Sample.of(rows + 0.02 * rng.normal(size=(count, 1))))
    return found


@pytest.mark.parametrize("seeds", [[1], [3], [1, 4], [2, 2, 5]])
def test_pairs_of_one_task_are_those_of_difference(seeds):
    given = samples(seeds)
    found = all_pairs([[one] for one in given])
    for i, first in enumerate(given):
        for j, second in enumerate(given):
            if i == j:
                continue
            one = difference(first, second)
            assert found.std_error[i, j] == pytest.approx(one.std_error, rel=1e-9)
            assert found.df[i, j] == pytest.approx(one.df, rel=1e-9)
            assert found.tail_df[i, j] == pytest.approx(one.tail_df, rel=1e-9)
            assert found.p[i, j] == pytest.approx(one.p, rel=1e-7)
            assert found.ends(i, j) == pytest.approx((one.low, one.high))


def test_pairs_of_several_tasks_are_those_of_difference_over_tasks():
    tasks = [samples([1], units=30 + 5 * place, spread=0.2) for place in range(4)]
    given = [list(one) for one in zip(*tasks, strict=True)]
    found = all_pairs(given)
    for i in range(5):
        one = difference_over_tasks(zip(given[i], given[i + 1], strict=True))
        assert found.std_error[i, i + 1] == pytest.approx(one.std_error)
        assert found.p[i, i + 1] == pytest.approx(one.p)
        assert found.ends(i, i + 1) == pytest.approx((one.low, one.high))


@pytest.mark.parametrize("splits", [2, 5])
@pytest.mark.parametrize("spread", [0.0, 0.01, 0.2])
def test_pairs_on_splits_with_one_test_part_are_those_of_difference(splits: int, spread: float) -> None:
    rng = np.random.default_rng(4)
    shared, effects = rng.random(60), spread * rng.normal(size=splits)
    given = []
    for place in range(5):
        # Some methods are fitted twice on each split.
        rows = {
            str(split): [
                shared + effect + 0.02 * place + 0.05 * rng.normal(size=60) for _ in range(1 + place % 2)
            ]
            for split, effect in enumerate(effects)
        }
        given.append(Sample.of_splits(rows))
    found = all_pairs([[one] for one in given])
    for i, j in combinations(range(5), 2):
        one = difference(given[i], given[j])
        assert found.means[i] - found.means[j] == pytest.approx(one.value)
        assert found.std_error[i, j] == pytest.approx(one.std_error, rel=1e-9)
        assert found.df[i, j] == pytest.approx(one.df, rel=1e-9)
        assert found.tail_df[i, j] == pytest.approx(one.tail_df, rel=1e-9)
        assert found.p[i, j] == pytest.approx(one.p, rel=1e-7)
        assert found.ends(j, i) == pytest.approx((-one.high, -one.low))


def test_the_same_values_do_not_differ_and_a_constant_gap_is_judged_by_signs():
    row = np.random.default_rng(0).random(50)
    found = all_pairs([[Sample.of([row])], [Sample.of([row])], [Sample.of([np.round(row, 2) + 0.5])]])
    assert found.p[0, 1] == 1.0
    shifted = all_pairs([[Sample.of([np.arange(8) / 8.0])], [Sample.of([np.arange(8) / 8.0 + 0.25])]])
    assert shifted.p[0, 1] == difference(np.arange(8) / 8.0 + 0.25, np.arange(8) / 8.0).p == 2.0**-7


def test_places_and_letters_agree_with_the_pairs():
    rng = np.random.default_rng(1)
    shared = rng.random(400)
    given = [[Sample.of([shared + shift + 0.01 * rng.normal(size=400)])] for shift in (0.3, 0.3, 0.1, 0.0)]
    found = all_pairs(given)
    assert found.places().tolist() == [[1, 2], [1, 2], [3, 3], [4, 4]]
    assert found.places(higher_is_better=False).tolist() == [[3, 4], [3, 4], [2, 2], [1, 1]]
    order = np.argsort(-found.means).tolist()
    assert found.letters(order) == [("a",), ("a",), ("b",), ("c",)]


@pytest.mark.parametrize("seeds", [[1], [3], [1, 4]])
def test_some_of_the_methods_are_compared_as_if_the_others_were_not_there(seeds):
    given = [[one] for one in samples(seeds)]
    found, alone = all_pairs(given), all_pairs([given[k] for k in (1, 2, 4)])
    among = found.among([1, 2, 4])
    for name in ("means", "std_error", "df", "tail_df", "p_holm"):
        assert np.allclose(getattr(among, name), getattr(alone, name), rtol=1e-9)
    assert found.p_holm[1, 4] > among.p_holm[0, 2]
    assert found.p_of(1, 4) == pytest.approx(found.p[1, 4], rel=1e-12)
    assert found.among(range(6)) is found


def test_groups_of_many_methods_never_hold_two_that_differ():
    rng = np.random.default_rng(2)
    count = MOST_LETTERED + 40
    shared = rng.random(100)
    given = [[Sample.of([shared - 0.02 * k + 0.05 * rng.normal(size=100)])] for k in range(count)]
    found = all_pairs(given)
    order = np.argsort(-found.means, kind="stable")
    marks = found.letters(order.tolist())
    distinct = (found.p_holm < 0.05)[np.ix_(order, order)]
    assert all(marks)
    for i in range(count):
        for j in range(i + 1, count):
            assert not (distinct[i, j] and set(marks[i]) & set(marks[j]))
    groups = neighbour_groups(distinct)
    assert sorted({one for group in groups for one in group}) == list(range(count))


def test_methods_of_other_tasks_or_units_are_refused():
    with pytest.raises(InputError, match="same tasks"):
        all_pairs([[Sample.of([[1.0, 2.0]])], []])
    with pytest.raises(InputError, match="same edges"):
        all_pairs([[Sample.of([[1.0, 2.0]])], [Sample.of([[1.0, 2.0, 3.0]])]])


@pytest.mark.parametrize("spread", [0.0, 0.3, 3.0])
def test_corrected_p_values_of_many_pairs_are_those_of_all_p_values(spread: float) -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(size=(60, 40)) + spread * rng.normal(size=(60, 1))
    found = all_pairs([[Sample.of([one])] for one in values])
    rows = np.triu_indices(60, 1)
    assert np.array_equal(found.p_holm[rows], holm(found.p[rows]))
    assert np.array_equal(found.p_holm, found.p_holm.T)
    # Some of them are not computed, unless none is left at 1.
    gaps = np.abs(found.means[rows[0]] - found.means[rows[1]])
    small = found._small(gaps, found._spread(rows))
    assert small is not None
    assert small.sum() < len(small)
