"""Adds gradients in one order, so that a training with several threads gives the same bits every time.

On a CPU, the gradient of an index such as ``states[nodes]`` is added up by all threads at once, and the sum
depends on which of them comes first. That of ``F.embedding(nodes, states)`` has one order, and is faster.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

import torch

_lock = Lock()
_blocks = 0
_before = (False, False, False)


@contextmanager
def one_order(device: str | torch.device) -> Iterator[None]:
    """Let torch add gradients in one order inside the block, on a CPU.

    Blocks may be nested or run in several threads: the last one to end restores what was set before.

    Args:
        device: where the model is trained. On a GPU nothing happens, since there it takes time.
    """
    if str(device) != "cpu":
        yield
        return
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    global _blocks, _before
    with _lock:
        _blocks += 1
        if _blocks > 1:
            return
        new_memory = torch.utils.deterministic
        _before = (
            torch.are_deterministic_algorithms_enabled(),
            torch.is_deterministic_algorithms_warn_only_enabled(),
            new_memory.fill_uninitialized_memory,
        )
        if not _before[0]:
            # Filling new tensors takes time, and nothing here reads one that was not written.
            new_memory.fill_uninitialized_memory = False
            torch.use_deterministic_algorithms(True, warn_only=True)


def _leave() -> None:
    global _blocks
    with _lock:
        _blocks -= 1
        if _blocks == 0:
            enabled, warn_only, filled = _before
            torch.use_deterministic_algorithms(enabled, warn_only=warn_only)
            torch.utils.deterministic.fill_uninitialized_memory = filled
