"""Recommendation of items: every metric against plain loops over all orders of ties."""

from __future__ import annotations

import math
from itertools import pairwise, permutations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trueedge as te
from trueedge.analysis.slices import group_names
from trueedge.errors import InputError
from trueedge.graph.interactions import Interactions
from trueedge.metrics.recommended import long_tail
from trueedge.tasks import full_ranking
from trueedge.tasks.items import ItemTask

K = 2
RANKED = ("recall", "ndcg", "hitrate", "list-precision", "list-mrr")
NAMES = (*(f"{name}@{K}" for name in RANKED), "list-mrr", f"coverage@{K}", f"novelty@{K}")


def random_task(seed: int, users: int = 6, items: int = 7) -> ItemTask:
    """Some users have few items left to rank, and some have no hidden item."""
    rng = np.random.default_rng(seed)
    parts: dict[str, list[tuple[int, int]]] = {"train": [], "valid": [], "test": []}
    for user in range(users):
        order = rng.permutation(items)
        first, second, third = np.sort(rng.integers(1, items + 1, 3))
        for name, own in zip(parts, (order[:first], order[first:second], order[second:third]), strict=True):
            parts[name] += [(user, int(item)) for item in own]
    parts["test"] = parts["test"] or [(0, int(rng.permutation(items)[0]))]
    taken = set(parts["train"]) | set(parts["valid"])
    parts["test"] = [pair for pair in parts["test"] if pair not in taken]
    if not parts["test"]:
        return random_task(seed + 10_000, users, items)
    hidden = {
        name: np.array(parts[name], dtype=np.int32) for name in ("valid", "test") if parts[name]
    }  # fmt: skip
    train = Interactions.from_pairs(np.array(parts["train"]), users, items)
    return ItemTask(
        dataset="random",
        protocol="full-ranking",
        seed=seed,
        metrics=NAMES,
        headline=NAMES[0],
        graph=train,
        hidden=hidden,
    )


def of_one_order(order: list[int], hidden: set[int]) -> list[float]:
    """Every ranked metric of one list, by its definition."""
    marks = [item in hidden for item in order]
    gain = sum(mark / math.log2(place + 2) for place, mark in enumerate(marks[:K]))
    ideal = sum(1 / math.log2(place + 2) for place in range(min(K, len(hidden))))
    first = marks.index(True) + 1
    return [
        sum(marks[:K]) / len(hidden),
        gain / ideal,
        float(any(marks[:K])),
        sum(marks[:K]) / K,
        1 / first if first <= K else 0.0,
        1 / first,
    ]


def twin(task: ItemTask, table: np.ndarray, part: str) -> tuple[np.ndarray, list[list[int]]]:
    """Return each user's ranked metrics, averaged over all orders of ties, and each user's candidates."""
    known = {tuple(pair) for pair in task.graph.pairs.tolist()}
    if part == "test":
        known |= {tuple(pair) for pair in task.hidden.get("valid", np.zeros((0, 2), int)).tolist()}
    values, candidates = [], []
    for user in sorted({user for user, _ in task.hidden[part].tolist()}):
        free = [item for item in range(task.num_items) if (user, item) not in known]
        hidden = {item for owner, item in task.hidden[part].tolist() if owner == user}
        orders = [
            order
            for order in permutations(free)
            if all(table[user, a] >= table[user, b] for a, b in pairwise(order))
        ]
        values.append(np.mean([of_one_order(list(order), hidden) for order in orders], axis=0))
        candidates.append(free)
    return np.array(values), candidates


@pytest.mark.filterwarnings("ignore::trueedge.ScoreWarning")
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**4),
    levels=st.integers(1, 6),
    kind=st.sampled_from(["float32", "float64", "int16"]),
)
def test_every_metric_equals_plain_loops_over_all_orders_of_ties(seed, levels, kind):
    task = random_task(seed)
    table = np.random.default_rng(seed).integers(0, levels, (task.num_users, task.num_items)).astype(kind)
    for part in task.part_names:
        found = task.evaluate(SimpleNamespace(score_candidates=lambda users: table[users]), part)
        values, _ = twin(task, table, part)
        for column, name in enumerate(NAMES[:6]):
            assert found.units.values[name] == pytest.approx(values[:, column], rel=1e-12, abs=1e-12)
            assert found[name] == pytest.approx(values[:, column].mean(), rel=1e-12, abs=1e-12)


@pytest.mark.filterwarnings("ignore::trueedge.ScoreWarning")
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**4), levels=st.integers(1, 6))
def test_lists_are_in_order_and_coverage_and_novelty_are_those_of_the_lists(seed, levels):
    task = random_task(seed)
    table = np.random.default_rng(seed).integers(0, levels, (task.num_users, task.num_items)) * 1.0
    scores = task.scores(table)
    _, candidates = twin(task, table, "test")
    listed, bits = set(), []
    for user, row, free in zip(task.questions(), scores.top, candidates, strict=True):
        own = [item for item in row.tolist() if item >= 0]
        assert len(set(own)) == len(own) == min(K, len(free))
        assert set(own) <= set(free)
        best = sorted((table[user, item] for item in free), reverse=True)[:K]
        assert [table[user, item] for item in own] == best
        listed |= set(own)
        counts = [max(int((task.graph.pairs[:, 1] == item).sum()), 0.5) for item in own]
        bits.append(np.mean([-math.log2(count / task.num_users) for count in counts]))
    found = task.evaluate(table, metrics=[f"coverage@{K}", f"novelty@{K}"])
    assert found[f"coverage@{K}"] == len(listed) / task.num_items
    assert found[f"novelty@{K}"] == pytest.approx(np.mean(bits))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**4))
def test_tail_recall_equals_a_plain_loop(seed):
    task = random_task(seed)
    table = np.random.default_rng(seed).permutation(task.num_users * task.num_items) * 1.0
    table = table.reshape(task.num_users, task.num_items)
    tail = set(np.flatnonzero(long_tail(task.graph.item_counts)).tolist())
    _, candidates = twin(task, table, "test")
    recalls = []
    for user, free in zip(task.questions().tolist(), candidates, strict=True):
        hidden = {item for owner, item in task.hidden["test"].tolist() if owner == user} & tail
        best = sorted(free, key=lambda item: -table[user, item])[:K]
        if hidden:
            recalls.append(len(hidden & set(best)) / len(hidden))
    if recalls:
        assert task.evaluate(table, metrics=[f"tail-recall@{K}"])[f"tail-recall@{K}"] == pytest.approx(
            np.mean(recalls)
        )
    else:
        with pytest.raises(InputError, match="no user has a relevant item"):
            task.evaluate(table, metrics=[f"tail-recall@{K}"])


def test_vectors_a_table_pairs_and_candidates_give_the_same_values(monkeypatch):
    task = random_task(3, users=30, items=20)
    rng = np.random.default_rng(0)
    users, items = rng.integers(-2, 3, (30, 4)) * 1.0, rng.integers(-2, 3, (20, 4)) * 1.0
    table = users @ items.T
    expected = task.evaluate(table)
    pairwise = SimpleNamespace(score=lambda pairs: table[pairs[:, 0], pairs[:, 1]])
    for scorer in ((users, items), pairwise, lambda asked: table[asked]):
        assert dict(task.evaluate(scorer)) == dict(expected)
    answers = task.scores_of("test", table[task.questions()])
    assert dict(task.evaluate_scores(answers)) == dict(expected)
    monkeypatch.setattr(full_ranking, "SCORES_IN_A_BLOCK", 50)
    assert dict(task.evaluate(table)) == dict(expected)


def test_items_of_the_validation_part_are_never_recommended_at_test():
    task = random_task(5, users=20, items=12)
    scores = task.scores(np.zeros((20, 12)), "test", top=12)
    for user, row in zip(task.questions(), scores.top, strict=True):
        own = task.hidden["valid"][task.hidden["valid"][:, 0] == user, 1]
        assert not np.isin(own, row).any()
    while_choosing = task.scores(np.zeros((20, 12)), "valid", top=12)
    assert np.isin(task.hidden["valid"][:, 1], while_choosing.top).all()


@pytest.mark.parametrize(
    ("scorer", "message"),
    [
        (lambda users: np.full((len(users), 7), np.nan), "scores of the lambda are NaN"),
        (lambda users: np.zeros((len(users), 6)), "the lambda must score 7 items for each of"),
        (np.zeros((6, 8)), r"must have the shape \(6, 7\)"),
        (None, r"an array of scores, a pair of arrays of vectors, an object with score_candidates\(users\)"),
        ((np.full((6, 2), 1e200), np.full((7, 2), 1e200)), "are infinite"),
        ((np.zeros((6, 2)), np.zeros((7, 3))), "vectors of users have 2 numbers, those of items 3"),
    ],
)
def test_wrong_answers_are_named(scorer, message):
    with pytest.raises(InputError, match=message):
        random_task(0).evaluate(scorer)


def test_answers_of_another_shape_are_named():
    task = random_task(0)
    with pytest.raises(InputError, match="users and 7 items have the shape"):
        task.scores_of("test", np.zeros((1, 7)))


def test_groups_of_users_read_well():
    task = random_task(2, users=60, items=30)
    properties = task.properties()
    assert list(properties) == ["training items of the user", "mean popularity of the hidden items"]
    users = task.questions()
    for name, values in properties.items():
        assert values.shape == users.shape
        assert values.dtype.kind == "i"
        groups = group_names(name, values, values)
        for group in np.unique(groups):
            # A group is called by the smallest and the largest number in it.
            low = int(str(group).rstrip("+").split("–")[0])
            high = math.inf if str(group).endswith("+") else int(str(group).split("–")[-1])
            inside = values[groups == group]
            assert low <= inside.min()
            assert inside.max() <= high
    first = users[0]
    hidden = task.hidden["test"][task.hidden["test"][:, 0] == first, 1]
    mean = task.graph.item_counts[hidden].mean()
    assert properties["mean popularity of the hidden items"][0] == round(mean)
    assert properties["training items of the user"][0] == task.graph.user_counts[first]


def test_a_constant_scorer_gets_a_warning():
    with pytest.warns(te.ScoreWarning, match="all items of each user have the same score"):
        random_task(1).evaluate(np.zeros((6, 7)))
