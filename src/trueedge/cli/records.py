"""Print and export stored records."""

from __future__ import annotations

import os
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
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="A .json file (whole records) or a .csv file (one line per metric); with -o, the folder of"
            " records instead.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="The .json or .csv file to write.", show_default="FILE"),
    ] = None,
    runs: options.RunsOrArgument = None,
) -> None:
    """Write the records to a JSON or CSV file.

    Example:
        trueedge export records.csv
        trueedge export runs -o records.csv
        trueedge export --runs runs -o records.json
    """
    from trueedge.results import export as write

    target, folder = _target_and_folder(file, output, runs)
    store = open_store(folder)
    refuse_inputs(target, store.files(), "the records")
    found = store.records()
    write(found, target)
    showing.note(f"{showing.count(len(found), 'record')} written to {target}")


def _target_and_folder(file: Path | None, output: Path | None, runs: Path | None) -> tuple[Path, Path]:
    """Return the file to write, and the folder of records, which the argument is if there is an output."""
    if output is not None and file is not None and not _same(file, output):
        if os.path.isfile(file):
            raise InputError(f"{file} is not a folder of records, and -o {output} is the file to write")
        return output, chosen_runs(file, runs)
    file = output or file
    if file is None:
        raise InputError("which file? 'trueedge export -o records.csv' names one")
    if output is None and os.path.isdir(file):
        raise InputError(f"{file} is a folder: 'trueedge export {file} -o records.csv' writes its records")
    return file, chosen_runs(None, runs)


def chosen_runs(folder: Path | None, runs: Path | None) -> Path:
    """Return the folder of records, which may be given as an argument, as ``--runs``, or not at all."""
    if folder is not None and runs is not None and not _same(folder, runs):
        raise InputError(f"two folders of records are given, {folder} and --runs {runs}: give one")
    return folder or runs or Path("runs")


def _same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def open_store(runs: Path) -> Store:
    """Return the store in a folder."""
    from trueedge.results import Store
    from trueedge.results.store import FILE_NAME

    if not os.path.isdir(runs):
        raise InputError(f"there is no folder {runs}")
    if not (runs / FILE_NAME).is_file():
        raise InputError(f"there are no records in {runs}: 'trueedge run' writes them")
    return Store(runs)


COMMANDS = (records, export)
