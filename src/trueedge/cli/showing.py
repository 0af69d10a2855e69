"""Tables, cards, sentences and progress bars for a person at a terminal; plain long lines in a pipe."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TextIO, cast

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column, Table
from rich.text import Text

from trueedge.cli.progress_lines import LogLines, Talk, warn_of_compiling

GAP = 2
SHORTEST_TEXT = 24
LABEL_WIDTH = 28
PIPE_WIDTH = 100_000
# All but line ends and tabs: a name from a file could clear the screen, or write over what stands there.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# A narrower window breaks lines itself: a card of its width would show nothing.
LEAST_WIDTH = 20
# One for all, so that a sentence is not written across a progress bar. Some programs set COLUMNS to 0 where
# they do not know it: then no sentence would be seen.
STDERR = Console(stderr=True, highlight=False, width=80 if os.environ.get("COLUMNS") == "0" else None)


def terminal_width() -> int | None:
    """The width of the terminal that stdout is; None in a pipe, where no line is too long."""
    return max(Console().width, LEAST_WIDTH) if sys.stdout.isatty() else None


def note(sentence: str, style: str = "dim") -> None:
    """A sentence beside the result, on stderr."""
    STDERR.print(Text(printable(sentence)), style=style, soft_wrap=not sys.stderr.isatty())


def printable(text: str) -> str:
    """Return a text with its control characters written out: ``\\x1b``."""
    return CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def count(number: int, noun: str) -> str:
    """A number of things: ``1 record``, ``2 records``."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def table(
    title: str | Text,
    columns: Sequence[str],
    rows: Sequence[Sequence[str | Text]],
    *,
    numbers: Collection[int] = (),
    texts: Collection[int] = (),
    more: str = "a wider window shows more",
) -> None:
    """Print a table; in a terminal the rightmost columns that do not fit are left out.

    Args:
        title: a line above it.
        columns: the names of the columns.
        rows: the cells.
        numbers: the columns that are set flush right.
        texts: the columns that may be cut short before they are left out.
        more: how to see what was left out.
    """
    lines = [[Text(name, style="bold") for name in columns]]
    lines += [[Text(printable(cell)) if isinstance(cell, str) else cell for cell in row] for row in rows]
    widths = [max(cell.cell_len for cell in column) for column in zip(*lines, strict=True)]
    room = terminal_width() or PIPE_WIDTH
    shown = _fitting(widths, texts, room)
    screen = Console(highlight=False, width=room)
    screen.print(Text(printable(title)) if isinstance(title, str) else title)
    for line in lines:
        screen.print(_joined(line, shown, numbers), soft_wrap=True)
    if len(shown) < len(columns):
        note(f"left out: {', '.join(columns[len(shown) :])}; {more}")


class Lasting:
    """A stream that outlives its reader: once nobody reads it any more, the rest is dropped."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text, or drop it."""
        try:
            return self._stream.write(text)
        except BrokenPipeError:
            self._drop()
            return len(text)

    def flush(self) -> None:
        """Write what is waiting, or drop it."""
        try:
            self._stream.flush()
        except BrokenPipeError:
            self._drop()

    def _drop(self) -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def lasting_streams() -> Iterator[None]:
    """Let a command go on, and write its files, after ``| head`` has read enough."""
    streams = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast(TextIO, Lasting(one)) for one in streams)
    try:
        yield
    finally:
        for one in (sys.stdout, sys.stderr):
            one.flush()
        sys.stdout, sys.stderr = streams


def _fitting(widths: Sequence[int], texts: Collection[int], room: int) -> list[int]:
    """The widths of the columns that fit beside each other; the first two always do."""
    shown = list(widths)
    while (excess := sum(shown) + GAP * (len(shown) - 1) - room) > 0:
        if len(shown) - 1 in texts and shown[-1] - excess >= SHORTEST_TEXT:
            shown[-1] -= excess
        elif len(shown) > 2:
            shown.pop()
        else:
            break
    return shown


def _joined(cells: Sequence[Text], widths: Sequence[int], numbers: Collection[int]) -> Text:
    line = Text()
    for place, (cell, width) in enumerate(zip(cells, widths, strict=False)):
        text = cell.copy()
        text.truncate(width, overflow="ellipsis")
        text.align("right" if place in numbers else "left", width)
        line += text if place == 0 else Text(" " * GAP) + text
    line.rstrip()
    return line


def card(lines: Sequence[tuple[str, str]]) -> None:
    """Print what is known about one thing, one word and its meaning per line."""
    drawn = Table.grid(Column(style="bold", no_wrap=True), Column(overflow="fold"), padding=(0, GAP))
    for word, text in lines:
        drawn.add_row(word, Text(printable(text)))
    Console(highlight=False, width=terminal_width() or PIPE_WIDTH).print(drawn)


class Report(Protocol):
    """Tells a progress bar where the work is."""

    def __call__(self, text: str, done: int | None = None, of: int | None = None) -> None:
        """Show a text and, where given, how much is done of how much."""
        ...


class RateColumn(ProgressColumn):
    """How much is done in a second."""

    def render(self, task: Task) -> Text:
        """The rate of the last half minute, where it is known."""
        speed = task.finished_speed or task.speed
        if not speed:
            return Text("")
        return Text(f"{speed:,.0f}/s" if speed >= 10 else f"{speed:.1f}/s", style="progress.data.speed")


@contextmanager
def progress(total: int, unit: str, width: int = LABEL_WIDTH) -> Iterator[Report]:
    """Show how far the work is: a progress bar on a terminal, a line every half minute elsewhere.

    Without ``done`` only the text changes. ``--quiet`` silences both.
    """
    warn_of_compiling(note)
    if Talk.level == "quiet":
        yield lambda *_: None
    elif STDERR.is_terminal:
        with _bar(total, unit, width) as report:
            yield report
    else:
        with LogLines(note, unit, total) as lines:
            yield lines.report


@contextmanager
def _bar(total: int, unit: str, width: int) -> Iterator[Report]:
    # Of a fixed width, so that the bar stands still.
    label = Column(width=width, no_wrap=True, overflow="ellipsis")
    columns = (
        TextColumn("{task.description}", markup=False, table_column=label),
        BarColumn(bar_width=18),
        MofNCompleteColumn(),
        RateColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=STDERR, transient=True) as bar:
        line = bar.add_task(unit, total=total)

        def report(text: str, done: int | None = None, of: int | None = None) -> None:
            if done is None:
                bar.update(line, description=text)
            else:
                bar.update(line, description=text, completed=done, total=of)

        yield report


def each_finished(report: Report) -> Report:
    """Return a report that also prints a line for each finished piece of work, with ``--verbose``."""
    if Talk.level != "verbose":
        return report
    last = time.monotonic()

    def told(text: str, done: int | None = None, of: int | None = None) -> None:
        nonlocal last
        report(text, done, of)
        if done is not None:
            note(f"{done}/{of} {text}, {time.monotonic() - last:.1f} s")
            last = time.monotonic()

    return told
