"""Trained recommenders: the same seed gives the same bits, also with two threads."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import trueedge as te

NAMES = ("kgat", "kgat-minus", "kgcn", "kgnn-ls", "lightgcn", "simple-hgn-rec")


@pytest.mark.rotating(2)
@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_bits_and_another_seed_others(name) -> None:
    # Only batches of thousands of interactions are divided among threads.
    task = te.task("bookshop").for_fitting()
    method = te.methods.get(name)(epochs=2, evaluate_every=1)
    users = np.arange(task.num_users)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        tables = [method.fit(task, seed).score_candidates(users).tobytes() for seed in (3, 3, 4)]
    finally:
        torch.set_num_threads(before)
    assert tables[0] == tables[1] != tables[2]
