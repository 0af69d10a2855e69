"""Processes and commands of a server: started, killed and started again; hidden tasks from end to end."""

from __future__ import annotations

import io
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from tests.leaderboard.served_board import (
    ENTRY,
    HIDDEN,
    TASK,
    Served,
    npy,
)

from trueedge.errors import InputError
from trueedge.leaderboard.board import Board
from trueedge.leaderboard.client import Server
from trueedge.leaderboard.server import demo, running, worker
from trueedge.leaderboard.server.demo import make_demo
from trueedge.leaderboard.server.running import WorkerProcess, serve


def test_a_server_that_is_killed_goes_on_with_what_was_accepted(served: Served) -> None:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    board = served.folder / "board"
    words = [sys.executable, "-m", "trueedge", "serve", str(board), "--port", str(port)]
    words += ["--secrets", str(served.folder / "secrets")]
    server = Server(f"http://127.0.0.1:{port}", served.token)
    first = subprocess.Popen(words, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        _wait(server)
        sent = server.submit_certificates(sorted((served.folder / "certificates").glob("ra-*.json")), ENTRY)
        (served.folder / "scores").write_bytes(npy(np.linspace(0, 1, served.hidden.card.shape[0])))
        scored = server.submit_scores(served.folder / "scores", {**ENTRY, "name": "Line"}, HIDDEN)
    finally:
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
    second = subprocess.Popen(words, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        _wait(server)
        assert server.wait(sent, 120).status == "done"
        assert server.wait(scored, 120).status == "done"
    finally:
        second.send_signal(signal.SIGINT)
        second.wait(60)
    opened = Board.open(board)
    assert [one.name for one in opened.entries(TASK)] == ["mine"]
    assert [one.name for one in opened.entries(HIDDEN)] == ["line"]
    assert opened.check() == []


def _wait(server: Server) -> None:
    until = time.monotonic() + 120
    while time.monotonic() < until:
        try:
            server._ask("GET", "/healthz")
            return
        except InputError:
            time.sleep(0.1)
    raise AssertionError("the server did not start")


def test_a_worker_that_died_is_started_again(served: Served) -> None:
    places = served.service.places
    process = WorkerProcess(places, places.database)
    process.start()
    try:
        assert process._process is not None
        process._process.kill()
        process._process.wait()
        number = served.post(served.certificate_body()).json()["id"]
        process.wake()
        until = time.monotonic() + 120
        while served.status(number)["status"] == "waiting" and time.monotonic() < until:
            process.wake()
            time.sleep(0.1)
        assert served.status(number)["status"] == "done"
    finally:
        process.close()
    assert process._process.poll() is not None
    process.wake()


def test_a_worker_ends_with_its_server(served: Served, monkeypatch) -> None:
    number = served.post(served.certificate_body()).json()["id"]
    monkeypatch.setenv("TRUEEDGE_DATABASE", served.service.places.database)
    reading, writing = os.pipe()
    os.close(writing)
    with os.fdopen(reading, "rb") as wakes:
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=wakes))
        assert worker.main([str(served.folder / "board"), json.dumps({"pages": False})]) == 0
    assert served.status(number)["status"] == "done"


def test_serving_checks_where_labels_are(served: Served, monkeypatch) -> None:
    board = served.folder / "board"
    with pytest.raises(InputError, match="either the folder of hidden labels or the socket"):
        serve(board, secrets=served.folder, judge=served.folder)
    with pytest.raises(InputError, match="must not be in the folder of the board"):
        serve(board, secrets=board / "secrets")
    ran: list[str] = []
    monkeypatch.setattr(running.uvicorn.Server, "run", lambda self, sockets: ran.append(f"{len(sockets)}"))
    monkeypatch.setattr(WorkerProcess, "start", lambda self: None)
    with pytest.raises(InputError, match=r"no hidden labels in .*nowhere"):
        serve(board, port=_free(), secrets=served.folder / "nowhere", ready=lambda: ran.append("ready"))
    with pytest.raises(InputError, match="no judge answers at nowhere"):
        serve(board, port=_free(), judge="nowhere", ready=lambda: ran.append("ready"))
    assert ran == []
    serve(board, port=_free(), secrets=served.folder / "secrets", ready=lambda: ran.append("ready"))
    assert ran == ["ready", "1"]


def test_serving_says_which_hidden_tasks_it_cannot_judge(served: Served, monkeypatch) -> None:
    board, said, services = served.folder / "board", [], []
    monkeypatch.setattr(running.uvicorn.Server, "run", lambda self, sockets: None)
    monkeypatch.setattr(WorkerProcess, "start", lambda self: None)
    made = running.create_app
    monkeypatch.setattr(running, "create_app", lambda service: (services.append(service), made(service))[1])
    serve(board, port=_free(), note=said.append)
    assert said == [
        f"there is no judge for the labels of {HIDDEN}, so submissions to it are refused: restart with"
        " --secrets or --judge"
    ]
    serve(board, port=_free(), secrets=served.folder / "secrets", note=said.append)
    assert len(said) == 1
    card = served.board.task(HIDDEN)
    served.board.update_task(replace(card, hidden={**card.hidden, "labels": "0" * 64}))
    serve(board, port=_free(), secrets=served.folder / "secrets", note=said.append)
    assert said[1].startswith(f"the judge does not have the labels of {HIDDEN}")
    assert [one.judged for one in services] == [frozenset(), frozenset([HIDDEN]), frozenset()]


def test_the_command_says_that_nobody_judges(served: Served, trueedge, monkeypatch) -> None:
    monkeypatch.setattr(running.uvicorn.Server, "run", lambda self, sockets: None)
    monkeypatch.setattr(WorkerProcess, "start", lambda self: None)
    status, _, err = trueedge("serve", str(served.folder / "board"), "--port", str(_free()))
    assert status == 0
    assert f"there is no judge for the labels of {HIDDEN}" in " ".join(err.split())


def _free() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def test_nothing_is_announced_that_is_not_served(served: Served, trueedge) -> None:
    board = str(served.folder / "board")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        for words in ((board,), ("--demo",)):
            status, out, err = trueedge("serve", *words, "--port", str(port))
            assert (status, out) == (1, "")
            assert " ".join(err.split()) == (
                f"trueedge: another program listens at 127.0.0.1:{port}: choose another port with --port"
            )
    status, _, err = trueedge("serve", "nope")
    assert (status, "is not a board" in err, "serves" in err) == (1, True, False)
    status, _, err = trueedge("serve", board, "--host", "no.such.host.invalid")
    assert (status, "no.such.host.invalid is no address to listen at" in err) == (1, True)


def test_a_demonstration_that_is_terminated_leaves_nothing(trueedge, tmp_path: Path, monkeypatch) -> None:
    def small(folder: Path) -> demo.Demo:
        return make_demo(folder, ("ra",), (("karate", "existing", 1),))

    def end() -> None:
        _wait(Server(f"http://127.0.0.1:{port}", "te_x"))
        os.kill(os.getpid(), signal.SIGTERM)

    port, before = _free(), signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(demo, "make_demo", small)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ending = threading.Thread(target=end)
    ending.start()
    status, _, err = trueedge("serve", "--demo", "--port", str(port))
    ending.join()
    assert status == 128 + signal.SIGTERM
    assert f"http://127.0.0.1:{port} serves the demonstration" in " ".join(err.split())
    assert list(tmp_path.glob("trueedge-demo-*")) == []
    assert signal.getsignal(signal.SIGTERM) is before


def test_the_demonstration_has_entries_a_hidden_task_and_a_token(tmp_path: Path) -> None:
    made = make_demo(tmp_path, ("ra", "cn"), (("karate", "existing", 2),))
    board = Board.open(made.board)
    assert [one.name for one in board.entries("karate-existing")] == ["cn", "ra"]
    assert {one.tier for one in board.entries("karate-existing")} == {"reproduced"}
    assert board.task(made.hidden).hidden["shape"]
    assert made.token.startswith("te_")
    assert board.check() == []


def test_commands_hide_answer_and_end(trueedge, tmp_path: Path) -> None:
    assert trueedge("leaderboard", "create", "board")[0] == 0
    words = ["leaderboard", "hide", "cora", "-p", "uniform", "-o", "public", "--secret", "secrets/one"]
    status, out, err = trueedge(*words, "--name", "mine-hidden", "--board", "board", "--closes", "2099-01-01")
    assert (status, len(out.strip())) == (0, 64), err
    card = Board.open("board").task("mine-hidden")
    assert card.hidden["labels"] == out.strip()
    status, _, err = trueedge("leaderboard", "answer", "public", "-m", "ra", "-o", "scores.npy")
    assert status == 0, err
    assert np.load("scores.npy").shape == tuple(card.hidden["shape"])
    end = ["leaderboard", "end", "board", "mine-hidden", "--secret", "secrets/one", "--release", "labels"]
    status, out, err = trueedge(*end)
    assert (status, out) == (0, ""), err
    assert (tmp_path / "labels" / "released.json").is_file()
    status, _, err = trueedge(
        "leaderboard", "hide", "cora", "-o", "p", "--secret", "board/s", "--board", "board"
    )
    assert (status, "must not be in the folder of the board" in " ".join(err.split())) == (1, True)
    status, _, err = trueedge("leaderboard", "answer", "public", "-m", "ra,cn", "-o", "scores.npy")
    assert (status, "names 2 methods" in err) == (1, True)


def test_a_judge_is_run_by_a_command(trueedge, prepared: Path, monkeypatch) -> None:
    from trueedge.leaderboard.hidden import judge

    ran = []

    def serve(found, path, ready) -> None:
        ran.append((found.labels, str(path)))
        ready()

    monkeypatch.setattr(judge, "serve_socket", serve)
    status, _, err = trueedge("leaderboard", "judge", str(prepared / "secrets"), "--socket", "judge.sock")
    assert (status, ran[0][1]) == (0, "judge.sock")
    assert HIDDEN in err


def test_a_judge_process_answers_on_its_pipe(prepared: Path, monkeypatch) -> None:
    from trueedge.leaderboard.hidden import judge

    answers = io.BytesIO()
    monkeypatch.setattr(judge.resource, "setrlimit", lambda *_: None)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"{}\n")))
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=answers))
    assert judge.main([str(prepared / "secrets"), "0.001"]) == 0
    assert judge.main([str(prepared)]) == 1
    lines = [json.loads(line) for line in answers.getvalue().splitlines()]
    assert list(lines[0]["ready"]) == [HIDDEN]
    assert lines[1] == {"error": judge.FAILED}
    assert "no hidden labels" in lines[2]["error"]
