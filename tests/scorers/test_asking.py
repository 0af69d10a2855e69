"""What a scorer can see of a question besides the pair: nothing that tells its class."""

from __future__ import annotations

import numpy as np
import pytest

from trueedge.errors import InputError
from trueedge.scorers.asking import ask_mixed, neutral_direction

NODES = 60
RNG = np.random.default_rng(0)
SHARED = RNG.integers(0, NODES, (40, 2)).astype(np.int32), RNG.integers(0, NODES, (90, 2)).astype(np.int32)
LISTS = SHARED[0], RNG.integers(0, NODES, (40, 7, 2)).astype(np.int32)
both = pytest.mark.parametrize("pairs", [SHARED, LISTS], ids=["shared", "lists"])


class Watching:
    """Keeps what it is asked."""

    def __init__(self) -> None:
        self.asked: list[np.ndarray] = []

    def score(self, pairs: np.ndarray) -> np.ndarray:
        self.asked.append(pairs)
        return pairs[:, 0] * 100.0 + pairs[:, 1]


def expected(pairs: np.ndarray) -> np.ndarray:
    return np.sort(pairs, axis=-1) @ np.array([100.0, 1.0])


@both
@pytest.mark.parametrize("block", [9, 50, 10**6])
def test_every_pair_gets_its_own_score(pairs, block: int) -> None:
    positive, negative = ask_mixed(Watching(), *pairs, seed=3, block=block)
    assert np.array_equal(positive, expected(pairs[0]))
    assert np.array_equal(negative, expected(pairs[1]))


@both
def test_all_calls_have_one_size(pairs) -> None:
    watching = Watching()
    ask_mixed(watching, *pairs, block=50)
    sizes = {len(asked) for asked in watching.asked}
    assert len(sizes) == 1
    assert sizes.pop() <= 50
    assert len(watching.asked) > 2


@both
def test_every_call_holds_positives_and_negatives_and_no_pair_is_turned(pairs) -> None:
    watching = Watching()
    ask_mixed(watching, *pairs, block=64)
    above = {tuple(sorted(pair)) for pair in pairs[0].tolist()}
    for asked in watching.asked:
        found = [tuple(pair) in above for pair in asked.tolist()]
        assert any(found)
        assert not all(found)
        assert (asked[:, 0] <= asked[:, 1]).all()
        assert asked.flags.c_contiguous
        assert asked.dtype == np.int64


@both
def test_each_call_gets_a_new_array_and_may_spoil_it(pairs) -> None:
    class Spoiling(Watching):
        def score(self, pairs: np.ndarray) -> np.ndarray:
            found = super().score(pairs)
            pairs[:] = 0
            return found

    spoiling = Spoiling()
    positive, _ = ask_mixed(spoiling, *pairs, block=40)
    assert np.array_equal(positive, expected(pairs[0]))
    assert len({asked.__array_interface__["data"][0] for asked in spoiling.asked}) == len(spoiling.asked)


@both
def test_an_answer_in_a_buffer_that_is_used_again_is_copied(pairs) -> None:
    class Buffered(Watching):
        buffer = np.empty(64)

        def score(self, pairs: np.ndarray) -> np.ndarray:
            self.buffer[: len(pairs)] = super().score(pairs)
            return self.buffer[: len(pairs)]

    positive, negative = ask_mixed(Buffered(), *pairs, block=64)
    assert np.array_equal(positive, expected(pairs[0]))
    assert np.array_equal(negative, expected(pairs[1]))


@both
def test_the_order_is_that_of_the_seed(pairs) -> None:
    orders = []
    for seed in (1, 1, 2):
        watching = Watching()
        ask_mixed(watching, *pairs, seed=seed)
        orders.append(watching.asked[0].tolist())
    assert orders[0] == orders[1] != orders[2]


@both
def test_a_wrong_answer_is_named(pairs) -> None:
    with pytest.raises(InputError, match="must answer"):
        ask_mixed(type("Short", (), {"score": lambda self, pairs: np.zeros(3)})(), *pairs)


def test_a_neutral_direction_is_a_new_array() -> None:
    pairs = np.array([[3, 1], [1, 3], [2, 2]], np.int32)
    assert neutral_direction(pairs).tolist() == [[1, 3], [1, 3], [2, 2]]
    assert pairs.tolist() == [[3, 1], [1, 3], [2, 2]]
