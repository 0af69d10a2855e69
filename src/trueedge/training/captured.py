"""Replay the steps of a training on a GPU as a CUDA graph: one launch per step instead of a hundred."""

from __future__ import annotations

import gc
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

Step = tuple[torch.Tensor, ...]
# Steps of a shape that are taken directly before it is captured: torch allocates memory of its own in them.
WARM_UP = 3
MOST_SHAPES = 8


class CapturedSteps:
    """Takes the steps of frequent shapes by CUDA graphs, and all others directly.

    The random numbers of a replayed step are new ones, from torch's own generator.

    Args:
        take: takes a step and returns its loss, float (); everything it reads or writes stays where it is.
        device: the GPU that everything is on.
    """

    def __init__(self, take: Callable[[Any], torch.Tensor], device: str = "cuda") -> None:
        self._take = take
        self._device = torch.device(device)
        self._failed = False
        self._seen: Counter[tuple[Any, ...]] = Counter()
        self._captured: dict[tuple[Any, ...], _Capture] = {}
        # The graphs share their memory: only one runs at a time, and each writes before it reads.
        self._pool = torch.cuda.graph_pool_handle()

    def __call__(self, step: Step) -> torch.Tensor:
        """Take a step; return its loss, float ()."""
        shape = tuple(part.shape for part in step)
        with torch.cuda.device(self._device):
            if shape not in self._captured:
                self._seen[shape] += 1
                if self._seen[shape] <= WARM_UP or not self._capture(shape, step):
                    return self._warm_up(step)
            return self._captured[shape].replay(step)

    def _capture(self, shape: tuple[Any, ...], step: Step) -> bool:
        """Capture a shape; return whether that was possible."""
        if self._failed or len(self._captured) >= MOST_SHAPES:
            return False
        try:
            self._captured[shape] = _Capture(self._take, step, self._pool)
        except RuntimeError as error:
            self._failed = True
            reason = str(error).partition("\n")[0]
            warnings.warn(f"steps are not captured, and slower: {reason}", stacklevel=2)
        return not self._failed

    def _warm_up(self, step: Step) -> torch.Tensor:
        """Take a step on another stream, as torch asks for before a capture."""
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            loss = self._take(step)
        torch.cuda.current_stream().wait_stream(side)
        return loss


class _Capture:
    """A step as a CUDA graph, and the places it reads from."""

    def __init__(self, take: Callable[[Any], torch.Tensor], step: Step, pool: Any) -> None:
        self._inputs = tuple(part.clone() for part in step)
        self._graph = torch.cuda.CUDAGraph()
        with no_collection(), torch.cuda.graph(self._graph, pool=pool):
            self._loss = take(self._inputs)

    def replay(self, step: Step) -> torch.Tensor:
        """Take a step of the same shape; return its loss."""
        for place, part in zip(self._inputs, step, strict=True):
            place.copy_(part)
        self._graph.replay()
        return self._loss.clone()


@contextmanager
def no_collection() -> Iterator[None]:
    """Collect garbage now, and not before the block ends.

    An earlier graph that is freed during a capture spoils it, and then torch's random numbers too.
    """
    gc.collect()
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
