"""Files are found, downloaded whole and checked, or asked for by name."""

from __future__ import annotations

import hashlib
import io
import re
import socket
import stat
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from trueedge import datasets
from trueedge.datasets import MissingFile, SourceFile
from trueedge.datasets.dataset import DATASETS, Dataset
from trueedge.datasets.sources import (
    altered,
    available,
    cache_folder,
    fingerprint,
    locate,
    locate_all,
    verify,
)
from trueedge.errors import InputError
from trueedge.graph import Graph

CONTENT = b"0 1\n1 2\n" * 100_000
CHECKSUM = hashlib.sha256(CONTENT).hexdigest()


class Server(ThreadingHTTPServer):
    """A web server on this machine; ``files`` is what it serves, ``asked`` what it was asked for."""

    daemon_threads = True
    files: dict[str, bytes]
    asked: list[str]

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of clients that hang up: some tests do."""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/file")
            self.end_headers()
            return
        content = self.server.files.get(self.path.removesuffix("?cut"))
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[:1000] if self.path.endswith("?cut") else content)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Handler) as running:
        running.files, running.asked = {"/file": CONTENT}, []
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy, and plain http from this machine, which has no certificate."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("TRUEEDGE_UNVERIFIED", "1")


def leftovers(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_the_data_folder_comes_before_the_cache(
    own_data: Path, cache: Path, put: Callable[..., Path]
) -> None:
    file = SourceFile("family/x.txt")
    kept = put(cache / file.path, "cache")
    assert locate(file) == kept
    own = put(own_data / file.path, "own")
    assert locate(file) == own


def test_the_cache_is_where_the_user_says_or_where_caches_are(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TRUEEDGE_CACHE", str(tmp_path / "chosen"))
    assert cache_folder() == tmp_path / "chosen"
    monkeypatch.delenv("TRUEEDGE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert cache_folder() == tmp_path / "caches" / "trueedge"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "trueedge"


def test_a_data_folder_that_is_none_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRUEEDGE_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match=re.escape(f"TRUEEDGE_DATA names {tmp_path / 'nowhere'}")):
        locate(SourceFile("x"))


def test_a_file_is_downloaded_once_into_the_cache(cache: Path, server: Server) -> None:
    file = SourceFile("family/x.txt", f"{server.address}/file", CHECKSUM)
    place = locate(file)
    assert place == cache / "family" / "x.txt"
    assert place.read_bytes() == CONTENT
    assert stat.S_IMODE(place.stat().st_mode) == 0o644
    assert locate(file) == place
    assert server.asked == ["/file"]
    assert leftovers(cache) == [place]


def test_a_file_that_has_moved_is_followed(cache: Path, server: Server) -> None:
    assert locate(SourceFile("x", f"{server.address}/moved", CHECKSUM)).read_bytes() == CONTENT


def test_a_wrong_checksum_deletes_what_came_and_says_so(cache: Path, server: Server) -> None:
    file = SourceFile("family/x.txt", f"{server.address}/file", "0" * 64)
    with pytest.raises(InputError, match=f"{CHECKSUM} instead of {'0' * 64}; it was deleted") as caught:
        locate(file, "some-graph")
    assert str(caught.value).startswith("some-graph: family/x.txt from http://127.0.0.1")
    assert leftovers(cache) == []


def test_a_file_the_server_does_not_have_is_asked_for_by_name(cache: Path, server: Server) -> None:
    file = SourceFile("family/x.txt", f"{server.address}/gone", CHECKSUM)
    with pytest.raises(MissingFile) as caught:
        locate(file, "some-graph")
    said = str(caught.value)
    assert "some-graph: family/x.txt is not here (TRUEEDGE_DATA is not set)" in said
    assert f"{server.address}/gone failed (HTTP 404 Not Found)" in said
    assert f"put it at {cache / 'family/x.txt'}" in said
    assert "\n" not in said
    assert leftovers(cache) == []


def test_without_a_network_the_file_the_address_and_the_folder_are_named(own_data: Path, cache: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{closed.getsockname()[1]}/file"
        with pytest.raises(MissingFile) as caught:
            locate(SourceFile("family/x.txt", address), "some-graph")
    said = str(caught.value)
    assert f"family/x.txt is not in {own_data} nor in {cache}" in said
    assert f"downloading {address} failed" in said
    assert "refused" in said
    assert f"put it at {own_data / 'family/x.txt'}" in said
    assert leftovers(cache) == []


def test_a_transfer_that_breaks_off_leaves_nothing(cache: Path, server: Server) -> None:
    file = SourceFile("x", f"{server.address}/file?cut")
    with pytest.raises(MissingFile, match=f"broke off after 1000 of {len(CONTENT)} bytes"):
        locate(file)
    assert leftovers(cache) == []


def test_an_interrupted_download_leaves_nothing(
    cache: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("trueedge.datasets.downloads.copy", interrupted)
    with pytest.raises(KeyboardInterrupt):
        locate(SourceFile("x", f"{server.address}/file"))
    assert leftovers(cache) == []


def test_a_file_without_an_address_is_asked_for_with_its_reason(cache: Path) -> None:
    with pytest.raises(MissingFile, match="and there is no address to download it from; put it at"):
        locate(SourceFile("x"))
    with pytest.raises(MissingFile, match="and its address is dead; put it at"):
        locate(SourceFile("x", note="its address is dead"))


def test_a_cache_that_cannot_be_written_is_an_error(cache: Path, server: Server) -> None:
    cache.write_text("a file where the folder should be")
    with pytest.raises(InputError, match=re.escape(f"cannot write to the cache {cache}")):
        locate(SourceFile("x", f"{server.address}/file"))


def test_a_bar_is_shown_on_a_terminal_and_nothing_in_a_pipe(
    cache: Path, server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    locate(SourceFile("first", f"{server.address}/file"))
    assert capsys.readouterr() == ("", "")

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    locate(SourceFile("second", f"{server.address}/file"), "some-graph")
    assert "some-graph: file" in screen.getvalue()
    assert "800.0/800.0 kB" in screen.getvalue()


def packed(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def test_an_archive_is_downloaded_once_and_gives_only_the_files_asked_for(
    cache: Path, server: Server
) -> None:
    server.files["/a.zip"] = packed({"a/": b"", "a/x": CONTENT, "a/y": b"y", "a/unwanted": b"z"})
    url = f"{server.address}/a.zip"
    files = (SourceFile("s/x", url, CHECKSUM, member="a/x"), SourceFile("s/deep/y", url, member="a/y"))
    assert files[0].archive
    assert not SourceFile("s/x", url).archive
    places = locate_all(files, "some-graph")
    assert places == {"s/x": cache / "s/x", "s/deep/y": cache / "s/deep/y"}
    assert places["s/x"].read_bytes() == CONTENT
    assert locate_all(files, "some-graph") == places
    assert server.asked == ["/a.zip"]
    assert set(leftovers(cache)) == set(places.values())
    places["s/deep/y"].unlink()
    locate_all(files, "some-graph")
    assert server.asked == ["/a.zip", "/a.zip"]


def test_a_file_in_an_archive_is_checked_too(cache: Path, server: Server) -> None:
    server.files["/a.zip"] = packed({"a/x": b"other"})
    with pytest.raises(InputError, match=f"instead of {CHECKSUM}; it was deleted"):
        locate(SourceFile("s/x", f"{server.address}/a.zip", CHECKSUM, member="a/x"))
    assert leftovers(cache) == []


@pytest.mark.parametrize("name", ["../evil", "a/../../evil", "/tmp/evil", "a\\..\\evil", "C:/evil"])
def test_an_archive_with_a_file_outside_of_it_is_not_unpacked(
    cache: Path, server: Server, tmp_path: Path, name: str
) -> None:
    plain = packed({"a/x": b"x", "N" * len(name): b"evil"})
    # zipfile tidies some names while writing, a forger would not.
    server.files["/a.zip"] = plain.replace(b"N" * len(name), name.encode())
    with pytest.raises(InputError, match=r"was not unpacked: its file .* lies outside of it"):
        locate(SourceFile("s/x", f"{server.address}/a.zip", member="a/x"))
    assert leftovers(cache) == []
    assert not list(tmp_path.rglob("evil"))


def test_an_archive_with_a_link_is_not_unpacked(cache: Path, server: Server) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        link = zipfile.ZipInfo("a/x")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    server.files["/a.zip"] = buffer.getvalue()
    with pytest.raises(InputError, match="its file 'a/x' is a link"):
        locate(SourceFile("s/x", f"{server.address}/a.zip", member="a/x"))
    assert leftovers(cache) == []


def test_a_damaged_archive_or_one_without_the_file_is_an_error(cache: Path, server: Server) -> None:
    server.files |= {"/a.zip": packed({"a/y": b"y"}), "/b.zip": b"no archive"}
    with pytest.raises(InputError, match=r"the archive at .*/a\.zip does not contain a/x"):
        locate(SourceFile("s/x", f"{server.address}/a.zip", member="a/x"))
    with pytest.raises(InputError, match=r"what .*/b\.zip sent is a damaged archive"):
        locate(SourceFile("s/x", f"{server.address}/b.zip", member="a/x"))
    assert leftovers(cache) == []


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> Iterator[Dataset]:
    """A data set of two files without an address."""
    made = Dataset(
        name="two-files",
        family="test",
        title="",
        num_nodes=None,
        num_edges=None,
        num_features=None,
        licence="",
        source="",
        citation="",
        read=lambda: Graph.from_edges([[0, 1]]),
        files=(SourceFile("two/x", sha256=CHECKSUM), SourceFile("two/y")),
    )
    monkeypatch.setitem(DATASETS._entries, made.name, made)
    return made


def test_verify_compares_the_files_that_are_here(
    own_data: Path, put: Callable[..., Path], card: Dataset
) -> None:
    assert [check.state for check in verify("two-files")] == ["missing", "missing"]
    put(own_data / "two/x", CONTENT)
    put(own_data / "two/y", b"y")
    assert [(check.path, check.state) for check in verify("two-files")] == [
        ("two/x", "ok"),
        ("two/y", "unknown"),
    ]
    put(own_data / "two/x", b"changed")
    first = verify("two-files")[0]
    assert (first.state, first.found) == ("differs", own_data / "two/x")


def test_available_says_what_is_missing(own_data: Path, put: Callable[..., Path], card: Dataset) -> None:
    available("cora")
    put(own_data / "two/x", CONTENT)
    with pytest.raises(MissingFile, match="two-files: two/y is not in"):
        available("two-files")
    put(own_data / "two/y", b"y")
    available("two-files")
    with pytest.raises(MissingFile, match="HeaRT released no split for two-files"):
        available("two-files", released="shared")
    with pytest.raises(MissingFile, match=r"heart/cora/train_pos\.txt is not in"):
        datasets.available("cora", released="heart")


def spoiled(change: Callable[[bytearray], None]) -> bytes:
    """An archive of which some bytes are others."""
    archive = bytearray(packed({"a/x": CONTENT}))
    change(archive)
    return bytes(archive)


def break_deflate(archive: bytearray) -> None:
    archive[40:60] = b"\xff" * 20


def mark(*places: tuple[bytes, int, int]) -> Callable[[bytearray], None]:
    """Set two bytes behind each header that begins so."""

    def change(archive: bytearray) -> None:
        for magic, offset, value in places:
            at = archive.index(magic) + offset
            archive[at : at + 2] = value.to_bytes(2, "little")

    return change


@pytest.mark.parametrize(
    "change",
    [
        break_deflate,
        mark((b"PK\x03\x04", 6, 1), (b"PK\x01\x02", 8, 1)),
        mark((b"PK\x03\x04", 8, 97), (b"PK\x01\x02", 10, 97)),
    ],
    ids=["damaged", "encrypted", "unknown method"],
)
def test_an_archive_that_cannot_be_unpacked_is_an_error_and_leaves_nothing(
    cache: Path, server: Server, change: Callable[[bytearray], None]
) -> None:
    server.files["/a.zip"] = spoiled(change)
    with pytest.raises(
        InputError, match=r"what .*/a\.zip sent is (a damaged archive \(.+\)|an archive with another.*)$"
    ):
        locate(SourceFile("s/deep/x", f"{server.address}/a.zip", member="a/x"))
    assert not cache.exists()


def test_a_failed_download_leaves_no_empty_folders_and_spoils_no_others(cache: Path, server: Server) -> None:
    file = SourceFile("family/deep/x", f"{server.address}/gone")
    with pytest.raises(MissingFile):
        locate(file)
    assert not cache.exists()
    (cache / "family").mkdir(parents=True)
    with pytest.raises(MissingFile):
        locate(file)
    assert [path.name for path in cache.rglob("*")] == ["family"]


def test_a_place_that_is_taken_by_a_folder_is_an_error(cache: Path, server: Server) -> None:
    (cache / "x" / "y").mkdir(parents=True)
    with pytest.raises(InputError, match=re.escape(f"{cache / 'x'} cannot be written (")):
        locate(SourceFile("x", f"{server.address}/file"))


@pytest.mark.parametrize("variable", ["TRUEEDGE_DATA", "TRUEEDGE_CACHE"])
def test_the_home_of_nobody_is_an_error(variable: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "~nosuchuser/x")
    with pytest.raises(InputError, match=f"{variable} is '~nosuchuser/x', but there is no such home folder"):
        locate(SourceFile("x"))


def test_a_user_without_a_home_is_asked_for_a_cache(
    own_data: Path, put: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for variable in ("TRUEEDGE_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(Path, "home", nobody)
    with pytest.raises(InputError, match="no home folder for downloads: set TRUEEDGE_CACHE to a folder"):
        locate(SourceFile("x"))
    place = put(own_data / "x", "here")
    assert locate(SourceFile("x")) == place


def refuse(*arguments: object, **options: object) -> None:
    raise PermissionError(13, "Permission denied")


def test_folders_that_may_not_be_entered_are_an_error(
    own_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "is_file", refuse)
    with pytest.raises(InputError, match=re.escape(f"{own_data / 'x'} cannot be read: Permission denied")):
        locate(SourceFile("x"))
    monkeypatch.setattr(Path, "is_dir", refuse)
    with pytest.raises(InputError, match=re.escape(f"TRUEEDGE_DATA names {own_data}: Permission denied")):
        locate(SourceFile("x"))


def test_files_that_may_not_be_read_are_an_error(
    own_data: Path, put: Callable[..., Path], card: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("citeseer", "chameleon", "two-files"):
        for file in datasets.get(name).files:
            put(own_data / file.path, "")
    monkeypatch.setattr(Path, "open", refuse)
    for call in (
        lambda: datasets.load("citeseer"),
        lambda: datasets.load("chameleon"),
        lambda: verify("two-files"),
        lambda: fingerprint("two-files"),
        lambda: altered("two-files"),
    ):
        with pytest.raises(InputError, match="cannot be read"):
            call()


def test_a_fingerprint_is_that_of_the_files_that_are_here(
    own_data: Path, put: Callable[..., Path], card: Dataset
) -> None:
    assert fingerprint("karate") == fingerprint("price:nodes=10,edges=20") == fingerprint("two-files") == ""
    put(own_data / "two/x", CONTENT)
    part = fingerprint("two-files")
    assert part == hashlib.sha256(CHECKSUM.encode()).hexdigest()
    place = put(own_data / "two/y", b"y")
    whole = fingerprint("two-files")
    assert whole not in ("", part)
    place.write_bytes(b"yy")
    assert fingerprint("two-files") not in (whole, part)
    assert altered("two-files") == []
    changed = put(own_data / "two/x", b"changed")
    assert altered("two-files") == [str(changed)]


def test_a_fingerprint_reads_a_file_once(
    own_data: Path, put: Callable[..., Path], card: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(own_data / "two/x", CONTENT)
    # A file that was written just now is read again.
    monkeypatch.setattr("trueedge.files.digests.SETTLED", -(10**9))
    first = fingerprint("two-files")
    monkeypatch.setattr(Path, "open", refuse)
    assert fingerprint("two-files") == first
    assert altered("two-files") == []


def test_released_files_are_in_the_fingerprint_where_that_is_asked_for(
    own_data: Path, put: Callable[..., Path]
) -> None:
    put(own_data / "heart/citeseer/train_pos.txt", "forged")
    assert fingerprint("citeseer") == ""
    assert fingerprint("citeseer", released="shared") != ""
    assert altered("citeseer") == []
    assert altered("citeseer", released="heart") == [str(own_data / "heart/citeseer/train_pos.txt")]
