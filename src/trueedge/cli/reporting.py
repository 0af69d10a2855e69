"""A page on everything that was run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trueedge.cli import options, showing
from trueedge.cli.records import chosen_runs, open_store
from trueedge.errors import unknown
from trueedge.files.writing import refuse_inputs

if TYPE_CHECKING:
    from trueedge.results import Record


def report(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="RUNS", help="The folder of records, also as --runs.", show_default="runs"),
    ] = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="The .html file to write.")] = Path(
        "report.html"
    ),
    dataset: Annotated[str, typer.Option(help="Only these data sets (a,b,…).", show_default="all")] = "",
    protocol: Annotated[str, typer.Option(help="Only these protocols (a,b,…).", show_default="all")] = "",
    method: Annotated[str, typer.Option(help="Only these methods (a,b,…).", show_default="all")] = "",
    title: Annotated[str, typer.Option(help="The title of the page.", show_default="the data sets")] = "",
    slices: Annotated[
        bool | None,
        typer.Option(
            help="Show performance by group, such as a link's degree or distance. This rebuilds all tasks.",
            show_default="for tasks that took less than a minute to make",
        ),
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(help="Also write every figure as PNG and SVG to this folder (needs matplotlib)."),
    ] = None,
    runs: options.RunsOrArgument = None,
) -> None:
    """Write an HTML page about the records: tables with significance, results by group, curves and cost.

    The page is one file that needs no network. If something was run twice, the latest is used.

    Example:
        trueedge report runs -o report.html
        trueedge report runs -o heart.html --protocol heart --dataset cora,citeseer
        trueedge report --runs runs --figures figures
    """
    from trueedge.analysis.tables import latest
    from trueedge.report import write, write_figures
    from trueedge.report.plots import new_figure

    if figures is not None:
        # Before any work is done.
        new_figure()
    place = chosen_runs(folder, runs)
    store = open_store(place)
    refuse_inputs(output, store.files(), "the report")
    found = store.records()
    chosen = {"dataset": dataset, "protocol": protocol, "method": method}
    for name, wanted in chosen.items():
        found = _only(found, name, wanted)
    with showing.progress(1, "reporting") as bar:
        written = write(found, output, title=title, source=str(place), with_slices=slices, progress=bar)
        if figures is not None:
            slowest = -1.0 if slices is False else math.inf if slices else 60.0
            drawn = write_figures(found, figures, slowest=slowest, progress=bar)
    size = written.stat().st_size / 1e6
    count = len(latest(found))
    showing.note(
        f"{showing.count(count, 'record')} reported in {written} ({size:.1f} MB){_rest(found, count)}"
    )
    if figures is not None:
        showing.note(f"{showing.count(len(drawn) // 2, 'figure')} in {figures}, as PNG and SVG")


def _rest(records: Sequence[Record], count: int) -> str:
    """Return how many records are not on the page, and why."""
    trials = sum(record.is_trial for record in records)
    repeated = len(records) - trials - count
    left = [
        *([showing.count(trials, "trial")] if trials else []),
        *([showing.count(repeated, "earlier run")] if repeated else []),
    ]
    return f"; {' and '.join(left)} left out" if left else ""


def _only(records: Sequence[Record], attribute: str, names: str) -> list[Record]:
    """The records whose attribute is among names; one that no record has is refused."""
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    there = sorted({str(getattr(record, attribute)) for record in records})
    for name in wanted:
        if name not in there:
            raise unknown(f"{attribute} of these records", name, there)
    return [record for record in records if not wanted or getattr(record, attribute) in wanted]


COMMANDS = (report,)
