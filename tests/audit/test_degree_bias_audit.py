"""Degree bias: the laws against outside references, and verdicts on biased and corrected negatives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted import benchmark, run

import trueedge as te
from trueedge.audit import Skipped
from trueedge.errors import InputError
from trueedge.methods.classifiers.coefficients import coefficients
from trueedge.metrics.degree_groups import entropy, in_upper_half, weighted_wins
from trueedge.statistics.degree_laws import expected_auc, fit_power_law, lognormal_sigma, power_law_bound

BIASED = "power-law-configuration:nodes=3000,exponent=2.1"
CITATIONS = "price:nodes=3000,edges=9000,exponent=2.2"
CHECKS = ("degree-auc", "degree-groups", "degree-weight")


@pytest.fixture(scope="module")
def uniform():
    return te.task(BIASED, "uniform")


@pytest.mark.parametrize("check", CHECKS)
def test_uniform_negatives_of_a_heavy_tailed_graph_are_biased_and_corrected_ones_pass(check, uniform) -> None:
    assert run(check, uniform).verdict in ("look", "broken")
    assert run(check, te.task(CITATIONS, "degree-corrected")).verdict == "ok"


@pytest.mark.parametrize("check", [*CHECKS, "degree-spread", "power-law"])
def test_where_all_nodes_are_alike_there_is_no_degree_bias(check: str) -> None:
    assert run(check, benchmark()).verdict == "ok"


def test_heavy_tails_are_worth_a_look(uniform) -> None:
    star = np.array([[0, i] for i in range(1, 300)] + [[i, i + 1] for i in range(300, 398)])
    assert run("degree-spread", benchmark(train=star)).verdict == "look"
    assert run("power-law", uniform).verdict == "look"
    assert run("power-law", uniform).numbers["tail"] > 0.5


def test_sigma_is_that_of_log_normal_degrees() -> None:
    rng = np.random.default_rng(0)
    for sigma in (0.4, 0.9):
        degrees = np.rint(rng.lognormal(6.0, sigma, size=200_000)).astype(np.int64)
        assert lognormal_sigma(degrees) == pytest.approx(sigma, abs=0.02)


def test_sigma_has_the_moments_of_scipys_log_normal() -> None:
    from scipy.stats import lognorm

    degrees = np.array([1, 1, 2, 3, 5, 8, 13, 40])
    sigma = lognormal_sigma(np.append(degrees, [0, 0]))
    scale = degrees.mean() / np.exp(sigma**2 / 2)
    assert lognorm.mean(sigma, scale=scale) == pytest.approx(degrees.mean())
    assert lognorm.var(sigma, scale=scale) == pytest.approx(degrees.var())


def test_sigma_of_equal_degrees_is_zero_and_of_none_is_an_error() -> None:
    assert lognormal_sigma(np.array([4, 4, 4])) == 0
    with pytest.raises(InputError, match="no degree above 0"):
        lognormal_sigma(np.array([0, 0]))


@pytest.mark.parametrize("triplets", [False, True])
def test_the_law_is_the_auc_of_drawn_log_normal_degrees(triplets: bool) -> None:
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(1)
    degrees = rng.lognormal(1.0, 0.8, size=400_000)
    by_degree = rng.choice(degrees, size=(3, 100_000), p=degrees / degrees.sum())
    drawn = rng.choice(degrees, size=(2, 100_000))
    positive = by_degree[0] * by_degree[1]
    negative = drawn[0] * (by_degree[2] if triplets else drawn[1])
    measured = roc_auc_score(np.repeat([1, 0], 100_000), np.concatenate([positive, negative]))
    assert expected_auc(0.8, triplets=triplets) == pytest.approx(measured, abs=0.005)


def test_the_exponent_of_a_power_law_is_found() -> None:
    degrees = np.random.default_rng(0).zipf(2.5, size=50_000)
    law = fit_power_law(degrees)
    assert law is not None
    assert law.alpha == pytest.approx(2.5, abs=0.1)
    assert law.distance < 0.02


def test_the_exponent_has_the_greatest_likelihood() -> None:
    from scipy.special import zeta

    degrees = np.random.default_rng(3).zipf(2.2, size=3000)
    law = fit_power_law(degrees)
    assert law is not None
    tail = degrees[degrees >= law.start]

    def likelihood(alpha: float) -> float:
        return -alpha * np.log(tail).sum() - len(tail) * np.log(zeta(alpha, law.start))

    assert all(likelihood(law.alpha) >= likelihood(law.alpha + step) for step in (-0.01, 0.01))
    assert law.tail == len(tail) / 3000


def test_degrees_of_few_kinds_have_no_power_law() -> None:
    assert fit_power_law(np.array([1, 2, 3, 3])) is None
    assert fit_power_law(np.array([], dtype=np.int64)) is None
    ring = np.array([[i, (i + 1) % 400] for i in range(400)])
    task = benchmark(train=ring, valid=[[0, 2]], test=[[5, 8]])
    assert isinstance(run("power-law", task), Skipped)


@pytest.mark.parametrize(("alpha", "start"), [(2.5, 1), (3.0, 3), (4.0, 10)])
def test_the_bound_is_the_sum_of_equation_24(alpha: float, start: int) -> None:
    degrees = np.arange(start, 2_000_000, dtype=float)
    uniform, positive = degrees**-alpha, degrees ** (1 - alpha)
    at_least = np.cumsum((positive / positive.sum())[::-1])[::-1]
    slow = float((uniform / uniform.sum()) @ at_least) ** 2
    assert power_law_bound(alpha, start, ties_won=True) == pytest.approx(slow, abs=2e-3)
    tied = float((uniform / uniform.sum()) @ (positive / positive.sum()))
    assert power_law_bound(alpha, start) == pytest.approx(slow - tied**2 / 2, abs=2e-3)


@pytest.mark.parametrize("alpha", [2.3, 3.0, 6.0])
def test_the_bound_is_below_the_auc_of_drawn_degrees(alpha: float) -> None:
    rng = np.random.default_rng(0)
    degrees = np.arange(1, 200_000)
    chances = [degrees ** -float(power) for power in (alpha - 1, alpha)]
    drawn = [rng.choice(degrees, size=(2, 20_000), p=p / p.sum()).prod(axis=0) for p in chances]
    assert power_law_bound(alpha) <= te.metrics.evaluate(*drawn, ["auc"])["auc"] + 0.01


def test_the_bound_rises_to_one_as_the_exponent_falls_to_two() -> None:
    bounds = [power_law_bound(alpha) for alpha in (3.5, 2.5, 2.1, 2.01, 2.0001)]
    assert bounds == sorted(bounds)
    assert bounds[-1] > 0.999
    assert power_law_bound(12.0) == pytest.approx(0.5, abs=0.01)
    assert power_law_bound(1.7) == 1


numbers = st.lists(st.integers(0, 6), min_size=1, max_size=30).map(lambda values: np.array(values, float))


@given(numbers, numbers)
def test_the_upper_half_is_a_half(first: np.ndarray, second: np.ndarray) -> None:
    upper = in_upper_half(first, second)
    assert (upper[0].mean() + upper[1].mean()) / 2 == pytest.approx(0.5)
    joined = np.concatenate([first, second])
    shares = np.concatenate(upper)
    order = np.argsort(joined, kind="stable")
    assert (np.diff(shares[order]) >= -1e-12).all()


@given(numbers, numbers)
def test_the_groups_add_up_to_the_auc(first: np.ndarray, second: np.ndarray) -> None:
    from sklearn.metrics import roc_auc_score

    upper = in_upper_half(first, second)
    total = sum(
        weighted_wins(first, second, p / len(first), q / len(second))
        for p in (upper[0], 1 - upper[0])
        for q in (upper[1], 1 - upper[1])
    )
    labels = np.repeat([1, 0], [len(first), len(second)])
    assert total == pytest.approx(roc_auc_score(labels, np.concatenate([first, second])))


def test_entropy_is_one_for_equal_shares_and_zero_for_one() -> None:
    assert entropy(np.full(4, 0.25)) == pytest.approx(1)
    assert entropy(np.array([0, 1.0, 0, 0])) == 0


def test_groups_of_a_heavy_tailed_graph_are_uneven(uniform) -> None:
    found = run("degree-groups", uniform)
    assert found.numbers["entropy"] < 0.9
    assert found.series["share of comparisons"].sum() == pytest.approx(1)
    assert found.numbers["of degree product's AUC"] == pytest.approx(run("degree-auc", uniform).number)


def test_coefficients_are_those_of_scikit_learn() -> None:
    from sklearn.linear_model import LinearRegression, LogisticRegression

    rng = np.random.default_rng(0)
    rows = np.abs(rng.normal(size=(600, 5))) * [1, 0.1, 3, 1e-4, 50]
    labels = (rows[:, 0] + rows[:, 4] / 50 + rng.normal(size=600) > 1.5).astype(float)
    freed = rows.copy()
    for column in range(4):
        line = LinearRegression().fit(rows[:, 4:], rows[:, column])
        freed[:, column] -= line.predict(rows[:, 4:])
    freed /= np.linalg.norm(freed, axis=0)
    wanted = LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000).fit(freed, labels).coef_[0]
    np.testing.assert_allclose(coefficients(rows, labels)[0], wanted, atol=1e-5)


def test_numbers_that_degree_explains_wholly_get_no_weight() -> None:
    rows = np.column_stack([np.arange(20.0) * 2 + 1, np.zeros(20), np.arange(20.0)])
    weights = coefficients(rows, np.repeat([0.0, 1.0], 10))[0]
    assert weights[0] == weights[1] == 0
    assert weights[2] > 0
