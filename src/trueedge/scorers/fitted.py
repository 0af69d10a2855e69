"""What a scorer was fitted on, so that no other task evaluates it."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from types import MethodType
from typing import Any

from trueedge.scorers.learned import Steps

ATTRIBUTE = "_trueedge_fitted_on"
# For objects without a dictionary of attributes, such as arrays: by identity, as long as they live.
_others: dict[int, dict[str, str]] = {}
# The fit that each scorer comes from. No attribute, so that pickles stay small.
_fits: dict[int, Fit] = {}


@dataclass(frozen=True, eq=False)
class Fit:
    """A fit of a method.

    Attributes:
        task: the task, without its test part.
        method: the method; None if it is not known.
        seed: the seed of the fit.
        device: where it ran.
        steps: what it learned.
    """

    task: Any
    method: Any = None
    seed: int = 0
    device: str = "cpu"
    steps: Steps | None = None


def mark_fitted(scorer: object, training: str, description: str, fit: Fit | None = None) -> None:
    """Note on a scorer what it was fitted on.

    Args:
        scorer: what a method's ``fit`` returned. An object that several fits return keeps the notes of all.
        training: the hash of the training data.
        description: the training data in words.
        fit: the fit, which is kept as long as the scorer lives.
    """
    notes = dict(fitted_on(scorer)) | {training: description}
    if fit is not None:
        _keep_fit(scorer, fit)
    try:
        object.__setattr__(scorer, ATTRIBUTE, notes)
    except (AttributeError, TypeError):
        try:
            weakref.finalize(scorer, _others.pop, id(scorer), None)
        except TypeError:
            return
        _others[id(scorer)] = notes


def fitted_on(scorer: object) -> Mapping[str, str]:
    """Return the descriptions of what a scorer was fitted on by their hashes; empty if nobody noted it."""
    # A bound method, such as ``scorer.score``, has no attributes of its own.
    owner = _owner(scorer)
    notes: Any = getattr(owner, "__dict__", {}).get(ATTRIBUTE) or _others.get(id(owner))
    return notes if isinstance(notes, dict) else {}


def task_of(scorer: object) -> Any:
    """Return the task that a scorer was fitted on, without its test part, or None as :func:`fit_of` does."""
    fit = fit_of(scorer)
    return None if fit is None else fit.task


def fit_of(scorer: object) -> Fit | None:
    """Return the fit that a scorer comes from, or None.

    It is None for a scorer of another process, for a copy, and for one that was fitted on several tasks.
    """
    return _fits.get(id(_owner(scorer))) if len(fitted_on(scorer)) == 1 else None


def _keep_fit(scorer: object, fit: Fit) -> None:
    try:
        if id(scorer) not in _fits:
            weakref.finalize(scorer, _fits.pop, id(scorer), None).atexit = False
    except TypeError:  # a tuple, for example, cannot be watched
        return
    _fits[id(scorer)] = fit


def _owner(scorer: object) -> object:
    return scorer.__self__ if isinstance(scorer, MethodType) else scorer
