"""Leaks: each check catches a planted one and passes a clean benchmark."""

from __future__ import annotations

import numpy as np
import pytest
from planted import NODES, benchmark, random_edges, run

from trueedge.audit import Skipped
from trueedge.audit.leaks import repeats_in_lists
from trueedge.audit.subject import View

PAIRS = random_edges(5000)
LEAKS = (
    "train-leak",
    "repeated-positives",
    "valid-in-test",
    "false-negatives",
    "self-pairs",
    "isolated-nodes",
)


@pytest.mark.parametrize("check", LEAKS)
def test_a_clean_benchmark_has_no_leak(check: str) -> None:
    assert run(check, benchmark()).verdict == "ok"


@pytest.mark.parametrize("turn", [1, -1])
def test_a_test_positive_in_the_training_graph_is_found_in_either_direction(turn: int) -> None:
    test = np.concatenate([PAIRS[3200:3590], PAIRS[:10, ::turn]])
    found = run("train-leak", benchmark(test=test))
    assert found.verdict == "broken"
    assert found.numbers["test positives"] == 10
    assert found.number == pytest.approx(10 / 400)


def test_a_leak_is_not_the_smaller_for_the_clean_pairs_of_another_part() -> None:
    leaky, clean = np.concatenate([PAIRS[3200:3250], PAIRS[:6]]), PAIRS[3000:3025]
    for parts in ({"test": leaky, "valid": clean}, {"test": clean, "valid": leaky}):
        found = run("train-leak", benchmark(**parts))
        assert found.number == pytest.approx(6 / 56)
        assert found.shown == "10.7 %"
        assert "6 of 56" in found.sentence
        assert "0 of 25" in found.sentence
    # One of 800 is more than a thousandth, though with two clean thousands beside it it would be less.
    many = random_edges(20_000, nodes=2000)
    test = np.concatenate([many[8000:8799], many[:1]])
    task = benchmark(many[:8000], many[9000:11_000], test, many[12_000:13_000], nodes=2000)
    assert run("train-leak", task).verdict == "broken"


def test_negatives_of_a_node_with_itself_are_not_diluted_by_another_part() -> None:
    # 9 of 800 are more than a hundredth, and 9 of 1,000 with the clean validation part's are not.
    looped = np.concatenate([PAIRS[4000:4791], [[3, 3]] * 9])
    assert run("self-pairs", benchmark(negatives=looped)).verdict == "broken"


@pytest.mark.parametrize(
    ("check", "accusation"),
    [
        ("repeated-positives", "count twice"),
        ("valid-in-test", "selected on test data"),
        ("isolated-nodes", "structure cannot rank them"),
        ("false-negatives", "perfect predictor"),
    ],
)
def test_a_clean_line_accuses_nobody(check: str, accusation: str) -> None:
    assert accusation not in run(check, benchmark()).sentence
    test = np.concatenate([PAIRS[3200:3300], PAIRS[3200:3205], PAIRS[3000:3005], [[0, NODES - 1]]])
    train = PAIRS[:3000][(PAIRS[:3000] != 0).all(axis=1)]
    leaky = benchmark(train, test=test, negatives=PAIRS[:100])
    assert accusation in run(check, leaky).sentence


def test_a_leaked_validation_positive_is_found_too() -> None:
    found = run("train-leak", benchmark(valid=np.concatenate([PAIRS[3000:3199], PAIRS[:1]])))
    assert found.numbers["valid positives"] == 1


def test_one_leak_in_thousands_is_worth_a_look() -> None:
    many = random_edges(20_000, nodes=2000)
    task = benchmark(many[:8000], many[8000:8100], np.concatenate([many[8100:11_100], many[:1]]), nodes=2000)
    assert run("train-leak", task).verdict == "look"


@pytest.mark.parametrize("turn", [1, -1])
def test_a_positive_that_is_listed_again_is_found(turn: int) -> None:
    test = np.concatenate([PAIRS[3200:3300], PAIRS[3200:3210, ::turn]])
    found = run("repeated-positives", benchmark(test=test))
    assert found.verdict == "broken"
    assert found.numbers["test"] == pytest.approx(10 / 110)
    assert found.numbers["valid"] == 0


@pytest.mark.parametrize("turn", [1, -1])
def test_a_validation_positive_in_the_test_part_is_found(turn: int) -> None:
    test = np.concatenate([PAIRS[3200:3300], PAIRS[3000:3005, ::turn]])
    found = run("valid-in-test", benchmark(test=test))
    assert found.verdict == "broken"
    assert found.numbers["positives"] == 5


@pytest.mark.parametrize(
    ("first", "kind"), [(0, "training edges"), (3000, "hidden edges"), (3200, "hidden edges")]
)
def test_negatives_that_are_edges_of_any_part_are_found(first: int, kind: str) -> None:
    planted = np.concatenate([PAIRS[4000:4780], PAIRS[first : first + 20, ::-1]])
    found = run("false-negatives", benchmark(negatives=planted))
    assert found.verdict == "broken"
    assert found.numbers[kind] == 20
    assert found.number == pytest.approx(20 / 800)


def test_a_single_false_negative_is_worth_a_look_and_lowers_what_the_best_scorer_can_reach() -> None:
    negatives = np.tile(PAIRS[4000:4200], (10, 1, 1))
    negatives[0, 0] = PAIRS[0]
    found = run("false-negatives", benchmark(test=PAIRS[3200:3210], negatives=negatives))
    assert found.verdict == "look"
    assert found.numbers["ceiling"] == pytest.approx((9 + 1 / 1.5) / 10)
    assert "a perfect predictor would reach an MRR of only 0.967" in found.sentence


def test_pairs_of_a_node_and_itself_are_found() -> None:
    looped = np.concatenate([PAIRS[4000:4795], [[3, 3]] * 5])
    assert run("self-pairs", benchmark(negatives=looped)).verdict == "look"
    assert run("self-pairs", benchmark(negatives=[[3, 3]] * 5)).verdict == "broken"
    assert run("self-pairs", benchmark(test=[[3, 3], [1, 2]])).verdict == "broken"


def test_test_nodes_without_training_edges_are_counted() -> None:
    train = [[0, 1], [1, 2]]
    found = run("isolated-nodes", benchmark(train=train, test=[[0, 2], [0, 9], [8, 9]]))
    assert found.verdict == "broken"
    assert found.number == pytest.approx(2 / 3)
    assert found.numbers["both ends"] == pytest.approx(1 / 3)
    assert found.numbers["nodes"] == 2


def adjacency(pairs: np.ndarray) -> np.ndarray:
    table = np.zeros((NODES, NODES), dtype=np.float32)
    table[pairs[:, 0], pairs[:, 1]] = table[pairs[:, 1], pairs[:, 0]] = 1
    return table


def test_features_that_hold_the_hidden_edges_are_broken() -> None:
    found = run("features-adjacency", benchmark(features=adjacency(PAIRS[:3600])))
    assert found.verdict == "broken"
    assert found.numbers["shown"] == 1


def test_shuffled_columns_do_not_hide_the_adjacency() -> None:
    table = adjacency(PAIRS[:3600])[:, np.random.default_rng(0).permutation(NODES)]
    assert run("features-adjacency", benchmark(features=table)).verdict == "broken"


def test_features_that_repeat_the_training_graph_are_worth_a_look() -> None:
    table = 3 * adjacency(PAIRS[:3000]) + np.eye(NODES, dtype=np.float32)
    found = run("features-adjacency", benchmark(features=table))
    assert found.verdict == "look"
    assert found.numbers["cosine with the training graph"] == pytest.approx(1.0)


@pytest.mark.parametrize("columns", [NODES, 32])
def test_other_features_pass(columns: int) -> None:
    table = np.random.default_rng(1).random((NODES, columns))
    assert run("features-adjacency", benchmark(features=table)).verdict == "ok"
    assert run("features-adjacency", benchmark(features=np.zeros((NODES, columns)))).verdict == "ok"


def test_without_features_their_checks_do_not_apply() -> None:
    for check in ("features-adjacency", "feature-similarity", "shortcut-cosine"):
        assert isinstance(run(check, benchmark()), Skipped)


def test_repeats_are_counted_within_each_list_as_a_set_would() -> None:
    rng = np.random.default_rng(5)
    lists = rng.integers(0, 4, size=(7, 9, 2))
    wanted = [1 - len({tuple(sorted(pair)) for pair in one.tolist()}) / 9 for one in lists]
    view = View(np.zeros((7, 2), np.int64), lists, True, True)
    np.testing.assert_allclose(repeats_in_lists(view, 4), wanted)
