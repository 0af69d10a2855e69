"""Training callbacks: progress after each epoch, a checkpoint to resume from, and logs of evaluations."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch

from trueedge.errors import InputError
from trueedge.scorers.history import History
from trueedge.training.checkpoints import Checkpoint

Progress = Callable[[int, int, History], object]


@runtime_checkable
class Callback(Protocol):
    """Is called while a model is trained. It cannot change the training or its random numbers."""

    def on_evaluation(self, epoch: int, loss: float, metrics: Mapping[str, float]) -> object:
        """Take note of a validation check; without a validation part, of every epoch.

        Args:
            epoch: the number of the epoch, from 1.
            loss: its mean loss.
            metrics: the validation value by the name of the metric; empty without a validation part.
        """


@dataclass(frozen=True)
class Callbacks:
    """The callbacks of :func:`use_callbacks`.

    Attributes:
        progress: called after each epoch.
        checkpoint: where the state is saved and loaded from.
        callbacks: called after each evaluation.
    """

    progress: Progress | None = None
    checkpoint: Checkpoint | None = None
    callbacks: tuple[Callback, ...] = ()

    def end_epoch(self, epoch: int, epochs: int, history: History) -> None:
        """Call ``progress`` at the end of an epoch, and the callbacks after an evaluation."""
        if self.progress is not None:
            self.progress(epoch, epochs, history)
        if not self.callbacks:
            return
        evaluated = dict(history.values[-1:]).get(epoch)
        if history.metric is not None and evaluated is None:
            return
        metrics = {} if history.metric is None or evaluated is None else {history.metric: evaluated}
        # A callback may draw random numbers or turn off gradients: the training goes on as it was.
        devices = [torch.cuda.current_device()] if torch.cuda.is_initialized() else []
        with torch.random.fork_rng(devices=devices), torch.set_grad_enabled(torch.is_grad_enabled()):
            for one in self.callbacks:
                one.on_evaluation(epoch, history.losses[-1], metrics)


_CURRENT: ContextVar[Callbacks] = ContextVar("callbacks", default=Callbacks())  # noqa: B039


@contextmanager
def use_callbacks(
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
    callbacks: Sequence[Callback] | None = None,
) -> Iterator[None]:
    """Use callbacks in every training inside the block, in this process.

    Args:
        progress: called after each epoch with its number, the largest number of epochs, and the history.
        checkpoint: where the state is saved at every evaluation, and loaded from at the start.
        callbacks: called after each evaluation, such as a log for TensorBoard; None keeps those of a block
            around this one.
    """
    listening = _CURRENT.get().callbacks if callbacks is None else tuple(callbacks)
    for one in listening:
        if not isinstance(one, Callback):
            raise InputError(
                f"a callback has on_evaluation(epoch, loss, metrics), and {type(one).__name__} has not"
            )
    token = _CURRENT.set(Callbacks(progress, checkpoint, listening))
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
