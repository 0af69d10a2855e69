"""Training callbacks: a function called after each epoch, and a checkpoint to resume from."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trueedge.training.checkpoints import Checkpoint

if TYPE_CHECKING:
    from trueedge.training.loop import History

Progress = Callable[[int, int, "History"], object]


@dataclass(frozen=True)
class Callbacks:
    """The callbacks of :func:`use_callbacks`."""

    progress: Progress | None = None
    checkpoint: Checkpoint | None = None

    def end_epoch(self, epoch: int, epochs: int, history: History) -> None:
        """Call ``progress`` at the end of an epoch."""
        if self.progress is not None:
            self.progress(epoch, epochs, history)


_CURRENT: ContextVar[Callbacks] = ContextVar("callbacks", default=Callbacks())  # noqa: B039


@contextmanager
def use_callbacks(progress: Progress | None = None, checkpoint: Checkpoint | None = None) -> Iterator[None]:
    """Use callbacks in every training inside the block.

    Args:
        progress: called after each epoch with its number, the largest number of epochs, and the history.
        checkpoint: where the state is saved at every evaluation, and loaded from at the start.
    """
    token = _CURRENT.set(Callbacks(progress, checkpoint))
    try:
        yield
    finally:
        _CURRENT.reset(token)


def watching(
    progress: Progress | None = None, checkpoint: Checkpoint | None = None
) -> AbstractContextManager[None]:
    """Deprecated name of :func:`use_callbacks`."""
    warnings.warn("watching is now called use_callbacks", DeprecationWarning, stacklevel=2)
    return use_callbacks(progress, checkpoint)


def current() -> Callbacks:
    """Return the callbacks in use."""
    return _CURRENT.get()
