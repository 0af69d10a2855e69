"""What a scorer was fitted on, so that no other task evaluates it."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from types import MethodType
from typing import Any

ATTRIBUTE = "_trueedge_fitted_on"
# For objects without a dictionary of attributes, such as arrays: by identity, as long as they live.
_others: dict[int, dict[str, str]] = {}
# The task that each scorer was fitted on, without its test part. No attribute, so that pickles stay small.
_tasks: dict[int, Any] = {}


def mark_fitted(scorer: object, training: str, description: str, task: Any = None) -> None:
    """Note on a scorer what it was fitted on.

    Args:
        scorer: what a method's ``fit`` returned. An object that several fits return keeps the notes of all.
        training: the hash of the training data.
        description: the training data in words.
        task: the task without its test part, which is kept as long as the scorer lives.
    """
    notes = dict(fitted_on(scorer)) | {training: description}
    if task is not None:
        _keep_task(scorer, task)
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
    """Return the task that a scorer was fitted on, without its test part, or None.

    It is None for a scorer of another process, for a copy, and for one that was fitted on several tasks.
    """
    return _tasks.get(id(_owner(scorer))) if len(fitted_on(scorer)) == 1 else None


def _keep_task(scorer: object, task: Any) -> None:
    try:
        if id(scorer) not in _tasks:
            weakref.finalize(scorer, _tasks.pop, id(scorer), None).atexit = False
    except TypeError:  # a tuple, for example, cannot be watched
        return
    _tasks[id(scorer)] = task


def _owner(scorer: object) -> object:
    return scorer.__self__ if isinstance(scorer, MethodType) else scorer
