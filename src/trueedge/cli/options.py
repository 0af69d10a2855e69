"""Arguments and options that several commands share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from trueedge.cli import completing
from trueedge.datasets import DEFAULT_PROTOCOL

# Several processes may share a GPU: then there may be more of them than cores.
MOST_JOBS_PER_CORE = 16

DEFAULT_PROTOCOLS = (
    f"{DEFAULT_PROTOCOL}; filtered or inductive on a knowledge graph; node-classification or typed-links on a"
    " typed graph; full-ranking on interactions"
)

DatasetOrTask = Annotated[
    str,
    typer.Argument(
        metavar="DATASET",
        autocompletion=completing.dataset,
        help="A data set's name; a file with an edge list, triples or interactions; a folder of triples, in "
        "HGB's format (a typed graph) or of interactions; or a folder written by 'trueedge task'.",
    ),
]
_COLUMNS = "Columns of a file"
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of a file names its columns.",
        show_default="detected",
        rich_help_panel=_COLUMNS,
    ),
]


def _column(option: str, what: str, default: str | None) -> Any:
    return typer.Option(
        option,
        metavar="COLUMN",
        help=f"Column of {what}: its name, or its number from 0.",
        show_default=default or False,
        rich_help_panel=_COLUMNS,
    )


SourceColumn = Annotated[str | None, _column("--source", "the first ends of edges, or of users", "detected")]
TargetColumn = Annotated[str | None, _column("--target", "the second ends of edges, or of items", "detected")]
WeightColumn = Annotated[str | None, _column("--weight", "weights of edges, or of ratings", "detected")]
TimeColumn = Annotated[str | None, _column("--time", "times", "detected")]
Device = Annotated[str, typer.Option(help="Device for trained methods: cpu or cuda.")]


def _few_jobs(jobs: int) -> int:
    """Refuse a number of processes that would only bring the machine down."""
    most = MOST_JOBS_PER_CORE * (os.cpu_count() or 1)
    if jobs > most:
        raise typer.BadParameter(f"{jobs} processes are too many for this machine: at most {most}.")
    return jobs


Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress.")]
Verbose = Annotated[bool, typer.Option("--verbose", help="Print a line for each finished run.")]
Jobs = Annotated[int, typer.Option(help="Number of parallel processes.", min=1, callback=_few_jobs)]
Runs = Annotated[Path, typer.Option(help="Folder where records are stored.")]
#: The same, for commands that also take the folder as an argument.
RunsOrArgument = Annotated[
    Path | None, typer.Option("--runs", help="Folder where records are stored.", show_default="runs")
]
