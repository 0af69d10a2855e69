"""Train, score, record; and take records elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trueedge.cli import parsing, showing

if TYPE_CHECKING:
    from trueedge.results import Outcome


def run(
    dataset: Annotated[str, typer.Argument(help="A data set's name, or a file with an edge list.")],
    protocol: Annotated[str, typer.Option("-p", "--protocol", help="Protocols, with commas.")] = "heart",
    method: Annotated[
        str, typer.Option("-m", "--method", help="Methods or families, with commas; 'all' for every one.")
    ] = "heuristics",
    seeds: Annotated[int, typer.Option(help="How many seeds: 0, 1, …", min=1)] = 1,
    seed: Annotated[int, typer.Option(help="The first seed.", min=0)] = 0,
    fixed_split: Annotated[
        bool, typer.Option("--fixed-split", help="The first seed's split and negatives for every seed.")
    ] = False,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A method's setting: beta=0.01 or katz.beta=0.01.")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", help="A protocol's option: k=100 or heart.k=100.")
    ] = None,
    device: Annotated[str, typer.Option(help="Where learned methods train: cpu or cuda.")] = "cpu",
    runs: Annotated[Path, typer.Option(help="The folder of the records.")] = Path("runs"),
) -> None:
    """Train, score and record; a table for each protocol at the end.

    What is in the folder of the records already is not run again.

    Example: trueedge run cora -p existing,heart -m cn,ra,katz --seeds 5
    """
    from trueedge.results import Cell, Store, run_cells, summarise
    from trueedge.tasks.protocols import get

    source = parsing.source(dataset)
    protocols = parsing.names(protocol, "protocol")
    for name in protocols:
        get(name)
    chosen, named = parsing.chosen_methods(method, set_ or [])
    options = parsing.assignments(option or [], protocols, "--option")
    cells = [
        Cell(source, name, one, number, options[name], device, seed if fixed_split else None)
        for name in protocols
        for number in range(seed, seed + seeds)
        for one in chosen
    ]
    for cell in cells:
        cell.check()
    store = Store(runs)
    outcomes: list[Outcome] = []
    with showing.progress(len(cells), "cells") as report:
        for cell in cells[:1]:
            report(f"{cell.protocol} · making the task")
        iterator = run_cells(cells, store, lambda text, done, total: report(f"{text}: {done}/{total}"))
        for number, outcome in enumerate(iterator, 1):
            outcomes.append(outcome)
            report(f"{outcome.cell.protocol} · {outcome.cell.method.name}", number, len(cells))
    for name in protocols:
        rows = summarise(o.record for o in outcomes if o.record is not None and o.record.protocol == name)
        if rows:
            showing.results(f"{rows[0].dataset} · {name}", rows)
    fresh = sum(outcome.fresh for outcome in outcomes)
    done = sum(outcome.record is not None for outcome in outcomes)
    showing.note(f"{done} records in {store.path}: {fresh} computed now, {done - fresh} found there")
    failed = [outcome for outcome in outcomes if outcome.record is None]
    for sentence in _reasons(failed):
        showing.note(f"not run: {sentence}")
    if any(outcome.cell.method.name in named for outcome in failed) or done == 0:
        raise typer.Exit(1)


def _reasons(failed: list[Outcome]) -> list[str]:
    """One sentence for each reason, with the methods it stopped."""
    stopped: dict[tuple[str, str], list[str]] = {}
    for outcome in failed:
        names = stopped.setdefault((outcome.cell.protocol, outcome.reason), [])
        if outcome.cell.method.name not in names:
            names.append(outcome.cell.method.name)
    return [f"{', '.join(names)} under {protocol}: {reason}" for (protocol, reason), names in stopped.items()]


def export(
    output: Annotated[
        Path, typer.Argument(help="A .json file (whole records) or a .csv file (a line a metric).")
    ],
    runs: Annotated[Path, typer.Option(help="The folder of the records.")] = Path("runs"),
) -> None:
    """Write the records to a JSON or CSV file.

    Example: trueedge export records.csv --runs runs
    """
    from trueedge.errors import InputError
    from trueedge.results import Store
    from trueedge.results import export as write

    if not runs.is_dir():
        raise InputError(f"there is no folder {runs}")
    records = Store(runs).records()
    write(records, output)
    showing.note(f"{len(records)} records written to {output}")


COMMANDS = (run, export)
