"""What a fit learns, kept with its scorer: so a scorer can be saved, and loaded without a new fit.

A method marks each costly step of its ``fit``: the training loop does so by itself, and other steps are
wrapped in :func:`learned`. To load a scorer, ``fit`` runs again, and these steps return what was saved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.scorers.history import History

Arrays = Mapping[str, NDArray[Any]]


def learned(compute: Callable[[], Arrays], **shapes: tuple[int | None, ...]) -> Arrays:
    """Return what a costly step of a fit learns: computed, or, for a scorer that is loaded, as it was saved.

    Args:
        compute: the step; returns arrays by name.
        shapes: the shape of each array, with None for a side of any length; a file with others is refused.
    """
    saved = next_step()
    if saved is not None:
        found = saved.arrays()
        _check(found, shapes)
        assert found is not None
        return found
    with _use(None):
        arrays = dict(compute())
    record(Step(lambda: arrays))
    return arrays


@dataclass(frozen=True)
class Step:
    """A step of a fit that is not repeated when its scorer is loaded.

    Attributes:
        arrays: returns what was learned, or None if that is gone, since the scorer does not use it.
        history: how a training went; None for other steps.
        selected: the same training in the states that are best by other metrics, see
            :mod:`trueedge.scorers.selections`.
    """

    arrays: Callable[[], Arrays | None]
    history: History | None = None
    selected: Mapping[str, Step] = field(default_factory=dict)


class Steps:
    """The steps of a fit, in order: noted as they are done, or taken from a saved scorer.

    Args:
        saved: the saved steps; None for a new fit.
    """

    def __init__(self, saved: Sequence[Step] | None = None) -> None:
        self.done: list[Step] = []
        self._saved = None if saved is None else list(saved)

    def next(self) -> Step | None:
        """Return the next saved step; None in a new fit."""
        if self._saved is None:
            return None
        if len(self.done) == len(self._saved):
            raise InputError(f"it holds {len(self._saved)} learned steps, and the method has more")
        self.done.append(self._saved[len(self.done)])
        return self.done[-1]

    def check_used(self) -> None:
        """Raise an InputError if there are saved steps that the fit did not ask for."""
        if self._saved is not None and len(self.done) < len(self._saved):
            raise InputError(
                f"it holds {len(self._saved)} learned steps, and the method has {len(self.done)}"
            )


# None outside of a fit, and inside a step that is saved as a whole.
_CURRENT: ContextVar[Steps | None] = ContextVar("steps", default=None)


def next_step() -> Step | None:
    """Return the saved step that takes the place of the next one; None if it must be done."""
    steps = _CURRENT.get()
    return None if steps is None else steps.next()


def record(step: Step) -> None:
    """Note a step that was done."""
    steps = _CURRENT.get()
    if steps is not None:
        steps.done.append(step)


@contextmanager
def recording() -> Iterator[Steps | None]:
    """Note the steps of a fit; yields them, or None inside another fit, which notes them as its own."""
    if _CURRENT.get() is not None:
        yield None
        return
    steps = _LOADED.get() or Steps()
    with _load(None), _use(steps):
        yield steps


@contextmanager
def loading(steps: Steps) -> Iterator[None]:
    """Give saved steps to the next fit inside the block."""
    with _load(steps), _use(None):
        yield
    steps.check_used()


_LOADED: ContextVar[Steps | None] = ContextVar("loaded", default=None)


@contextmanager
def _use(steps: Steps | None) -> Iterator[None]:
    token = _CURRENT.set(steps)
    try:
        yield
    finally:
        _CURRENT.reset(token)


@contextmanager
def _load(steps: Steps | None) -> Iterator[None]:
    token = _LOADED.set(steps)
    try:
        yield
    finally:
        _LOADED.reset(token)


def single(array: NDArray[Any]) -> NDArray[np.float32]:
    """Return a learned array as float32; a file from elsewhere may hold numbers of another type."""
    with np.errstate(over="ignore"):  # what is infinite then is found in the scores
        return array.astype(np.float32, copy=False)


def _check(arrays: Arrays | None, shapes: Mapping[str, tuple[int | None, ...]]) -> None:
    """Raise an InputError for arrays that do not have these names and shapes."""
    names = sorted(arrays or {})
    if arrays is None or not shapes.keys() <= arrays.keys():
        raise InputError(f"it should hold {', '.join(shapes)}, and holds {', '.join(names) or 'nothing'}")
    for name, shape in shapes.items():
        found = arrays[name].shape
        if len(found) != len(shape) or any(
            want not in (None, have) for want, have in zip(shape, found, strict=True)
        ):
            wanted = ", ".join("any" if side is None else str(side) for side in shape)
            raise InputError(f"{name} should have the shape ({wanted}), and has {found}")
        if arrays[name].dtype.kind not in "fiu":
            raise InputError(f"{name} should hold numbers, and holds {arrays[name].dtype}")
