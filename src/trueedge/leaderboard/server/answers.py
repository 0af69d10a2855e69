"""The answers of the API: where it is, and the form of what it says."""

from __future__ import annotations

import json
from typing import Any

from fastapi import Response

API = "/api/v1"


def json_answer(status: int, value: Any, headers: dict[str, str] | None = None) -> Response:
    """Return an answer in JSON, which nothing between server and client keeps.

    Args:
        status: the HTTP status.
        value: what it says.
        headers: further headers.
    """
    body = json.dumps(value, ensure_ascii=False).encode()
    return Response(body, status, {"Cache-Control": "no-store", **(headers or {})}, "application/json")
