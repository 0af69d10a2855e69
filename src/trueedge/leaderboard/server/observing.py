"""Watch every request: a deadline for its answer, one shape of error, a line in the log, and counts."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from trueedge.leaderboard.server.logs import event
from trueedge.leaderboard.server.problems import SENTENCES, ApiError, error_body

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]
BUCKETS = (0.005, 0.025, 0.1, 0.25, 1.0, 5.0)
SECURE = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
]


class Counts:
    """Counts of requests, for the metrics page."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.requests: Counter[tuple[str, int]] = Counter()
        self.buckets: Counter[float] = Counter()
        self.seconds = 0.0
        self.received = 0

    def add(self, method: str, status: int, seconds: float, received: int) -> None:
        """Count a request."""
        with self._lock:
            self.requests[method, status] += 1
            self.seconds += seconds
            self.received += received
            for bucket in BUCKETS:
                if seconds <= bucket:
                    self.buckets[bucket] += 1

    def text(self, submissions: dict[str, int]) -> str:
        """Return the counts in Prometheus' text format.

        Args:
            submissions: the number of submissions by status.
        """
        with self._lock:
            total = sum(self.requests.values())
            lines = ["# TYPE trueedge_requests_total counter"]
            lines += [
                f'trueedge_requests_total{{method="{method}",status="{status}"}} {count}'
                for (method, status), count in sorted(self.requests.items())
            ]
            lines.append("# TYPE trueedge_request_seconds histogram")
            lines += [f'trueedge_request_seconds_bucket{{le="{one}"}} {self.buckets[one]}' for one in BUCKETS]
            lines += [
                f'trueedge_request_seconds_bucket{{le="+Inf"}} {total}',
                f"trueedge_request_seconds_sum {self.seconds:.6f}",
                f"trueedge_request_seconds_count {total}",
                "# TYPE trueedge_received_bytes_total counter",
                f"trueedge_received_bytes_total {self.received}",
                "# TYPE trueedge_submissions gauge",
            ]
        lines += [
            f'trueedge_submissions{{status="{name}"}} {count}' for name, count in sorted(submissions.items())
        ]
        return "\n".join(lines) + "\n"


class Observed:
    """Wraps an application.

    Args:
        app: the application.
        counts: where requests are counted.
        send_seconds: the time for a part of an answer; a client that does not read is cut.
    """

    def __init__(self, app: App, counts: Counts, send_seconds: float) -> None:
        self._app, self._counts, self._send_seconds = app, counts, send_seconds

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, told = time.monotonic(), {"status": 0, "received": 0}

        async def receiving() -> Message:
            message = await receive()
            told["received"] += len(message.get("body", b""))
            return message

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                told["status"] = message["status"]
                message["headers"] = [*message.get("headers", ()), *SECURE]
            await asyncio.wait_for(send(message), self._send_seconds)

        try:
            await self._app(scope, receiving, sending)
        except TimeoutError:
            told["status"] = told["status"] or 408
        except ApiError as error:
            await self._fail(sending, told, error.status, error.sentence)
        except Exception as error:  # the sentence says nothing about it: it could hold anything
            event("error", "failure", path=_path(scope), error=type(error).__name__)
            await self._fail(sending, told, 500, SENTENCES[500])
        finally:
            taken = time.monotonic() - started
            method = scope["method"] if scope["method"] in METHODS else "other"
            self._counts.add(method, told["status"], taken, told["received"])
            event("info", "request", method=method, path=_path(scope), status=told["status"], seconds=taken)

    async def _fail(self, send: Send, told: dict[str, int], status: int, sentence: str) -> None:
        if told["status"]:
            return
        headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": error_body(sentence)})


METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH")


def _path(scope: Message) -> str:
    """Return the path without its query, which could hold a token."""
    return str(scope.get("path", ""))[:200]
