"""A board with a server for tests: a task with certificates, a hidden task, tokens, and a client."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import numpy as np

import trueedge as te
from trueedge.leaderboard.board import Board, BoardTask
from trueedge.leaderboard.hidden.judge import Judge
from trueedge.leaderboard.hidden.making import hide
from trueedge.leaderboard.hidden.public_folder import HiddenTask
from trueedge.leaderboard.server.app import create_app
from trueedge.leaderboard.server.limits import Limits
from trueedge.leaderboard.server.running import opened
from trueedge.leaderboard.server.service import Service
from trueedge.leaderboard.server.tokens import add_token
from trueedge.leaderboard.server.worker import Worker
from trueedge.results import Store
from trueedge.results.certificate import certify

ENTRY = {"name": "Mine", "authors": ["A. Person"], "licence": "MIT"}
TASK, HIDDEN = "karate-existing", "cora-hidden"


class LocalJudge:
    """A judge in this process, so that tests need no other one."""

    def __init__(self, folder: Path) -> None:
        self._judge = Judge.of_folder(folder)
        self.questions: list[tuple[Any, ...]] = []

    def ask(self, task: str, scores: Path, best: Path | None, tries: int = 1) -> float | None:
        self.questions.append((task, best, tries))
        question = {"task": task, "scores": str(scores), "best": None if best is None else str(best)}
        found = self._judge.answer({**question, "tries": tries})
        if "error" in found:
            raise te.InputError(found["error"])
        value: float | None = found["value"]
        return value


@dataclass
class Served:
    """A board that is served.

    Attributes:
        folder: where everything is.
        service: what the application works with.
        worker: works when it is called.
        token: of the team "one".
    """

    folder: Path
    service: Service
    worker: Worker
    token: str
    tokens: dict[str, str] = field(default_factory=dict)

    @property
    def board(self) -> Board:
        return Board.open(self.folder / "board")

    @property
    def hidden(self) -> HiddenTask:
        return HiddenTask.open(self.folder / "public")

    def token_of(self, team: str) -> str:
        if team not in self.tokens:
            self.tokens[team] = add_token(self.service.engine, team)
        return self.tokens[team]

    def ask(self, method: str, path: str, *, team: str | None = "one", **options: Any) -> httpx.Response:
        return asyncio.run(self.asked(method, path, team=team, **options))

    async def asked(
        self, method: str, path: str, *, team: str | None = "one", **options: Any
    ) -> httpx.Response:
        headers = dict(options.pop("headers", {}))
        if team is not None:
            headers.setdefault("Authorization", f"Bearer {self.token_of(team)}")
        transport = httpx.ASGITransport(create_app(self.service), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://board") as client:
            return await client.request(method, path, headers=headers, **options)

    def upload(self, content: bytes, team: str = "one") -> str:
        digest = hashlib.sha256(content).hexdigest()
        answer = self.ask("PUT", f"/api/v1/files/{digest}", team=team, content=content)
        assert answer.status_code in (200, 201), answer.text
        return digest

    def submit_scores(
        self, values: Any, team: str = "one", name: str = "Mine", task: str = HIDDEN
    ) -> httpx.Response:
        content = values if isinstance(values, bytes) else npy(values)
        body = {"task": task, "entry": {**ENTRY, "name": name}, "scores": self.upload(content, team)}
        return self.ask("POST", "/api/v1/submissions", team=team, json=body)

    def certificate_body(self, method: str = "ra", team: str = "one", name: str = "Mine") -> dict[str, Any]:
        paths = sorted((self.folder / "certificates").glob(f"{method}-*.json"))
        cards = [json.loads(path.read_text()) for path in paths]
        files = {
            card["scores"]["file"]: self.upload((path.parent / card["scores"]["file"]).read_bytes(), team)
            for path, card in zip(paths, cards, strict=True)
        }
        return {"task": TASK, "entry": {**ENTRY, "name": name}, "certificates": cards, "files": files}

    def post(self, body: Any, team: str = "one") -> httpx.Response:
        return self.ask("POST", "/api/v1/submissions", team=team, json=body)

    def status(self, number: str, team: str = "one") -> dict[str, Any]:
        return self.ask("GET", f"/api/v1/submissions/{number}", team=team).json()


def npy(values: Any) -> bytes:
    """Return the content of a .npy file."""
    stream = io.BytesIO()
    np.save(stream, np.asarray(values), allow_pickle=False)
    return stream.getvalue()


def make_certificates(folder: Path, methods: tuple[str, ...] = ("ra", "katz"), seeds: int = 2) -> None:
    """Write certificates of methods on karate into a folder."""
    store = Store(folder / "runs")
    for method in methods:
        for seed in range(seeds):
            record = te.run("karate", "existing", method, seed=seed, store=store, keep_scores=True)
            certify(record, folder / "certificates" / f"{method}-{seed}.json", store)


def make_hidden(folder: Path) -> None:
    """Hide the labels of Cora, as a stranger's data set."""
    hide(
        partial(te.task, "cora", "uniform"),
        folder / "public",
        folder / "secrets" / "one",
        name=HIDDEN,
        least_units=100,
    )


def make_served(folder: Path, prepared: Path, limits: Limits | None = None, **quotas: int) -> Served:
    """Return a served board in a folder; certificates and hidden labels were prepared in another one."""
    for name in ("certificates", "public", "secrets"):
        (folder / name).symlink_to(prepared / name)
    board = Board.create(folder / "board", "Test")
    board.add_task([te.task("karate", "existing", seed) for seed in (0, 1)], TASK)
    card = HiddenTask.open(folder / "public").card
    given = {"quotas": quotas} if quotas else {}
    board.add_task(
        BoardTask(
            name=HIDDEN,
            title="Hidden",
            dataset=card.dataset,
            protocol=card.protocol,
            kind=card.kind,
            headline=card.metric,
            hidden={**card.on_board(), **given},
        )
    )
    places, engine, _ = opened(board.folder)
    service = Service(places, engine, limits or Limits())
    worker = Worker(places, engine, LocalJudge(folder / "secrets"), pages=False)  # type: ignore[arg-type]
    worker.start()
    return Served(folder, service, worker, add_token(engine, "one"))


def noise(served: Served, seed: int) -> np.ndarray:
    """Return random scores of the candidates of the hidden task."""
    return np.random.default_rng(seed).random(served.hidden.card.shape)
