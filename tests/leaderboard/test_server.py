"""The server: submissions become entries, readers get boards with ETags, and every error is one sentence."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.leaderboard.boards import reproduced
from tests.leaderboard.served_board import (
    ENTRY,
    HIDDEN,
    TASK,
    Served,
    make_served,
)

from trueedge.leaderboard.board import Board
from trueedge.leaderboard.board.standings import standing_of
from trueedge.leaderboard.server.database import open_database
from trueedge.methods import get as get_method


def scores_of(served: Served, method: str) -> np.ndarray:
    hidden = served.hidden
    return hidden.scores(get_method(method)().fit(hidden.task))


def test_certificates_become_an_entry_of_the_board(served: Served) -> None:
    answer = served.post(served.certificate_body())
    assert answer.status_code == 202
    assert answer.headers["location"] == f"/api/v1/submissions/{answer.json()['id']}"
    assert served.status(answer.json()["id"])["status"] == "waiting"
    assert served.worker.work() == 1
    assert served.status(answer.json()["id"])["sentence"] == f"added to {TASK} as mine"
    entry = served.board.entry(TASK, "mine")
    assert sorted(entry.paths) == [0, 1]
    assert entry.tier == "consistent"
    assert served.board.check() == []
    listed = served.ask("GET", f"/api/v1/boards/{TASK}", team=None).json()
    assert [one["entry"] for one in listed["entries"]] == ["mine"]
    shown = served.ask("GET", f"/api/v1/boards/{TASK}/entries/mine", team=None).json()
    assert (shown["licence"], sorted(shown["certificates"])) == ("MIT", ["0", "1"])
    assert served.ask("GET", f"/api/v1/boards/{TASK}/entries", team=None).json() == {"entries": ["mine"]}


def test_the_same_submission_again_is_the_same_submission(served: Served) -> None:
    first = served.post(served.certificate_body())
    again = served.post(served.certificate_body())
    assert (first.status_code, again.status_code) == (202, 200)
    assert again.json()["id"] == first.json()["id"]
    served.worker.work()
    after = served.post(served.certificate_body())
    assert (after.status_code, after.json()["id"], after.json()["status"]) == (
        200,
        first.json()["id"],
        "done",
    )
    assert served.worker.work() == 0


def test_scores_of_a_hidden_task_are_judged_and_shown_rounded(served: Served) -> None:
    answer = served.submit_scores(scores_of(served, "ppr"))
    assert answer.status_code == 202
    served.worker.work()
    found = served.status(answer.json()["id"])
    assert found["status"] == "done"
    assert found["sentence"] == f"auc on the public units is shown as {found['value']:.2f}"
    entry = served.board.entry(HIDDEN, "mine")
    assert entry.tier == "scored"
    assert entry.scored is not None
    assert set(entry.scored) == {"phase", "metric", "value", "time"}
    listed = served.ask("GET", f"/api/v1/boards/{HIDDEN}", team=None).json()
    assert listed["entries"][0]["value"] == found["value"]
    assert served.board.check() == []


@pytest.mark.parametrize("whose", ["task", "team"])
def test_all_teams_climb_one_ladder_unless_the_card_says_otherwise(
    tmp_path: Path, prepared: Path, whose: str
) -> None:
    served = make_served(tmp_path, prepared, per_week=5)
    card = served.board.task(HIDDEN)
    served.board.update_task(replace(card, hidden={**card.hidden, "ladder": whose}))
    first = served.submit_scores(scores_of(served, "cn"), name="first")
    served.worker.work()
    worse = served.submit_scores(scores_of(served, "cn") / 2, name="other", team="two")
    served.worker.work()
    better = served.submit_scores(scores_of(served, "ppr"), name="better")
    served.worker.work()
    sent = ((first, "one"), (worse, "two"), (better, "one"))
    found = [served.status(one.json()["id"], team) for one, team in sent]
    values = [one["value"] for one in found]
    assert values[0] < values[2]
    # The same order of scores as the best of the board: a new account is told nothing.
    assert values[1] == (None if whose == "task" else values[0])
    assert ("no gain above the step" in found[1]["sentence"]) == (whose == "task")
    questions = served.worker.judge.questions  # type: ignore[union-attr]
    assert [(one[1] is None, one[2]) for one in questions] == [(True, 1), (whose == "team", 2), (False, 3)]
    standing = standing_of(card, served.board.entries(HIDDEN), served.board.folder / HIDDEN)
    rows = {row.entry.name: row for row in standing.rows}
    assert rows["other"].value == values[1]
    assert rows["other"].unranked == ("shown when the season ends" if whose == "task" else "")


def test_a_judged_submission_is_not_judged_again_after_a_kill(served: Served, monkeypatch) -> None:
    answer = served.submit_scores(scores_of(served, "cn"))
    from trueedge.leaderboard.server import worker as module

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "write_scored", killed)
    with pytest.raises(KeyboardInterrupt):
        served.worker.work()
    assert served.status(answer.json()["id"])["status"] == "judged"
    monkeypatch.undo()
    served.worker.work()
    assert served.status(answer.json()["id"])["status"] == "done"
    assert len(served.worker.judge.questions) == 1  # type: ignore[union-attr]


def test_an_entry_that_was_written_before_a_kill_is_not_written_twice(served: Served, monkeypatch) -> None:
    answer = served.post(served.certificate_body())
    real = served.worker._note

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(served.worker, "_note", killed)
    with pytest.raises(KeyboardInterrupt):
        served.worker.work()
    assert [one.name for one in served.board.entries(TASK)] == ["mine"]
    assert served.status(answer.json()["id"])["status"] == "waiting"
    monkeypatch.setattr(served.worker, "_note", real)
    served.worker.work()
    assert served.status(answer.json()["id"])["status"] == "done"
    assert [one.name for one in served.board.entries(TASK)] == ["mine"]


def test_a_board_has_an_etag_and_is_not_sent_twice(served: Served) -> None:
    first = served.ask("GET", f"/api/v1/boards/{TASK}", team=None)
    assert first.headers["etag"]
    again = served.ask(
        "GET", f"/api/v1/boards/{TASK}", team=None, headers={"If-None-Match": first.headers["etag"]}
    )
    assert (again.status_code, again.content) == (304, b"")
    served.post(served.certificate_body())
    served.worker.work()
    changed = served.ask(
        "GET", f"/api/v1/boards/{TASK}", team=None, headers={"If-None-Match": first.headers["etag"]}
    )
    assert changed.status_code == 200
    assert changed.headers["etag"] != first.headers["etag"]


def test_a_board_comes_as_csv_too(served: Served) -> None:
    served.post(served.certificate_body())
    served.worker.work()
    asked = served.ask("GET", f"/api/v1/boards/{TASK}?format=csv", team=None)
    accepted = served.ask("GET", f"/api/v1/boards/{TASK}", team=None, headers={"Accept": "text/csv"})
    assert asked.headers["content-type"].startswith("text/csv")
    assert asked.content == accepted.content
    assert len(asked.text.splitlines()) == 2
    assert served.ask("GET", f"/api/v1/boards/{TASK}?format=xml", team=None).status_code == 422


def test_all_boards_are_listed(served: Served) -> None:
    found = served.ask("GET", "/api/v1/boards", team=None).json()
    assert [one["name"] for one in found["boards"]] == [HIDDEN, TASK]
    assert found["boards"][0]["hidden"]["labels"] == served.hidden.card.labels


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/v1/nothing", 404),
        ("GET", "/api/v1/boards/nothing", 404),
        ("GET", f"/api/v1/boards/{TASK}/entries/nothing", 404),
        ("GET", "/api/v1/boards/nothing/entries", 404),
        ("GET", "/nothing.html", 404),
        ("GET", "/../board.toml", 404),
        ("GET", "/%2e%2e/%2e%2e/server.db", 404),
        ("GET", "/.server/server.db", 404),
        ("GET", "/", 503),
        ("GET", f"/api/v1/boards/{'x' * 5000}/entries", 404),
        ("GET", f"/api/v1/boards/{TASK}/entries/{'x' * 5000}", 404),
        ("DELETE", "/api/v1/boards", 405),
        ("POST", "/api/v1/submissions", 401),
        ("PUT", f"/api/v1/files/{'0' * 64}", 401),
        ("GET", f"/api/v1/submissions/{'0' * 32}", 401),
    ],
)
def test_every_error_is_one_sentence(served: Served, method: str, path: str, status: int) -> None:
    answer = served.ask(method, path, team=None)
    assert answer.status_code == status
    assert list(answer.json()) == ["error"]
    sentence = answer.json()["error"]
    assert sentence
    assert "\n" not in sentence


def test_a_failure_of_the_server_says_nothing_about_its_cause(served: Served, monkeypatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the secret is 42")

    monkeypatch.setattr(type(served.service), "board", property(broken))
    answer = served.ask("GET", f"/api/v1/boards/{TASK}/entries", team=None)
    assert answer.status_code == 500
    assert answer.json() == {"error": "the server failed: try again later"}


def test_health_metrics_and_openapi_are_there(served: Served) -> None:
    served.post(served.certificate_body())
    assert served.ask("GET", "/healthz", team=None).json()["status"] == "ok"
    text = served.ask("GET", "/metrics", team=None).text
    assert 'trueedge_submissions{status="waiting"} 1' in text
    assert 'trueedge_requests_total{method="POST",status="202"} 1' in text
    paths = served.ask("GET", "/api/v1/openapi.json", team=None).json()["paths"]
    assert "/api/v1/submissions" in paths
    assert served.ask("GET", "/api/v1/docs", team=None).status_code == 200


def test_the_log_is_json_without_tokens(served: Served, capsys) -> None:
    from trueedge.leaderboard.server.logs import configure_logs

    configure_logs()
    served.ask("GET", f"/api/v1/boards?token={served.token}", headers={"X-Other": served.token})
    served.post(served.certificate_body())
    text = capsys.readouterr().err
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    assert {"event", "method", "path", "status", "seconds", "time", "level"} <= set(lines[0])
    assert not any(token in text for token in (served.token, *served.tokens.values()))


def test_pages_are_built_after_an_acceptance_and_served(served: Served) -> None:
    served.worker.pages = True
    served.post(served.certificate_body())
    served.worker.work()
    assert list(served.service.places.inbox("one").iterdir()) == []
    page = served.ask("GET", "/", team=None)
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert served.ask("GET", f"/{TASK}", team=None).headers["location"] == f"/{TASK}/"
    assert "Mine" in served.ask("GET", f"/{TASK}/", team=None).text


def test_a_page_is_asked_for_by_its_head_too(served: Served) -> None:
    site = served.service.places.site
    (site / "index.html").write_text("a page")
    answer = served.ask("HEAD", "/", team=None)
    assert (answer.status_code, answer.headers["content-length"]) == (200, "6")


def test_what_other_commands_change_is_served_soon(served: Served) -> None:
    number = served.post(served.certificate_body("ra")).json()["id"]
    served.worker.work()
    assert served.status(number)["status"] == "done"
    address = f"/api/v1/boards/{TASK}"
    assert served.ask("GET", address).json()["entries"][0]["unranked"] == "not reproduced yet"
    reproduced(served.board.entry(TASK, "mine"))
    served.worker.work()
    assert served.ask("GET", address).json()["entries"][0]["rank"] is None
    served.worker._next_look = 0.0
    served.worker.work()
    assert served.ask("GET", address).json()["entries"][0]["rank"] == [1, 1]
    served.worker._next_look = 0.0
    served.worker.work()
    assert served.worker._stale == set()


def test_pages_that_cannot_be_built_stop_no_submission(served: Served, monkeypatch) -> None:
    def fails(*_: object) -> None:
        raise TypeError("a page")

    monkeypatch.setattr("trueedge.leaderboard.server.worker.write_standings", fails)
    numbers = []
    for method, name in (("ra", "First"), ("katz", "Second")):
        numbers.append(served.post(served.certificate_body(method, name=name)).json()["id"])
        served.worker.work()
    assert [served.status(number)["status"] for number in numbers] == ["done", "done"]


def test_a_submission_of_another_team_cannot_be_asked_for(served: Served) -> None:
    number = served.post(served.certificate_body()).json()["id"]
    other = served.ask("GET", f"/api/v1/submissions/{number}", team="two")
    unknown = served.ask("GET", f"/api/v1/submissions/{'0' * 32}", team="two")
    assert (other.status_code, other.json()) == (unknown.status_code, unknown.json()) == (404, other.json())


def test_an_entry_of_somebody_else_keeps_its_name(served: Served) -> None:
    served.post(served.certificate_body("ra"))
    answer = served.post(served.certificate_body("katz", team="two"), team="two")
    assert answer.status_code == 409
    assert "of somebody else" in answer.json()["error"]


def test_what_is_on_the_board_already_belongs_to_somebody_else(served: Served) -> None:
    from trueedge.leaderboard.board import EntryCard

    paths = sorted((served.folder / "certificates").glob("katz-*.json"))
    served.board.add(paths, EntryCard.from_dict(ENTRY), TASK)
    assert served.post(served.certificate_body("ra")).status_code == 409


def test_a_closed_task_takes_nothing(served: Served) -> None:
    board = Board.open(served.folder / "board")
    from dataclasses import replace

    for change, said in (
        ({"closes": "2020-01-01"}, "ended on 2020-01-01"),
        ({"phase": "final"}, "labels are public"),
    ):
        card = board.task(HIDDEN)
        board.update_task(replace(card, hidden={**card.hidden, **change}))
        answer = served.submit_scores(np.zeros(served.hidden.card.shape))
        assert answer.status_code == 409
        assert said in answer.json()["error"]
        board.update_task(card)
    board.update_task(replace(board.task(TASK), superseded_by="karate-existing-2"))
    answer = served.post(served.certificate_body())
    assert (answer.status_code, "successor" in answer.json()["error"]) == (409, True)


def test_a_database_address_that_is_none_is_refused_without_its_password() -> None:
    from trueedge.errors import InputError

    said = {
        "nonsense://me:secret-word@host/x": "'nonsense' is no database for a server",
        "mysql://me:secret-word@host/x": "'mysql' is no database for a server: it takes SQLite or Postgres",
        "secret-word": "the address of the database is not one",
        "postgresql://me@host:secret-word/x": "the address of the database is not one",
    }
    for address, sentence in said.items():
        with pytest.raises(InputError) as found:
            open_database(address)
        assert sentence in str(found.value)
        assert "secret-word" not in str(found.value)


def test_the_same_scores_under_another_name_are_refused_with_the_first_name(served: Served) -> None:
    first = served.submit_scores(scores_of(served, "cn"), name="A")
    assert served.submit_scores(scores_of(served, "cn"), name="A").json()["id"] == first.json()["id"]
    for _ in range(2):
        again = served.submit_scores(scores_of(served, "cn"), name="B")
        assert again.status_code == 409
        assert again.json() == {"error": "these scores were already submitted as a"}
        served.worker.work()
    assert [one.name for one in served.board.entries(HIDDEN)] == ["a"]
    # Another team may have the same scores.
    assert served.submit_scores(scores_of(served, "cn"), name="B", team="two").status_code == 202


def test_scores_that_nobody_can_judge_are_refused_and_do_not_count(served: Served) -> None:
    served.service.judged = frozenset()
    for name in ("one", "two"):
        answer = served.submit_scores(scores_of(served, "cn"), name=name)
        assert answer.status_code == 409
        assert answer.json()["error"].startswith(f"this server has no judge for {HIDDEN}: it takes no")
    assert served.post(served.certificate_body()).status_code == 202
    served.service.judged = frozenset([HIDDEN])
    assert served.submit_scores(scores_of(served, "cn"), name="one").status_code == 202
