"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DatasetOrTask = Annotated[
    str,
    typer.Argument(
        metavar="DATASET",
        help="A data set's name, a file with an edge list, or a folder that 'trueedge task' wrote.",
    ),
]
Device = Annotated[str, typer.Option(help="Where trained methods train: cpu or cuda.")]
Jobs = Annotated[
    int, typer.Option(help="How many trainings run at a time, each in a process of its own.", min=1)
]
Runs = Annotated[Path, typer.Option(help="The folder of the records.")]
