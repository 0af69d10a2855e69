"""One template for every metric of the catalogue; a metric without a case here fails the build."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trueedge.metrics as tm
from trueedge.metrics.ranked import RankSizes
from trueedge.metrics.recommended import RecommendedScores

# Metrics of partitions, classes and heads have tests of their own: test_partitions.py, test_class_metrics.py,
# test_by_head_metrics.py. The calibration error does not depend on the order of scores alone, see
# test_ranked_metrics.py.
# Metrics of recommended lists alone look at the candidates, see test_recommended.py.
OTHERS = {"partitions", "classes", "by-head"}
CATALOGUE = [
    metric
    for metric in tm.catalogue()
    if not OTHERS & set(metric.layouts)
    and metric.layouts != ("recommended",)
    and not metric.pattern.startswith("ece")
]


@dataclass(frozen=True)
class Case:
    """What the template needs to know of a metric.

    Attributes:
        name: the metric with a K that fits 6 positives and 8 negatives.
        constant: by layout, the honest value of a scorer that gives all pairs one score, worked out by hand
            for 6 positives and 8 negatives, or for the lists of ``LISTS``.
        twin: the metric as a plain loop: (positives, their negatives) or (scores, relevant) of one query.
        averages_ties: the metric is the mean over all orders of ties; the twin is asked for each order.
    """

    name: str
    constant: dict[str, float]
    twin: Callable[..., float]
    averages_ties: bool = False


# Candidates and relevant ones of three queries.
LISTS = ((5, 1), (8, 3), (6, 6))


def mean_rank(positive, negatives):
    return 1 + 0.5 * sum(n > positive for n in negatives) + 0.5 * sum(n >= positive for n in negatives)


def optimistic(positive, negatives):
    return 1 + sum(n > positive for n in negatives)


def pessimistic(positive, negatives):
    return 1 + sum(n >= positive for n in negatives)


def mean_of(value, rank):
    return lambda positives, rows: np.mean(
        [value(rank(p, row)) for p, row in zip(positives, rows, strict=True)]
    )


def hits_twin(positives, rows):
    """In the shared layout all rows are one and the same object."""
    if len(rows) > 1 and rows[0] is rows[1]:
        return np.mean([p > sorted(rows[0])[-3] for p in positives])
    return np.mean([mean_rank(p, row) <= 3 for p, row in zip(positives, rows, strict=True)])


RANDOM_MRR = np.mean([1 / place for place in range(1, 10)])


def adjusted_twin(positives, rows):
    mrr = np.mean([1 / mean_rank(p, row) for p, row in zip(positives, rows, strict=True)])
    return (mrr - RANDOM_MRR) / (1 - RANDOM_MRR)


def sampled_chance(share):
    return (1 - share) ** 49 + 49 * share * (1 - share) ** 48 + 49 * 24 * share**2 * (1 - share) ** 47


def auc_twin(positives, rows):
    return np.mean(
        [[1.0 * (p > n) + 0.5 * (p == n) for n in row] for p, row in zip(positives, rows, strict=True)]
    )


def ap_twin(positives, rows):
    total, recall_before = 0.0, 0.0
    for threshold in sorted({*positives, *rows[0]}, reverse=True):
        found = sum(p >= threshold for p in positives)
        wrong = sum(n >= threshold for n in rows[0])
        total += (found / len(positives) - recall_before) * found / (found + wrong)
        recall_before = found / len(positives)
    return total


def precision_twin(positives, rows):
    ordered = sorted([(p, 1) for p in positives] + [(n, 0) for n in rows[0]], reverse=True)
    return np.mean([label for _, label in ordered[:4]])


def in_order(scores, relevant):
    return [r for _, r in sorted(zip(scores, relevant, strict=True), reverse=True)]


def ndcg_twin(scores, relevant):
    gains = [1 / np.log2(place + 1) for place in range(1, 4)]
    best = sum(g for g, _ in zip(gains, range(sum(relevant)), strict=False))
    return sum(g * r for g, r in zip(gains, in_order(scores, relevant), strict=False)) / best


def recall_twin(scores, relevant):
    return sum(in_order(scores, relevant)[:3]) / sum(relevant)


def vcmpr_twin(scores, relevant):
    found = sum(in_order(scores, relevant)[:3])
    return max(found / 3, found / sum(relevant))


def hitrate_twin(scores, relevant):
    return float(any(in_order(scores, relevant)[:3]))


def list_mrr_twin(scores, relevant):
    return 1 / (1 + in_order(scores, relevant).index(True))


def first_of_three_twin(scores, relevant):
    found = in_order(scores, relevant)[:3]
    return 1 / (1 + found.index(True)) if any(found) else 0.0


def list_precision_twin(scores, relevant):
    return sum(in_order(scores, relevant)[:3]) / 3


def everywhere(value):
    return dict.fromkeys(("shared", "per-positive", "ranks"), value)


def in_lists(value):
    return dict.fromkeys(("lists", "recommended"), value)


DISCOUNTS = 1 + 1 / np.log2(3) + 1 / 2
CASES = {
    "mrr": Case("mrr", everywhere(1 / 5), mean_of(lambda r: 1 / r, mean_rank)),
    "mrr.optimistic": Case(
        "mrr.optimistic",
        everywhere(1.0),
        mean_of(lambda r: 1 / r, optimistic),
    ),
    "mrr.pessimistic": Case(
        "mrr.pessimistic",
        everywhere(1 / 9),
        mean_of(lambda r: 1 / r, pessimistic),
    ),
    "mr": Case("mr", everywhere(5.0), mean_of(lambda r: r, mean_rank)),
    "hits@K": Case("hits@3", everywhere(0.0), hits_twin),
    "rank-hits@K": Case(
        "rank-hits@5",
        everywhere(1.0),
        mean_of(lambda r: r <= 5, mean_rank),
    ),
    "hits@K.optimistic": Case(
        "hits@3.optimistic",
        everywhere(1.0),
        mean_of(lambda r: r <= 3, optimistic),
    ),
    "hits@K.pessimistic": Case(
        "hits@3.pessimistic",
        everywhere(0.0),
        mean_of(lambda r: r <= 3, pessimistic),
    ),
    "adjusted-mrr": Case("adjusted-mrr", {"ranks": (1 / 5 - RANDOM_MRR) / (1 - RANDOM_MRR)}, adjusted_twin),
    "amri": Case("amri", {"ranks": 0.0}, mean_of(lambda r: 1 - (r - 1) / 4, mean_rank)),
    # Half of 49 candidates are above, each with an even chance.
    "sampled-hits@K": Case(
        "sampled-hits@3",
        {"ranks": (1 + 49 + 49 * 48 / 2) / 2**49},
        mean_of(lambda r: sampled_chance((r - 1) / 8), mean_rank),
    ),
    "auc": Case("auc", {"shared": 0.5, "per-positive": 0.5}, auc_twin),
    "ap": Case("ap", {"shared": 6 / 14}, ap_twin),
    "precision@K": Case("precision@4", {"shared": 6 / 14}, precision_twin, averages_ties=True),
    "ndcg@K": Case("ndcg@3", in_lists(np.mean([DISCOUNTS / 5, 3 / 8, 1.0])), ndcg_twin, averages_ties=True),
    "recall@K": Case("recall@3", in_lists(np.mean([3 / 5, 3 / 8, 3 / 6])), recall_twin, averages_ties=True),
    "vcmpr@K": Case("vcmpr@3", in_lists(np.mean([3 / 5, 3 / 8, 1.0])), vcmpr_twin, averages_ties=True),
    # None of 3 relevant among the first 3 of 8: (5 · 4 · 3) / (8 · 7 · 6).
    "hitrate@K": Case(
        "hitrate@3", in_lists(np.mean([3 / 5, 1 - 60 / 336, 1.0])), hitrate_twin, averages_ties=True
    ),
    # The first of 3 among 8 stands at place x with chance C(8 - x, 2) / C(8, 3).
    "list-mrr": Case(
        "list-mrr",
        in_lists(
            np.mean(
                [
                    np.mean([1 / x for x in range(1, 6)]),
                    sum((8 - x) * (7 - x) / 2 / 56 / x for x in range(1, 7)),
                    1.0,
                ]
            )
        ),
        list_mrr_twin,
        averages_ties=True,
    ),
    "list-mrr@K": Case(
        "list-mrr@3",
        in_lists(
            np.mean(
                [
                    (1 + 1 / 2 + 1 / 3) / 5,
                    sum((8 - x) * (7 - x) / 2 / 56 / x for x in range(1, 4)),
                    1.0,
                ]
            )
        ),
        first_of_three_twin,
        averages_ties=True,
    ),
    "list-precision@K": Case(
        "list-precision@3", in_lists(np.mean([1 / 5, 3 / 8, 1.0])), list_precision_twin, averages_ties=True
    ),
}
EVERY = [
    pytest.param(metric, layout, id=f"{metric.pattern} {layout}")
    for metric in CATALOGUE
    for layout in metric.layouts
]
every_metric = pytest.mark.parametrize(("metric", "layout"), EVERY)


def test_every_metric_has_a_case():
    assert set(CASES) == {metric.pattern for metric in CATALOGUE}
    for metric in CATALOGUE:
        assert set(CASES[metric.pattern].constant) == set(metric.layouts)
        assert tm.get(CASES[metric.pattern].name).pattern == metric.pattern


@dataclass
class Scores:
    """Scores of one layout: what is right, and the rest."""

    layout: str
    right: list[np.ndarray]
    wrong: list[np.ndarray]

    def judge(self, name: str) -> float:
        if self.layout == "shared":
            value = tm.evaluate(self.right[0], self.wrong[0], [name])[name]
        elif self.layout == "per-positive":
            value = tm.evaluate(np.concatenate(self.right), np.stack(self.wrong), [name])[name]
        elif self.layout == "ranks":
            right, wrong = np.concatenate(self.right), np.stack(self.wrong)
            above, tied = (wrong > right[:, None]).sum(1), (wrong == right[:, None]).sum(1)
            ranked = tm.RankedScores(above, tied, np.full(6, 8), right.astype(np.float64), np.zeros(6, int))
            value = tm.get(name).value(ranked)
        else:
            lists = [np.concatenate(both) for both in zip(self.right, self.wrong, strict=True)]
            marks = [np.arange(len(a) + len(b)) < len(a) for a, b in zip(self.right, self.wrong, strict=True)]
            indptr = np.cumsum([0, *map(len, lists)])
            if self.layout == "recommended":
                found = tm.ListScores.check(indptr, np.concatenate(lists), np.concatenate(marks))
                return tm.get(name).value(recommended(found))
            value = tm.evaluate_lists(indptr, np.concatenate(lists), np.concatenate(marks), [name])[name]
        assert type(value) is float
        return value

    def map(self, change: Callable[[np.ndarray], np.ndarray]) -> Scores:
        return Scores(self.layout, [change(a) for a in self.right], [change(a) for a in self.wrong])


def recommended(ranks: tm.ListScores) -> RecommendedScores:
    """The same ranks with candidates that no metric of lists looks at."""
    fields = {name: getattr(ranks, name) for name in ("sizes", "starts", "above", "tied", "left_out")}
    nobody = np.zeros(len(ranks.above), dtype=np.int32)
    top = np.full((len(ranks.starts) - 1, 1), -1, dtype=np.int32)
    return RecommendedScores(**fields, answers=nobody, top=top, popularity=np.ones(1, np.int64), queries=1)


def draw(layout: str, numbers: Callable[[int], np.ndarray]) -> Scores:
    """Scores in the sizes of the cases: 6 positives, 8 negatives; or the three lists."""
    if layout == "shared":
        return Scores(layout, [numbers(6)], [numbers(8)])
    if layout in ("per-positive", "ranks"):
        return Scores(layout, [numbers(1) for _ in range(6)], [numbers(8) for _ in range(6)])
    return Scores(layout, [numbers(m) for _, m in LISTS], [numbers(n - m) for n, m in LISTS])


def sizes_of(layout: str) -> tm.PairSizes | tm.ListSizes:
    if layout in ("lists", "recommended"):
        return tm.ListSizes(np.array([n for n, _ in LISTS]), np.array([m for _, m in LISTS]))
    return RankSizes(6, np.full(6, 8)) if layout == "ranks" else tm.PairSizes(6, 8)


def tied_numbers(seed: int, levels: int = 4) -> Callable[[int], np.ndarray]:
    rng = np.random.default_rng(seed)
    return lambda size: rng.integers(0, levels, size).astype(np.float64)


@every_metric
def test_it_says_what_it_is(metric, layout):
    assert metric.title
    assert metric.formula
    assert metric.citation
    assert metric.low < metric.high


@every_metric
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), levels=st.integers(1, 9))
def test_it_stays_in_its_range(metric, layout, seed, levels):
    value = draw(layout, tied_numbers(seed, levels)).judge(CASES[metric.pattern].name)
    assert metric.low <= value <= metric.high


@every_metric
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), lift=st.integers(1, 5))
def test_a_higher_score_of_a_positive_never_makes_it_worse(metric, layout, seed, lift):
    rng = np.random.default_rng(seed)
    if metric.pattern == "ap":
        # Equal scores enter average precision together, so joining a tie from below can lower it.
        pool = iter(rng.permutation(14) * 1.0)
        scores = draw(layout, lambda size: np.array([next(pool) for _ in range(size)]))
        change = lift + 0.5
    else:
        scores = draw(layout, tied_numbers(seed))
        change = float(lift)
    name = CASES[metric.pattern].name
    before = scores.judge(name)
    group = rng.integers(len(scores.right))
    scores.right[group][rng.integers(len(scores.right[group]))] += change
    after = scores.judge(name)
    assert after >= before - 1e-12 if metric.higher_is_better else after <= before + 1e-12


@every_metric
def test_only_the_order_of_scores_counts(metric, layout):
    scores = draw(layout, tied_numbers(5))
    name = CASES[metric.pattern].name
    value = scores.judge(name)
    assert scores.map(lambda a: np.exp(a) - 100).judge(name) == value
    assert scores.map(lambda a: a * 1e-300).judge(name) == value
    assert scores.map(lambda a: a.astype(np.float32)).judge(name) == value
    assert scores.map(lambda a: a.astype(np.float16)).judge(name) == value
    assert scores.map(lambda a: a.astype(np.int8)).judge(name) == value


@every_metric
def test_the_order_of_pairs_does_not_count(metric, layout):
    scores = draw(layout, tied_numbers(6))
    name = CASES[metric.pattern].name
    value = scores.judge(name)
    rng = np.random.default_rng(7)
    shuffled = scores.map(rng.permutation)
    order = rng.permutation(len(scores.right))
    shuffled.right = [shuffled.right[i] for i in order]
    shuffled.wrong = [shuffled.wrong[i] for i in order]
    assert shuffled.judge(name) == pytest.approx(value, rel=1e-13)


@every_metric
def test_random_scores_meet_the_expectation(metric, layout):
    name = CASES[metric.pattern].name
    rng = np.random.default_rng(8)
    values = np.array([draw(layout, rng.random).judge(name) for _ in range(1500)])
    error = values.std() / np.sqrt(len(values))
    expected = tm.get(name).expectation(sizes_of(layout))
    assert abs(values.mean() - expected) <= 4.5 * error + 1e-12
    # A tolerance is only worth something if a wrong formula would be seen.
    assert error < 0.02 * max(1.0, expected)


@every_metric
def test_a_constant_scorer_gets_the_honest_value(metric, layout):
    case = CASES[metric.pattern]
    value = draw(layout, lambda size: np.full(size, 0.5)).judge(case.name)
    assert value == pytest.approx(case.constant[layout], rel=1e-12, abs=1e-12)


@every_metric
def test_a_perfect_scorer_gets_the_best_value(metric, layout):
    scores = draw(layout, lambda size: np.zeros(size))
    scores.right = [a + 1 for a in scores.right]
    best = metric.high if metric.higher_is_better else metric.low
    if metric.pattern == "recall@K":
        best = np.mean([min(3, m) / m for _, m in LISTS])
    if metric.pattern == "list-precision@K":
        best = np.mean([min(3, m) / 3 for _, m in LISTS])
    assert scores.judge(CASES[metric.pattern].name) == pytest.approx(best, rel=1e-13)


@every_metric
@pytest.mark.parametrize("seed", range(4))
def test_it_equals_a_plain_loop(metric, layout, seed):
    case = CASES[metric.pattern]
    scores = draw(layout, tied_numbers(seed, 50 if case.averages_ties else 4))
    if case.averages_ties:
        # Without ties here; ties are compared with all their orders below.
        rng = np.random.default_rng(seed)
        pool = iter(rng.permutation(200))
        scores = scores.map(lambda a: np.array([float(next(pool)) for _ in a]))
    assert scores.judge(case.name) == pytest.approx(by_twin(case, scores), rel=1e-12, abs=1e-12)


def by_twin(case: Case, scores: Scores) -> float:
    if scores.layout == "shared":
        return case.twin(scores.right[0], [scores.wrong[0]] * len(scores.right[0]))
    if scores.layout in ("per-positive", "ranks"):
        return case.twin(np.concatenate(scores.right), scores.wrong)
    return float(
        np.mean(
            [
                case.twin(np.concatenate([a, b]), [True] * len(a) + [False] * len(b))
                for a, b in zip(scores.right, scores.wrong, strict=True)
            ]
        )
    )


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("pattern", [pattern for pattern, case in CASES.items() if case.averages_ties])
def test_ties_count_as_the_mean_over_all_their_orders(pattern, seed):
    case = CASES[pattern]
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 3, 6).astype(np.float64)
    right = int(rng.integers(1, 5))
    layout = tm.get(case.name).layouts[0]
    groups = Scores(layout, [scores[:right]], [scores[right:]])
    # A tiny part of each place in a permutation breaks ties in that permutation's order.
    orders = [scores + np.array(order) / 100 for order in permutations(range(6))]
    every = [by_twin(case, Scores(layout, [order[:right]], [order[right:]])) for order in orders]
    assert groups.judge(case.name) == pytest.approx(np.mean(every), rel=1e-10, abs=1e-12)
