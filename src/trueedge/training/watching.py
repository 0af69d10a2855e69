"""Watching a training from outside: a bar that moves, a checkpoint that outlives a kill."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trueedge.training.checkpoints import Checkpoint

if TYPE_CHECKING:
    from trueedge.training.loop import History

Progress = Callable[[int, int, "History"], object]


@dataclass(frozen=True)
class Watch:
    """Who watches.

    Attributes:
        progress: called after each epoch with its number, the most there may be, and the history so far.
        checkpoint: where the state is kept at every look at the validation part, and gone on from.
    """

    progress: Progress | None = None
    checkpoint: Checkpoint | None = None

    def tell(self, epoch: int, epochs: int, history: History) -> None:
        """Tell of an epoch that is over."""
        if self.progress is not None:
            self.progress(epoch, epochs, history)


_CURRENT: ContextVar[Watch] = ContextVar("watch", default=Watch())  # noqa: B039


@contextmanager
def watching(progress: Progress | None = None, checkpoint: Checkpoint | None = None) -> Iterator[None]:
    """Watch every training inside.

    Args:
        progress: called after each epoch with its number, the most there may be, and the history so far.
        checkpoint: where a training that is killed goes on from.
    """
    token = _CURRENT.set(Watch(progress, checkpoint))
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current() -> Watch:
    """Who watches now."""
    return _CURRENT.get()
