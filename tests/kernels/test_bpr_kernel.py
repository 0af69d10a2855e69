"""BPR against its formulas: steps, draws, blocks, threads."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from trueedge.kernels.arrays.streams import next_below
from trueedge.kernels.recommend import bpr
from trueedge.kernels.recommend.bpr import Bpr
from trueedge.kernels.recommend.known_items import is_known, known_items

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")


def interactions(users: int = 30, items: int = 20, most: int = 8, seed: int = 0):
    """Return starts and items; user 1 has none, user 2 all but one."""
    rng = np.random.default_rng(seed)
    lists = [np.sort(rng.choice(items, rng.integers(1, most), replace=False)) for _ in range(users)]
    lists[1], lists[2] = np.array([], dtype=int), np.delete(np.arange(items), 7)
    starts = np.concatenate([[0], np.cumsum([len(one) for one in lists])])
    return starts.astype(np.int64), np.concatenate(lists).astype(np.int32)


def model(blocks: int, monkeypatch, dim: int = 5, bias: bool = True, power: float = 0.5, key: int = 3) -> Bpr:
    monkeypatch.setattr(bpr, "FEWEST_FOR_BLOCKS", 1 if blocks > 1 else 10**9)
    monkeypatch.setattr(bpr, "BLOCKS", blocks)
    return Bpr(*interactions(), 20, dim, bias, power, key)


def steps_of(one: Bpr):
    """Return user, positive and negative of the drawn steps, in the order of rounds and blocks."""
    cells, pairs, negatives = one.epoch
    for turn in range(one.blocks):
        for block in range(one.blocks):
            at = (block + turn) % one.blocks
            for k in range(cells[block, at], cells[block, at + 1]):
                yield int(pairs[k] >> 32), int(pairs[k] & 0xFFFFFFFF), int(negatives[k])


def slow_steps(one: Bpr, rate: float, regularization: float, bias: bool):
    """The slow twin: the gradient of -log sigmoid + regularization / 2 * squares in float64."""
    users, items, biases = (np.array(table, dtype=np.float64) for table in (one.users, one.items, one.bias))
    losses = []
    for u, i, j in steps_of(one):
        if j < 0:
            continue
        margin = users[u] @ (items[i] - items[j]) + biases[i] - biases[j]
        losses.append(np.log1p(np.exp(-margin)))
        slope = 1 / (1 + np.exp(margin))
        user, good, bad = users[u].copy(), items[i].copy(), items[j].copy()
        users[u] += rate * (slope * (good - bad) - regularization * user)
        items[i] += rate * (slope * user - regularization * good)
        items[j] += rate * (-slope * user - regularization * bad)
        biases[i] += rate * ((slope if bias else 0) - regularization * biases[i])
        biases[j] += rate * (-(slope if bias else 0) - regularization * biases[j])
    return users, items, biases, np.mean(losses)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("blocks", "dim"), [(1, 5), (3, 16), (4, 20)])
def test_steps_follow_the_gradient(blocks, dim, bias, monkeypatch):
    one = model(blocks, monkeypatch, dim, bias)
    one.draw()
    before = one.users
    users, items, biases, loss = slow_steps(one, 0.3, 0.05, bias)
    assert one.step(0.3, 0.05) == pytest.approx(loss, abs=2e-3)
    # The logistic function is read from a table of 4,096 cells.
    np.testing.assert_allclose(one.users, users, atol=2e-3)
    np.testing.assert_allclose(one.items, items, atol=2e-3)
    np.testing.assert_allclose(one.bias, biases, atol=2e-3)
    assert np.abs(one.users - before).max() > 0.05
    assert one.bias.any() == bias
    assert not one._users[:, dim:].any()
    assert not one._items[:, dim:].any()


@pytest.mark.parametrize("power", [0.0, 0.5])
@pytest.mark.parametrize("blocks", [1, 4])
def test_an_epoch_has_each_positive_once_and_no_known_item_as_negative(blocks, power, monkeypatch):
    one = model(blocks, monkeypatch, power=power)
    starts, items = interactions()
    pairs = {(u, int(i)) for u in range(30) for i in items[starts[u] : starts[u + 1]]}
    orders = []
    for _ in range(5):
        one.draw()
        drawn = list(steps_of(one))
        assert len(drawn) == len(pairs)
        assert {(u, i) for u, i, _ in drawn} == pairs
        assert not {(u, j) for u, _, j in drawn} & pairs
        # Only the user with all items but one may find none.
        assert {u for u, _, j in drawn if j < 0} <= {2}
        orders.append(tuple(drawn))
    assert len(set(orders)) == 5


def test_the_only_item_that_a_user_does_not_have_is_found(monkeypatch):
    one = model(1, monkeypatch, power=0.0)
    one.draw()
    # A try finds it with a chance of 1/20; 64 tries fail with 4 %.
    found = [j for u, _, j in steps_of(one) if u == 2]
    assert set(found) <= {7, -1}
    assert found.count(7) > 10


def test_every_free_item_becomes_a_negative_whatever_the_blocks(monkeypatch):
    one = model(4, monkeypatch, power=0.5)
    starts, items = interactions()
    seen = set()
    free = set(range(20)) - set(items[starts[0] : starts[1]].tolist())
    for _ in range(150):
        one.draw()
        seen |= {j for u, _, j in steps_of(one) if u == 0} - {-1}
        if seen == free:
            break
    assert seen == free


@pytest.mark.parametrize(("power", "most"), [(0.0, 1.0), (1.0, 16.0)])
def test_negatives_are_drawn_by_popularity_to_a_power(power, most):
    items = np.repeat(np.arange(4), [1, 2, 4, 16]).astype(np.int32)
    pool = np.bincount(bpr._negatives_to_draw(items, 5, power), minlength=5)
    assert pool.min() > 0
    assert pool[3] / pool[0] == pytest.approx(most, rel=0.3)
    assert pool[4] == pool[0], "an item without users is drawn like one with a single user"


def test_rows_of_a_round_are_shared_by_no_two_blocks(monkeypatch):
    one = model(4, monkeypatch)
    one.draw()
    cells, pairs, negatives = one.epoch
    for turn in range(4):
        touched = []
        for block in range(4):
            at = (block + turn) % 4
            steps = slice(cells[block, at], cells[block, at + 1])
            rows = {("user", u) for u in (pairs[steps] >> 32).tolist()}
            rows |= {("item", i) for i in (pairs[steps] & 0xFFFFFFFF).tolist()}
            rows |= {("item", j) for j in negatives[steps].tolist() if j >= 0}
            touched.append(rows)
        assert sum(map(len, touched)) == len(set.union(*touched))


def test_threads_change_no_bit_and_another_key_does(monkeypatch):
    threads, found = numba.get_num_threads(), []
    try:
        for count, key in ((threads, 3), (1, 3), (1, 4)):
            numba.set_num_threads(count)
            one = model(4, monkeypatch, key=key)
            losses = one.learn([0.1, 0.1, 0.05], 0.01)
            found.append((one.users.tobytes(), one.items.tobytes(), one.bias.tobytes(), *losses))
    finally:
        numba.set_num_threads(threads)
    assert found[0] == found[1]
    assert found[0][0] != found[2][0]


def test_epochs_in_two_parts_teach_what_they_teach_together(monkeypatch):
    whole, parted = model(4, monkeypatch), model(4, monkeypatch)
    losses = whole.learn([0.1, 0.2, 0.3], 0.01)
    assert losses == parted.learn([0.1], 0.01) + parted.learn([0.2, 0.3], 0.01)
    assert whole.users.tobytes() == parted.users.tobytes()


def test_the_loss_falls(monkeypatch):
    losses = model(2, monkeypatch, dim=16).learn([0.2] * 30, 0.001)
    assert losses[0] == pytest.approx(np.log(2), abs=0.05)
    assert losses[-1] < 0.5 * losses[0]


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
def test_a_loss_that_is_not_a_number_is_seen(monkeypatch):
    one = model(1, monkeypatch)
    one._users[:] = np.nan
    assert np.isnan(one.learn([0.1], 0.0)[0])


@pytest.mark.parametrize("most", [2, 12])
def test_known_items_are_those_of_the_lists(most):
    starts, items = interactions(most=most)
    table = known_items(starts, items)
    for user in range(len(starts) - 1):
        own = set(items[starts[user] : starts[user + 1]].tolist())
        assert [item for item in range(500) if is_known(*table, user, item)] == sorted(own)


def test_a_stream_is_uniform_and_below_its_bound():
    state, seen = np.uint64(11), np.zeros(7, dtype=int)
    for _ in range(3500):
        number, state = next_below(state, 7)
        state = np.uint64(state)
        seen[number] += 1
    # 500 each, with a standard deviation of 21.
    assert np.abs(seen - 500).max() < 100
