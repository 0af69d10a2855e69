"""The worker: the one process that checks accepted submissions and writes them into the board.

It takes them in the order they came. Each step can be done again: after a kill at any moment, the next worker
goes on with what was accepted, and nothing is written twice.
"""

from __future__ import annotations

import fcntl
import json
import os
import select as selecting
import shutil
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from sqlalchemy import Connection, Engine, delete, func, select, update
from sqlalchemy.exc import SQLAlchemyError

from trueedge.errors import InputError, StoreWarning
from trueedge.leaderboard.board import Board, EntryCard
from trueedge.leaderboard.board.entry_card import FILE as ENTRY_FILE
from trueedge.leaderboard.hidden.asking_judge import JudgeAbsentError, JudgeClient
from trueedge.leaderboard.server.accepting import release_seals
from trueedge.leaderboard.server.database import FILES, SUBMISSIONS, now, open_database, reading, writing
from trueedge.leaderboard.server.limits import Limits
from trueedge.leaderboard.server.logs import configure_logs, event
from trueedge.leaderboard.server.places import Places
from trueedge.leaderboard.server.publishing import folder_times, publish, write_standings
from trueedge.leaderboard.server.scored_entries import write_scored
from trueedge.leaderboard.server.uploads import remove_old

BATCH = 100
IDLE_SECONDS = 1.0
# So often the worker looks whether somebody else changed the board: a withdrawal, a proof, a new task.
LOOK_SECONDS = 30.0
# Between two builds the worker rests from building for so many times as long as one takes.
REST = 4.0
NO_STEP = "no gain above the step: its value is shown when the season ends"
FAILED = "the submission could not be checked: the server's log says why"


@dataclass
class Worker:
    """Works on accepted submissions.

    Attributes:
        places: the board and the server's files.
        engine: the database.
        judge: the judge of hidden tasks, if there are any.
        pages: whether pages are built.
    """

    places: Places
    engine: Engine
    judge: JudgeClient | None = None
    pages: bool = True
    limits: Limits = field(default_factory=Limits)
    _board: Board | None = None
    _stale: set[str] = field(default_factory=set)
    _times: dict[str, int] = field(default_factory=dict)
    _next_look: float = 0.0
    _next_build: float = 0.0
    _next_cleaning: float = 0.0

    @property
    def board(self) -> Board:
        """Return the board."""
        if self._board is None:
            self._board = Board.open(self.places.board)
        return self._board

    def work(self) -> int:
        """Work on what waits, up to a batch; return how many submissions there were."""
        rows = self._waiting()
        for row in rows:
            self._finish(row)
        self._stale |= {str(row.task) for row in rows}
        self._look()
        self._publish()
        self._clean()
        return len(rows)

    def _waiting(self) -> Sequence[Any]:
        chosen = select(SUBMISSIONS).where(SUBMISSIONS.c.status.in_(("waiting", "judged")))
        with reading(self.engine) as connection:
            ordered = chosen.order_by(SUBMISSIONS.c.created, SUBMISSIONS.c.id)
            return connection.execute(ordered.limit(BATCH)).all()

    def _finish(self, row: Any) -> None:
        started = time.monotonic()
        try:
            if row.kind == "scores":
                sentence = self._score(row)
            else:
                sentence = self._add(row)
            status = "done"
        except JudgeAbsentError as error:
            event("error", "judge", error=error.reason)
            status, sentence = "failed", str(error)
        except InputError as error:
            # Teams read the sentence: it names no folder of this machine.
            status, sentence = "failed", str(error).replace(f"{self.places.board}/", "")
        except SQLAlchemyError:
            raise
        except Exception as error:  # one submission must not stop the others
            event("error", "submission", id=row.id, error=f"{type(error).__name__}: {error}")
            status, sentence = "failed", FAILED
        self._note(row, status, sentence)
        event(
            "info", "submission", id=row.id, task=row.task, status=status, seconds=time.monotonic() - started
        )

    def _note(self, row: Any, status: str, sentence: str) -> None:
        """Write down how a submission ended; of one that is on the board, the uploaded files are removed."""
        values: dict[str, Any] = {"status": status, "sentence": sentence, "finished": now()}
        if status == "failed":
            values["live"] = None
        unneeded: set[str] = set()
        with writing(self.engine) as connection:
            connection.execute(update(SUBMISSIONS).where(SUBMISSIONS.c.id == row.id).values(**values))
            if status == "failed":
                release_seals(connection, row.id)
            elif row.kind == "certificates":
                unneeded = _release_files(connection, row)
        for name in unneeded:
            self.places.upload(row.team, name).unlink(missing_ok=True)

    def _add(self, row: Any) -> str:
        """Verify certificates, and add them to the board."""
        body = json.loads(row.body)
        draft = self.places.work / row.id
        shutil.rmtree(draft, ignore_errors=True)
        try:
            paths = []
            for number, card in enumerate(body["certificates"]):
                folder = draft / f"certificate {number + 1}"
                folder.mkdir(parents=True)
                named = card["scores"]["file"]
                _link(self.places.upload(row.team, body["files"][named]), folder / named)
                paths.append(folder / f"seed-{card['seed']}.json")
                paths[-1].write_text(json.dumps(card, indent=2, allow_nan=False) + "\n")
            try:
                with _damage_logged():
                    self.board.add(paths, EntryCard.from_dict(body["entry"]), row.task, row.entry)
            except InputError as error:
                raise InputError(str(error).replace(f"{draft}/", "")) from None
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        return f"added to {row.task} as {row.entry}"

    def _score(self, row: Any) -> str:
        """Let the judge score a submission to a hidden task, and write its answer into the board."""
        if row.status == "waiting":
            if self.judge is None:
                raise InputError("this server has no judge for hidden tasks")
            best, tries = self._ladder(row)
            path = self.places.upload(row.team, json.loads(row.body)["scores"])
            value = self.judge.ask(row.task, path, best, tries)
            values = {"status": "judged", "value": value, "improved": value is not None}
            with writing(self.engine) as connection:
                connection.execute(update(SUBMISSIONS).where(SUBMISSIONS.c.id == row.id).values(**values))
        else:
            value = row.value if row.improved else None
        card = EntryCard.from_dict(json.loads(row.body)["entry"])
        write_scored(self.board, row.task, row.entry, card, value, row.created)
        if value is None:
            return NO_STEP
        return f"{self.board.task(row.task).headline} on the public units is shown as {value:.2f}"

    def _ladder(self, row: Any) -> tuple[Path | None, int]:
        """Return the best submission so far, of all teams or of its own, and the number of all so far."""
        whose = self.board.task(row.task).hidden.get("ladder", "task")
        others = (SUBMISSIONS.c.task == row.task) & (SUBMISSIONS.c.id != row.id)
        judged = others & SUBMISSIONS.c.status.in_(("judged", "done"))
        with reading(self.engine) as connection:
            tries = 1 + int(connection.execute(select(func.count()).where(judged)).scalar_one())
            highest = SUBMISSIONS.c.value.desc()
            climbed = judged & SUBMISSIONS.c.improved
            if whose == "team":
                climbed &= SUBMISSIONS.c.team == row.team
            rows = connection.execute(select(SUBMISSIONS).where(climbed).order_by(highest)).all()
        best = next((one for one in rows if not self._is_withdrawn(one)), None)
        if best is None:
            return None, tries
        return self.places.upload(best.team, json.loads(best.body)["scores"]), tries

    def _is_withdrawn(self, row: Any) -> bool:
        """Return whether an entry was withdrawn: the others need not beat it any more."""
        card = self.places.board / row.task / row.entry / ENTRY_FILE
        return card.is_file() and EntryCard.from_toml(card).withdrawn is not None

    def _look(self) -> None:
        """Note the tasks that were changed by other commands since they were published."""
        if time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + LOOK_SECONDS
        times = folder_times(self.board)
        self._stale |= {
            name for name in times.keys() | self._times if times.get(name) != self._times.get(name)
        }

    def _publish(self) -> None:
        """Write standings and pages if something changed, and not all the time."""
        if not self._stale or time.monotonic() < self._next_build:
            return
        started = time.monotonic()
        changed, self._stale = self._stale, set()
        self._times = folder_times(self.board)
        try:
            write_standings(self.board, self.places, None if "" in changed else changed)
            if self.pages:
                publish(self.board, self.places)
        except Exception as error:  # pages that cannot be built must not stop submissions
            event("error", "pages", error=f"{type(error).__name__}: {error}")
        taken = time.monotonic() - started
        self._next_build = time.monotonic() + (REST * taken if self.pages else 0.0)
        event("info", "pages", tasks=len(changed), seconds=taken)

    def _clean(self) -> None:
        if time.monotonic() < self._next_cleaning:
            return
        self._next_cleaning = time.monotonic() + 3600
        with reading(self.engine) as connection:
            needed = frozenset(connection.execute(select(FILES.c.digest)).scalars())
        remove_old(self.places.own / "inbox", needed, self.limits.keep_seconds)

    def start(self) -> None:
        """Write what readers are served before the first submission comes."""
        # The empty name stands for all tasks.
        self._stale = {""}
        self._publish()


def _release_files(connection: Connection, row: Any) -> set[str]:
    """Return the files that no other submission of the team needs, and forget that this one needed them."""
    mine = FILES.c.submission == row.id
    names = set(connection.execute(select(FILES.c.digest).where(mine)).scalars())
    connection.execute(delete(FILES).where(mine))
    others = (FILES.c.team == row.team) & FILES.c.digest.in_(names)
    return names - set(connection.execute(select(FILES.c.digest).where(others)).scalars())


@contextmanager
def _damage_logged() -> Iterator[None]:
    """Log what the board warns of: entries of others whose card cannot be read."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", StoreWarning)
        yield
    for one in told:
        event("error", "board", message=str(one.message))


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise InputError("an uploaded file is gone: upload and submit it again") from None
    except OSError:
        shutil.copyfile(source, target)


def locked(places: Places) -> IO[bytes]:
    """Wait until no other worker holds the board, and return the file that keeps others away."""
    file = places.lock.open("ab")
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


def run(worker: Worker, wakes: IO[bytes]) -> None:
    """Work until the stream of wake-ups ends, as it does when the server ends, however it does."""
    poll = selecting.poll()
    poll.register(wakes, selecting.POLLIN | selecting.POLLHUP)
    started = False
    while True:
        busy = 0
        try:
            if not started:
                worker.start()
                started = True
            busy = worker.work()
        except SQLAlchemyError as error:
            # The database was killed or restarted: what waits is still in it.
            event("error", "database", error=type(error).__name__)
        if poll.poll(0 if busy else IDLE_SECONDS * 1000) and not os.read(wakes.fileno(), 65536):
            return


def main(words: Sequence[str] | None = None) -> int:
    """Run a worker: the folder of the board, then options as JSON; it ends with its standard input."""
    folder, options = sys.argv[1:] if words is None else words
    given = json.loads(options)
    configure_logs()
    places = Places(Path(folder))
    with locked(places):
        judge = None
        if given.get("secrets") or given.get("judge"):
            judge = JudgeClient(given.get("secrets"), given.get("judge"))
        worker = Worker(
            places, open_database(os.environ["TRUEEDGE_DATABASE"]), judge, given.get("pages", True)
        )
        with suppress(KeyboardInterrupt):
            run(worker, sys.stdin.buffer)
        if judge is not None:
            judge.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
