"""Abuse by submissions, one test each: quotas, accounts, HGB's faults and forged certificates."""

from __future__ import annotations

import io
import json
from concurrent.futures import ThreadPoolExecutor
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
from trueedge.leaderboard.board.hidden_table import Quotas
from trueedge.leaderboard.hidden.secret_folder import Secret
from trueedge.leaderboard.server.accepting import accept, checked
from trueedge.leaderboard.server.database import SUBMISSIONS, now, reading
from trueedge.leaderboard.server.limits import Limits
from trueedge.leaderboard.server.problems import ApiError
from trueedge.leaderboard.server.tokens import add_token

# Quotas


def test_a_team_has_one_submission_a_week(served: Served) -> None:
    assert served.submit_scores(noise(served, 1)).status_code == 202
    answer = served.submit_scores(noise(served, 2), name="other")
    assert answer.status_code == 429
    assert answer.json() == {"error": f"a team may submit once a week to {HIDDEN}"}
    assert 0 < int(answer.headers["retry-after"]) <= 7 * 86400
    assert served.submit_scores(noise(served, 3), team="two", name="theirs").status_code == 202


def test_a_team_has_twelve_submissions_a_season(tmp_path: Path, prepared: Path, monkeypatch) -> None:
    served = make_served(tmp_path, prepared)
    from trueedge.leaderboard.server import accepting

    start = now()
    for week in range(13):
        monkeypatch.setattr(accepting, "now", lambda week=week: start + week * 8 * 86400)
        answer = served.submit_scores(noise(served, week), name=f"week {week}")
        assert answer.status_code == (202 if week < 12 else 429)
    assert "12 times a season" in answer.json()["error"]


def test_many_accounts_share_the_quota_of_the_task(tmp_path: Path, prepared: Path) -> None:
    served = make_served(tmp_path, prepared, per_task=5)
    found = [
        served.submit_scores(noise(served, k), team=f"account {k}", name=f"entry {k}").status_code
        for k in range(8)
    ]
    assert found == [202] * 5 + [429] * 3


def test_several_tokens_of_a_team_share_its_quota(served: Served) -> None:
    assert served.submit_scores(noise(served, 1)).status_code == 202
    served.tokens["one"] = add_token(served.service.engine, "one")
    assert served.submit_scores(noise(served, 2), name="other").status_code == 429


@pytest.mark.parametrize("teams", [1, 12])
def test_a_race_for_the_quota_lets_exactly_so_many_in(tmp_path: Path, prepared: Path, teams: int) -> None:
    served = make_served(tmp_path, prepared, per_week=4, per_task=4)
    board, places = served.board, served.service.places
    bodies = []
    for k in range(12):
        team = f"team {k % teams}"
        digest = served.upload(npy(noise(served, k)), team)
        body = {"task": HIDDEN, "entry": {**ENTRY, "name": f"entry {k}"}, "scores": digest}
        bodies.append(checked(json.dumps(body).encode(), team, board, places))

    def attempt(submission) -> int:
        try:
            accept(served.service.engine, submission, board, Limits())
        except ApiError as error:
            return error.status
        return 202

    with ThreadPoolExecutor(12) as pool:
        found = list(pool.map(attempt, bodies))
    assert sorted(found) == [202] * 4 + [429] * 8
    with reading(served.service.engine) as connection:
        assert len(connection.execute(select(SUBMISSIONS)).all()) == 4


def test_the_same_scores_sent_at_the_same_time_are_one_submission(tmp_path: Path, prepared: Path) -> None:
    served = make_served(tmp_path, prepared)
    digest = served.upload(npy(noise(served, 1)))
    body = json.dumps({"task": HIDDEN, "entry": ENTRY, "scores": digest}).encode()
    submission = checked(body, "one", served.board, served.service.places)
    with ThreadPoolExecutor(8) as pool:
        found = list(
            pool.map(lambda _: accept(served.service.engine, submission, served.board, Limits()), range(8))
        )
    assert len({one.id for one in found}) == 1
    assert sum(not one.repeated for one in found) == 1


def test_failed_submissions_are_free(served: Served) -> None:
    for bad in (np.zeros(3), np.full(served.hidden.card.shape, np.nan)):
        assert served.submit_scores(bad).status_code == 422
    served.worker.judge, judge = None, served.worker.judge
    failing = served.submit_scores(noise(served, 0))
    served.worker.work()
    assert served.status(failing.json()["id"])["status"] == "failed"
    served.worker.judge = judge
    again = served.submit_scores(noise(served, 0))
    assert again.status_code == 202
    assert again.json()["id"] != failing.json()["id"]


def test_certificates_have_a_daily_limit(tmp_path: Path, prepared: Path) -> None:
    served = make_served(tmp_path, prepared, Limits(certificates_per_day=1))
    assert served.post(served.certificate_body("ra")).status_code == 202
    answer = served.post(served.certificate_body("katz", name="other"))
    assert (answer.status_code, "in 24 hours" in answer.json()["error"]) == (429, True)


def test_quotas_of_a_card_are_checked() -> None:
    assert Quotas.of({"quotas": {"per_week": 3}}) == Quotas(3, 12, 200)
    for wrong in ({"per_weak": 1}, {"per_week": 0}, {"per_week": "1"}, 5):
        with pytest.raises(InputError):
            Quotas.of({"quotas": wrong})


# HGB's faults: its grader judged only the pairs that were submitted, merged duplicates, broke ties by the
# position in the file, and trusted the list of pairs and their labels from the submission.


def test_leaving_out_hard_candidates_is_refused(served: Served) -> None:
    scores = noise(served, 1)
    for part in (scores[:-1], scores[: len(scores) // 2]):
        body = io.BytesIO()
        np.save(body, part)
        answer = served.submit_scores(body.getvalue())
        assert answer.status_code == 422
        assert "one number for each candidate" in answer.json()["error"]


def test_scoring_a_candidate_twice_is_refused(served: Served) -> None:
    scores = noise(served, 1)
    assert served.submit_scores(np.append(scores, scores[0])).status_code == 422
    twice = io.BytesIO()
    np.savez(twice, a=scores, b=scores)
    answer = served.submit_scores(twice.getvalue())
    assert (answer.status_code, "unpacks to" in answer.json()["error"]) == (422, True)


def test_ties_are_not_broken_by_position(prepared: Path) -> None:
    secret = Secret.open(prepared / "secrets" / "one")
    flat = secret.values(np.zeros(secret.card.shape), public=True)
    # Half of all tied negatives are below, wherever the positive stands.
    assert flat.units == pytest.approx(0.5)


def test_pairs_and_labels_cannot_be_submitted(served: Served) -> None:
    candidates = served.hidden.candidates
    with_pairs = np.column_stack([candidates, noise(served, 1)])
    body = io.BytesIO()
    np.save(body, with_pairs)
    answer = served.submit_scores(body.getvalue())
    assert answer.status_code == 422
    for more in ({"pairs": candidates.tolist()[:2]}, {"labels": [1]}, {"certificates": [], "files": {}}):
        digest = served.upload(npy(noise(served, 2)))
        answer = served.post({"task": HIDDEN, "entry": ENTRY, "scores": digest, **more})
        assert answer.status_code == 422


def test_the_order_of_candidates_is_the_published_one(served: Served, prepared: Path) -> None:
    """A permuted submission is another submission: nothing in it says which pair a score is of."""
    secret = Secret.open(prepared / "secrets" / "one")
    truth = np.zeros(secret.card.shape)
    truth[secret.places[: len(secret.public)]] = 1.0
    assert secret.values(truth, public=True).mean == 1.0
    assert abs(secret.values(truth[::-1].copy(), public=True).mean - 0.5) < 0.1


# Certificates


def test_a_replayed_seal_is_refused(served: Served) -> None:
    served.post(served.certificate_body("ra"))
    for team, name in (("one", "other"), ("two", "theirs")):
        answer = served.post(served.certificate_body("ra", team=team, name=name), team=team)
        assert answer.status_code == 409
        assert "was submitted already" in answer.json()["error"]
    served.worker.work()
    assert served.post(served.certificate_body("ra", team="two", name="x"), team="two").status_code == 409


def test_a_seal_on_the_board_is_refused_by_the_board(served: Served) -> None:
    from trueedge.leaderboard.board import EntryCard

    paths = sorted((served.folder / "certificates").glob("ra-*.json"))
    served.board.add(paths, EntryCard.from_dict({**ENTRY, "name": "Owner"}), TASK)
    answer = served.post(served.certificate_body("ra", name="thief"))
    served.worker.work()
    found = served.status(answer.json()["id"])
    assert (found["status"], "owner" in found["sentence"]) == ("failed", True)


def test_a_forged_number_fails_and_its_seal_is_free_again(served: Served) -> None:
    body = served.certificate_body("ra")
    body["certificates"][0]["metrics"]["mrr"] = 1.0
    answer = served.post(body)
    served.worker.work()
    found = served.status(answer.json()["id"])
    assert found["status"] == "failed"
    assert "seal" in found["sentence"]
    assert str(served.folder) not in found["sentence"]
    assert served.board.entries(TASK) == []
    assert served.post(served.certificate_body("ra")).status_code == 202


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda body: body["certificates"][0]["scores"].update(file="../../etc/passwd"),
            "not the name of a file",
        ),
        (lambda body: body["certificates"].append(body["certificates"][0]), "certificate 1 again"),
        (lambda body: body["certificates"][0].update(task_seed=7), "another task"),
        (lambda body: body.update(certificates=[]), "1 to 100"),
        (lambda body: body.update(certificates=[1]), "not a certificate"),
        (lambda body: body.update(files={}), "which files does not name"),
        (lambda body: body.update(files=[]), "files must name"),
        (lambda body: body["files"].update(dict.fromkeys(body["files"], "0" * 64)), "no uploaded file"),
        (lambda body: body["files"].update(dict.fromkeys(body["files"], "../x")), "64 digits"),
        (lambda body: body["entry"].pop("licence"), "SPDX"),
        (lambda body: body["entry"].update(name="\u202egnp.exe"), "control or direction character"),
        (lambda body: body["entry"].update(name="…"), "has none: add some"),
        (lambda body: body["entry"].update(code="javascript:alert(1)"), "https"),
        (lambda body: body["entry"].update(submitted="2020-01-01"), "cannot say when"),
        (lambda body: body.pop("entry"), "card is missing"),
        (lambda body: body.pop("task"), "name of the task is missing"),
        (lambda body: body.update(extra=1), "some of"),
    ],
)
def test_a_malformed_submission_is_refused_in_one_sentence(served: Served, change, said: str) -> None:
    body = served.certificate_body()
    change(body)
    answer = served.post(body)
    assert answer.status_code == 422
    assert said in answer.json()["error"]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_scores_that_are_not_finite_are_refused_and_free(served: Served, value: float) -> None:
    scores = noise(served, 1)
    scores[7] = value
    answer = served.submit_scores(scores)
    assert answer.status_code == 422
    assert "NaN or infinite" in answer.json()["error"]
    assert served.submit_scores(noise(served, 1)).status_code == 202


def test_a_script_in_a_name_is_text_on_the_served_pages(served: Served) -> None:
    served.worker.pages = True
    body = served.certificate_body("ra")
    body["entry"]["name"] = "<script>alert(1)</script>"
    answer = served.post(body)
    served.worker.work()
    found = served.status(answer.json()["id"])
    assert found["status"] == "done"
    page = served.ask("GET", f"/{TASK}/entries/{found['entry']}.html")
    assert page.status_code == 200
    assert "<script>alert" not in page.text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page.text
    assert "script-src 'self';" in page.headers["content-security-policy"]


def test_an_unknown_task_is_not_found(served: Served) -> None:
    for name in ("nothing", "../board", ""):
        assert served.post({"task": name, "entry": ENTRY}).status_code == 404


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b'{"task": 1, "task": 2}', b'{"task": NaN}', b"[" * 100_000, b"\xff\xfe"],
)
def test_a_body_that_is_no_plain_json_is_refused(served: Served, body: bytes) -> None:
    answer = served.ask("POST", "/api/v1/submissions", content=body)
    assert answer.status_code == 422


def test_scores_for_a_task_without_hidden_labels_are_refused(served: Served) -> None:
    digest = served.upload(bytes(8))
    assert served.post({"task": TASK, "entry": ENTRY, "scores": digest}).status_code == 422
