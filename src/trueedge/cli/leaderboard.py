"""The leaderboard: make a board, add tasks and entries, check it, and build its pages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from trueedge.cli import completing, parsing, showing
from trueedge.cli.options import DatasetOrTask
from trueedge.errors import InputError
from trueedge.tasks.storage import is_saved

BoardFolder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the board.")]
Place = Annotated[Path, typer.Option("--board", metavar="DIR", help="The folder of the board.")]
TaskName = Annotated[str, typer.Argument(metavar="TASK", help="The name of a task of the board.")]
# So many problems are named by a build.
NAMED = 5
EntryName = Annotated[str, typer.Argument(metavar="ENTRY", help="The name of an entry of the task.")]


def create(
    folder: BoardFolder,
    title: Annotated[str, typer.Option(help="What the pages call the board.")] = "Leaderboard",
) -> None:
    """Make an empty board in a new folder.

    Example:
        trueedge leaderboard create board --title "Link prediction"
    """
    from trueedge.leaderboard.board import Board

    made = Board.create(folder, title)
    showing.note(f"{made.folder} is a board without tasks; 'trueedge leaderboard task' adds one")


def task(
    dataset: DatasetOrTask,
    board: Place,
    protocol: Annotated[
        str | None,
        typer.Option("-p", "--protocol", help="The protocol.", autocompletion=completing.protocol),
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", metavar="NAME=VALUE", help="An option of the protocol.")
    ] = None,
    seeds: Annotated[int, typer.Option(help="How many seeds: splits and negatives.", min=1, max=1000)] = 3,
    name: Annotated[
        str | None, typer.Option(help="The name of its folder.", show_default="DATASET-PROTOCOL")
    ] = None,
    audit: Annotated[bool, typer.Option(help="Audit the task, for its page.")] = True,
) -> None:
    """Add a task to a board: the hash of the frozen task of each seed, and the audit's findings.

    An entry is ranked if it has a certificate for each of these seeds. Three or more tell how much a result
    depends on the split; a data set with a fixed split needs one.

    Example:
        trueedge leaderboard task cora -p heart --seeds 3 --board board
    """
    from trueedge.leaderboard.board import Board

    opened, words = Board.open(board), option or []
    with showing.progress(seeds, "making the task"):
        frozen = [parsing.task(dataset, protocol, seed, words) for seed in range(seeds)]
        chosen = frozen[0].protocol
        given = {} if is_saved(dataset) else parsing.options(words, [chosen])[chosen]
        made = opened.add_task(frozen[:1] if is_saved(dataset) else frozen, name, options=given)
        if audit:
            opened.add_audit(made.name, frozen[0])
    if made.audit and not audit:
        showing.note(f"--no-audit has no effect: {made.name} keeps the audit that it has")
    showing.note(f"{made.name} has {showing.count(len(made.seeds), 'seed')} and is ranked by {made.headline}")


def add(
    certificates: Annotated[
        list[Path], typer.Argument(metavar="CERTIFICATE", help="Files of 'trueedge certify'.")
    ],
    board: Place,
    entry: Annotated[Path | None, typer.Option(help="The card of the entry, a .toml file.")] = None,
    name: Annotated[str | None, typer.Option(help="The name of the entry.")] = None,
    author: Annotated[list[str] | None, typer.Option(help="An author, or the team; repeat it.")] = None,
    licence: Annotated[str | None, typer.Option(help="An SPDX identifier, such as MIT.")] = None,
    code: Annotated[str, typer.Option(help="The https address of the code.")] = "",
    commit: Annotated[str, typer.Option(help="The hash of the commit that was run.")] = "",
    paper: Annotated[str, typer.Option(help="The https address of a paper.")] = "",
    extra_data: Annotated[
        list[str] | None, typer.Option(help="Data beside the task's training part; repeat it.")
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="The task's name.", show_default="that of the certificates")
    ] = None,
    folder: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The name of the entry's folder: a-z, 0-9, . _ + -", show_default="its name"
        ),
    ] = None,
) -> None:
    """Verify certificates and add them to a board as an entry.

    All certificates of an entry are of one method with one choice of settings, one for each seed. Describe
    the entry in a .toml file (name, authors, licence, code, commit, paper, extra_data) or by options.

    Example:
        trueedge leaderboard add ra-*.json --board board --name RA --author "A. Person" --licence MIT
        trueedge leaderboard add ra-*.json --board board --entry entry.toml
    """
    from trueedge.leaderboard.board import Board, EntryCard

    given = {
        "name": name,
        "authors": author,
        "licence": licence,
        "code": code,
        "commit": commit,
        "paper": paper,
        "extra_data": extra_data,
    }
    if entry is not None:
        if any(given.values()):
            raise InputError("describe the entry either in a file (--entry) or by options, not both")
        card = EntryCard.from_toml(entry)
    else:
        card = EntryCard.from_dict({key: value for key, value in given.items() if value})
    with showing.progress(1, "verifying"):
        added = Board.open(board).add(certificates, card, task, folder)
    seeds = showing.count(len(added.paths), "certificate")
    showing.note(f"{added.task}/{added.name} has {seeds} and is {added.tier}")
    if added.tier == "consistent":
        showing.note("it is ranked once another party reproduces it: 'trueedge leaderboard reproduce'")


def check(folder: BoardFolder) -> None:
    """Check every file of a board, and print a line for each problem.

    Certificates are verified: metrics from scores, hashes, seals, the size and the labels of the task. The
    exit status is 1 if there is a problem. Run it in CI for every change of the folder.

    Example:
        trueedge leaderboard check board
    """
    from trueedge.leaderboard.board import Board

    opened = Board.open(folder)
    with showing.progress(1, "checking"):
        found = opened.check()
    for problem in found:
        print(showing.printable(str(problem)))
    if found:
        showing.note(showing.count(len(found), "problem"))
        raise typer.Exit(1)
    withdrawn = [one.withdrawn for task in opened.tasks() for one in opened.entries(task)]
    entries = withdrawn.count(False)
    listed = f"{entries:,} {'entry' if entries == 1 else 'entries'}"
    listed += f", {withdrawn.count(True):,} withdrawn" if any(withdrawn) else ""
    print(f"OK  {showing.count(len(opened.tasks()), 'task')}, {listed}")


def build(
    folder: BoardFolder,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="SITE", help="The folder of the pages.")],
    jobs: Annotated[int, typer.Option("--jobs", help="Processes.", min=1, max=64)] = 1,
) -> None:
    """Build the pages of a board: static files that need no server.

    The same board gives the same bytes on every machine. Tasks that did not change are not built again. An
    entry that fails the check is not ranked: its page says why, and the exit status is 1.

    Example:
        trueedge leaderboard build board -o site
    """
    from trueedge.leaderboard.board import Board
    from trueedge.leaderboard.pages import build as write

    opened = Board.open(folder)
    with showing.progress(1, "building"):
        made = write(opened, output, jobs=jobs)
    unchanged = showing.count(made.reused, "task")
    showing.note(f"{output}/index.html: {showing.count(made.pages, 'page')}, {unchanged} unchanged")
    refuse_problems(made.problems, folder)


def refuse_problems(problems: Sequence[str], folder: Path) -> None:
    """Name the first problems of a board, and end with the exit status 1 if there are any."""
    if not problems:
        return
    for problem in problems[:NAMED]:
        showing.note(problem)
    more = f", the first {NAMED} above" if len(problems) > NAMED else ""
    raise InputError(
        f"the board has {showing.count(len(problems), 'problem')}{more}: what fails the check is not ranked;"
        f" 'trueedge leaderboard check {folder}' lists all"
    )


def withdraw(
    folder: BoardFolder,
    task: TaskName,
    entry: EntryName,
    reason: Annotated[str, typer.Option(help="Why: it stays on the board.")],
    remove: Annotated[bool, typer.Option("--remove", help="Remove the certificates and scores too.")] = False,
) -> None:
    """Withdraw an entry; its card stays, with the reason.

    With --remove, the certificates of an entry that was withdrawn before are removed too.

    Example:
        trueedge leaderboard withdraw board cora-heart ra --reason "trained on test edges"
    """
    from trueedge.leaderboard.board import Board

    Board.open(folder).withdraw(task, entry, reason, keep=not remove)
    removed = ", and its certificates are removed" if remove else ""
    showing.note(f"{task}/{entry} is withdrawn{removed}")


def reproduce(
    folder: BoardFolder,
    task: TaskName,
    entry: EntryName,
    by: Annotated[str, typer.Option(help="Who reproduces it: not an author.")],
    certificate: Annotated[
        Path | None,
        typer.Option(help="Your own certificate of the task.", show_default="the method is run again"),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="The certificate to run again.", show_default="the first", min=0)
    ] = None,
    source: Annotated[
        str | None, typer.Option("--task", help="The data, if the certificate names no known data set.")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            "-m",
            "--method",
            help="The method, by its name; FILE.py:NAME or MODULE:NAME for your own.",
            show_default="the entry's",
        ),
    ] = None,
    device: Annotated[str | None, typer.Option(help="cpu or cuda.", show_default="the certificate's")] = None,
) -> None:
    """Reproduce an entry, which lifts it to a tier that is ranked.

    The method is run again, as by 'trueedge verify --rerun', or your own certificate is taken, and nothing is
    run. The entry is reproduced if the headline lies in its interval. The proof says who and when.

    Example:
        trueedge leaderboard reproduce board cora-heart ra --by "B. Person"
    """
    from trueedge.leaderboard.board import Board
    from trueedge.leaderboard.board.board import today
    from trueedge.leaderboard.board.reproducing import add_certificate, run_again

    for option, value in (("--seed", seed), ("--task", source), ("-m", method), ("--device", device)):
        if value is not None and certificate is not None:
            raise InputError(f"{option} is for running the method again: leave it out with --certificate")
    opened = Board.open(folder)
    chosen, found = opened.task(task), opened.entry(task, entry)
    with showing.progress(1, "reproducing"):
        if certificate is not None:
            proof = add_certificate(found, chosen, certificate, by, today())
        else:
            own = None if method is None else parsing.one_method(method)
            proof = run_again(found, chosen, by, today(), seed=seed, source=source, method=own, device=device)
    ends = f"[{proof.low:.6f}, {proof.high:.6f}]"
    showing.note(f"{task}/{entry} is reproduced: {proof.metric} {proof.value:.6f}, in {ends}")


COMMANDS = (create, task, add, check, build, withdraw, reproduce)
