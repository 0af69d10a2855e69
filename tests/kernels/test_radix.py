"""Sorting node ids against numpy's sort."""

from __future__ import annotations

import numpy as np
import pytest

from trueedge.kernels.arrays.radix import digit_counts, sort_ids


@pytest.mark.parametrize("nodes", [1, 2, 3, 64, 1_000, 1_025, 50_000])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 40, 300])
def test_ids_come_in_ascending_order(nodes, count):
    rng = np.random.default_rng(count)
    for lowest in (0, nodes // 2, max(0, nodes - 5)):
        ids = rng.integers(lowest, nodes, size=count).astype(np.int32)
        expected = np.sort(ids)
        sort_ids(ids, np.empty(count + 3, dtype=np.int32), digit_counts(nodes))
        assert (ids == expected).all()


def test_the_room_beyond_the_ids_stays_as_it_is():
    room = np.full(12, -7, dtype=np.int32)
    ids = np.array([9, 3, 3, 0, 15, 8, 1, 2], dtype=np.int32)
    sort_ids(ids, room, digit_counts(16))
    assert ids.tolist() == [0, 1, 2, 3, 3, 8, 9, 15]
    assert (room[8:] == -7).all()


@pytest.mark.parametrize(
    ("nodes", "values"), [(0, 2), (1, 2), (2, 2), (4, 2), (5, 4), (16, 4), (17, 8), (1 << 20, 1024)]
)
def test_two_digits_hold_every_id(nodes, values):
    assert len(digit_counts(nodes)) == values
    assert values**2 >= nodes
