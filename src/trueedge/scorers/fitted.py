"""What a scorer was fitted on, so that no other task evaluates it."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from types import MethodType
from typing import Any

ATTRIBUTE = "_trueedge_fitted_on"
# For objects without a dictionary of attributes, such as arrays: by identity, as long as they live.
_others: dict[int, dict[str, str]] = {}


def mark_fitted(scorer: object, training: str, description: str) -> None:
    """Note on a scorer what it was fitted on.

    Args:
        scorer: what a method's ``fit`` returned. An object that several fits return keeps the notes of all.
        training: the hash of the training data.
        description: the training data in words.
    """
    notes = dict(fitted_on(scorer)) | {training: description}
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
    owner = scorer.__self__ if isinstance(scorer, MethodType) else scorer
    notes: Any = getattr(owner, "__dict__", {}).get(ATTRIBUTE) or _others.get(id(owner))
    return notes if isinstance(notes, dict) else {}
