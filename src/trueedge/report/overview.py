"""The overview: all methods on all data sets and protocols."""

from __future__ import annotations

from collections.abc import Sequence

from trueedge.analysis.below_baseline import MARK
from trueedge.analysis.tables import Line, Table
from trueedge.metrics import format_value
from trueedge.report.blocks import MISSING, Cell, Column, notes, paragraph, table
from trueedge.report.markup import Markup, joined
from trueedge.report.numbers import axis_label, in_percent

# What fits into a twentieth of a page.
MOST_ROWS, MOST_CELLS = 300, 6_000
MOST_WARNINGS = 3
# With fewer splits hardly any difference between so many methods is significant.
FEW_SPLITS, MANY = 5, 5


def overview(every: Sequence[Table]) -> Markup:
    """All methods on all data sets and protocols: the headline metric of each; nothing for a single table."""
    if len(every) < 2:
        return Markup("")
    labels = _by_place(every)[:MOST_ROWS]
    tables = every[: max(1, MOST_CELLS // len(labels))]
    columns: list[Column | str] = ["method"]
    columns += [
        Column(f"{one.where}: {one.headline}", number=True, hint=f"{axis_label(one.headline)}; {one.seeds}")
        for one in tables
    ]
    found = [{line.label: line for line in one.lines} for one in tables]
    best = [one.best(one.headline) for one in tables]
    rows = []
    for label in labels:
        cells: list[object] = [label]
        for one, lines, top in zip(tables, found, best, strict=True):
            line = lines.get(label)
            cells.append(MISSING if line is None else _short(line, one, top))
        rows.append(cells)
    said = (
        f"The headline metric of each data set and protocol{in_percent(one.headline for one in tables)}. "
        " Bold: the best of a column. Shaded: no significant difference from the best, and intervals overlap."
        " Rows are sorted by a method's mean position in its columns."
    )
    left = [f"{len(every) - len(tables):,} more tables are omitted here"] if len(tables) < len(every) else []
    if any(one.below for one in tables):
        said += f" {MARK}: not better than the best baseline of the table, which counts or votes."
    shown = table(columns, rows, label="all methods, all protocols")
    few = [f"{one.where}: {sentence}" for one in tables for sentence in few_splits(one)]
    if len(few) > MOST_WARNINGS:
        few = [f"{len(few):,} tables have too few splits to compare their methods"]
    return joined([paragraph(said, quiet=True), shown, notes([*few, *left])])


def few_splits(one: Table) -> list[str]:
    """Say that a table of many methods has few splits, where its intervals are over splits."""
    sure = one.compared
    if sure is None or len(sure.methods) < MANY or not 1 < sure.tasks < FEW_SPLITS:
        return []
    return [f"{sure.tasks} splits are too few to compare {len(sure.methods)} methods: run more seeds"]


def _short(line: Line, one: Table, best: float | None) -> Cell:
    """A method's headline, shaded where it shares a letter with the best and their intervals overlap."""
    letters: tuple[str, ...] = ()
    if one.compared is not None and line.estimate is not None:
        letters = line.estimate.letters
    top = one.lines[0].estimate
    # With few seeds even distant methods share a letter; that alone makes no tie.
    tied = (
        top is not None
        and line.estimate is not None
        and not set(letters).isdisjoint(top.letters)
        and line.estimate.estimate.low <= top.estimate.high
        and line.estimate.estimate.high >= top.estimate.low
    )
    hint = f"group {''.join(letters)}" if letters else ""
    value = format_value(one.headline, line.value)
    flag = next((found.sentence for found in one.below if found.label == line.label), "")
    if flag:
        hint = "; ".join([*([hint] if hint else []), flag])
        return Cell(f"{MARK} {value}", sort=line.value, shaded=tied, hint=hint)
    return Cell(value, best=line.value == best, shaded=tied, hint=hint)


def _by_place(tables: Sequence[Table]) -> list[str]:
    """All labels, those that stand high in their tables first."""
    places: dict[str, list[float]] = {}
    for one in tables:
        for place, line in enumerate(one.lines):
            places.setdefault(line.label, []).append((place + 0.5) / len(one.lines))
    return sorted(places, key=lambda label: sum(places[label]) / len(places[label]))
