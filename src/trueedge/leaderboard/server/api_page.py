"""The page of the API: every request with what it takes, read from the OpenAPI schema; nothing is fetched."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from trueedge.report.blocks import badge, definitions
from trueedge.report.markup import Markup, joined, tag
from trueedge.report.page import Section, page

# What FastAPI says of an answer that has no words of its own.
WORDLESS = "Successful Response"
PLACES = {"path": "in the address", "query": "in the query", "header": "a header"}
KINDS = {"array": "list", "string": "text", "object": "object"}
HEADER = "Authorization: Bearer $TRUEEDGE_TOKEN"


def api_page(schema: Mapping[str, Any]) -> str:
    """Return the page of an API.

    Args:
        schema: its OpenAPI schema, which is served beside the page.
    """
    by_part: dict[str, list[Markup]] = {}
    for path, methods in schema["paths"].items():
        for method, request in methods.items():
            shown = _request(method.upper(), path, request)
            by_part.setdefault(request["tags"][0], []).append(shown)
    parts = [Section(name.capitalize(), joined(found), name=name) for name, found in by_part.items()]
    about = schema["info"]
    # Relative: a proxy may serve the board below another address.
    links = [tag("a", "Pages of the board", href="../../"), tag("a", "OpenAPI schema", href="openapi.json")]
    lead = joined(
        [tag("p", about["description"], class_="lead"), tag("p", links[0], " · ", links[1], class_="quiet")]
    )
    return page(f"{about['title']}: API", parts, lead=lead)


def _request(method: str, path: str, request: Mapping[str, Any]) -> Markup:
    """Return a request with a heading, what it takes, its answers, and a command that sends it."""
    heading = tag("h3", badge("plain", method), " ", tag("code", path), id=request["operationId"])
    told = ". ".join(request[name].rstrip(".") for name in ("summary", "description") if name in request)
    listed: list[tuple[str, object]] = [*_parameters(request), *_body(request), *_answers(request)]
    sent = tag("pre", tag("code", _command(method, path, request)))
    return joined([heading, tag("p", f"{told}."), definitions(listed) if listed else None, sent])


def _parameters(request: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for one in request.get("parameters", ()):
        place = PLACES.get(one["in"], one["in"])
        told = one.get("description", "")
        yield tag("code", one["name"]), f"{place}: {told}" if told else place


def _body(request: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for kind, content in request.get("requestBody", {}).get("content", {}).items():
        yield "body", kind
        yield from _fields(content["schema"])


def _fields(schema: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """Yield the fields of an object, and those of the objects in it, by their path."""
    needed = schema.get("required", ())
    for name, one in schema.get("properties", {}).items():
        words = [KINDS.get(one["type"], one["type"]), *(["required"] if name in needed else [])]
        told = one.get("description", "")
        yield tag("code", f"{above}{name}"), ", ".join(words) + (f": {told}" if told else "")
        yield from _fields(one, f"{above}{name}.")


def _answers(request: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the answers that have words of their own; errors have the same form everywhere."""
    for status, one in sorted(request["responses"].items()):
        if status.isdigit() and one["description"] != WORDLESS:
            yield f"answer {status}", one["description"]


def _command(method: str, path: str, request: Mapping[str, Any]) -> str:
    """Return a command that sends a request."""
    words = ["curl"] if method == "GET" else ["curl", "-X", method]
    if any(one["in"] == "header" for one in request.get("parameters", ())):
        words.append(f'-H "{HEADER}"')
    for kind in request.get("requestBody", {}).get("content", {}):
        words.append("--json @submission.json" if kind == "application/json" else "--data-binary @scores.npz")
    address = re.sub(r"\{(\w+)\}", lambda named: named[1].upper(), path)
    return " ".join([*words, f"https://SERVER{address}"])
