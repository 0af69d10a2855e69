"""Gathering by key against a stable sort."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from trueedge.kernels.arrays.grouping import group_by, num_blocks


@pytest.mark.parametrize("seed", range(10))
def test_groups_equal_a_stable_sort_cut_at_the_distinct_keys(seed):
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 12, rng.integers(1, 60))
    groups = group_by(keys, 15)
    assert groups.order.tolist() == np.argsort(keys, kind="stable").tolist()
    assert groups.keys.tolist() == sorted(set(keys.tolist()))
    for i, key in enumerate(groups.keys):
        members = groups.order[groups.starts[i] : groups.starts[i + 1]]
        assert members.tolist() == np.flatnonzero(keys == key).tolist()


def test_no_position_gives_no_group():
    groups = group_by(np.empty(0, dtype=np.int64), 3)
    assert len(groups.keys) == len(groups.order) == 0
    assert groups.starts.tolist() == [0]


def test_there_is_a_block_for_no_group_and_never_more_blocks_than_groups():
    assert num_blocks(0) == 1
    assert num_blocks(1) == 1
    assert numba.get_num_threads() <= num_blocks(1000) <= 1000
