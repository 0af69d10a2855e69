"""The application: the API under /api/v1, health and metrics, and the pages of the board."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.requests import HTTPConnection
from fastapi.responses import HTMLResponse
from sqlalchemy import Engine, func, select
from sqlalchemy.exc import SQLAlchemyError

from trueedge.errors import InputError
from trueedge.leaderboard.server.answers import API, json_answer
from trueedge.leaderboard.server.api_page import api_page
from trueedge.leaderboard.server.database import SUBMISSIONS, reading
from trueedge.leaderboard.server.observing import Observed
from trueedge.leaderboard.server.problems import SENTENCES, ApiError, error_body, refused
from trueedge.leaderboard.server.publishing import INDEX
from trueedge.leaderboard.server.served_files import ServedFiles
from trueedge.leaderboard.server.service import Service
from trueedge.leaderboard.server.submission_requests import add_requests_of_teams
from trueedge.version import VERSION


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
    add_requests_of_teams(app, service)
    _add_service(app, service)
    _add_pages(app, service)
    return Observed(app, service.counts, service.limits.send_seconds)


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
            found = service.board.entries(task, damaged=True)
        except InputError as error:
            raise refused(404, error, service.places.board) from None
        return json_answer(200, {"entries": [one.name for one in found]})

    @app.get(f"{API}/boards/{{task}}/entries/{{entry}}", tags=["entries"], summary="One entry")
    def entry(task: str, entry: str) -> Response:
        try:
            found = service.board.entry(task, entry)
            certificates = {str(seed): dict(card) for seed, card in found.certificates.items()}
            tier, scored = found.tier, found.scored
        except InputError as error:
            raise refused(404, error, service.places.board) from None
        card = {**found.card.to_dict(), "tier": tier, "task": task, "entry": found.name}
        return json_answer(200, {**card, "certificates": certificates, "scored": scored})


def _add_service(app: FastAPI, service: Service) -> None:
    @app.get("/healthz", tags=["service"], summary="Whether the server works")
    def health() -> Response:
        _statuses(service.engine)
        return json_answer(200, {"status": "ok", "version": VERSION})

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


def _statuses(engine: Engine) -> dict[str, int]:
    with reading(engine) as connection:
        counted = select(SUBMISSIONS.c.status, func.count()).group_by(SUBMISSIONS.c.status)
        return {str(name): int(count) for name, count in connection.execute(counted)}


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
