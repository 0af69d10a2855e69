"""Splits of interactions: shares of each user's items, by chance or by time, and k-cores."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trueedge as te
from trueedge.errors import InputError
from trueedge.graph import Interactions, KnowledgeGraph
from trueedge.splits.interactions import core, renumbered, split_interactions

Pair = tuple[str, str]


def drawn(seed: int, users: int = 20, items: int = 30, rows: int = 300, test: bool = False) -> Interactions:
    """Return random interactions with names, ratings, times and a knowledge graph."""
    rng = np.random.default_rng(seed)
    pairs = np.unique(
        np.column_stack([rng.integers(0, users, rows), (items * rng.random(rows) ** 2).astype(int)]), axis=0
    )
    count = len(pairs)
    triples = np.unique(
        np.column_stack(
            [rng.integers(0, items + 9, 60), rng.integers(0, 3, 60), rng.integers(0, items + 9, 60)]
        ),
        axis=0,
    )
    knowledge = KnowledgeGraph.from_triples(
        triples, entities=[f"e{n}" for n in range(items + 9)], relations=["a", "b", "c"]
    )
    return Interactions.from_pairs(
        pairs,
        users,
        items,
        users=[f"u{n}" for n in range(users)],
        items=[f"i{n}" for n in range(items)],
        ratings=rng.integers(1, 6, count),
        times=rng.permutation(count),
        test=rng.random(count) < 0.3 if test else None,
        knowledge=knowledge,
    )


def named(data: Interactions) -> list[Pair]:
    return [(data.users[user], data.items[item]) for user, item in data.pairs.tolist()]


def keys(pairs: np.ndarray) -> list[tuple[int, int]]:
    return [tuple(pair) for pair in pairs.tolist()]


@given(seed=st.integers(0, 10**6), rows=st.integers(60, 400), way=st.sampled_from(["random", "time"]))
@settings(max_examples=40, deadline=None)
def test_each_interaction_is_in_one_part_with_the_share_of_its_user(seed: int, rows: int, way: str) -> None:
    data = drawn(seed, rows=rows)
    train, hidden = split_interactions(data, (0.5, 0.2, 0.3), way, seed)
    parts = [keys(train.pairs), keys(hidden["valid"]), keys(hidden["test"])]
    assert sorted(pair for part in parts for pair in part) == keys(data.pairs)
    for user, count in enumerate(data.user_counts.tolist()):
        kept, valid, test = (sum(pair[0] == user for pair in part) for part in parts)
        # Halves are rounded up, and every user keeps one interaction for training.
        assert test == min(int(np.floor(0.3 * count + 0.5)), max(count - 1, 0))
        rest = count - test
        assert valid == min(int(np.floor(0.2 / 0.7 * rest + 0.5)), max(rest - 1, 0))
        assert kept >= 1 or count == 0
    assert (train.num_users, train.num_items, train.test) == (data.num_users, data.num_items, None)


def test_ratings_and_times_stay_with_their_interactions() -> None:
    data = drawn(3)
    train, _ = split_interactions(data, seed=1)
    known = {
        pair: (rating, time)
        for pair, rating, time in zip(keys(data.pairs), data.ratings, data.times, strict=True)
    }
    for pair, rating, time in zip(keys(train.pairs), train.ratings, train.times, strict=True):
        assert known[pair] == (rating, time)
    assert train.knowledge is data.knowledge


def test_by_time_the_latest_interactions_of_each_user_are_hidden() -> None:
    data = drawn(5)
    train, hidden = split_interactions(data, (0.6, 0.2, 0.2), "time")
    when = dict(zip(keys(data.pairs), data.times.tolist(), strict=True))
    for user in range(data.num_users):
        times = [
            [when[pair] for pair in keys(pairs) if pair[0] == user]
            for pairs in (train.pairs, hidden["valid"], hidden["test"])
        ]
        filled = [part for part in times if part]
        for earlier, later in pairwise(filled):
            assert max(earlier) < min(later)


def test_equal_times_are_divided_by_the_seed() -> None:
    data = drawn(5)
    same = Interactions.from_pairs(data.pairs, times=np.zeros(data.num_interactions))
    first, second = (split_interactions(same, way="time", seed=seed)[1]["test"] for seed in (1, 2))
    assert len(first) == len(second)
    assert first.tolist() != second.tolist()


def test_the_same_seed_gives_the_same_split_and_another_one_another() -> None:
    data = drawn(7)
    one, again, other = (split_interactions(data, seed=seed)[1]["test"].tolist() for seed in (1, 1, 2))
    assert one == again != other


def test_a_published_test_part_is_kept() -> None:
    data = drawn(11, test=True)
    for seed in (0, 1):
        train, hidden = split_interactions(data, (0.8, 0.2, 0.0), seed=seed)
        assert keys(hidden["test"]) == keys(data.pairs[data.test])
        assert train.test is None
        assert sorted(keys(train.pairs) + keys(hidden["valid"])) == keys(data.pairs[~data.test])
    valid = [keys(split_interactions(data, (0.8, 0.2, 0.0), seed=seed)[1]["valid"]) for seed in (0, 1)]
    assert valid[0] != valid[1]


def test_a_user_with_one_interaction_keeps_it_for_training() -> None:
    pairs = [[0, 0], *([1, item] for item in range(10)), *([3, item] for item in range(2, 12))]
    train, hidden = split_interactions(Interactions.from_pairs(pairs), (0.2, 0.3, 0.5))
    assert [0, 0] in train.pairs.tolist()
    for part in hidden.values():
        assert set(part[:, 0].tolist()) == {1, 3}
    # User 2 has no interaction at all, and stays a user.
    assert train.num_users == 4


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"ratios": (0.8, 0.0, 0.2)}, "the share of valid is 0, but the valid part cannot be empty"),
        ({"ratios": (0.8, 0.2, 0.0)}, "the share of test is 0, but the test part cannot be empty"),
        ({"ratios": (0.0, 0.5, 0.5)}, "the share of train is 0, but the train part cannot be empty"),
        ({"ratios": (0.5, 0.2, 0.2)}, "ratios"),
        ({"way": "luck"}, "split must be 'random' or 'time', got 'luck'"),
    ],
)
def test_wrong_options_of_a_split_are_named(options: dict, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        split_interactions(drawn(0), **options)


def test_a_split_that_is_not_possible_is_refused() -> None:
    alone = Interactions.from_pairs([[0, 0], [1, 1], [2, 0]])
    with pytest.raises(InputError, match="the users have too few interactions for a validation part"):
        split_interactions(alone)
    with pytest.raises(InputError, match="interactions has no times: use split=random"):
        split_interactions(alone, way="time")


# k-cores, against a twin that removes one user or item after the other


def core_twin(pairs: list[Pair], least: int) -> list[Pair]:
    left = list(pairs)
    while True:
        for column in (0, 1):
            names = [pair[column] for pair in left]
            few = next((name for name in names if names.count(name) < least), None)
            if few is not None:
                left = [pair for pair in left if pair[column] != few]
                break
        else:
            return left


@given(seed=st.integers(0, 10**6), rows=st.integers(20, 160), least=st.integers(1, 7))
@settings(max_examples=60, deadline=None)
def test_a_core_is_what_is_left_when_few_are_removed_one_by_one(seed: int, rows: int, least: int) -> None:
    data = drawn(seed, users=15, items=20, rows=rows)
    expected = core_twin(named(data), least)
    if not expected:
        with pytest.raises(InputError, match=f"lower core={least}"):
            core(data, least)
        return
    found = core(data, least)
    assert named(found) == expected
    assert found.num_users == len({user for user, _ in expected})
    assert found.num_items == len({item for _, item in expected})
    assert min(found.user_counts.min(), found.item_counts.min()) >= least
    before = dict(zip(named(data), zip(data.ratings, data.times, strict=True), strict=True))
    assert [before[pair] for pair in named(found)] == list(zip(found.ratings, found.times, strict=True))


@given(seed=st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_renumbered_items_are_still_the_first_entities(seed: int) -> None:
    data = drawn(seed)
    rng = np.random.default_rng(seed)
    users, items = rng.random(data.num_users) < 0.7, rng.random(data.num_items) < 0.6
    users[0] = items[0] = True
    kept = users[data.pairs[:, 0]] & items[data.pairs[:, 1]]
    found = renumbered(data.keep(kept), users, items)
    assert named(found) == named(data.keep(kept))
    before, after = data.knowledge, found.knowledge
    numbers = [name.removeprefix("i") for name in found.items]
    assert after.entities[: found.num_items] == tuple(f"e{number}" for number in numbers)
    assert sorted(after.entities) == sorted(before.entities)
    facts = [
        {(graph.entities[h], graph.relations[r], graph.entities[t]) for h, r, t in graph.triples.tolist()}
        for graph in (before, after)
    ]
    assert facts[0] == facts[1]


def test_a_published_test_part_survives_a_core() -> None:
    data = drawn(4, test=True)
    before = {pair for pair, test in zip(named(data), data.test, strict=True) if test}
    found = core(data, 4)
    assert found.num_interactions < data.num_interactions
    after = {pair for pair, test in zip(named(found), found.test, strict=True) if test}
    assert after == before & set(named(found))


def test_the_protocol_filters_before_it_splits() -> None:
    data = drawn(9, rows=500)
    task = te.task(data, "full-ranking", min_rating=3.0, core=3)
    kept = core(data.keep(data.ratings >= 3), 3)
    assert task.num_users == kept.num_users
    total = task.graph.num_interactions + sum(map(len, task.hidden.values()))
    assert total == kept.num_interactions
    assert any("core=3 keeps" in note for note in task.settings["notes"])
    assert (
        f"min_rating=3 keeps {(data.ratings >= 3).sum()} of {len(data.pairs)} interactions"
        in task.settings["notes"]
    )
    with pytest.raises(InputError, match="min_rating must be 0 or more, got -1"):
        te.task(data, "full-ranking", min_rating=-1.0)
    with pytest.raises(InputError, match="no rating is 6 or more"):
        te.task(data, "full-ranking", min_rating=6.0)
    with pytest.raises(InputError, match="core must be 0 or more, got -1"):
        te.task(data, "full-ranking", core=-1)


def test_a_core_of_one_leaves_out_who_has_nothing() -> None:
    data = te.Interactions.from_pairs([(u, i) for u in range(9) for i in range(6)], 10, 8)
    task = te.task(data, "full-ranking", core=1)
    assert (task.num_users, task.num_items) == (9, 6)


def test_options_that_meet_a_published_test_part_say_what_they_do() -> None:
    published = drawn(9, rows=500, test=True)
    by_time = te.task(published, "full-ranking", split="time", core=2)
    assert by_time.settings["split"] == "published test part, validation part by time"
    chose, kept = (
        next(one for one in by_time.settings["notes"] if word in one) for word in ("split=time", "core=2")
    )
    assert chose.endswith("has a published test part: split=time chose the validation part only")
    assert kept.endswith("; interactions of the published test part count, too")
    assert te.task(published, "full-ranking").settings["split"] == "published test part"
