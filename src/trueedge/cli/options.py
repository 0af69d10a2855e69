"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DatasetOrTask = Annotated[
    str,
    typer.Argument(
        metavar="DATASET",
        help="A data set's name, a file with an edge list, or a folder written by 'trueedge task'.",
    ),
]
Device = Annotated[str, typer.Option(help="Device for trained methods: cpu or cuda.")]
Jobs = Annotated[int, typer.Option(help="Number of parallel processes.", min=1)]
Runs = Annotated[Path, typer.Option(help="Folder where records are stored.")]
