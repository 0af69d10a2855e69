"""Errors for wrong input: one sentence that names the culprit."""

from __future__ import annotations

import difflib
import math
import numbers
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import TypeGuard


class InputError(ValueError):
    """The input is wrong; the message is one clear sentence that says what and where."""


class ScoreWarning(UserWarning):
    """The scores were evaluated, but something about them is suspicious."""


class DataWarning(ScoreWarning):
    """A file of a data set is not the published one, so scores on it cannot be compared with others."""


class StoreWarning(UserWarning):
    """Something about stored records: what is left out, waited for, set aside, or not reused, and why."""


def unknown(kind: str, name: object, known: Iterable[str], hint: str = "") -> InputError:
    """An error for a name nobody knows, with the nearest known one as a suggestion.

    Args:
        kind: what was looked for, as a noun ("method", "data set").
        name: what was asked for.
        known: the names there are.
        hint: what to say if none of them is near; by default it lists them all.
    """
    names = sorted(known)
    near = nearest(str(name), names)
    hint = f"did you mean {near!r}?" if near else hint or f"there are: {', '.join(names)}"
    return InputError(f"no {kind} is called {name!r}; {hint}")


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that was most likely meant, or None.

    Two letters that changed places come first: of ``gcn`` and ``ncn``, ``gnc`` means ``gcn``. Of two that are
    as near, the one that begins alike comes first: of ``katz`` and ``kgat``, ``kats`` means ``katz``.
    """
    names = sorted(known)
    swapped = {name[:at] + name[at + 1] + name[at] + name[at + 2 :] for at in range(len(name) - 1)}
    found = [one for one in names if one in swapped or one.casefold() == name.casefold()]
    if found:
        return found[0]
    close = difflib.get_close_matches(name, names)
    return max(close, key=lambda one: _likeness(name, one), default=None)


def _likeness(name: str, other: str) -> tuple[float, int]:
    """Return how alike two names are: the share of equal letters, then the letters they both begin with."""
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(name, other, strict=False))
    return difflib.SequenceMatcher(None, other, name).ratio(), len(list(alike))


def listed(words: Sequence[str]) -> str:
    """Return words as a list in a sentence: ``a, b and c``."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def with_article(noun: str) -> str:
    """Return a noun after ``a`` or ``an``: an item, a user, a uint8."""
    heard = noun.lower()
    vowel = heard.startswith(("a", "e", "i", "o", "u")) and not heard.startswith(
        ("eu", "one", "ui", "uni", "us")
    )
    return f"{'an' if vowel else 'a'} {noun}"


def must_be(argument: str, owner: str, allowed: str, got: object) -> InputError:
    """Return an error for an argument of a function or class (``owner``): what is allowed, what it got."""
    return InputError(f"{owner}: {argument} must be {allowed}, got {got!r}")


def whole_number(argument: str, owner: str, value: object, low: int, high: int | None = None) -> int:
    """Return a whole number as an int, or raise an InputError unless it is from ``low`` to ``high``.

    Booleans are refused. The error names the argument and the function or class (``owner``).
    """
    if is_whole(value) and low <= value and (high is None or value <= high):
        return int(value)
    bounds = f", {low} or more" if high is None else f" from {low} to {high}"
    raise must_be(argument, owner, f"a whole number{bounds}", value)


def is_whole(value: object) -> TypeGuard[int]:
    """Return whether a value is a whole number of Python or numpy, and not a boolean."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a real number of Python or numpy (also NaN, infinity), and not a boolean."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def same_kind(value: object, default: object) -> bool:
    """Return whether a value has the type of a default; 1 is accepted for 1.0, and anything for None."""
    if default is None:
        return True
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(value, bool) and isinstance(default, bool)
    if isinstance(default, int):
        return isinstance(value, numbers.Integral) and abs(int(value)) < 2**63
    if isinstance(default, float):
        plain = isinstance(value, (int, float)) or hasattr(value, "dtype")
        try:
            return plain and isinstance(value, numbers.Real) and math.isfinite(float(value))
        except OverflowError:
            return False
    if isinstance(default, (tuple, list)):
        return isinstance(value, (tuple, list))
    return isinstance(value, type(default))
