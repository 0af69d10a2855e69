"""Connections with deadlines: a client that never finishes the head of its request is cut."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


def protocol_with_deadline(seconds: float) -> type[H11Protocol]:
    """Return uvicorn's protocol with a deadline for the head of each request.

    Args:
        seconds: how long a head may take. Idle connections between requests have uvicorn's own deadline.
    """

    class DeadlineProtocol(H11Protocol):
        """Closes a connection whose head is not complete in time."""

        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self._deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._start()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            waits = self.conn.their_state is h11.IDLE and bool(self.conn.trailing_data[0])
            if waits and self._deadline is None:
                self._start()
            elif not waits and self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

        def connection_lost(self, exc: Exception | None) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
            super().connection_lost(exc)

        def _start(self) -> None:
            self._deadline = self.loop.call_later(seconds, self._cut)

        def _cut(self) -> None:
            self._deadline = None
            self.transport.abort()

    return DeadlineProtocol
