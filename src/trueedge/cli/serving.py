"""Serve a board, manage tokens of teams, and submit to a server."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from trueedge.cli import showing
from trueedge.errors import InputError

TOKEN = "TRUEEDGE_TOKEN"
DATABASE = "TRUEEDGE_DATABASE"
LIBRARIES = ("fastapi", "sqlalchemy", "uvicorn", "h11")
DatabaseAddress = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="URL",
        help=f"postgresql://user:password@host/name; also the variable {DATABASE}.",
        show_default="a file in DIR",
    ),
]


def serve(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DIR | token add|revoke NAME | token list",
            help="The folder of a board; or what to do with the tokens of teams.",
            show_default=False,
        ),
    ] = None,
    database: DatabaseAddress = None,
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen at.", min=1, max=65535)] = 8000,
    secrets: Annotated[
        Path | None, typer.Option(metavar="SECRETS", help="Folder with the labels of hidden tasks.")
    ] = None,
    judge: Annotated[
        Path | None, typer.Option(metavar="SOCKET", help="Socket of 'trueedge leaderboard judge'.")
    ] = None,
    board: Annotated[
        Path | None,
        typer.Option(
            "--board", metavar="DIR", help="With token: the folder of the board.", show_default="this folder"
        ),
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Serve a board with built-in methods, in a temporary folder.")
    ] = False,
) -> None:
    """Serve a board: its pages, an API for submissions under /api/v1, and the judge of hidden tasks.

    Teams need a token, which is shown once; several tokens of a team share its quotas. --demo makes a board
    of built-in methods on embedded graphs, with a hidden task and a token to try.

    Example:
        trueedge serve board
        trueedge serve token add "Team A" --board board
        trueedge serve token revoke "Team A" --board board
        trueedge serve --demo
    """
    _check_libraries()
    given, address = words or [], database or os.environ.get(DATABASE) or None
    hidden = {"--secrets": secrets, "--judge": judge}
    if demo:
        useless = {"the folder": given or None, **hidden, "--db": database, "--board": board}
        _refuse(useless, "--demo makes a board of its own")
        with _ended_by_signals():
            _serve_demo(host, port)
    elif given[:1] == ["token"]:
        _refuse(hidden, "a token needs no judge")
        _tokens(given[1:], board or Path(), address)
    elif len(given) == 1:
        _refuse({"--board": board}, f"{given[0]} is the board")
        _serve_board(given[0], address, host, port, secrets, judge)
    else:
        raise InputError("name the folder of one board, or use --demo")


def submit(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="CERTIFICATE|SCORES", help="Files of 'trueedge certify', or one of scores."),
    ],
    to: Annotated[str, typer.Option(metavar="URL", help="The address of the board's server.")],
    token: Annotated[
        str, typer.Option(help=f"The team's token; better in the variable {TOKEN}.", show_default=False)
    ] = "",
    task: Annotated[
        str | None, typer.Option(help="The board's name.", show_default="that of the certificates")
    ] = None,
    entry: Annotated[Path | None, typer.Option(help="The card of the entry, a .toml file.")] = None,
    name: Annotated[str | None, typer.Option(help="The name of the entry.")] = None,
    author: Annotated[list[str] | None, typer.Option(help="An author, or the team; repeat it.")] = None,
    licence: Annotated[str | None, typer.Option(help="An SPDX identifier, such as MIT.")] = None,
    wait: Annotated[float, typer.Option(help="Seconds to wait for the result.", min=0)] = 60.0,
) -> None:
    """Submit certificates, or the scores of a hidden task, to a board's server.

    Certificates of one entry differ in their seed. Scores are a .npy or .npz file with one float for
    each candidate; name their task with --task.

    Example:
        trueedge submit ra-0.json ra-1.json --to https://board.example --entry entry.toml
        trueedge submit scores.npy --to https://board.example --task cora-hidden --entry entry.toml
    """
    from trueedge.leaderboard.board import EntryCard
    from trueedge.leaderboard.client import Server

    given = {"name": name, "authors": author, "licence": licence}
    if entry is not None and any(given.values()):
        raise InputError("describe the entry either in a file (--entry) or by options, not both")
    plain = {key: value for key, value in given.items() if value}
    card = (EntryCard.from_dict(plain) if entry is None else EntryCard.from_toml(entry)).to_dict()
    server = Server(to, token or os.environ.get(TOKEN, ""))
    if all(path.suffix == ".json" for path in files):
        sent = server.submit_certificates(files, card, task)
    elif len(files) > 1:
        raise InputError("scores of a hidden task are one file")
    elif task is None:
        raise InputError("scores do not say what they are of: name the task with --task")
    else:
        sent = server.submit_scores(files[0], card, task)
    showing.note(f"accepted as {sent.id}")
    found = server.wait(sent, wait)
    print(f"{found.entry}: {found.status}" + (f", {found.sentence}" if found.sentence else ""))
    if found.status == "failed":
        raise typer.Exit(1)


def _refuse(options: Mapping[str, object], reason: str) -> None:
    """Refuse words and options that would have no effect."""
    for name, value in options.items():
        if value is not None:
            raise InputError(f"{reason}: leave out {name}")


def _address(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let SIGTERM end a command as an exception does, so that its worker ends and its folder is removed."""
    before = signal.signal(signal.SIGTERM, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _end(number: int, _: object) -> None:
    # A second one must not stop the cleaning.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit(128 + number)


def _check_libraries() -> None:
    from importlib.util import find_spec

    missing = [name for name in LIBRARIES if find_spec(name) is None]
    if missing:
        raise InputError(f"the server needs {missing[0]}: pip install 'trueedge[serve]'")


def _tokens(words: list[str], board: Path, database: str | None) -> None:
    from trueedge.leaderboard.server.running import opened
    from trueedge.leaderboard.server.tokens import add_token, list_tokens, revoke_tokens

    what, *names = words or [""]
    if what not in ("add", "revoke", "list") or len(names) != (what != "list"):
        raise InputError("write 'token add NAME', 'token revoke NAME' or 'token list'")
    _, engine, _ = opened(board, database)
    if what == "add":
        token = add_token(engine, names[0])
        showing.note(f"the token of {names[0]}, shown this once:")
        print(token)
    elif what == "revoke":
        count = revoke_tokens(engine, names[0])
        showing.note(f"{showing.count(count, 'token')} of {names[0]} revoked")
    else:
        rows = [
            [one.team, one.start, _day(one.created), "" if one.revoked is None else _day(one.revoked)]
            for one in list_tokens(engine)
        ]
        showing.table("tokens", ["team", "hash", "created", "revoked"], rows)
    engine.dispose()


def _day(moment: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(moment))


def _serve_board(
    folder: str, database: str | None, host: str, port: int, secrets: Path | None, judge: Path | None
) -> None:
    """Serve a board until a signal ends it."""
    from trueedge.leaderboard.server.running import serve as run

    def say() -> None:
        showing.note(f"{_address(host, port)} serves {folder}; Ctrl-C stops it")

    with _ended_by_signals():
        run(folder, database, host, port, secrets=secrets, judge=judge, ready=say, note=showing.note)


def _serve_demo(host: str, port: int) -> None:
    """Serve a board of built-in methods, in a folder that is removed at the end."""
    from trueedge.leaderboard.server.demo import Demo, make_demo
    from trueedge.leaderboard.server.listening import listen
    from trueedge.leaderboard.server.running import serve as run

    # Before the work: another program may listen there.
    sockets = listen(host, port)

    def say(made: Demo, folder: str) -> None:
        address = _address(host, port)
        showing.note(f"{address} serves the demonstration; Ctrl-C stops it and removes {folder}")
        showing.note("to submit to its hidden task, in another terminal:")
        showing.note(f"  export {TOKEN}={made.token}")
        showing.note(f"  trueedge leaderboard answer {made.public} -m ra -o scores.npy")
        showing.note(
            f"  trueedge submit scores.npy --to {address} --task {made.hidden} --name RA --author You"
            " --licence MIT"
        )
        sys.stderr.flush()

    with tempfile.TemporaryDirectory(prefix="trueedge-demo-") as folder:
        with showing.progress(1, "running the built-in methods"):
            made = make_demo(Path(folder))
        ready = partial(say, made, folder)
        run(made.board, None, host, port, secrets=made.secrets, sockets=sockets, ready=ready)


COMMANDS = (serve, submit)
