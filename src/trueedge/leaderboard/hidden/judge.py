"""The judge: a process of its own, in whose memory alone hidden labels are.

It answers one question: is a submission a step up on the ladder of its task? Questions and answers are lines
of JSON, through a pipe or a unix socket. It keeps nothing: the best submission so far comes with the
question. Every failure has the same words, and every answer takes a multiple of the same time, so that
neither says anything about labels.
"""

from __future__ import annotations

import json
import math
import os
import resource
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from trueedge.errors import InputError
from trueedge.leaderboard.hidden.ladder import Values, climb
from trueedge.leaderboard.hidden.public_folder import read_submission
from trueedge.leaderboard.hidden.secret_folder import CARD, Secret

FAILED = "the judge could not score this submission"
# An answer takes a multiple of so many seconds.
TICK = 0.5
LONGEST_LINE = 1 << 16
Now = Callable[[], float]


class Judge:
    """The ladder of some hidden tasks.

    Args:
        secrets: the secret side of each task.
    """

    def __init__(self, secrets: Sequence[Secret]) -> None:
        self._secrets = {secret.card.name: secret for secret in secrets}
        if len(self._secrets) < len(secrets):
            raise InputError("two hidden tasks have the same name")

    @classmethod
    def of_folder(cls, folder: str | Path) -> Judge:
        """Return the judge of a secret folder, or of a folder with a secret folder for each task."""
        place = Path(folder)
        places = (
            [place] if (place / CARD).is_file() else sorted(one.parent for one in place.glob(f"*/{CARD}"))
        )
        if not places:
            raise InputError(f"there are no hidden labels in {place}")
        return cls([Secret.open(one) for one in places])

    @property
    def labels(self) -> dict[str, str]:
        """Return the salted hash of the labels of each task, by name."""
        return {name: secret.card.labels for name, secret in self._secrets.items()}

    def answer(self, question: Any) -> dict[str, Any]:
        """Return the answer to a question: the ``value`` to show or None, or one sentence for every failure.

        Args:
            question: ``task``, the path of the ``scores``, that of the ``best`` ones of all teams or None,
                and the number of ``tries`` of all teams.
        """
        try:
            secret = self._secrets[question["task"]]
            new = _public_values(secret, question["scores"])
            best = question["best"]
            base = secret.constant(public=True) if best is None else _public_values(secret, best)
            value = climb(new, base, question["tries"])
        except Exception:  # whatever it is, its text could depend on labels
            return {"error": FAILED}
        return {"value": value}


def _public_values(secret: Secret, path: str) -> Values:
    return secret.values(read_submission(Path(path), secret.card.shape), public=True)


def padded(answer: Callable[[Any], dict[str, Any]], question: Any, tick: float = TICK) -> dict[str, Any]:
    """Return an answer after a multiple of ``tick`` seconds."""
    started = time.monotonic()
    found = answer(question)
    taken = time.monotonic() - started
    time.sleep(max(0.0, math.ceil(taken / tick) * tick - taken))
    return found


def serve_stream(judge: Judge, questions: IO[bytes], answers: IO[bytes], tick: float = TICK) -> None:
    """Answer lines of JSON until the stream of questions ends."""
    _write(answers, {"ready": judge.labels})
    while line := questions.readline(LONGEST_LINE):
        try:
            question = json.loads(line)
        except ValueError:
            question = None
        _write(answers, padded(judge.answer, question, tick))


def serve_socket(
    judge: Judge, path: str | Path, tick: float = TICK, ready: Callable[[], object] = lambda: None
) -> None:
    """Answer at a unix socket that only its owner and group can open, several connections at a time.

    Args:
        judge: what answers.
        path: the socket.
        tick: an answer takes a multiple of so many seconds.
        ready: called when the socket can be connected to.
    """
    keep_from_core_files()
    place = Path(path)
    _clear(place)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        old = os.umask(0o007)
        try:
            listening.bind(str(place))
        except OSError as error:
            raise InputError(f"{place} cannot be opened as a socket: {error.strerror or error}") from None
        finally:
            os.umask(old)
        listening.listen()
        ready()
        while True:
            connection, _ = listening.accept()
            # A server keeps its connection, and the next one must not wait for its end.
            answering = threading.Thread(target=_serve_connection, args=(judge, connection, tick))
            answering.daemon = True
            answering.start()


def _clear(place: Path) -> None:
    """Remove the socket of a judge that has ended; refuse one that still answers, and any other file."""
    if not place.exists() and not place.is_symlink():
        return
    if not place.is_socket():
        raise InputError(f"{place} exists and is no socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other, suppress(OSError):
        other.connect(str(place))
        raise InputError(f"another judge answers at {place}: choose another socket")
    place.unlink(missing_ok=True)


def _serve_connection(judge: Judge, connection: socket.socket, tick: float) -> None:
    # A client that has gone is found when an answer is written, or when the stream of answers is closed.
    with (
        suppress(OSError),
        connection,
        connection.makefile("rb") as asked,
        connection.makefile("wb") as told,
    ):
        serve_stream(judge, asked, told, tick)


def keep_from_core_files() -> None:
    """Let no label reach a core file of this process."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _write(stream: IO[bytes], value: Mapping[str, Any]) -> None:
    stream.write(json.dumps(value).encode() + b"\n")
    stream.flush()


def main(words: Sequence[str] | None = None) -> int:
    """Run a judge on a pipe: the first word names the folder of labels."""
    keep_from_core_files()
    folder, *rest = sys.argv[1:] if words is None else words
    answers = sys.stdout.buffer
    try:
        judge = Judge.of_folder(folder)
    except InputError as error:
        _write(answers, {"error": str(error)})
        return 1
    with suppress(BrokenPipeError, KeyboardInterrupt):
        serve_stream(judge, sys.stdin.buffer, answers, float(rest[0]) if rest else TICK)
    return 0


if __name__ == "__main__":
    sys.exit(main())
