"""Records as tables on a terminal, and what was found about their scores."""

from __future__ import annotations

from collections.abc import Iterable

from rich.text import Text

from trueedge import metrics
from trueedge.analysis.below_baseline import MARK
from trueedge.analysis.tables import Line, Table, findings, latest, tables
from trueedge.cli import showing
from trueedge.results import Record

__all__ = ["findings", "latest", "show", "show_table"]

MORE = "more columns in a wider window or with trueedge export"


def show(records: Iterable[Record], more_seeds: bool = True) -> None:
    """Print a table for each data set under a protocol, and below it what was found about the scores.

    Methods that are worse than the best baseline of their table are marked. A sentence that is true of
    several tables is printed below the first.

    Args:
        records: the records.
        more_seeds: whether more seeds can be run, if these are too few for letters.
    """
    said: set[str] = set()
    for table in tables(records):
        show_table(table)
        for one in table.below:
            showing.note(f"{MARK} {one.sentence}", style="yellow")
        for sentence in table.remarks(more_seeds):
            if sentence not in said:
                showing.note(sentence)
            said.add(sentence)


def show_table(table: Table) -> None:
    """One data set under one protocol: test metrics in percent, the headline first, the best bold."""
    sure = table.compared
    best = {name: table.best(name) for name in table.metrics}
    below = {one.label for one in table.below}
    lines: list[list[str | Text]] = [
        [
            f"{line.label} {MARK}" if line.label in below else line.label,
            _value(line, table.headline, best[table.headline]),
            *(_interval(line, table.headline, sure.lettered) if sure else ()),
            *(_value(line, name, best[name]) for name in table.metrics[1:]),
        ]
        for line in table.lines
    ]
    title = Text.assemble((table.where, "bold"), f"  test part, {_units(table.metrics)}{table.seeds}")
    told = [f"{100 * sure.level:.0f} %", *(["group"] if sure.lettered else [])] if sure else []
    head = ["method", table.headline, *told, *table.metrics[1:]]
    showing.table(title, head, lines, numbers=range(1, len(head)), more=MORE)


def _units(names: Iterable[str]) -> str:
    """What the numbers are, for the title: percentages, but for those of some metrics."""
    others = [name for name in names if metrics.scale(name) != 100]
    if not others:
        return "percent, "
    return f"percent (not {', '.join(others)}), " if len(others) < len(list(names)) else ""


def _interval(line: Line, headline: str, lettered: bool) -> list[str | Text]:
    """The interval of a method's headline, and the letters of its tie groups, where there are any."""
    if line.estimate is None:
        return ["–", *(["–"] if lettered else [])]
    found, digits = line.estimate.estimate, 1 if metrics.scale(headline) == 100 else None
    ends = [metrics.format_value(headline, end, digits) for end in (found.low, found.high)]
    return ["–".join(ends), *(["".join(line.estimate.letters)] if lettered else [])]


def _value(line: Line, name: str, best: float | None) -> Text:
    row = line.row
    if name not in row.means:
        return Text("–")
    text = metrics.format_value(name, row.means[name])
    if row.seeds > 1:
        text += f"±{metrics.format_value(name, row.stds[name])}"
    return Text(text, style="bold" if row.means[name] == best else "")
