"""The points of a search, and the order they are asked for in."""

from __future__ import annotations

import sys

import pytest

from trueedge.errors import InputError
from trueedge.methods import create
from trueedge.search.space import Space
from trueedge.search.strategies import Grid, Strategy, Tpe, strategy

KATZ = {"beta": [0.001, 0.01, 0.1], "max_length": [2, 3]}


@pytest.fixture
def space() -> Space:
    return Space.of(create("katz"), KATZ)


def test_a_space_is_every_choice_of_values_and_numbers_are_points(space: Space) -> None:
    assert len(space) == 6
    points = [space.point(number) for number in range(6)]
    assert points[0] == {"beta": 0.001, "max_length": 2}
    assert points[1] == {"beta": 0.001, "max_length": 3}
    assert [space.number(point) for point in points] == list(range(6))
    assert space.at(points[5]) == create("katz", {"beta": 0.1, "max_length": 3})


def test_the_space_of_a_method_is_its_own_less_what_was_set() -> None:
    gcn = Space.of(create("gcn"))
    assert len(gcn) == 2 * 3 * 3 * 3 * 3 * 2
    fixed = Space.of(create("gcn", {"layers": 2, "dim": 64}), {"dropout": [0.0]})
    assert "layers" not in fixed.values
    assert "dim" not in fixed.values
    assert fixed.values["dropout"] == (0.0,)
    assert fixed.at(fixed.point(0)).settings()["layers"] == 2


@pytest.mark.parametrize(
    ("method", "values", "sentence"),
    [
        ("cn", None, "cn has no setting to search"),
        ("katz", {"beat": [0.1]}, "did you mean 'beta'"),
        ("katz", {"beta": []}, "beta must be a list of values"),
        ("katz", {"beta": "0.1"}, "beta must be a list of values"),
        ("katz", {"beta": [0.1, -1.0]}, "beta must be"),
        ("katz", {"max_length": [2, "three"]}, "max_length must be"),
    ],
)
def test_a_space_that_cannot_be_is_one_sentence(method: str, values: dict, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Space.of(create(method), values)


def asked(one: Strategy, space: Space, trials: int) -> list[int]:
    """All points of a search whose best point is number 4."""
    found: list[int] = []
    while len(found) < trials:
        numbers = one.ask(min(one.together, trials - len(found)))
        found += numbers
        one.tell(numbers, [None if number == 1 else -abs(number - 4.0) for number in numbers])
    return found


@pytest.mark.parametrize("name", ["grid", "tpe"])
@pytest.mark.parametrize("trials", [1, 4, 6])
def test_no_point_is_asked_for_twice_and_the_same_seed_asks_for_the_same(name, trials, space) -> None:
    if name == "tpe":
        pytest.importorskip("optuna")
    found = [asked(strategy(name, space, seed, trials), space, trials) for seed in (3, 3)]
    assert found[0] == found[1]
    assert len(set(found[0])) == trials
    assert trials < 6 or set(found[0]) == set(range(6))


def test_a_grid_with_more_points_than_trials_is_drawn_from_by_the_seed() -> None:
    space = Space.of(create("gcn"))
    first, second = (Grid(space, seed, 10).ask(10) for seed in (0, 1))
    assert first != second
    assert Grid(space, 0, len(space)).ask(len(space)) == list(range(len(space)))


def test_tpe_goes_where_it_went_well() -> None:
    pytest.importorskip("optuna")
    values = {"beta": [k / 1000 for k in range(1, 31)], "max_length": [2, 3, 4, 5, 6]}
    space = Space.of(create("katz"), values)
    search = Tpe(space, 0, 40)
    found: list[bool] = []
    while len(found) < 40:
        numbers = search.ask(4)
        good = [space.point(number)["max_length"] == 3 for number in numbers]
        search.tell(numbers, [float(one) for one in good])
        found += good
    # A fifth of all points is good; at random there would be eight.
    assert sum(found) >= 14


def test_without_optuna_one_sentence_says_what_to_install(space, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(InputError, match=r"pip install -e '.\[search\]' -c constraints.txt") as caught:
        strategy("tpe", space, 0, 5)
    assert "\n" not in str(caught.value)


def test_a_search_nobody_knows_is_named(space) -> None:
    with pytest.raises(InputError, match="no search is called 'gird'; did you mean 'grid'"):
        strategy("gird", space, 0, 5)


def test_settings_that_make_no_difference_are_searched_only_if_they_are_chosen() -> None:
    gcn = create("gcn-hetero")
    assert "decoder" in Space.of(gcn, unused=gcn.unused("typed-links")).values
    assert "decoder" not in Space.of(gcn, unused=gcn.unused("nodes")).values
    assert Space.of(gcn, {"decoder": ["dot"]}, gcn.unused("nodes")).values["decoder"] == ("dot",)
