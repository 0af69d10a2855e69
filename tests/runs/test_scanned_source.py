"""What was found in our own source is kept for other processes, and used only for the very same source."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from trueedge.runs import scanned_source
from trueedge.runs.imports import PACKAGE
from trueedge.runs.scanned_source import Statement, keep_scans, own_scan, scanned

SOURCE = b"""
import a.b, c as d
from . import e
from ..f import g as h, i
if TYPE_CHECKING:
    from j import k
def l():
    import_module(".m")
    import_module("n.o")
    return a.b.p, h.q, i, d
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch) -> Path:
    """Return where scans are kept, for a process that has made none."""
    path = tmp_path / "folder" / "kept.json"
    monkeypatch.setattr(scanned_source, "_place", lambda: path)
    monkeypatch.setattr(scanned_source, "_NEW", set())
    scanned_source._kept.cache_clear()
    yield path
    scanned_source._kept.cache_clear()


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_imports_are_found_at_any_depth() -> None:
    found = scanned(SOURCE)
    assert set(found.statements) == {
        Statement("", None, (("a.b", None), ("c", "d"))),
        Statement("", 1, (("e", None),)),
        Statement("f", 2, (("g", "h"), ("i", None))),
        Statement("j", 0, (("k", None),), typing_only=True),
        Statement("m", 1, (("*", None),)),
        Statement("", None, (("n.o", "()"),)),
    }
    assert found.uses == {"a": {("b", "p")}, "h": {("q",)}, "i": {()}, "d": {()}}


def test_a_source_that_cannot_be_parsed_says_nothing() -> None:
    assert scanned(b"import (").statements == ()


def test_kept_scans_are_those_that_are_found_anew(place: Path, monkeypatch) -> None:
    sources = [SOURCE, *(path.read_bytes() for path in sorted((PACKAGE / "runs").glob("*.py")))]
    first = [own_scan(content, digest(content)) for content in sources]
    keep_scans()
    scanned_source._kept.cache_clear()
    monkeypatch.setattr(scanned_source, "scanned", lambda _: pytest.fail("a source was parsed again"))
    assert [own_scan(content, digest(content)) for content in sources] == first
    before = place.stat().st_mtime_ns
    keep_scans()
    assert place.stat().st_mtime_ns == before


@pytest.mark.parametrize("content", ["", "[]", "{", '{"scanner": 1}', '{"scans": {"a": 3}}'])
def test_a_damaged_file_is_not_used(place: Path, content: str) -> None:
    place.parent.mkdir()
    place.write_text(content)
    assert own_scan(SOURCE, digest(SOURCE)).uses == scanned(SOURCE).uses
    keep_scans()
    assert digest(SOURCE) in json.loads(place.read_text())["scans"]


def test_what_another_version_found_is_not_used(place: Path) -> None:
    own_scan(SOURCE, digest(SOURCE))
    keep_scans()
    card = json.loads(place.read_text())
    place.write_text(json.dumps({**card, "scanner": "another"}))
    scanned_source._kept.cache_clear()
    assert scanned_source._kept() == {}


def test_a_folder_that_cannot_be_written_to_does_not_matter(place: Path) -> None:
    place.parent.write_text("a file")
    assert own_scan(SOURCE, digest(SOURCE)).statements
    keep_scans()
    assert place.parent.read_text() == "a file"


def test_scans_of_older_versions_are_dropped(place: Path, monkeypatch) -> None:
    own_scan(b"import a", "old")
    keep_scans()
    monkeypatch.setattr(scanned_source, "_MOST_KEPT", 1)
    own_scan(b"import b", "new")
    keep_scans()
    assert list(json.loads(place.read_text())["scans"]) == ["new"]
