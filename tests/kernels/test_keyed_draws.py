"""Draws that depend on a key alone."""

from __future__ import annotations

import numpy as np
import pytest

from trueedge.kernels.arrays.keyed_draws import draw_free, draw_key

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")


def draw(key: int, taken: np.ndarray, need: int) -> list[int]:
    marks, drawn = taken.copy(), np.empty(need, dtype=np.int32)
    draw_free(np.uint64(key), marks, int((~taken).sum()), drawn, np.empty(len(taken), dtype=np.int32))
    assert marks[drawn].all()
    assert marks.sum() == taken.sum() + need
    return drawn.tolist()


def test_the_generator_is_splitmix64():
    # The first words from seed 0, as the algorithm's reference implementation prints them.
    state, mask = 0, (1 << 64) - 1
    words = []
    for _ in range(3):
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        words.append(z ^ (z >> 31))
    assert words[0] == 0xE220A8397B1DCDAF
    nodes = 1000
    expected = [((word >> 32) * nodes) >> 32 for word in words]
    assert draw(0, np.zeros(nodes, dtype=np.bool_), 3) == expected


@pytest.mark.parametrize(
    ("nodes", "free", "need"), [(40, 40, 3), (40, 12, 5), (40, 5, 5), (7, 1, 1), (40, 40, 40)]
)
def test_drawn_nodes_are_free_and_distinct(nodes, free, need):
    taken = np.ones(nodes, dtype=np.bool_)
    taken[np.random.default_rng(0).permutation(nodes)[:free]] = False
    for key in range(50):
        drawn = draw(key, taken, need)
        assert len(set(drawn)) == need
        assert not taken[drawn].any()


@pytest.mark.parametrize("free", [20, 4])
def test_every_free_node_is_drawn_equally_often(free):
    nodes, need, rounds = 24, 2, 3000
    taken = np.arange(nodes) >= free
    counts = np.zeros(nodes)
    for key in range(rounds):
        counts[draw(key * 7919, taken, need)] += 1
    expected = rounds * need / free
    assert counts[free:].sum() == 0
    # Five standard deviations of a binomial count.
    assert (np.abs(counts[:free] - expected) < 5 * np.sqrt(expected)).all()


def test_the_key_of_a_pair_has_a_direction():
    keys = {int(draw_key(np.uint64(5), a, b)) for a in range(30) for b in range(30)}
    assert len(keys) == 900
    assert int(draw_key(np.uint64(6), 1, 2)) not in keys
