"""The application: the API under /api/v1, health and metrics, and the pages of the board."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fastapi import Depends, FastAPI, Header, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.requests import HTTPConnection
from fastapi.responses import HTMLResponse
from sqlalchemy import Engine, func, select
from sqlalchemy.exc import SQLAlchemyError

from trueedge.errors import InputError
from trueedge.leaderboard.board import Board
from trueedge.leaderboard.server.accepting import Submission, accept, checked, is_number
from trueedge.leaderboard.server.api_page import api_page
from trueedge.leaderboard.server.database import FILES, SUBMISSIONS, reading
from trueedge.leaderboard.server.limits import Limits
from trueedge.leaderboard.server.observing import Counts, Observed
from trueedge.leaderboard.server.places import Places
from trueedge.leaderboard.server.problems import SENTENCES, ApiError, error_body, refused
from trueedge.leaderboard.server.publishing import INDEX
from trueedge.leaderboard.server.served_files import ServedFiles
from trueedge.leaderboard.server.tokens import team_of
from trueedge.leaderboard.server.uploads import DIGEST, body_chunks, check_length, read_small, save_upload
from trueedge.version import VERSION

API = "/api/v1"
# Files are read whole to be checked: several large ones at the same time would need too much memory.
CHECKS_AT_ONCE = 4


@dataclass
class Service:
    """What the application works with.

    Attributes:
        places: the board and the server's files.
        engine: the database.
        limits: sizes and times.
        wake: called when there is work for the worker.
        counts: of requests.
        judged: the hidden tasks whose labels the judge has; None if this is not known.
    """

    places: Places
    engine: Engine
    limits: Limits = field(default_factory=Limits)
    wake: Callable[[], None] = lambda: None
    counts: Counts = field(default_factory=Counts)
    judged: frozenset[str] | None = None

    def check_judge(self, submission: Submission) -> None:
        """Refuse scores that nobody could judge, before they count."""
        task = submission.task.name
        if submission.kind == "scores" and self.judged is not None and task not in self.judged:
            raise ApiError(409, f"this server has no judge for {task}: it takes no submissions to it now")

    @property
    def board(self) -> Board:
        """Return the board as it is now."""
        return Board.open(self.places.board)


def create_app(service: Service) -> Observed:
    """Return the application of a board."""
    app = FastAPI(
        title="trueedge leaderboard",
        version=VERSION,
        description='Boards, entries and submissions. Every error is {"error": "one sentence"}.',
        openapi_url=f"{API}/openapi.json",
        # The pages of FastAPI load scripts from other machines.
        docs_url=None,
        redoc_url=None,
        responses=ERRORS,
    )
    _add_errors(app)
    _add_documentation(app)
    _add_boards(app, service)
    _add_submissions(app, service)
    _add_service(app, service)
    _add_pages(app, service)
    return Observed(app, service.counts, service.limits.send_seconds)


def _json(status: int, value: Any, headers: dict[str, str] | None = None) -> Response:
    body = json.dumps(value, ensure_ascii=False).encode()
    return Response(body, status, {"Cache-Control": "no-store", **(headers or {})}, "application/json")


def _add_errors(app: FastAPI) -> None:
    async def api_error(_: HTTPConnection, error: Exception) -> Response:
        assert isinstance(error, ApiError)
        headers = dict(error.headers)
        if error.status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        if error.status in (408, 413):
            headers["Connection"] = "close"
        return Response(error_body(error.sentence), error.status, headers, "application/json")

    async def by_status(_: HTTPConnection, error: Exception) -> Response:
        status = getattr(error, "status_code", 422 if isinstance(error, RequestValidationError) else 500)
        headers = getattr(error, "headers", None)
        return Response(
            error_body(SENTENCES.get(status, SENTENCES[400])), status, headers, "application/json"
        )

    async def database(_: HTTPConnection, __: Exception) -> Response:
        headers = {"Retry-After": "5"}
        return Response(
            error_body("the database cannot be reached: try again"), 503, headers, "application/json"
        )

    app.add_exception_handler(ApiError, api_error)
    app.add_exception_handler(RequestValidationError, by_status)
    app.add_exception_handler(SQLAlchemyError, database)
    app.add_exception_handler(Exception, by_status)
    for status in (400, 404, 405):
        app.add_exception_handler(status, by_status)


def _add_documentation(app: FastAPI) -> None:
    @app.api_route(f"{API}/docs", methods=["GET", "HEAD"], include_in_schema=False)
    def documentation() -> Response:
        # FastAPI keeps the schema; when this is asked for, all requests have been added to it.
        return HTMLResponse(api_page(app.openapi()), headers={"Cache-Control": "no-cache"})


def _add_boards(app: FastAPI, service: Service) -> None:
    served = ServedFiles(service.places.standings)

    @app.get(f"{API}/boards", tags=["boards"], summary="List the boards")
    async def boards(request: Request) -> Response:
        return served.answer(request, INDEX)

    @app.get(f"{API}/boards/{{task}}", tags=["boards"], summary="One board, as JSON or CSV")
    async def board(
        request: Request, task: str, format: str = Query("", description="json or csv")
    ) -> Response:
        """Entries with value, interval, letters and tier. CSV with ?format=csv or Accept: text/csv."""
        wanted = format or ("csv" if "text/csv" in request.headers.get("accept", "") else "json")
        if wanted not in ("json", "csv"):
            raise ApiError(422, "format must be json or csv")
        return served.answer(request, f"{task}.{wanted}", f"there is no board {task!r}")

    @app.get(f"{API}/boards/{{task}}/entries", tags=["entries"], summary="The entries of a board")
    def entries(task: str) -> Response:
        try:
            found = service.board.entries(task)
        except InputError as error:
            raise refused(404, error, service.places.board) from None
        return _json(200, {"entries": [one.name for one in found]})

    @app.get(f"{API}/boards/{{task}}/entries/{{entry}}", tags=["entries"], summary="One entry")
    def entry(task: str, entry: str) -> Response:
        try:
            found = service.board.entry(task, entry)
            certificates = {str(seed): dict(card) for seed, card in found.certificates.items()}
            tier, scored = found.tier, found.scored
        except InputError as error:
            raise refused(404, error, service.places.board) from None
        card = {**found.card.to_dict(), "tier": tier, "task": task, "entry": found.name}
        return _json(200, {**card, "certificates": certificates, "scored": scored})


def _add_submissions(app: FastAPI, service: Service) -> None:
    limits = service.limits
    turns = asyncio.Semaphore(CHECKS_AT_ONCE)

    async def team(authorization: str | None = Header(None, description="Bearer TOKEN")) -> str:
        kind, _, token = (authorization or "").partition(" ")
        if kind.lower() != "bearer" or not token.strip():
            raise ApiError(401)
        found = await run_in_threadpool(team_of, service.engine, token.strip())
        if found is None:
            raise ApiError(401, "the token is unknown or was revoked")
        return found

    def plain(request: Request, most: int) -> None:
        if request.headers.get("content-encoding", "identity").lower() != "identity":
            raise ApiError(415, "send the body as it is: compressed bodies are not unpacked")
        check_length(request.headers.get("content-length"), most)

    @app.put(
        f"{API}/files/{{sha256}}",
        tags=["submissions"],
        summary="Upload a file of scores, named by its SHA-256",
        status_code=201,
        response_description="It is on disk.",
        responses={200: {"description": "It was there before."}},
        openapi_extra=_body("application/octet-stream", {"type": "string", "format": "binary"}),
    )
    async def upload(request: Request, sha256: str, team: str = Depends(team)) -> Response:
        """The bytes of a .npz or .npy file, up to 256 MiB. They are on disk when the answer comes."""
        if not DIGEST.fullmatch(sha256):
            raise ApiError(422, "a file is named by its SHA-256: 64 digits 0-9 a-f")
        plain(request, limits.file_bytes)
        target = service.places.upload(team, sha256)
        if target.is_file():
            # Read to its end: a client that is cut while it sends never sees the answer.
            async for _ in body_chunks(request.stream(), limits, limits.file_bytes):
                pass
            return _json(200, {"file": sha256, "size": target.stat().st_size})
        submitted = await run_in_threadpool(_submitted, service.engine, team)
        size = await save_upload(request.stream(), target, limits, submitted)
        return _json(201, {"file": sha256, "size": size})

    @app.get(f"{API}/files/{{sha256}}", tags=["submissions"], summary="Whether a file was uploaded")
    def uploaded(sha256: str, team: str = Depends(team)) -> Response:
        place = service.places.upload(team, sha256)
        if not DIGEST.fullmatch(sha256) or not place.is_file():
            raise ApiError(404, "this team has not uploaded such a file")
        return _json(200, {"file": sha256, "size": place.stat().st_size})

    @app.post(
        f"{API}/submissions",
        tags=["submissions"],
        summary="Submit certificates, or scores of a hidden task",
        status_code=202,
        response_description="Accepted, and on disk.",
        responses={200: {"description": "Sent before under the same name: it is the same submission."}},
        openapi_extra=_body("application/json", SUBMISSION),
    )
    async def submit(request: Request, team: str = Depends(team)) -> Response:
        """Up to 1 MiB of JSON, after the files of scores. It is durable when the answer comes."""
        plain(request, limits.json_bytes)
        body = await read_small(request.stream(), limits, limits.json_bytes)
        board = service.board
        async with turns:
            found = await run_in_threadpool(checked, body, team, board, service.places)
        service.check_judge(found)
        taken = await run_in_threadpool(accept, service.engine, found, board, limits)
        service.wake()
        address = f"{API}/submissions/{taken.id}"
        answer = {"id": taken.id, "status": taken.status, "url": address, "entry": found.entry}
        return _json(200 if taken.repeated else 202, answer, {"Location": address})

    @app.get(f"{API}/submissions/{{number}}", tags=["submissions"], summary="The status of a submission")
    def status(number: str, team: str = Depends(team)) -> Response:
        """It is waiting, judged, done or failed, with one sentence; only the team that sent it may ask."""
        row = _row(service.engine, number) if is_number(number) else None
        if row is None or row.team != team:
            raise ApiError(404, "there is no such submission of this team")
        plain = {"id": row.id, "task": row.task, "entry": row.entry, "status": row.status}
        return _json(200, {**plain, "sentence": row.sentence, "value": row.value})


def _add_service(app: FastAPI, service: Service) -> None:
    @app.get("/healthz", tags=["service"], summary="Whether the server works")
    def health() -> Response:
        _statuses(service.engine)
        return _json(200, {"status": "ok", "version": VERSION})

    @app.get("/metrics", tags=["service"], summary="Counts, in Prometheus' text format")
    def metrics() -> Response:
        text = service.counts.text(_statuses(service.engine))
        return Response(text, media_type="text/plain; version=0.0.4")


def _add_pages(app: FastAPI, service: Service) -> None:
    pages = ServedFiles(service.places.site)

    @app.api_route("/{path:path}", methods=["GET", "HEAD"], include_in_schema=False)
    async def page(request: Request, path: str) -> Response:
        if path.startswith("api/"):
            raise ApiError(404)
        if not path and not (service.places.site / "index.html").is_file():
            raise ApiError(503, "the pages are being built: try again in a moment", {"Retry-After": "5"})
        return pages.answer(request, path)


def _row(engine: Engine, number: str) -> Any:
    with reading(engine) as connection:
        return connection.execute(select(SUBMISSIONS).where(SUBMISSIONS.c.id == number)).first()


def _submitted(engine: Engine, team: str) -> frozenset[str]:
    with reading(engine) as connection:
        return frozenset(connection.execute(select(FILES.c.digest).where(FILES.c.team == team)).scalars())


def _statuses(engine: Engine) -> dict[str, int]:
    with reading(engine) as connection:
        counted = select(SUBMISSIONS.c.status, func.count()).group_by(SUBMISSIONS.c.status)
        return {str(name): int(count) for name, count in connection.execute(counted)}


def _body(kind: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {kind: {"schema": schema}}}}


# Of all requests: FastAPI would announce errors of another form.
ERRORS: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "An error, in one sentence.",
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["error"],
                    "properties": {"error": {"type": "string"}},
                }
            }
        },
    }
}

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
