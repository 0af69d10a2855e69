"""How much a server takes: quotas of submissions, sizes and times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from trueedge.errors import InputError, whole_number

MIB = 1 << 20


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


@dataclass(frozen=True)
class Limits:
    """Sizes and times.

    Attributes:
        file_bytes: the largest file of scores.
        json_bytes: the largest JSON body.
        waiting_bytes: the bytes of files that a team has uploaded and not submitted.
        waiting_files: the number of such files.
        certificates_per_day: submissions of certificates by one team in 24 hours.
        head_seconds: the time for the head of a request.
        grace_seconds: the time for a body, besides what its size takes.
        least_rate: the bytes in a second below which a client is cut.
        send_seconds: the time for a part of an answer.
        connections: how many are open at the same time.
        keep_seconds: how long an uploaded file waits for its submission.
    """

    file_bytes: int = 256 * MIB
    json_bytes: int = MIB
    waiting_bytes: int = 1024 * MIB
    waiting_files: int = 100
    certificates_per_day: int = 200
    head_seconds: float = 10.0
    grace_seconds: float = 20.0
    least_rate: float = 65536.0
    send_seconds: float = 60.0
    connections: int = 1000
    keep_seconds: float = 86400.0
