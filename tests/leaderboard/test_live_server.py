"""A real server on a port: the client, slow and lying clients, and the end of a season."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import uvicorn
from tests.leaderboard.served_board import (
    ENTRY,
    HIDDEN,
    TASK,
    Served,
    make_served,
)

import trueedge as te
from trueedge.errors import InputError
from trueedge.leaderboard.client import Answer, Server
from trueedge.leaderboard.hidden.season import end_season
from trueedge.leaderboard.hidden.secret_folder import Secret
from trueedge.leaderboard.server.app import create_app
from trueedge.leaderboard.server.closing import submitted_files
from trueedge.leaderboard.server.connections import protocol_with_deadline
from trueedge.leaderboard.server.limits import Limits
from trueedge.leaderboard.server.tokens import add_token
from trueedge.methods import get as get_method
from trueedge.results.certificate_check import verify

LIMITS = Limits(head_seconds=0.3, grace_seconds=0.5, least_rate=1e6)


@pytest.fixture
def live(tmp_path: Path, prepared: Path) -> Iterator[tuple[Served, int]]:
    served = make_served(tmp_path, prepared, LIMITS)
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        create_app(served.service),
        http=protocol_with_deadline(LIMITS.head_seconds),
        lifespan="off",
        log_config=None,
        access_log=False,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    yield served, listening.getsockname()[1]
    server.should_exit = True
    thread.join(20)
    listening.close()


def _said(port: int, *parts: bytes, pause: float = 0.0) -> bytes:
    """Send bytes, and return everything that comes back until the connection is closed."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        try:
            for part in parts:
                connection.sendall(part)
                time.sleep(pause)
        except OSError:
            pass
        found = b""
        try:
            while part := connection.recv(65536):
                found += part
        except OSError:
            pass
        return found


def test_a_head_that_never_ends_is_cut(live) -> None:
    _, port = live
    assert _said(port, b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ") == b""
    assert _said(port) == b""


def test_a_body_that_comes_too_slowly_is_cut(live) -> None:
    served, port = live
    head = f"PUT /api/v1/files/{'0' * 64} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {served.token}\r\n"
    found = _said(port, head.encode() + b"Content-Length: 1000\r\n\r\n", b"x")
    assert b"408" in found.splitlines()[0]
    assert b'{"error": "the body came too slowly' in found


def test_a_body_that_is_shorter_or_longer_than_it_says_leaves_nothing(live) -> None:
    served, port = live
    head = f"PUT /api/v1/files/{'0' * 64} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {served.token}\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(head.encode() + b"Content-Length: 1000\r\n\r\nshort")
    longer = _said(port, head.encode() + b"Connection: close\r\nContent-Length: 3\r\n\r\nabcdefghij")
    assert b"422" in longer.splitlines()[0]
    two = _said(port, head.encode() + b"Content-Length: 3\r\nContent-Length: 5\r\n\r\nabc")
    assert b"400" in two.splitlines()[0]
    until = time.monotonic() + 10
    inbox = served.service.places.inbox("one")
    while any(inbox.glob("*")) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(inbox.glob("*"))


def _worked(served: Served) -> None:
    served.worker.work()


def test_the_client_submits_certificates_and_scores(live, tmp_path: Path) -> None:
    served, port = live
    server = Server(f"http://127.0.0.1:{port}", served.token)
    paths = sorted((served.folder / "certificates").glob("ra-*.json"))
    sent = server.submit_certificates(paths, ENTRY)
    assert sent.status == "waiting"
    _worked(served)
    assert server.wait(sent, 5) == Answer(sent.id, "done", "mine", f"added to {TASK} as mine")
    assert server.submit_certificates(paths, ENTRY).id == sent.id
    np.save(tmp_path / "scores.npy", served.hidden.scores(get_method("cn")().fit(served.hidden.task)))
    scored = server.submit_scores(tmp_path / "scores.npy", ENTRY, HIDDEN)
    _worked(served)
    found = server.status(scored.id)
    assert (found.status, found.value is not None) == ("done", True)
    np.save(tmp_path / "again.npy", np.zeros(served.hidden.card.shape))
    with pytest.raises(InputError, match=r"refused it \(429\): a team may submit once a week"):
        server.submit_scores(tmp_path / "again.npy", {**ENTRY, "name": "Other"}, HIDDEN)
    with pytest.raises(InputError, match=r"refused it \(401\)"):
        Server(server.address, "te_wrong").status(sent.id)


def test_the_commands_submit_and_manage_tokens(live, trueedge, monkeypatch) -> None:
    served, port = live
    board = str(served.folder / "board")
    status, token, _ = trueedge("serve", "token", "add", "Team B", "--board", board)
    assert (status, token.startswith("te_")) == (0, True)
    monkeypatch.setenv("TRUEEDGE_TOKEN", token.strip())
    worker = threading.Thread(target=_until_done, args=(served,))
    worker.start()
    files = [str(path) for path in sorted((served.folder / "certificates").glob("katz-*.json"))]
    about = ["--name", "Katz", "--author", "B", "--licence", "MIT"]
    status, out, err = trueedge("submit", *files, "--to", f"http://127.0.0.1:{port}", *about)
    worker.join()
    assert (status, out) == (0, f"katz: done, added to {TASK} as katz\n"), err
    status, out, _ = trueedge("serve", "token", "list", "--board", board)
    assert "Team B" in out
    assert token.strip() not in out
    assert trueedge("serve", "token", "revoke", "Team B", "--board", board)[0] == 0
    status, _, err = trueedge("submit", *files, "--to", f"http://127.0.0.1:{port}", *about)
    assert (status, "unknown or was revoked" in err) == (1, True)


def _until_done(served: Served) -> None:
    until = time.monotonic() + 30
    while not served.worker.work() and time.monotonic() < until:
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["submit", "x.npy", "--to", "http://board.example"], "unencrypted"),
        (["submit", "x.npy", "--to", "ftp://x"], "not the address of a server"),
        (["submit", "x.npy", "--to", "https://board.example"], "name the task with --task"),
        (["submit", "x.npy", "y.npy", "--to", "https://board.example"], "are one file"),
        (["submit", "x.json", "--to", "https://board.example"], "there is no file x.json"),
        (["serve"], "name the folder"),
        (["serve", "nowhere"], "not a board"),
        (["serve", "token", "steal", "x"], "token add NAME"),
        (["serve", "token", "add"], "token add NAME"),
        (["serve", "x", "--demo"], "leave out the folder"),
        (["serve", "--demo", "--secrets", "x"], "--demo makes a board of its own: leave out --secrets"),
        (["serve", "--demo", "--db", "x"], "--demo makes a board of its own: leave out --db"),
        (["serve", "x", "--board", "y"], "x is the board: leave out --board"),
        (["serve", "token", "list", "--judge", "x"], "a token needs no judge: leave out --judge"),
        (["submit", "x.json", "--to", "http://[::1"], "'http://[::1' is not the address of a server"),
        (["submit", "x.json", "--to", "https://b.example:99999"], "is not the address of a server"),
        (["submit", "x.json", "--to", "https://b.example/?q=a b"], "is not the address of a server"),
        (["submit", "x.json", "--to", "https://b.example/?q=1"], "is not the address of a server"),
        (["submit", "x.json", "--to", "https://me:pw@b.example"], "has no user and no password"),
    ],
)
def test_wrong_commands_are_answered_in_one_sentence(trueedge, monkeypatch, words, said) -> None:
    monkeypatch.setenv("TRUEEDGE_TOKEN", "te_x")
    about = ["--name", "X", "--author", "B", "--licence", "MIT"] if words[0] == "submit" else []
    status, _, err = trueedge(*words, *about)
    assert status == 1
    assert said in " ".join(err.split())


def test_a_token_is_needed_and_never_in_an_address(trueedge, monkeypatch) -> None:
    monkeypatch.delenv("TRUEEDGE_TOKEN", raising=False)
    status, _, err = trueedge(
        "submit", "x.json", "--to", "https://b.example", "--name", "X", "--author", "B", "--licence", "MIT"
    )
    assert (status, "a token is needed" in err) == (1, True)
    for token in ("te_x\n", "te x", "te_é", "te_\x1b"):
        with pytest.raises(InputError, match="holds a space, a line break or another character") as found:
            Server("https://b.example", token)
        assert token not in str(found.value)


def test_a_server_that_is_none_is_named(trueedge) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(InputError, match="cannot be reached"):
            Server(f"http://127.0.0.1:{unused.getsockname()[1]}", "te_x").status("0")


@pytest.mark.parametrize(
    ("answer", "what"), [(b"no HTTP\r\n\r\n", "HTTP"), (b"HTTP/1.1 200 OK\r\n\r\n{", "JSON")]
)
def test_a_server_that_speaks_another_language_is_named(answer: bytes, what: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def speak() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(answer)

        thread = threading.Thread(target=speak)
        thread.start()
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        with pytest.raises(InputError, match=f"^{address} is no board's server: its answer is not {what}"):
            Server(address, "te_x").status("0")
        thread.join()


def test_what_was_sent_before_tells_what_came_out(live, tmp_path: Path) -> None:
    served, port = live
    server = Server(f"http://127.0.0.1:{port}", served.token)
    np.save(tmp_path / "scores.npy", served.hidden.scores(get_method("cn")().fit(served.hidden.task)))
    server.submit_scores(tmp_path / "scores.npy", ENTRY, HIDDEN)
    _worked(served)
    again = server.wait(server.submit_scores(tmp_path / "scores.npy", ENTRY, HIDDEN), 5)
    assert (again.status, "on the public units is shown as" in again.sentence) == ("done", True)


def test_a_season_ends_with_certificates_that_anyone_can_check(tmp_path: Path, prepared: Path) -> None:
    served = make_served(tmp_path, prepared)
    for team, method in (("one", "cn"), ("two", "ppr")):
        hidden = served.hidden
        scores = hidden.scores(get_method(method)().fit(hidden.task))
        served.submit_scores(scores, team=team, name=method)
    with pytest.raises(InputError, match="not judged yet"):
        submitted_files(served.folder / "board", HIDDEN)
    served.worker.work()
    secret = Secret.open(prepared / "secrets" / "one")
    files = submitted_files(served.folder / "board", HIDDEN)
    ended = end_season(served.board, HIDDEN, secret, files, tmp_path / "labels")
    assert ended.values["ppr"] > ended.values["cn"]
    for name, path in ended.certificates.items():
        assert verify(path, tmp_path / "labels" / "task").ok, name
        exact = secret.scores_of(np.load(files[name], allow_pickle=False))
        assert te.metrics.get("auc").value(exact) == pytest.approx(verify(path).certificate["metrics"]["auc"])
    assert served.board.check() == []
    task = served.board.task(HIDDEN)
    assert task.hidden["phase"] == "final"
    assert task.hidden["salt"] == secret.salt.hex()
    scored = served.board.entry(HIDDEN, "ppr").scored
    assert scored is not None
    assert scored["value"] == pytest.approx(ended.values["ppr"])
    assert scored["public"]["value"] is not None
    again = end_season(served.board, HIDDEN, secret, files, tmp_path / "labels")
    assert again.values == ended.values
    assert served.board.check() == []


def test_a_season_is_not_ended_with_other_labels_or_missing_scores(tmp_path: Path, prepared: Path) -> None:
    served = make_served(tmp_path, prepared)
    served.submit_scores(np.random.default_rng(0).random(served.hidden.card.shape))
    served.worker.work()
    secret = Secret.open(prepared / "secrets" / "one")
    with pytest.raises(InputError, match="scores of mine are missing"):
        end_season(served.board, HIDDEN, secret, {}, tmp_path / "labels")
    from dataclasses import replace

    other = replace(secret, card=replace(secret.card, labels="0" * 64))
    with pytest.raises(InputError, match="other labels"):
        end_season(served.board, HIDDEN, other, {}, tmp_path / "labels")
    assert not (tmp_path / "labels").exists()
    assert add_token(served.service.engine, "x")
