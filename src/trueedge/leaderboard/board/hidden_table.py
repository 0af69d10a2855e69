"""The table ``hidden`` of a task's card: season, hashes, dates, shares and quotas; every field is checked."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from trueedge.errors import InputError, is_number, is_whole, unknown, whole_number
from trueedge.leaderboard.board.text_fields import date_field, text_field

HASH = re.compile("[0-9a-f]{64}")
#: One ladder for a task, or one for each team: the second tells honest teams more, and coalitions too.
LADDERS = ("task", "team")
PHASES = ("public", "final")
# Without these, no submission could be read or judged.
NEEDED = ("labels", "shape")


@dataclass(frozen=True)
class Quotas:
    """How many submissions to a hidden task are judged; those that fail do not count.

    Attributes:
        per_week: of one team, in any seven days.
        per_season: of one team.
        per_task: of all teams, in a season: new accounts do not help.
    """

    per_week: int = 1
    per_season: int = 12
    per_task: int = 200

    @classmethod
    def of(cls, hidden: Mapping[str, Any]) -> Self:
        """Return the quotas that a task's card sets; others have their defaults."""
        given = hidden.get("quotas", {})
        known = [one.name for one in fields(cls)]
        if not isinstance(given, Mapping) or not set(given) <= set(known):
            raise InputError(f"quotas of a hidden task are {', '.join(known)}")
        return cls(**{name: whole_number(name, "quotas", value, 1) for name, value in given.items()})


def checked_hidden(given: object) -> dict[str, Any]:
    """Return the table, with days as texts; raise an InputError for a field that is not what it must be.

    An empty table says that the labels of the task are public.
    """
    if not isinstance(given, Mapping):
        raise InputError(f"hidden must be a table, got {type(given).__name__}")
    for name in given:
        if name not in CHECKS:
            raise unknown("field of the table hidden", name, CHECKS)
    missing = [name for name in NEEDED if name not in given] if given else []
    if missing:
        raise InputError(f"{missing[0]} is missing in the table hidden")
    return {name: CHECKS[name](value, f"{name} of a hidden task") for name, value in given.items()}


def _hash(value: object, field: str) -> str:
    if isinstance(value, str) and HASH.fullmatch(value):
        return value
    raise InputError(f"{field} must be 64 digits 0-9 a-f")


def _share(value: object, field: str) -> float:
    if is_number(value) and 0 < value < 1:
        return value
    raise InputError(f"{field} must lie between 0 and 1, got {value!r}")


def _shape(value: object, field: str) -> list[int]:
    if isinstance(value, list) and value and all(is_whole(size) and size > 0 for size in value):
        return value
    raise InputError(f"{field} must be a list of whole numbers, 1 or more, got {value!r}")


def _quotas(value: object, _: str) -> object:
    Quotas.of({"quotas": value})
    return value


def _one_of(known: tuple[str, ...]) -> Callable[[object, str], object]:
    def check(value: object, field: str) -> object:
        if value in known:
            return value
        raise InputError(f"{field} must be {' or '.join(known)}, got {value!r}")

    return check


CHECKS: dict[str, Callable[[object, str], object]] = {
    "season": text_field,
    "opens": date_field,
    "closes": date_field,
    "candidates": _hash,
    "labels": _hash,
    "public_share": _share,
    "shape": _shape,
    "quotas": _quotas,
    "ladder": _one_of(LADDERS),
    "phase": _one_of(PHASES),
    "salt": _hash,
}
