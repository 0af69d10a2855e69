"""A verdict on a terminal: the answer, the tables, and what stands behind them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from trueedge.cli import scoreboard, showing
from trueedge.files.writing import check_target, refuse_inputs

if TYPE_CHECKING:
    from trueedge.analysis.tables import Table
    from trueedge.verdict import Verdict

# Longer lines are hard to read, however wide the window.
WIDEST = 110
INDENT = "  "


def show(verdict: Verdict) -> None:
    """Print a verdict: the answer first, then tables, doubts, groups, checks, the benchmark, and advice."""
    for title, sentences in verdict.sections():
        if title == "Answer":
            _print([Text(f"Verdict on {verdict.model} · {verdict.dataset}", style="bold")])
            _print(Text(line) for line in _wrapped(sentences[0], ""))
            for table in verdict.tables:
                _print([Text()])
                _show(table, verdict)
            continue
        _print([Text(), Text(title, style="bold red" if title == "Doubts" else "bold")])
        for sentence in sentences:
            _print(Text(line) for line in _wrapped(sentence, INDENT))


def _show(table: Table, verdict: Verdict) -> None:
    """Print a table; the model's row is bold."""
    from trueedge.verdict import rows

    head, body = rows.cells(table, verdict.answer_in(table), verdict.label)
    lines = [[Text(cell, style="bold" if row[0] == verdict.label else "") for cell in row] for row in body]
    title = Text.assemble((table.where, "bold"), f"  {rows.caption(table)}")
    showing.table(title, head, lines, numbers=range(1, len(head)), more=scoreboard.MORE)


def check_page(path: Path, inputs: Iterable[Path]) -> None:
    """Refuse a page that cannot be written, before any work is done."""
    check_target(path, "the verdict", (".html",))
    refuse_inputs(path, list(inputs), "the verdict")


def _wrapped(sentence: str, indent: str) -> list[str]:
    """Return a sentence in lines that fit the terminal; in a pipe, as one line."""
    width = showing.terminal_width()
    if width is None:
        return [indent + sentence]
    return textwrap.wrap(
        sentence,
        min(width, WIDEST),
        initial_indent=indent,
        subsequent_indent=indent * 2,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _print(lines: Iterable[Text]) -> None:
    screen = Console(highlight=False, width=showing.terminal_width() or showing.PIPE_WIDTH)
    for line in lines:
        screen.print(line, soft_wrap=True)
