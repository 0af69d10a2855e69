"""Tables, sentences and progress bars for a person at a terminal; plain lines in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from trueedge.results import Row

PIPE_WIDTH = 160


def console() -> Console:
    """Where tables go: the terminal's width there, wide in a pipe."""
    return Console(width=None if sys.stdout.isatty() else PIPE_WIDTH, highlight=False)


def note(sentence: str) -> None:
    """A sentence beside the result, on stderr."""
    Console(stderr=True, highlight=False).print(escape(sentence), style="dim", soft_wrap=True)


def table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()
) -> None:
    """Print a table; the columns in ``numbers`` are set flush right."""
    drawn = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for number, column in enumerate(columns):
        drawn.add_column(column, justify="right" if number in numbers else "left", overflow="fold")
    for row in rows:
        drawn.add_row(*row)
    console().print(drawn)


def results(title: str, rows: Sequence[Row]) -> None:
    """Print one data set under one protocol: test metrics in percent, the headline first, the best bold."""
    first = rows[0]
    shown = [name for name in first.means if "." not in name]
    shown = [first.headline, *(name for name in shown if name != first.headline)]
    best = {name: max(row.means.get(name, 0.0) for row in rows) for name in shown}
    lines = [
        [row.method, *(_percent(row, name, best[name]) for name in shown)]
        for row in sorted(rows, key=lambda row: -row.means[first.headline])
    ]
    seeds = sorted({row.seeds for row in rows})
    count = "one seed" if seeds == [1] else f"{'–'.join(map(str, seeds))} seeds, mean ± std"
    table(
        f"[bold]{escape(title)}[/bold]  test part, percent, {count}",
        ["method", *shown],
        lines,
        range(1, len(shown) + 1),
    )


def _percent(row: Row, name: str, best: float) -> str:
    if name not in row.means:
        return "–"
    text = f"{100 * row.means[name]:.2f}"
    if row.seeds > 1:
        text += f" ± {100 * row.stds[name]:.2f}"
    return f"[bold]{text}[/bold]" if row.means[name] == best else text


class Report(Protocol):
    """Tells a progress bar where the work is."""

    def __call__(self, text: str, done: int | None = None, of: int | None = None) -> None:
        """Show a text and, where given, how much is done of how much."""
        ...


@contextmanager
def progress(total: int, unit: str) -> Iterator[Report]:
    """A progress bar on stderr where that is a terminal, silence elsewhere.

    Without ``done`` only the text changes.
    """
    screen = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        line = bar.add_task(unit, total=total)

        def report(text: str, done: int | None = None, of: int | None = None) -> None:
            if done is None:
                bar.update(line, description=escape(text))
            else:
                bar.update(line, description=escape(text), completed=done, total=of)

        yield report
