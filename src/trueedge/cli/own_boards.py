"""The project's own board: run built-in methods, certify them, and build its pages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trueedge.cli import parsing, showing
from trueedge.cli.leaderboard import refuse_problems


def own(
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="A folder for board, site and runs.")
    ],
    chosen: Annotated[
        str | None,
        typer.Option("-m", "--methods", help="Methods and families.", show_default="every one"),
    ] = None,
    skipped: Annotated[str | None, typer.Option("--skip", help="Methods that are not run.")] = None,
    datasets: Annotated[
        str | None,
        typer.Option("-d", "--datasets", help="Data sets.", show_default="all that need no download"),
    ] = None,
    under: Annotated[
        str | None, typer.Option("-p", "--protocols", help="Protocols.", show_default="all that fit")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting of all methods that have it: epochs=5. Names state it."),
    ] = None,
    seeds: Annotated[int, typer.Option(help="How many seeds.", min=1, max=100)] = 3,
    jobs: Annotated[int, typer.Option("--jobs", help="Processes.", min=1, max=64)] = 1,
    limit: Annotated[
        float, typer.Option(help="Minutes that a run may take before it is left out; 0: no limit.", min=0.0)
    ] = 60.0,
    total: Annotated[
        float,
        typer.Option(help="Minutes for all runs; what is finished then is kept. 0: no limit.", min=0.0),
    ] = 0.0,
    device: Annotated[str, typer.Option(help="Where trained methods run: cpu or cuda.")] = "cpu",
) -> None:
    """Build the project's own board: built-in methods on the embedded and generated graphs.

    Each method runs on each data set under each protocol that fits, is certified, added, and run again. What
    is in DIR already is kept, so an interrupted command can be continued. At the end, the command lists the
    methods that are missing, and why.

    Example:
        trueedge leaderboard own -o own
        trueedge leaderboard own -o own --limit 10 --device cuda
        trueedge leaderboard own -o own --jobs 14 --limit 1 --total 30 --device cuda
        trueedge leaderboard own -o own -d cora -p heart
        trueedge leaderboard own -o glance -m heuristics,gcn,counting -d karate,nations --set epochs=5
    """
    from trueedge.leaderboard.board.own import (
        DATASETS,
        check_request,
        own_board,
        refuse_foreign,
        refuse_other_seeds,
        wanted_methods,
    )
    from trueedge.leaderboard.pages import build as write
    from trueedge.results import Store

    names = ["all"] if chosen is None else parsing.names(chosen, "method")
    data = list(DATASETS) if datasets is None else parsing.names(datasets, "data set")
    owners = {kind.name: kind.space() for kind in wanted_methods(names)}
    settings = parsing.assignments(set_ or [], owners, "setting")
    unwanted = [] if skipped is None else parsing.names(skipped, "method")
    protocols = [] if under is None else parsing.names(under, "protocol")
    # Before the folder of the records is made.
    check_request(unwanted, data, protocols, device)
    refuse_foreign(output)
    refuse_other_seeds(output, data, protocols, seeds)
    made = own_board(
        output / "board",
        Store(output / "runs"),
        chosen=names,
        skipped=unwanted,
        settings={name: one for name, one in settings.items() if one},
        datasets=data,
        under=protocols,
        seeds=seeds,
        jobs=jobs,
        limit=limit * 60 or None,
        total=total * 60 or None,
        device=device,
        say=showing.note,
    )
    for line in made.summary():
        showing.note(line)
    site = write(made.board, output / "site", jobs=jobs)
    entries = sum(made.entries.values())
    listed = "1 entry" if entries == 1 else f"{entries:,} entries"
    tasks = showing.count(len(made.methods), "task")
    showing.note(f"{output / 'site' / 'index.html'}: {listed} on {tasks}")
    refuse_problems(site.problems, made.board.folder)


COMMANDS = (own,)
