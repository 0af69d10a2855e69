"""The requests of teams: upload files of scores, submit, and ask how a submission ended."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import Depends, FastAPI, Header, Request, Response
from fastapi.concurrency import run_in_threadpool
from sqlalchemy import Engine, select

from trueedge.leaderboard.server.accepting import accept, checked, is_number
from trueedge.leaderboard.server.answers import API, json_answer
from trueedge.leaderboard.server.database import FILES, SUBMISSIONS, reading
from trueedge.leaderboard.server.problems import ApiError
from trueedge.leaderboard.server.service import Service
from trueedge.leaderboard.server.tokens import team_of
from trueedge.leaderboard.server.uploads import DIGEST, body_chunks, check_length, read_small, save_upload

# Files are read whole to be checked: several large ones at the same time would need too much memory.
CHECKS_AT_ONCE = 4
#: Returns the team whose token a request has.
TeamOf = Callable[..., Awaitable[str]]


def add_requests_of_teams(app: FastAPI, service: Service) -> None:
    """Add the requests that need the token of a team."""

    async def team(authorization: str | None = Header(None, description="Bearer TOKEN")) -> str:
        kind, _, token = (authorization or "").partition(" ")
        if kind.lower() != "bearer" or not token.strip():
            raise ApiError(401)
        found = await run_in_threadpool(team_of, service.engine, token.strip())
        if found is None:
            raise ApiError(401, "the token is unknown or was revoked")
        return found

    _add_files(app, service, team)
    _add_submissions(app, service, team)


def _add_files(app: FastAPI, service: Service, team_of_request: TeamOf) -> None:
    """Add the requests about files of scores."""
    limits = service.limits

    @app.put(
        f"{API}/files/{{sha256}}",
        tags=["submissions"],
        summary="Upload a file of scores, named by its SHA-256",
        status_code=201,
        response_description="It is on disk.",
        responses={200: {"description": "It was there before."}},
        openapi_extra=_body("application/octet-stream", {"type": "string", "format": "binary"}),
    )
    async def upload(request: Request, sha256: str, team: str = Depends(team_of_request)) -> Response:
        """The bytes of a .npz or .npy file, up to 256 MiB. They are on disk when the answer comes."""
        if not DIGEST.fullmatch(sha256):
            raise ApiError(422, "a file is named by its SHA-256: 64 digits 0-9 a-f")
        _check_head(request, limits.file_bytes)
        target = service.places.upload(team, sha256)
        if target.is_file():
            # Read to its end: a client that is cut while it sends never sees the answer.
            async for _ in body_chunks(request.stream(), limits, limits.file_bytes):
                pass
            return json_answer(200, {"file": sha256, "size": target.stat().st_size})
        submitted = await run_in_threadpool(_submitted, service.engine, team)
        size = await save_upload(request.stream(), target, limits, submitted)
        return json_answer(201, {"file": sha256, "size": size})

    @app.get(f"{API}/files/{{sha256}}", tags=["submissions"], summary="Whether a file was uploaded")
    def uploaded(sha256: str, team: str = Depends(team_of_request)) -> Response:
        place = service.places.upload(team, sha256)
        if not DIGEST.fullmatch(sha256) or not place.is_file():
            raise ApiError(404, "this team has not uploaded such a file")
        return json_answer(200, {"file": sha256, "size": place.stat().st_size})


def _add_submissions(app: FastAPI, service: Service, team_of_request: TeamOf) -> None:
    """Add the requests about submissions."""
    limits = service.limits
    turns = asyncio.Semaphore(CHECKS_AT_ONCE)

    @app.post(
        f"{API}/submissions",
        tags=["submissions"],
        summary="Submit certificates, or scores of a hidden task",
        status_code=202,
        response_description="Accepted, and on disk.",
        responses={200: {"description": "Sent before under the same name: it is the same submission."}},
        openapi_extra=_body("application/json", SUBMISSION),
    )
    async def submit(request: Request, team: str = Depends(team_of_request)) -> Response:
        """Up to 1 MiB of JSON, after the files of scores. It is durable when the answer comes."""
        _check_head(request, limits.json_bytes)
        body = await read_small(request.stream(), limits, limits.json_bytes)
        board = service.board
        async with turns:
            found = await run_in_threadpool(checked, body, team, board, service.places)
        service.check_judge(found)
        taken = await run_in_threadpool(accept, service.engine, found, board, limits)
        service.wake()
        address = f"{API}/submissions/{taken.id}"
        answer = {"id": taken.id, "status": taken.status, "url": address, "entry": found.entry}
        return json_answer(200 if taken.repeated else 202, answer, {"Location": address})

    @app.get(f"{API}/submissions/{{number}}", tags=["submissions"], summary="The status of a submission")
    def status(number: str, team: str = Depends(team_of_request)) -> Response:
        """It is waiting, judged, done or failed, with one sentence; only the team that sent it may ask."""
        row = _row(service.engine, number) if is_number(number) else None
        if row is None or row.team != team:
            raise ApiError(404, "there is no such submission of this team")
        plain = {"id": row.id, "task": row.task, "entry": row.entry, "status": row.status}
        return json_answer(200, {**plain, "sentence": row.sentence, "value": row.value})


def _check_head(request: Request, most: int) -> None:
    """Refuse a body that is compressed or too long, before it is read."""
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise ApiError(415, "send the body as it is: compressed bodies are not unpacked")
    check_length(request.headers.get("content-length"), most)


def _row(engine: Engine, number: str) -> Any:
    with reading(engine) as connection:
        return connection.execute(select(SUBMISSIONS).where(SUBMISSIONS.c.id == number)).first()


def _submitted(engine: Engine, team: str) -> frozenset[str]:
    with reading(engine) as connection:
        return frozenset(connection.execute(select(FILES.c.digest).where(FILES.c.team == team)).scalars())


def _body(kind: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {kind: {"schema": schema}}}}


SUBMISSION: dict[str, Any] = {
    "type": "object",
    "required": ["task", "entry"],
    "properties": {
        "task": {"type": "string", "description": "the name of the board"},
        "entry": {
            "type": "object",
            "required": ["name", "authors", "licence"],
            "properties": {
                "name": {"type": "string"},
                "authors": {"type": "array", "items": {"type": "string"}},
                "licence": {"type": "string", "description": "an SPDX identifier"},
                "code": {"type": "string"},
                "commit": {"type": "string"},
                "paper": {"type": "string"},
                "extra_data": {"type": "array", "items": {"type": "string"}},
            },
        },
        "certificates": {
            "type": "array",
            "items": {"type": "object"},
            "description": "of 'trueedge certify'",
        },
        "files": {
            "type": "object",
            "description": "the SHA-256 of each certificate's file of scores, by name",
        },
        "scores": {"type": "string", "description": "of a hidden task: the SHA-256 of the file of scores"},
    },
}
