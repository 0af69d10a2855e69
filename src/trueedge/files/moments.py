"""Moments in time as numbers: seconds since 1970."""

from __future__ import annotations

from datetime import UTC, date, datetime


def seconds(value: object) -> float | None:
    """Return a number as it is, and a date as seconds since 1970; None for anything else.

    Args:
        value: a number or its text, a text such as ``2020-01-31 12:00:00``, a date or a datetime. Without a
            zone, it is UTC.
    """
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        pass
    try:
        moment = datetime.fromisoformat(value.strip()) if isinstance(value, str) else value
        if not isinstance(moment, date):
            return None
        if not isinstance(moment, datetime):
            moment = datetime(moment.year, moment.month, moment.day)
        return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
