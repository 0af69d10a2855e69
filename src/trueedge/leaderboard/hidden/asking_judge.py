"""Ask the judge: start its process, or connect to the socket of one, and read its answers."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Self

from trueedge.errors import InputError
from trueedge.leaderboard.hidden.judge import FAILED, LONGEST_LINE, TICK

SECONDS = 600.0


class JudgeAbsentError(InputError):
    """The judge could not be asked; the message has the words of every failure, which teams read.

    Args:
        reason: why, for the organiser: it may name folders.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(FAILED)
        self.reason = reason


class JudgeClient:
    """A connection to a judge; a judge that died is started or connected to again at the next question.

    Args:
        secrets: the folder of labels, for a judge of its own.
        socket_path: the socket of a judge that somebody else started.
        tick: an answer takes a multiple of so many seconds.
    """

    def __init__(
        self, secrets: str | Path | None = None, socket_path: str | Path | None = None, tick: float = TICK
    ) -> None:
        if (secrets is None) == (socket_path is None):
            raise InputError("a judge has either a folder of labels or a socket")
        self._secrets, self._socket_path, self._tick = secrets, socket_path, tick
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._asked: IO[bytes] | None = None
        self._told: IO[bytes] | None = None
        self._lock = threading.Lock()
        self.labels: dict[str, str] = {}

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def open(self) -> None:
        """Start or connect to the judge, and read which tasks it knows."""
        if self._secrets is not None:
            words = [
                sys.executable,
                "-m",
                "trueedge.leaderboard.hidden.judge",
                str(self._secrets),
                str(self._tick),
            ]
            # Its errors go nowhere: a traceback could show labels.
            self._process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            self._asked, self._told = self._process.stdin, self._process.stdout
        else:
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._socket.settimeout(SECONDS)
            try:
                self._socket.connect(str(self._socket_path))
            except OSError as error:
                self.close()
                raise InputError(
                    f"no judge answers at {self._socket_path}: {error.strerror or error}"
                ) from None
            self._asked, self._told = self._socket.makefile("wb"), self._socket.makefile("rb")
        greeting = self._read()
        if "ready" not in greeting:
            self.close()
            raise InputError(str(greeting.get("error", "the judge could not be started")))
        self.labels = dict(greeting["ready"])

    def close(self) -> None:
        """End the connection, and the process if it was started here."""
        for stream in (self._asked, self._told):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(5)
            self._process.kill()
            self._process.wait()
        if self._socket is not None:
            self._socket.close()
        self._process = self._socket = self._asked = self._told = None

    def ask(self, task: str, scores: Path, best: Path | None, tries: int = 1) -> float | None:
        """Return what is shown for a submission, or None; a failure is one sentence, always the same.

        Args:
            task: the name of the hidden task.
            scores: the file of the submission.
            best: the file of the best submission so far, of all teams, if any.
            tries: how many submissions to the task have been judged, of all teams and with this one.
        """
        question = {
            "task": task,
            "scores": str(scores.absolute()),
            "best": None if best is None else str(best.absolute()),
            "tries": tries,
        }
        with self._lock:
            try:
                found = self._exchange(question)
                if not found:  # it died: once more with a new one
                    self.close()
                    found = self._exchange(question)
            except InputError as error:
                raise JudgeAbsentError(str(error)) from None
        if "value" not in found:
            raise InputError(FAILED)
        return None if found["value"] is None else float(found["value"])

    def _exchange(self, question: dict[str, Any]) -> dict[str, Any]:
        if self._asked is None:
            self.open()
        try:
            assert self._asked is not None
            self._asked.write(json.dumps(question).encode() + b"\n")
            self._asked.flush()
        except OSError:
            return {}
        return self._read()

    def _read(self) -> dict[str, Any]:
        try:
            line = b"" if self._told is None else self._told.readline(LONGEST_LINE)
            found = json.loads(line) if line else {}
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}
