"""How much a server takes: sizes and times."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20


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
