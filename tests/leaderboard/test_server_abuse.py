"""Abuse of the server, one test each: bodies, bombs, slow clients, tokens and oracles."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import select
from tests.leaderboard.served_board import (
    ENTRY,
    HIDDEN,
    TASK,
    Served,
    make_served,
    noise,
    npy,
)

from trueedge.errors import InputError
from trueedge.leaderboard.hidden.asking_judge import JudgeClient
from trueedge.leaderboard.hidden.judge import FAILED
from trueedge.leaderboard.hidden.secret_folder import Secret
from trueedge.leaderboard.server.database import TOKENS, reading
from trueedge.leaderboard.server.limits import Limits
from trueedge.leaderboard.server.logs import configure_logs
from trueedge.leaderboard.server.problems import ApiError
from trueedge.leaderboard.server.tokens import add_token, list_tokens, revoke_tokens, team_of
from trueedge.leaderboard.server.uploads import body_chunks, remove_old

# Bodies


def test_an_oversized_body_is_refused_before_it_is_read(tmp_path: Path, prepared: Path) -> None:
    served = make_served(tmp_path, prepared, Limits(file_bytes=1000, json_bytes=500))
    path = f"/api/v1/files/{hashlib.sha256(bytes(2000)).hexdigest()}"
    announced = served.ask("PUT", path, content=bytes(2000))
    assert announced.status_code == 413
    assert announced.json() == {"error": "the body is too large: 1,000 bytes are allowed"}

    async def parts():
        for _ in range(20):
            yield bytes(100)

    assert served.ask("PUT", path, content=parts()).status_code == 413
    assert served.ask("POST", "/api/v1/submissions", content=b" " * 501).status_code == 413
    assert served.ask("PUT", path, content=b"", headers={"Content-Length": "many"}).status_code == 400
    assert _files(served) == []


def _files(served: Served) -> list[str]:
    return [path.name for path in served.service.places.inbox("one").glob("*")]


def test_a_body_with_another_hash_leaves_nothing_behind(served: Served) -> None:
    answer = served.ask("PUT", f"/api/v1/files/{'0' * 64}", content=b"abc")
    assert answer.status_code == 422
    assert hashlib.sha256(b"abc").hexdigest() in answer.json()["error"]
    assert (
        served.ask("PUT", f"/api/v1/files/{hashlib.sha256(b'').hexdigest()}", content=b"").status_code == 422
    )
    assert served.ask("PUT", "/api/v1/files/..%2f..%2fx", content=b"abc").status_code in (404, 405, 422)
    assert _files(served) == []


def test_a_compressed_body_is_not_unpacked(served: Served) -> None:
    bomb = gzip.compress(bytes(10_000_000))
    path = f"/api/v1/files/{hashlib.sha256(bomb).hexdigest()}"
    answer = served.ask("PUT", path, content=bomb, headers={"Content-Encoding": "gzip"})
    assert answer.status_code == 415
    assert "compressed" in answer.json()["error"]


def test_bombs_are_refused(served: Served) -> None:
    packed = io.BytesIO()
    np.savez_compressed(packed, scores=np.zeros(20_000_000))
    text = io.BytesIO()
    with zipfile.ZipFile(text, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("scores.npy", bytes(50_000_000))
    for bomb in (packed.getvalue(), text.getvalue(), gzip.compress(bytes(10_000_000))):
        answer = served.submit_scores(bomb)
        assert answer.status_code == 422, answer.text
    pickled = io.BytesIO()
    np.save(pickled, np.array([os.getcwd], dtype=object), allow_pickle=True)
    assert served.submit_scores(pickled.getvalue()).status_code == 422


def test_a_bomb_in_a_certificate_fails_in_the_worker(served: Served) -> None:
    body = served.certificate_body("ra")
    packed = io.BytesIO()
    np.savez_compressed(packed, positive=np.zeros(10_000_000), negative=np.zeros(10_000_000))
    name = body["certificates"][0]["scores"]["file"]
    body["files"][name] = served.upload(packed.getvalue())
    answer = served.post(body)
    served.worker.work()
    found = served.status(answer.json()["id"])
    assert (found["status"], "unpacks to" in found["sentence"]) == ("failed", True)


def test_a_slow_client_is_cut() -> None:
    async def slow():
        for _ in range(1000):
            await asyncio.sleep(0.02)
            yield b"x"

    async def read() -> int:
        return sum([len(part) async for part in body_chunks(slow(), limits, 10_000)])

    limits = Limits(grace_seconds=0.2, least_rate=1000.0)
    with pytest.raises(ApiError) as found:
        asyncio.run(read())
    assert found.value.status == 408
    assert asyncio.run(_read_with(Limits(), 5)) == 5


async def _read_with(limits: Limits, count: int) -> int:
    async def quick():
        for _ in range(count):
            yield b"x"

    return sum([len(part) async for part in body_chunks(quick(), limits, 10_000)])


def test_files_that_are_never_submitted_do_not_fill_the_disk(tmp_path: Path, prepared: Path) -> None:
    served = make_served(tmp_path, prepared, Limits(waiting_files=2))
    for k in range(2):
        served.upload(bytes([k]))
    path = f"/api/v1/files/{hashlib.sha256(b'more').hexdigest()}"
    assert served.ask("PUT", path, content=b"more").status_code == 429
    inbox = served.service.places.own / "inbox"
    kept = frozenset([hashlib.sha256(bytes([0])).hexdigest()])
    assert remove_old(inbox, kept, keep_seconds=-1) == 1
    assert _files(served) == list(kept)
    assert served.ask("PUT", path, content=b"more").status_code == 201


def test_files_of_another_team_cannot_be_used(served: Served) -> None:
    digest = served.upload(npy(noise(served, 1)), "two")
    answer = served.post({"task": HIDDEN, "entry": ENTRY, "scores": digest})
    assert (answer.status_code, "no uploaded file" in answer.json()["error"]) == (422, True)
    assert served.ask("GET", f"/api/v1/files/{digest}").status_code == 404
    assert served.ask("GET", f"/api/v1/files/{digest}", team="two").status_code == 200


# Tokens


def test_tokens_have_256_bits_and_are_stored_as_hashes(served: Served) -> None:
    engine = served.service.engine
    token = add_token(engine, "three")
    assert len(token) >= 43
    with reading(engine) as connection:
        rows = connection.execute(select(TOKENS)).all()
    assert hashlib.sha256(token.encode()).hexdigest() in [row.hash for row in rows]
    content = b"".join(path.read_bytes() for path in served.service.places.own.glob("server.db*"))
    assert token.encode() not in content
    assert team_of(engine, token) == "three"
    assert [one.team for one in list_tokens(engine)] == ["one", "three"]


def test_a_revoked_token_is_refused_at_once(served: Served) -> None:
    assert served.ask("GET", f"/api/v1/submissions/{'0' * 32}").status_code == 404
    assert revoke_tokens(served.service.engine, "one") == 2
    answer = served.ask("GET", f"/api/v1/submissions/{'0' * 32}")
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.json() == {"error": "the token is unknown or was revoked"}
    with pytest.raises(InputError, match="no token"):
        revoke_tokens(served.service.engine, "one")


def test_a_token_is_revoked_by_the_name_that_it_was_added_by(served: Served) -> None:
    for name in (" Team B ", "Te\u0301am"):
        add_token(served.service.engine, name)
        assert revoke_tokens(served.service.engine, name) == 1


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer ", "Basic abc", "Bearer wrong", "Bearer " + "x" * 100_000, "Bearer \xff"]
)
def test_a_wrong_token_is_refused(served: Served, header: str) -> None:
    answer = served.ask(
        "GET",
        f"/api/v1/submissions/{'0' * 32}",
        team=None,
        headers={"Authorization": header.encode("latin1")},
    )
    assert answer.status_code == 401


@pytest.mark.parametrize("name", ["", "\u202eabc", "a\x00b", "x" * 81])
def test_a_team_has_a_plain_name(served: Served, name: str) -> None:
    with pytest.raises(InputError):
        add_token(served.service.engine, name)


# Oracles


def test_no_sentence_names_a_folder_of_the_machine(served: Served, capsys) -> None:
    """A judge that is away, and a damaged file of another entry, are said in full in the log alone."""
    configure_logs()
    served.worker.judge = JudgeClient(secrets=served.folder / "gone")
    first = served.submit_scores(noise(served, 0)).json()["id"]
    served.worker.work()
    assert served.status(first)["sentence"] == FAILED
    assert f"there are no hidden labels in {served.folder / 'gone'}" in capsys.readouterr().err
    served.post(served.certificate_body("ra"))
    served.worker.work()
    (served.folder / "board" / TASK / "mine" / "entry.toml").write_text("x =")
    (served.folder / "board" / TASK / "mine" / "seed-0.json").write_text("{")
    second = served.post(served.certificate_body("katz", name="Other")).json()["id"]
    served.worker.work()
    assert served.status(second)["sentence"].startswith(f"{TASK}/mine/seed-0.json")
    answer = served.ask("GET", f"/api/v1/boards/{TASK}/entries/mine")
    assert answer.status_code == 404
    assert answer.json()["error"].startswith(f"{TASK}/mine/entry.toml is not TOML")


def test_answers_and_errors_do_not_depend_on_labels(tmp_path: Path, prepared: Path) -> None:
    """The right scores and the wrong ones get the same answer when they are sent, and the same keys later."""
    secret = Secret.open(prepared / "secrets" / "one")
    truth = np.zeros(secret.card.shape)
    truth[secret.places[: len(secret.public)]] = 1.0
    served = make_served(tmp_path, prepared)
    answers = []
    for team, values in (("right", truth), ("wrong", -truth), ("constant", 0 * truth)):
        sent = served.submit_scores(values, team=team, name=team)
        served.worker.work()
        found = served.status(sent.json()["id"], team)
        answers.append((sent.status_code, sorted(sent.json()), sorted(found), found["status"]))
        assert found["value"] is None or round(100 * found["value"]) == pytest.approx(100 * found["value"])
    assert len(set(map(str, answers))) == 1


def test_neither_database_nor_folder_nor_log_holds_labels(served: Served, prepared: Path, capsys) -> None:
    from trueedge.leaderboard.server.logs import configure_logs

    configure_logs()
    secret = Secret.open(prepared / "secrets" / "one")
    served.submit_scores(noise(served, 1))
    served.worker.work()
    shared = [
        secret.salt.hex().encode(),
        secret.key.hex().encode(),
        secret.task.hash.encode(),
        secret.places.tobytes(),
    ]
    files = [path for path in (served.folder / "board").rglob("*") if path.is_file()]
    content = b"".join(path.read_bytes() for path in files) + capsys.readouterr().err.encode()
    assert not any(one in content for one in shared)


def test_the_server_never_opens_the_secret_folder() -> None:
    """Only the judge's own modules name it; the server and the worker speak with the judge."""
    import trueedge.leaderboard.server as package

    for path in Path(package.__file__).parent.glob("*.py"):
        text = path.read_text()
        assert "secret_folder" not in text, path.name
        assert "hidden.judge" not in text, path.name


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"no json", "the body is not JSON"),
        (b"\xff", "the body is not JSON"),
        (b'{"task": "a", "task": "b"}', "the body has the key 'task' twice in one object"),
        (b'{"task": NaN}', "the body holds NaN, which is no number in JSON"),
        (b"[" * 100_000, "the body is nested too deeply"),
        (b"[]", "the body must be an object with some of"),
    ],
)
def test_a_body_is_refused_for_what_is_wrong_with_it(served: Served, body: bytes, said: str) -> None:
    answer = served.ask("POST", "/api/v1/submissions", content=body)
    assert answer.status_code == 422
    assert said in answer.json()["error"]


def test_what_a_team_can_change_is_said(served: Served) -> None:
    body = served.certificate_body("ra", name="日本語")
    assert "the entry's name, and '日本語' has none: add some" in served.post(body).json()["error"]
    body = served.certificate_body("ra")
    body["certificates"] = [*body["certificates"], body["certificates"][1]]
    assert served.post(body).json()["error"] == "certificate 3 is certificate 2 again"
