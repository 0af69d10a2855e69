"""Hidden tasks: hide labels, score the candidates, run a judge, and end a season."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from trueedge.cli import completing, parsing, showing
from trueedge.cli.making import ProtocolToUse, Words
from trueedge.cli.serving import DATABASE
from trueedge.datasets import is_name
from trueedge.errors import InputError
from trueedge.files.writing import check_target, replacing

PublicFolder = Annotated[
    Path, typer.Argument(metavar="PUBLIC", help="The public folder of 'trueedge leaderboard hide'.")
]


def hide(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATASET",
            help="A file with an edge list or triples, a folder of a typed graph, or a data set's name.",
            autocompletion=completing.dataset,
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="PUBLIC", help="New folder for participants.")
    ],
    secret: Annotated[Path, typer.Option(metavar="SECRET", help="New folder for labels and keys.")],
    protocol: ProtocolToUse = None,
    option: Words = None,
    name: Annotated[
        str | None, typer.Option(help="The task's name on its board.", show_default="DATASET-PROTOCOL-hidden")
    ] = None,
    season: Annotated[str, typer.Option(help="The name of the season.")] = "1",
    closes: Annotated[str, typer.Option(help="The last day of the season, YYYY-MM-DD.")] = "",
    board: Annotated[
        Path | None, typer.Option("--board", metavar="DIR", help="Add the hidden task to this board.")
    ] = None,
) -> None:
    """Hide the labels of a task: write a public folder for participants and a secret one for the judge.

    The split and the negatives are drawn with a secret key, so there is no seed to choose. The public folder
    holds the training data, the candidates in a secret order, and a salted SHA-256 of the labels, which is
    printed. Hide data that nobody else has: the labels of a public data set can be looked up.

    Example:
        trueedge leaderboard hide graph.csv -p uniform -o public --secret secrets/one --board board
    """
    from trueedge.leaderboard.board import Board
    from trueedge.leaderboard.hidden.making import hide as write

    opened = None if board is None else Board.open(board)
    with showing.progress(1, "hiding the labels"):
        found = write(
            lambda seed: parsing.task(data, protocol, seed, option or []),
            output,
            secret,
            board=opened,
            name=name,
            season=season,
            closes=closes,
        )
    card = found.card
    showing.note(f"{output}: {card.name}, a submission has the shape {card.shape}; keep {secret} to yourself")
    if is_name(card.dataset):
        showing.note(f"{card.dataset} is a public data set: whoever has it can look up the labels")
    showing.note(
        "submit a baseline of your own before others do: a ladder without one tells more about the labels"
    )
    showing.note(
        "the salted SHA-256 of the labels, which proves at the end of the season that they are the same:"
    )
    print(card.labels)


def answer(
    public: PublicFolder,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="SCORES", help=".npy file to write.")],
    method: Annotated[str, typer.Option("-m", "--method", help="A method's name, or FILE.py:NAME.")],
    words: Annotated[list[str] | None, typer.Option("--set", help="A setting: key=value.")] = None,
    seed: Annotated[int, typer.Option(help="Seed for training.", min=0)] = 0,
) -> None:
    """Fit a method on a hidden task's training data, and write its scores of all candidates.

    Example:
        trueedge leaderboard answer public -m ppr -o scores.npy
    """
    from trueedge.leaderboard.hidden.public_folder import HiddenTask

    check_target(output, "the scores", (".npy",))
    hidden = HiddenTask.open(public)
    chosen = parsing.chosen_methods(method, words or [], hidden.task.data, hidden.card.kind)[0]
    if len(chosen) != 1:
        raise InputError(f"{method!r} names {len(chosen)} methods: choose one")
    with showing.progress(1, f"fitting {chosen[0].name}"):
        scores = hidden.scores(chosen[0].fit(hidden.task, seed=seed))
    with replacing(output, "the scores") as draft, draft.open("wb") as file:
        np.save(file, scores, allow_pickle=False)
    showing.note(f"{output}: {showing.count(scores.size, 'score')} for {hidden.card.name}")


def judge(
    secret: Annotated[
        Path, typer.Argument(metavar="SECRET", help="A secret folder, or a folder of several.")
    ],
    socket: Annotated[Path, typer.Option(help="The unix socket to answer at.")],
) -> None:
    """Run a judge at a unix socket, for example as a user whose files the server cannot read.

    The server is started with '--judge SOCKET'. The judge must be able to read the server's folder of
    uploaded scores. Without this command, 'trueedge serve --secrets SECRET' starts a judge of its own.

    Example:
        trueedge leaderboard judge secrets --socket judge.sock
    """
    from trueedge.leaderboard.hidden.judge import Judge, serve_socket

    found = Judge.of_folder(secret)

    def say() -> None:
        showing.note(f"judging {', '.join(found.labels)} at {socket}; Ctrl-C stops it")

    serve_socket(found, socket, ready=say)


def end(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the board.")],
    task: Annotated[str, typer.Argument(metavar="TASK", help="The name of the hidden task.")],
    secret: Annotated[Path, typer.Option(metavar="SECRET", help="The task's secret folder.")],
    release: Annotated[Path, typer.Option(metavar="FOLDER", help="New folder for the released labels.")],
    database: Annotated[
        str | None,
        typer.Option(
            "--db",
            metavar="URL",
            help=f"The server's database; also the variable {DATABASE}.",
            show_default="a file in DIR",
        ),
    ] = None,
) -> None:
    """End the season of a hidden task: show private values, release the labels, certify every entry.

    Stop the server first. Afterwards 'trueedge verify DIR/TASK/ENTRY/seed-K.json --task FOLDER/task' checks
    an entry, and 'trueedge leaderboard check DIR' all of them.

    Example:
        trueedge leaderboard end board cora-hidden --secret secrets/one --release labels
    """
    from trueedge.leaderboard.board import Board
    from trueedge.leaderboard.hidden.season import check_end, end_season
    from trueedge.leaderboard.hidden.secret_folder import Secret
    from trueedge.leaderboard.server.closing import submitted_files

    opened, labels = Board.open(folder), Secret.open(secret)
    check_end(opened.task(task), labels, opened, release)
    files = submitted_files(folder, task, database or os.environ.get(DATABASE) or None)
    with showing.progress(1, "ending the season"):
        found = end_season(opened, task, labels, files, release)
    metric = opened.task(task).headline
    for name, value in sorted(found.values.items(), key=lambda one: -one[1]):
        print(f"{name}  {metric} {value:.4f} on the private units")
    showing.note(f"the labels are in {found.released}; every entry has a certificate")


COMMANDS = (hide, answer, judge, end)
