"""What cannot be verified is downloaded only where the user says so."""

from __future__ import annotations

import hashlib
import io
import urllib.request
from email.message import Message
from pathlib import Path

import pytest

from trueedge import datasets
from trueedge.datasets import MissingFile, SourceFile
from trueedge.datasets.sources import available, locate, locate_all
from trueedge.errors import InputError

CONTENT = b"0 1\n"
CHECKSUM = hashlib.sha256(CONTENT).hexdigest()


class Answer(io.BytesIO):
    headers = Message()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that were asked for; each sends the same content."""
    found: list[str] = []

    def answer(self: object, request: urllib.request.Request, timeout: float) -> Answer:
        found.append(request.full_url)
        return Answer(CONTENT)

    monkeypatch.setattr(urllib.request.OpenerDirector, "open", answer)
    monkeypatch.delenv("TRUEEDGE_UNVERIFIED", raising=False)
    return found


def test_what_has_a_checksum_and_comes_by_https_is_downloaded(cache: Path, asked: list[str]) -> None:
    assert locate(SourceFile("x", "https://example.org/x", CHECKSUM)).read_bytes() == CONTENT
    assert asked == ["https://example.org/x"]


@pytest.mark.parametrize(
    ("url", "checksum", "reason"),
    [
        ("http://example.org/x", CHECKSUM, "since http://example.org/x is not an https address"),
        ("http://example.org/x", None, "since http://example.org/x is not an https address"),
        ("file:///etc/passwd", CHECKSUM, "since file:///etc/passwd is not an https address"),
        ("https://example.org/x", None, "since no checksum is known of what https://example.org/x sends"),
    ],
)
@pytest.mark.parametrize("member", [None, "inside"])
def test_what_cannot_be_verified_is_refused_with_the_way_to_allow_it(
    cache: Path, asked: list[str], url: str, checksum: str | None, reason: str, member: str | None
) -> None:
    with pytest.raises(MissingFile) as caught:
        locate(SourceFile("family/x", url, checksum, member=member), "some-graph")
    said = str(caught.value)
    assert reason in said
    assert "set TRUEEDGE_UNVERIFIED=1 to download it all the same" in said
    assert said.endswith(f"put it at {cache / 'family/x'}")
    assert asked == []


def test_it_is_downloaded_where_the_user_says_so(
    cache: Path, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = SourceFile("x", "http://example.org/x")
    assert locate_all([file], "some-graph", unverified=True)["x"].read_bytes() == CONTENT
    (cache / "x").unlink()
    monkeypatch.setenv("TRUEEDGE_UNVERIFIED", "0")
    with pytest.raises(MissingFile, match="is not an https address"):
        locate(file)
    monkeypatch.setenv("TRUEEDGE_UNVERIFIED", "1")
    assert locate(file).read_bytes() == CONTENT


def test_a_checksum_counts_also_where_the_user_allows_others(cache: Path, asked: list[str]) -> None:
    with pytest.raises(InputError, match="it was deleted"):
        locate_all([SourceFile("x", "http://example.org/x", "0" * 64)], "some-graph", unverified=True)


def test_any_other_value_of_the_variable_is_refused(
    cache: Path, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRUEEDGE_UNVERIFIED", "no")
    with pytest.raises(InputError, match="TRUEEDGE_UNVERIFIED is 'no': it must be 0 or 1"):
        locate(SourceFile("x", "http://example.org/x"))


def test_a_redirection_to_plain_http_is_not_followed(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def moved(self: object, request: urllib.request.Request) -> object:
        headers = Message()
        headers["Location"] = "http://example.org/elsewhere"
        answer = urllib.response.addinfourl(io.BytesIO(), headers, request.full_url, 302)
        answer.msg = "Found"  # type: ignore[attr-defined]
        return answer

    monkeypatch.setattr(urllib.request.HTTPSHandler, "https_open", moved)
    monkeypatch.delenv("TRUEEDGE_UNVERIFIED", raising=False)
    with pytest.raises(
        MissingFile, match=r"it redirects to http://example\.org/elsewhere, which is not an https"
    ):
        locate(SourceFile("x", "https://example.org/x", CHECKSUM))


def test_every_address_of_the_catalogue_is_https() -> None:
    files = [file for card in datasets.cards() for file in card.all_files if file.url is not None]
    assert len(files) > 20
    assert [file.url for file in files if not file.url.startswith("https://")] == []


def test_a_data_set_without_checksums_is_not_downloaded_by_itself(cache: Path, asked: list[str]) -> None:
    with pytest.raises(MissingFile, match=r"ogbl-collab: .* no checksum is known"):
        available("ogbl-collab")
    assert asked == []
