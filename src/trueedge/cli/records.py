"""Print and export stored records."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trueedge.cli import options, scoreboard, showing
from trueedge.errors import InputError
from trueedge.files.writing import refuse_inputs

if TYPE_CHECKING:
    from trueedge.results import Store


def records(
    runs: options.Runs = Path("runs"),
    import_: Annotated[
        Path | None,
        typer.Option(
            "--import",
            metavar="FILE",
            help="First add the records of a .json file, from 'trueedge export' or from a run that could not "
            "write its store.",
        ),
    ] = None,
) -> None:
    """Print the stored records as tables.

    If something was run more than once, the latest record is used.

    Example:
        trueedge records --runs runs
        trueedge records --runs runs --import trueedge-unsaved-20261116-1a2b3c.json
    """
    if import_ is not None:
        _import(import_, runs)
    store = open_store(runs)
    kept = scoreboard.latest(store.records())
    scoreboard.show(kept)
    showing.note(f"{showing.count(len(kept), 'record')} in {store.path}")


def _import(path: Path, runs: Path) -> None:
    """Add the records of a file to the store."""
    from trueedge.results import Store

    new, known = Store(runs).import_file(path)
    showing.note(f"{showing.count(new, 'record')} imported from {path}, {known} already in {runs}")


def export(
    output: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="A .json file (whole records) or a .csv file (one line per metric)."
        ),
    ],
    runs: options.Runs = Path("runs"),
) -> None:
    """Write the records to a JSON or CSV file.

    Example:
        trueedge export records.csv --runs runs
    """
    from trueedge.results import export as write

    store = open_store(runs)
    refuse_inputs(output, store.files(), "the records")
    found = store.records()
    write(found, output)
    showing.note(f"{showing.count(len(found), 'record')} written to {output}")


def open_store(runs: Path) -> Store:
    """Return the store in a folder."""
    from trueedge.results import Store
    from trueedge.results.store import FILE_NAME

    if not runs.is_dir():
        raise InputError(f"there is no folder {runs}")
    if not (runs / FILE_NAME).is_file():
        raise InputError(f"there are no records in {runs}: 'trueedge run' writes them")
    return Store(runs)


COMMANDS = (records, export)
