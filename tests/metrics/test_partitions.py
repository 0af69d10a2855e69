"""Partitions compared: against scikit-learn, and against the definition written out as random walks."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as outside

from trueedge import metrics
from trueedge.errors import InputError
from trueedge.metrics.partitions import (
    PartitionScores,
    adjusted_element_centric_similarity,
    adjusted_mutual_information,
    area_under_curve,
    element_centric_similarity,
    normalized_mutual_information,
)

ALL = (
    normalized_mutual_information,
    adjusted_mutual_information,
    element_centric_similarity,
    adjusted_element_centric_similarity,
)


def two_partitions(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    first = rng.integers(0, rng.integers(1, 9), n)
    noise = rng.integers(0, rng.integers(1, 9), n)
    return first, np.where(rng.random(n) < rng.random(), first, noise)


def walks(labels: np.ndarray, restart: float) -> np.ndarray:
    """Personalised PageRank of every element, where a step goes to any element of the same group."""
    together = (labels[:, None] == labels[None]).astype(float)
    step = together / together.sum(axis=1, keepdims=True)
    return restart * np.linalg.inv(np.eye(len(labels)) - (1 - restart) * step)


@pytest.mark.parametrize("restart", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("seed", range(8))
def test_element_centric_similarity_is_that_of_its_walks(seed: int, restart: float) -> None:
    first, second = two_partitions(seed)
    apart = np.abs(walks(first, restart) - walks(second, restart)).sum(axis=1) / (2 * (1 - restart))
    assert element_centric_similarity(first, second) == pytest.approx(np.mean(1 - apart))


def by_groups(first: np.ndarray, second: np.ndarray) -> float:
    """The chance-corrected form, a pair of groups at a time."""
    n, similarity, chance = len(first), 0.0, 0.0
    for a in set(first.tolist()):
        for b in set(second.tolist()):
            n_a, n_b = (first == a).sum(), (second == b).sum()
            n_ab = ((first == a) & (second == b)).sum()
            similarity += n_ab**2 / max(n_a, n_b) / n
            chance += (n_a * n_b / n) ** 2 / max(n_a, n_b) / n
    return 1.0 if similarity == 1 else (similarity - chance) / (1 - chance)


@pytest.mark.parametrize("seed", range(20))
def test_measures_are_those_of_scikit_learn_and_of_the_formula(seed: int) -> None:
    first, second = two_partitions(seed)
    assert normalized_mutual_information(first, second) == pytest.approx(
        outside.normalized_mutual_info_score(first, second), abs=1e-12
    )
    assert adjusted_mutual_information(first, second) == pytest.approx(
        outside.adjusted_mutual_info_score(first, second), abs=1e-9
    )
    assert adjusted_element_centric_similarity(first, second) == pytest.approx(by_groups(first, second))


def test_measures_hold_at_the_size_of_a_study() -> None:
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(16), rng.multinomial(3000 - 16 * 100, np.ones(16) / 16) + 100)
    found = np.where(rng.random(3000) < 0.6, truth, rng.integers(0, 16, 3000))
    assert normalized_mutual_information(truth, found) == pytest.approx(
        outside.normalized_mutual_info_score(truth, found)
    )
    assert adjusted_mutual_information(truth, found) == pytest.approx(
        outside.adjusted_mutual_info_score(truth, found)
    )
    assert adjusted_element_centric_similarity(truth, found) == pytest.approx(by_groups(truth, found))


@pytest.mark.parametrize("measure", ALL)
def test_names_and_order_of_groups_do_not_matter(measure) -> None:
    first, second = two_partitions(3)
    value = measure(first, second)
    order = np.random.default_rng(1).permutation(len(first))
    assert measure(first[order], second[order]) == pytest.approx(value)
    assert measure(second, first) == pytest.approx(value)
    assert measure(first * 7 - 100, [f"group {group}" for group in second]) == pytest.approx(value)
    assert measure(first.astype(float), second.astype(np.uint8)) == pytest.approx(value)


@pytest.mark.parametrize("measure", ALL)
def test_equal_partitions_are_one(measure) -> None:
    for labels in ([0, 0, 1, 1, 2], [5], [1, 1, 1], [1, 2, 3], ["a", "b", "a"]):
        assert measure(labels, labels) == pytest.approx(1.0)


def test_a_partition_of_one_group_says_nothing() -> None:
    halves, whole = [0, 0, 1, 1], [0, 0, 0, 0]
    assert normalized_mutual_information(halves, whole) == adjusted_mutual_information(halves, whole) == 0.0
    # All that one can share with the whole it does share, by chance as well.
    assert element_centric_similarity(halves, whole) == 0.5
    for chance in ("product", "permutations"):
        assert adjusted_element_centric_similarity(halves, whole, chance) == 0.0


@pytest.mark.parametrize("seed", range(3))
def test_shuffled_partitions_are_at_zero_by_the_exact_chance_and_above_by_the_product(
    seed: int, thorough: bool
) -> None:
    rng = np.random.default_rng(seed)
    first, second = two_partitions(seed + 100)
    shuffled = [(first, rng.permutation(second)) for _ in range(2000 if thorough else 400)]
    exact = np.array([adjusted_element_centric_similarity(*pair, chance="permutations") for pair in shuffled])
    usual = np.array([adjusted_element_centric_similarity(*pair) for pair in shuffled])
    assert abs(exact.mean()) < 4 * exact.std() / np.sqrt(len(exact)) + 1e-9
    assert (usual >= exact).all()
    mutual = np.array([adjusted_mutual_information(*pair) for pair in shuffled[: 300 if thorough else 100]])
    assert abs(mutual.mean()) < 4 * mutual.std() / np.sqrt(len(mutual)) + 1e-9


def test_the_exact_chance_of_two_halves_is_known() -> None:
    # Of 4 elements in two pairs: one shuffle of three keeps both pairs (similarity 1), two part them (1/2).
    same, parted = ([0, 0, 1, 1], [0, 0, 1, 1]), ([0, 0, 1, 1], [0, 1, 0, 1])
    assert element_centric_similarity(*parted) == 0.5
    assert adjusted_element_centric_similarity(*same, chance="permutations") == 1.0
    assert adjusted_element_centric_similarity(*parted, chance="permutations") == pytest.approx(-0.5)
    assert adjusted_element_centric_similarity(*parted) == pytest.approx(0.0)


def test_the_area_is_that_of_trapezoids() -> None:
    places = np.round(np.arange(0.1, 1.0, 0.1), 1)
    values = np.random.default_rng(0).random(9)
    assert area_under_curve(places, values) == pytest.approx(np.trapezoid(values, places))
    assert area_under_curve(places, values) == pytest.approx(outside.auc(places, values))
    assert area_under_curve([0, 1, 4], [1, 1, 1]) == 4
    assert area_under_curve([0.0, 2.0], [0.0, 1.0]) == 1.0


@pytest.mark.parametrize(
    ("places", "values", "said"),
    [
        ([], [], "an area needs at least two places, got 0"),
        ([0.1], [1.0], "an area needs at least two places, got 1"),
        ([0.1, 0.2], [1.0], r"places of shape \(2,\), but values of shape \(1,\)"),
        ([0.1, 0.1], [1.0, 2.0], "places must rise, but 0.1 follows 0.1"),
        ([0.2, 0.1], [1.0, 2.0], "places must rise, but 0.1 follows 0.2"),
        ([0.1, np.nan], [1.0, 2.0], "1 of 2 places is NaN"),
        ([0.1, 0.2], [1.0, np.inf], "1 of 2 values is infinite"),
    ],
)
def test_a_curve_that_is_none_is_refused(places: list, values: list, said: str) -> None:
    with pytest.raises(InputError, match=said):
        area_under_curve(places, values)


@pytest.mark.parametrize("measure", ALL)
@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ([], [], r"first partition must give one group to each of n elements, got shape \(0,\)"),
        ([0, 1], [0], "first partition has 2 elements, the second 1"),
        ([[0, 1]], [0, 1], r"got shape \(1, 2\)"),
        ([0, 1], [0, np.nan], "second partition must hold whole numbers or strings, got a fraction, NaN"),
        ([0, 0.5], [0, 1], "first partition must hold whole numbers"),
        ([0, None], [0, 1], "first partition must hold whole numbers or strings, got values of type object"),
        (np.ma.array([0, 1], mask=[0, 1]), [0, 1], "first partition"),
    ],
)
def test_what_is_no_partition_is_refused(measure, first, second, said: str) -> None:
    with pytest.raises(InputError, match=said):
        measure(first, second)


def test_an_unknown_chance_is_refused() -> None:
    with pytest.raises(InputError, match="chance must be 'product' or 'permutations', got 'luck'"):
        adjusted_element_centric_similarity([0, 1], [0, 1], chance="luck")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["element-centric", "element-centric-directions"])
def test_the_value_of_each_node_has_the_metric_as_its_mean(name: str) -> None:
    rng = np.random.default_rng(3)
    scores = PartitionScores(*(rng.integers(0, groups, 60) for groups in (4, 5, 3)))
    metric = metrics.get(name)
    values = metric.per_unit(scores)
    assert values.shape == (60,)
    assert values.mean() == pytest.approx(metric.value(scores), abs=1e-12)
    same = PartitionScores(scores.communities, scores.communities, scores.communities)
    assert (metric.per_unit(same) == 1.0).all()


def test_partitions_become_arrays_and_come_back() -> None:
    rng = np.random.default_rng(3)
    scores = PartitionScores(*(rng.integers(0, groups, 60) for groups in (4, 5, 3)))
    again = PartitionScores.from_arrays(scores.arrays())
    assert again.hash == scores.hash
    with pytest.raises(InputError, match="no array 'directions'"):
        PartitionScores.from_arrays({"communities": scores.communities, "clusters": scores.clusters})
