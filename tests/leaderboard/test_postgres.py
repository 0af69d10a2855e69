"""The server's database can be Postgres: the same quotas in a race, tokens and submissions."""

from __future__ import annotations

import json
import socket
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from benchmarks.postgres_server import Postgres, binary
from sqlalchemy import create_engine
from tests.leaderboard.served_board import (
    ENTRY,
    HIDDEN,
    TASK,
    Served,
    make_certificates,
    make_hidden,
    make_served,
    npy,
)

from trueedge.errors import InputError
from trueedge.leaderboard.server.accepting import accept, checked
from trueedge.leaderboard.server.database import open_database
from trueedge.leaderboard.server.limits import Limits
from trueedge.leaderboard.server.problems import ApiError

pytestmark = pytest.mark.skipif(binary("initdb") is None, reason="Postgres is not installed")


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    pytest.importorskip("psycopg")
    # Postgres runs as a user of its own, who cannot reach pytest's folders.
    with tempfile.TemporaryDirectory(prefix="trueedge-postgres-") as folder:
        made = Postgres(Path(folder) / "postgres")
        made.start()
        yield made
        made.stop()


@pytest.fixture
def served(tmp_path: Path, postgres: Postgres) -> Served:
    make_certificates(tmp_path / "prepared", ("ra",))
    make_hidden(tmp_path / "prepared")
    (tmp_path / "served").mkdir()
    made = make_served(tmp_path / "served", tmp_path / "prepared", per_week=4, per_task=4)
    engine = open_database(postgres.address)
    made.service.engine = made.worker.engine = engine
    return made


def test_submissions_and_a_race_for_the_quota_on_postgres(served: Served) -> None:
    answer = served.post(served.certificate_body("ra"))
    assert answer.status_code == 202
    assert served.worker.work() == 1
    assert served.status(answer.json()["id"])["sentence"] == f"added to {TASK} as mine"
    board, places = served.board, served.service.places
    bodies = []
    for number in range(10):
        scores = np.random.default_rng(number).random(served.hidden.card.shape)
        digest = served.upload(npy(scores), f"team {number % 5}")
        body = {"task": HIDDEN, "entry": {**ENTRY, "name": f"entry {number}"}, "scores": digest}
        bodies.append(checked(json.dumps(body).encode(), f"team {number % 5}", board, places))

    def attempt(submission) -> int:
        try:
            accept(served.service.engine, submission, board, Limits())
        except ApiError as error:
            return error.status
        return 202

    with ThreadPoolExecutor(10) as pool:
        assert sorted(pool.map(attempt, bodies)) == [202] * 4 + [429] * 6


def test_a_database_that_does_not_answer_is_one_sentence(served: Served) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"postgresql://me:secret-word@127.0.0.1:{unused.getsockname()[1]}/x"
        with pytest.raises(InputError, match="the database cannot be opened") as found:
            open_database(address)
        assert "secret-word" not in str(found.value)
        served.service.engine = create_engine(address.replace("postgresql:", "postgresql+psycopg:"))
        answer = served.ask("GET", "/healthz", team=None)
    assert answer.status_code == 503
    assert answer.json() == {"error": "the database cannot be reached: try again"}
