"""The page of the API: it shows every request, and asks nothing of any machine."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from urllib.parse import urlsplit

import pytest
from tests.leaderboard.served_board import Served

ADDRESSES = ("href", "src", "srcset", "action", "data", "poster", "background", "ping", "formaction")


class Elements(HTMLParser):
    """All elements of a page, with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.fixture
def page(served: Served) -> str:
    answer = served.ask("GET", "/api/v1/docs", team=None)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    return answer.text


def test_the_page_of_the_api_asks_nothing_outside(page: str) -> None:
    elements = Elements(page).found
    for tag, attributes in elements:
        for name in ADDRESSES:
            address = attributes.get(name) or ""
            # What is shown beside text: an icon without content, and links within the server.
            assert address == "data:," or not (urlsplit(address).scheme or urlsplit(address).netloc), address
        assert tag not in ("img", "iframe", "object", "embed", "form", "base", "video", "audio")
    assert not re.search(r"url\(|@import|//cdn|fetch\(|XMLHttpRequest", page)
    (policy,) = (one["content"] for _, one in elements if one.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-")
    assert "http" not in policy
    assert [one for tag, one in elements if tag == "link"] == [{"rel": "icon", "href": "data:,"}]
    assert [one for tag, one in elements if tag == "script"] == [{}]


def test_the_page_of_the_api_shows_every_request_with_its_fields(served: Served, page: str) -> None:
    schema = served.ask("GET", "/api/v1/openapi.json", team=None).json()
    named = {one["id"] for tag, one in Elements(page).found if tag == "h3"}
    assert named == {one["operationId"] for methods in schema["paths"].values() for one in methods.values()}
    for said in (
        "<code>/api/v1/boards/{task}/entries/{entry}</code>",
        "<dt><code>entry.licence</code></dt><dd>text, required: an SPDX identifier</dd>",
        "<dt>answer 202</dt><dd>Accepted, and on disk.</dd>",
        "curl https://SERVER/api/v1/boards/TASK/entries/ENTRY<",
    ):
        assert said in page


def test_the_links_of_the_page_of_the_api_lead_somewhere(served: Served, page: str) -> None:
    (served.service.places.site / "index.html").write_text("a page")
    ids = {one["id"] for _, one in Elements(page).found if "id" in one}
    links = {one["href"] for tag, one in Elements(page).found if tag == "a"}
    assert {"../../", "openapi.json"} <= links
    for address in links:
        assert address is not None
        if address.startswith("#"):
            assert address[1:] in ids
        else:
            assert served.ask("GET", f"/api/v1/{address}", team=None).status_code == 200


def test_the_schema_announces_errors_of_the_form_that_they_have(served: Served) -> None:
    schema = served.ask("GET", "/api/v1/openapi.json", team=None).json()
    for methods in schema["paths"].values():
        for request in methods.values():
            assert "422" not in request["responses"]
            told = request["responses"]["default"]["content"]["application/json"]["schema"]
            assert list(told["properties"]) == ["error"]
    assert "HTTPValidationError" not in str(schema)


def test_the_pages_of_fastapi_are_not_served(served: Served) -> None:
    for path in ("/docs", "/redoc", "/api/v1/redoc", "/docs/oauth2-redirect", "/api/v1/docs/oauth2-redirect"):
        assert served.ask("GET", path, team=None).status_code == 404
    answer = served.ask("HEAD", "/api/v1/docs", team=None)
    assert (answer.status_code, answer.content) == (200, b"")
