"""Look at the records, and take them elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trueedge.cli import scoreboard, showing
from trueedge.errors import InputError

if TYPE_CHECKING:
    from trueedge.results import Store

Runs = Annotated[Path, typer.Option(help="The folder of the records.")]


def records(runs: Runs = Path("runs")) -> None:
    """Show the records as tables, as they stood after a run.

    Of what was run more than once the latest counts.

    Example:
        trueedge records --runs runs
    """
    store = open_store(runs)
    kept = scoreboard.latest(store.records())
    scoreboard.show(kept)
    showing.note(f"{showing.count(len(kept), 'record')} of {store.path}")


def export(
    output: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A .json file (whole records) or a .csv file (a line a metric)."),
    ],
    runs: Runs = Path("runs"),
) -> None:
    """Write the records to a JSON or CSV file.

    Example:
        trueedge export records.csv --runs runs
    """
    from trueedge.results import export as write

    found = open_store(runs).records()
    write(found, output)
    showing.note(f"{showing.count(len(found), 'record')} written to {output}")


def open_store(runs: Path) -> Store:
    """The store in a folder; a folder without one is refused."""
    from trueedge.results import Store
    from trueedge.results.store import FILE_NAME

    if not runs.is_dir():
        raise InputError(f"there is no folder {runs}")
    if not (runs / FILE_NAME).is_file():
        raise InputError(f"there are no records in {runs}: 'trueedge run' makes them")
    return Store(runs)


COMMANDS = (records, export)
