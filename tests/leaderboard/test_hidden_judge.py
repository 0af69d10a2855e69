"""The judge: a process of its own that gives one kind of answer, and says nothing else about labels."""

from __future__ import annotations

import io
import json
import os
import signal
import socket
import threading
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import InputError
from trueedge.leaderboard.hidden import judge as judging
from trueedge.leaderboard.hidden.asking_judge import JudgeAbsentError, JudgeClient
from trueedge.leaderboard.hidden.judge import FAILED, Judge, padded, serve_stream
from trueedge.leaderboard.hidden.making import hide
from trueedge.leaderboard.hidden.public_folder import HiddenTask
from trueedge.leaderboard.hidden.secret_folder import Secret
from trueedge.methods import get as get_method


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("judge")
    hidden = hide(
        partial(te.task, "cora", "uniform"),
        folder / "public",
        folder / "secrets" / "one",
        name="one",
        least_units=100,
    )
    for name in ("cn", "ppr"):
        np.save(folder / f"{name}.npy", hidden.scores(get_method(name)().fit(hidden.task)))
    np.save(folder / "zero.npy", np.zeros(hidden.card.shape))
    return folder


def _question(place: Path, scores: str, best: str | None = None) -> dict:
    path = None if best is None else str(place / best)
    return {"task": "one", "scores": str(place / scores), "best": path, "tries": 1}


def test_the_judge_answers_with_the_ladder_and_nothing_else(place: Path) -> None:
    judge = Judge.of_folder(place / "secrets")
    first = judge.answer(_question(place, "cn.npy"))
    assert set(first) == {"value"}
    assert round(100 * first["value"]) == pytest.approx(100 * first["value"])
    secret = Secret.open(place / "secrets" / "one")
    exact = secret.values(np.load(place / "cn.npy"), public=True).mean
    assert 0 <= exact - first["value"] < 0.1
    assert judge.answer(_question(place, "cn.npy", "cn.npy")) == {"value": None}
    better = judge.answer(_question(place, "ppr.npy", "cn.npy"))
    assert better["value"] > first["value"]
    assert judge.answer(_question(place, "zero.npy")) == {"value": None}


def test_only_public_units_change_an_answer(place: Path) -> None:
    secret = Secret.open(place / "secrets" / "one")
    assert secret.public.sum() == round(0.3 * len(secret.public))
    scores = np.load(place / "cn.npy")
    count = len(secret.public)
    scores[secret.places[:count][~secret.public]] = -1e9
    scores[secret.places[count:][~secret.public_negatives]] = 1e9
    np.save(place / "spoiled.npy", scores)
    judge = Judge.of_folder(place / "secrets")
    assert judge.answer(_question(place, "spoiled.npy")) == judge.answer(_question(place, "cn.npy"))


@pytest.mark.parametrize(
    "question",
    [
        None,
        [],
        {},
        {"task": "other"},
        {"task": "one", "scores": "/nowhere", "best": None, "tries": 1},
        {"task": "one", "scores": 3, "best": None, "tries": 1},
        {"task": ["one"], "scores": "", "best": None, "tries": 1},
    ],
)
def test_every_failure_has_the_same_words(place: Path, question) -> None:
    assert Judge.of_folder(place / "secrets").answer(question) == {"error": FAILED}


def test_submissions_that_fail_have_the_same_words(place: Path) -> None:
    judge = Judge.of_folder(place / "secrets")
    shape = HiddenTask.open(place / "public").card.shape
    for number, values in enumerate((np.full(shape, np.nan), np.zeros(3), np.zeros(shape, int))):
        np.save(place / f"bad-{number}.npy", values)
        assert judge.answer(_question(place, f"bad-{number}.npy")) == {"error": FAILED}


def test_every_answer_takes_a_multiple_of_the_same_time(monkeypatch) -> None:
    now, slept = [0.0], []
    monkeypatch.setattr(judging.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(judging.time, "sleep", slept.append)

    def slow(seconds: float):
        def answer(question):
            now[0] += seconds
            return {}

        return answer

    for seconds in (0.001, 0.3, 0.49, 0.7):
        padded(slow(seconds), None, 0.5)
    assert [round(one, 6) for one in slept] == [0.499, 0.2, 0.01, 0.3]


def test_lines_that_are_no_json_are_answered_like_any_failure(place: Path) -> None:
    answers = io.BytesIO()
    lines = b"not json\n" + json.dumps(_question(place, "cn.npy")).encode() + b"\n"
    serve_stream(Judge.of_folder(place / "secrets"), io.BytesIO(lines), answers, 0.001)
    ready, failed, good = [json.loads(line) for line in answers.getvalue().splitlines()]
    assert list(ready["ready"]) == ["one"]
    assert failed == {"error": FAILED}
    assert good["value"] is not None


def test_a_judge_in_its_own_process_answers_and_survives_a_kill(place: Path) -> None:
    with JudgeClient(secrets=place / "secrets", tick=0.01) as client:
        assert client.labels == {"one": HiddenTask.open(place / "public").card.labels}
        first = client.ask("one", place / "cn.npy", None)
        assert first is not None
        assert client._process is not None
        os.kill(client._process.pid, signal.SIGKILL)
        assert client.ask("one", place / "cn.npy", None) == first
        with pytest.raises(InputError, match=FAILED):
            client.ask("one", place / "nothing.npy", None)


def test_a_judge_of_somebody_else_answers_at_a_socket(place: Path, tmp_path: Path) -> None:
    path = tmp_path / "judge.sock"
    judge = Judge.of_folder(place / "secrets")
    threading.Thread(target=judging.serve_socket, args=(judge, path, 0.01), daemon=True).start()
    client = JudgeClient(socket_path=path)
    for _ in range(500):
        try:
            client.open()
            break
        except InputError:
            threading.Event().wait(0.01)
    try:
        assert client.ask("one", place / "cn.npy", None) is not None
    finally:
        client.close()


def test_a_judge_at_a_socket_answers_several_servers_and_no_other_takes_its_place(
    place: Path, tmp_path: Path
) -> None:
    path, ready = tmp_path / "judge.sock", threading.Event()
    judge = Judge.of_folder(place / "secrets")
    # A socket that a judge left behind when it was killed is no obstacle.
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    work = partial(judging.serve_socket, judge, path, 0.01, ready.set)
    threading.Thread(target=work, daemon=True).start()
    assert ready.wait(20)
    with JudgeClient(socket_path=path) as first, JudgeClient(socket_path=path) as second:
        values = [one.ask("one", place / "cn.npy", None) for one in (first, second, first)]
    assert values == [values[0]] * 3
    # A client that goes away at once takes nobody with it.
    for _ in range(5):
        with socket.socket(socket.AF_UNIX) as hasty:
            hasty.connect(str(path))
    with JudgeClient(socket_path=path) as client:
        assert client.ask("one", place / "cn.npy", None) == values[0]
    with pytest.raises(InputError, match="another judge answers at"):
        judging.serve_socket(judge, path, 0.01)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="exists and is no socket"):
        judging.serve_socket(judge, tmp_path / "file", 0.01, lambda: pytest.fail("it is not ready"))


def test_a_judge_that_cannot_be_asked_fails_with_the_words_of_every_failure(tmp_path: Path) -> None:
    for client in (JudgeClient(secrets=tmp_path / "gone"), JudgeClient(socket_path=tmp_path / "none.sock")):
        with pytest.raises(JudgeAbsentError) as found:
            client.ask("one", tmp_path / "scores.npy", None)
        assert str(found.value) == FAILED
        assert str(tmp_path) in found.value.reason


def test_a_judge_without_labels_says_so_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there are no hidden labels"):
        JudgeClient(secrets=tmp_path).open()
    with pytest.raises(InputError, match="no judge answers"):
        JudgeClient(socket_path=tmp_path / "none.sock").open()
    with pytest.raises(InputError, match="either a folder of labels or a socket"):
        JudgeClient()
