"""A training with several threads adds gradients in one order."""

from __future__ import annotations

import threading

import pytest
import torch
from torch import nn

from trueedge.training.loop import Objective, optimize
from trueedge.training.order import one_order
from trueedge.training.schedule import LoopSchedule


def setting() -> tuple[bool, bool, bool]:
    return (
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
        torch.utils.deterministic.fill_uninitialized_memory,
    )


class ByIndex(Objective):
    """Adds many gradients to few rows by an index."""

    def __init__(self) -> None:
        draw = torch.Generator().manual_seed(0)
        self.rows = torch.randint(500, (20_000,), generator=draw)
        self.weight = torch.randn(len(self.rows), 8, generator=draw)
        self.seen: list[bool] = []

    def steps(self, rng):
        yield from range(2)

    def backward(self, model, step, rng):
        self.seen.append(torch.are_deterministic_algorithms_enabled())
        loss = (model.weight[self.rows] * self.weight).square().mean()
        loss.backward()
        return loss.detach()


def test_gradients_of_an_index_are_added_in_one_order() -> None:
    found = []
    before, threads = setting(), torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        for _ in range(6):
            objective = ByIndex()
            model = nn.Embedding(500, 8)
            nn.init.ones_(model.weight)
            optimize(model, objective, LoopSchedule(epochs=3, learning_rate=0.1))
            assert all(objective.seen)
            found.append(model.weight.detach().clone())
    finally:
        torch.set_num_threads(threads)
    assert all(torch.equal(found[0], one) for one in found)
    assert setting() == before


def test_what_was_set_before_is_restored_after_nested_blocks_and_errors() -> None:
    def fail() -> None:
        with one_order("cpu"):
            with one_order("cpu"):
                assert setting() == (True, True, False)
            assert setting() == (True, True, False)
            raise ValueError("inside")

    before = setting()
    with pytest.raises(ValueError, match="inside"):
        fail()
    assert setting() == before


def test_the_last_of_several_threads_restores_what_was_set() -> None:
    before, inside, ended = setting(), threading.Event(), threading.Event()

    def hold() -> None:
        with one_order("cpu"):
            inside.set()
            ended.wait(30)

    thread = threading.Thread(target=hold)
    with one_order("cpu"):
        thread.start()
        assert inside.wait(30)
    assert setting() == (True, True, False)
    ended.set()
    thread.join()
    assert setting() == before


def test_a_user_who_asks_for_determinism_keeps_it() -> None:
    torch.use_deterministic_algorithms(True)
    try:
        with one_order("cpu"):
            assert torch.are_deterministic_algorithms_enabled()
            assert not torch.is_deterministic_algorithms_warn_only_enabled()
        assert torch.are_deterministic_algorithms_enabled()
    finally:
        torch.use_deterministic_algorithms(False)


def test_nothing_is_set_on_a_gpu() -> None:
    before = setting()
    with one_order("cuda:0"):
        assert setting() == before
