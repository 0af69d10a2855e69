"""Accept a submission: check what needs no labels, count quotas, and make it durable in one transaction."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, delete, func, insert, select

from trueedge.errors import InputError
from trueedge.files.text import shown
from trueedge.leaderboard.board import Board, BoardTask, EntryCard
from trueedge.leaderboard.board.entry_card import FILE as ENTRY_FILE
from trueedge.leaderboard.board.hidden_table import Quotas
from trueedge.leaderboard.board.text_fields import folder_of_entry
from trueedge.leaderboard.hidden.public_folder import read_submission
from trueedge.leaderboard.server.database import FILES, SEALS, SUBMISSIONS, now, writing
from trueedge.leaderboard.server.limits import Limits
from trueedge.leaderboard.server.places import Places
from trueedge.leaderboard.server.problems import ApiError, refused
from trueedge.leaderboard.server.uploads import DIGEST
from trueedge.results.certificate_file import digest, read_certificate

WEEK, DAY = 7 * 86400.0, 86400.0
MOST_CERTIFICATES = 100
COUNTED = ("waiting", "judged", "done")
FIELDS = {"task", "entry", "certificates", "files", "scores"}


@dataclass(frozen=True)
class Submission:
    """A submission whose form is right.

    Attributes:
        team: who sent it.
        task: the task.
        card: the entry's card.
        entry: the name of the entry's folder.
        kind: ``certificates`` or ``scores``.
        body: what it says, in JSON.
        files: the SHA-256 of the uploaded files that it needs.
        seals: those of its certificates.
    """

    team: str
    task: BoardTask
    card: EntryCard
    entry: str
    kind: str
    body: str
    files: frozenset[str]
    seals: frozenset[str]

    @property
    def content(self) -> str:
        """Return the hash that tells whether a submission was sent before."""
        if self.kind == "scores":
            return hashlib.sha256(f"scores {self.task.name} {sorted(self.files)}".encode()).hexdigest()
        return hashlib.sha256(self.body.encode()).hexdigest()


@dataclass(frozen=True)
class Accepted:
    """A submission that will be worked on: its number, its status, and whether it was sent before."""

    id: str
    status: str
    repeated: bool


def checked(body: bytes, team: str, board: Board, places: Places) -> Submission:
    """Check the form of a submission, and its files; nothing here depends on labels.

    Args:
        body: the JSON of the request.
        team: who sent it.
        board: the board.
        places: where the uploaded files are.
    """
    values = _parsed(body)
    task = _task(values.get("task"), board)
    try:
        given = values.get("entry")
        if not isinstance(given, dict):
            raise InputError("the entry's card is missing: name, authors and licence are needed")
        if {"withdrawn", "submitted"} & set(given):
            raise InputError("the entry's card cannot say when it was submitted or withdrawn")
        card = EntryCard.from_dict(given)
        entry = folder_of_entry(card.name, "add some, such as those of a name in English")
        if task.labels_hidden:
            return _scores(values, team, task, card, entry, places)
        return _certificates(values, team, task, card, entry, places)
    except InputError as error:
        raise refused(422, error, board.folder) from None


def accept(engine: Engine, submission: Submission, board: Board, limits: Limits) -> Accepted:
    """Count quotas and write the submission down; it is durable when this returns.

    Args:
        engine: the database.
        submission: what was checked.
        board: the board, for entries that it has already.
        limits: how many certificates a team may send.
    """
    with writing(engine, f"task {submission.task.name}") as connection:
        same = (
            (SUBMISSIONS.c.team == submission.team)
            & (SUBMISSIONS.c.task == submission.task.name)
            & (SUBMISSIONS.c.live == submission.content)
        )
        row = connection.execute(select(SUBMISSIONS).where(same)).first()
        if row is not None and row.entry != submission.entry:
            raise ApiError(409, f"these scores were already submitted as {row.entry}")
        if row is not None:
            return Accepted(row.id, row.status, True)
        _check_entry(connection, submission, board)
        _check_seals(connection, submission)
        if submission.kind == "scores":
            _check_quotas(connection, submission)
        else:
            _check_day(connection, submission, limits)
        number = secrets.token_hex(16)
        connection.execute(
            insert(SUBMISSIONS).values(
                id=number,
                team=submission.team,
                task=submission.task.name,
                entry=submission.entry,
                kind=submission.kind,
                content=submission.content,
                live=submission.content,
                body=submission.body,
                status="waiting",
                sentence="",
                created=now(),
            )
        )
        for one in submission.files:
            connection.execute(insert(FILES).values(submission=number, digest=one, team=submission.team))
        for seal in submission.seals:
            connection.execute(insert(SEALS).values(seal=seal, submission=number))
    return Accepted(number, "waiting", False)


def release_seals(connection: Connection, number: str) -> None:
    """Let the seals and files of a submission that failed be used again."""
    for table in (SEALS, FILES):
        connection.execute(delete(table).where(table.c.submission == number))


def season_start(task: BoardTask) -> float:
    """Return when the season of a hidden task began, in seconds since 1970; 0 if its card does not say."""
    opens = task.hidden.get("opens")
    return datetime.fromisoformat(opens).replace(tzinfo=UTC).timestamp() if opens else 0.0


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        values = json.loads(body.decode(), object_pairs_hook=_once, parse_constant=_no_number)
        # Fails for values that are nested too deeply to be kept.
        digest(values)
    except RecursionError:
        raise ApiError(422, "the body is nested too deeply") from None
    except ValueError:
        raise ApiError(422, "the body is not JSON") from None
    if not isinstance(values, dict) or not set(values) <= FIELDS:
        raise ApiError(422, f"the body must be an object with some of {', '.join(sorted(FIELDS))}")
    return values


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ApiError(422, f"the body has the key {shown(name)} twice in one object")
        found[name] = value
    return found


def _no_number(word: str) -> None:
    raise ApiError(422, f"the body holds {word}, which is no number in JSON")


def _task(name: object, board: Board) -> BoardTask:
    if not isinstance(name, str):
        raise ApiError(422, "the name of the task is missing")
    try:
        task = board.task(name)
    except InputError as error:
        raise refused(404, error, board.folder) from None
    if task.superseded_by:
        raise ApiError(409, f"the task {name} is closed: {task.superseded_by} is its successor")
    today = datetime.fromtimestamp(now(), UTC).date().isoformat()
    opens, closes = task.hidden.get("opens", ""), task.hidden.get("closes", "")
    # Quotas count from the day on which a season opens.
    if opens > today:
        raise ApiError(409, f"the season of {name} opens on {opens}")
    if closes and today > closes:
        raise ApiError(409, f"the season of {name} ended on {closes}")
    if task.hidden.get("phase") == "final":
        raise ApiError(409, f"the season of {name} has ended: its labels are public")
    return task


def _upload(places: Places, team: str, name: object) -> str:
    if not isinstance(name, str) or not DIGEST.fullmatch(name):
        raise InputError("a file is named by its SHA-256: 64 digits 0-9 a-f")
    if not places.upload(team, name).is_file():
        raise InputError(f"there is no uploaded file {name[:12]}…: PUT it to /api/v1/files/{name} first")
    return name


def _scores(
    values: Mapping[str, Any], team: str, task: BoardTask, card: EntryCard, entry: str, places: Places
) -> Submission:
    if {"certificates", "files"} & set(values):
        raise InputError(
            f"{task.name} has hidden labels: send scores, one float for each candidate, and no certificate"
        )
    name = _upload(places, team, values.get("scores"))
    shape = tuple(task.hidden["shape"])
    read_submission(places.upload(team, name), shape, "the file of scores")
    body = json.dumps({"entry": card.to_dict(), "scores": name}, sort_keys=True)
    return Submission(team, task, card, entry, "scores", body, frozenset([name]), frozenset())


def _certificates(
    values: Mapping[str, Any], team: str, task: BoardTask, card: EntryCard, entry: str, places: Places
) -> Submission:
    given, files = values.get("certificates"), values.get("files")
    if "scores" in values or not isinstance(given, list) or not 0 < len(given) <= MOST_CERTIFICATES:
        raise InputError(f"certificates must be a list of 1 to {MOST_CERTIFICATES} certificates")
    if not isinstance(files, dict):
        raise InputError("files must name the uploaded file of each certificate's scores by its SHA-256")
    seals: list[str] = []
    for number, one in enumerate(given, 1):
        read = _readable(one, number)
        named = read["scores"]["file"]
        if named not in files:
            raise InputError(f"certificate {number} has its scores in {named}, which files does not name")
        frozen = task.seeds.get(read["task_seed"])
        if frozen is None or frozen.task != read["hashes"]["task"]:
            raise InputError(f"certificate {number} is of another task than {task.name}")
        if read["seal"] in seals:
            raise InputError(f"certificate {number} is certificate {1 + seals.index(read['seal'])} again")
        seals.append(str(read["seal"]))
    names = frozenset(_upload(places, team, name) for name in files.values())
    body = json.dumps(
        {"entry": card.to_dict(), "certificates": given, "files": files}, sort_keys=True, allow_nan=False
    )
    return Submission(team, task, card, entry, "certificates", body, names, frozenset(seals))


def _readable(value: Any, number: int) -> dict[str, Any]:
    """Return a certificate that has the form of one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"certificate {number}"
        path.write_text(json.dumps(value))
        try:
            return read_certificate(path)
        except InputError as error:
            raise InputError(str(error).replace(f"{folder}/", "")) from None


def _check_entry(connection: Connection, submission: Submission, board: Board) -> None:
    """Refuse the name of another team's entry, and of an entry of a hidden task that exists."""
    mine = (SUBMISSIONS.c.task == submission.task.name) & (SUBMISSIONS.c.entry == submission.entry)
    teams = connection.execute(
        select(SUBMISSIONS.c.team).where(mine & SUBMISSIONS.c.live.is_not(None))
    ).scalars()
    owners = set(teams)
    on_board = (board.folder / submission.task.name / submission.entry / ENTRY_FILE).is_file()
    if (owners | ({""} if on_board and not owners else set())) - {submission.team}:
        raise ApiError(
            409,
            f"{submission.task.name} has an entry {submission.entry} of somebody else: choose another name",
        )
    if submission.kind == "scores" and (owners or on_board):
        raise ApiError(
            409, f"{submission.task.name} has an entry {submission.entry} already: choose another name"
        )


def _check_seals(connection: Connection, submission: Submission) -> None:
    if not submission.seals:
        return
    taken = (
        connection.execute(select(SEALS.c.seal).where(SEALS.c.seal.in_(submission.seals))).scalars().first()
    )
    if taken is not None:
        raise ApiError(409, f"the certificate with the seal {taken[:12]}… was submitted already")


def _count(connection: Connection, *conditions: Any) -> tuple[int, float]:
    """Return how many submissions count, and when the first of them came."""
    chosen = select(func.count(), func.min(SUBMISSIONS.c.created)).where(
        SUBMISSIONS.c.status.in_(COUNTED), *conditions
    )
    count, first = connection.execute(chosen).one()
    return int(count), float(first or 0.0)


def _check_quotas(connection: Connection, submission: Submission) -> None:
    """Refuse more submissions to a hidden task than a team, or all teams together, may send."""
    quotas, moment = Quotas.of(submission.task.hidden), now()
    of_task = (SUBMISSIONS.c.task == submission.task.name) & (
        SUBMISSIONS.c.created >= season_start(submission.task)
    )
    of_team = of_task & (SUBMISSIONS.c.team == submission.team)
    count, first = _count(connection, of_team, SUBMISSIONS.c.created > moment - WEEK)
    if count >= quotas.per_week:
        wait = max(1, round(first + WEEK - moment))
        raise _too_many(f"a team may submit {_times(quotas.per_week)} a week to {submission.task.name}", wait)
    if _count(connection, of_team)[0] >= quotas.per_season:
        raise _too_many(f"a team may submit {_times(quotas.per_season)} a season to {submission.task.name}")
    if _count(connection, of_task)[0] >= quotas.per_task:
        raise _too_many(f"{submission.task.name} takes {quotas.per_task} submissions a season, and has them")


def _check_day(connection: Connection, submission: Submission, limits: Limits) -> None:
    own = (SUBMISSIONS.c.team == submission.team) & (SUBMISSIONS.c.kind == "certificates")
    count, first = _count(connection, own, SUBMISSIONS.c.created > now() - DAY)
    if count >= limits.certificates_per_day:
        wait = max(1, round(first + DAY - now()))
        raise _too_many(f"a team may submit {limits.certificates_per_day} entries in 24 hours", wait)


def _too_many(sentence: str, wait: int | None = None) -> ApiError:
    return ApiError(429, sentence, {} if wait is None else {"Retry-After": str(wait)})


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def is_number(text: str) -> bool:
    """Return whether a text can be the number of a submission."""
    return re.fullmatch("[0-9a-f]{32}", text) is not None
