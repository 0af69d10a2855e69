"""Structured logs: one line of JSON for each event, without tokens, bodies or labels."""

from __future__ import annotations

import json
import logging
import sys
import time
from contextlib import suppress
from typing import Any

LOGGER = logging.getLogger("trueedge.server")
LONGEST = 500


class JsonLines(logging.Formatter):
    """Writes a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        given = getattr(record, "fields", None)
        fields = given if isinstance(given, dict) else {"message": record.getMessage()[:LONGEST]}
        if record.exc_info and record.exc_info[0] is not None:
            # The type alone: a message could hold what somebody sent.
            fields = {**fields, "exception": record.exc_info[0].__name__}
        head = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "level": record.levelname.lower(),
        }
        return json.dumps({**head, **fields})


class StandardError(logging.Handler):
    """Writes to standard error as it is at the moment of writing."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record; a log that cannot be written stops nothing."""
        with suppress(OSError, ValueError):
            print(self.format(record), file=sys.stderr, flush=True)


def configure_logs(level: int = logging.INFO) -> None:
    """Send the logs of server and worker to standard error."""
    handler = StandardError()
    handler.setFormatter(JsonLines())
    for name in ("trueedge.server", "uvicorn.error", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level if name.startswith("trueedge") else logging.WARNING)


def event(level: str, what: str, **fields: Any) -> None:
    """Log an event.

    Args:
        level: ``info`` or ``error``.
        what: its kind, one word.
        fields: numbers and texts about it; long texts are cut.
    """
    plain = {
        name: round(value, 6)
        if isinstance(value, float)
        else value[:LONGEST]
        if isinstance(value, str)
        else value
        for name, value in fields.items()
    }
    LOGGER.log(getattr(logging, level.upper()), what, extra={"fields": {"event": what, **plain}})
