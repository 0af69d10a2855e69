"""A leaderboard: the methods of a data set under a protocol, with intervals, pairs and provenance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from trueedge.analysis.below_baseline import MARK
from trueedge.analysis.comparison import MethodComparison, PairComparison
from trueedge.analysis.figure import Figure, Series
from trueedge.analysis.tables import Line, Table, higher_is_better, too_few
from trueedge.metrics import format_value, scale
from trueedge.metrics.units import plural
from trueedge.report.blocks import (
    MISSING,
    Cell,
    Column,
    code,
    definitions,
    figure,
    folded,
    in_words,
    notes,
    paragraph,
    table,
)
from trueedge.report.interval_bars import BarScale, interval_bar
from trueedge.report.markup import Markup, joined, tag
from trueedge.report.numbers import end_text, in_percent, p_text, points, span
from trueedge.report.overview import few_splits

# So many methods stay readable in a square of cells.
MOST_IN_SQUARE = 16
MOST_WARNINGS = 3
HASHES = 8


def _remarks(one: Table) -> list[str]:
    """What the table says of itself; that its splits are few only once."""
    few, said = few_splits(one), one.remarks()
    if one.compared is not None and few:
        said = [remark for remark in said if remark not in too_few(one.compared)]
    elif one.compared is not None and one.compared.lettered and not _differ(one.compared):
        few = [f"no significant differences: use more seeds or more test {plural(one.compared.unit)}"]
    return [*said[:1], *few, *said[1:]]


def _differ(compared: MethodComparison) -> bool:
    """Whether any two methods differ significantly."""
    return any(pair.p_holm < 1 - compared.level for pair in compared.pairs)


def leaderboard(one: Table, kind: str = "") -> Markup:
    """Return the methods of a table, with what must be said about them.

    Args:
        one: the table.
        kind: what kind of task it is, for a page of several kinds.
    """
    remarks = _remarks(one)
    shown, more = remarks[: MOST_WARNINGS + 1], remarks[MOST_WARNINGS + 1 :]
    rest = folded(f"{len(more)} more remark{'s' if len(more) > 1 else ''}", notes(more)) if more else None
    count = f"{len(one.lines)} method{'s' if len(one.lines) > 1 else ''}"
    lower = "" if higher_is_better(one.headline) else f" Lower {one.headline} is better."
    facts = f"{f'{kind}. ' if kind else ''}Test part{in_percent(one.metrics)}; {count}, {one.seeds}.{lower}"
    flags = notes([tag("strong", f"{MARK} {found.sentence}") for found in one.below])
    return joined([paragraph(facts, quiet=True), leaderboard_table(one), flags, notes(shown), rest])


def pairs(one: Table, most: int) -> Markup:
    """Return all pairs of methods, as a square of cells if any differ and as a table; nothing without pairs.

    Args:
        one: the table.
        most: how many pairs are listed.
    """
    sure = one.compared
    if sure is None:
        return Markup("")
    drawn = [figure(square(sure), listed=False)] if _differ(sure) and sure.lettered else []
    return joined([*drawn, _pairs(sure, most)])


def settings(one: Table) -> Markup:
    """Return the settings of methods whose label does not show them; nothing if there are none."""
    hidden = {line.label: _settings(line) for line in one.lines if _settings(line)}
    return definitions(hidden) if hidden else Markup("")


def _settings(line: Line) -> str:
    """Return the settings that a label does not show, in words."""
    if not line.row.settings or line.label.startswith(line.row.label):
        return ""
    return ", ".join(f"{name}={in_words(value)}" for name, value in line.row.settings.items())


def leaderboard_table(
    one: Table,
    *,
    own: str = "",
    names: Sequence[str] | None = None,
    certain: bool = True,
    added: tuple[Column, Mapping[str, Cell | str]] | None = None,
) -> Markup:
    """The methods of a table, best first, with intervals as bars, letters and metrics.

    Args:
        one: the table.
        own: the label of the method whose row is marked.
        names: the metrics to show; all of them by default.
        certain: whether to show intervals and letters.
        added: a column in place of the letters, with the cells of the methods by their labels.
    """
    shown = one.metrics if names is None else names
    sure = one.compared if certain else None
    best = {name: one.best(name) for name in shown}
    several = len({line.row.seeds for line in one.lines}) > 1
    columns = [Column(name, number=True) for name in shown]
    columns[1:1] = _certain_columns(sure, None if added is None else added[0])
    head: list[Column | str] = ["method", *columns, *([Column("seeds", number=True)] if several else [])]
    below = {found.label: found.sentence for found in one.below}
    shared = _bar_scale(one)
    rows = []
    for line in one.lines:
        cells = [_value(line, name, best[name]) for name in shown]
        sides = _interval(line, one.headline, shared, sure) if sure is not None else []
        cells[1:1] = sides if added is None else [added[1].get(line.label, ""), *sides[:1]]
        rows.append([_label(line, below), *cells, *([line.row.seeds] if several else [])])
    marked = next((place for place, line in enumerate(one.lines) if line.label == own), None)
    in_order = 1 if one.headline in shown[:1] and higher_is_better(one.headline) else None
    return table(head, rows, label=one.where, sorted_by=in_order, marked=marked)


def _certain_columns(sure: MethodComparison | None, added: Column | None) -> list[Column]:
    if sure is None:
        return [] if added is None else [added]
    found = [Column(f"{100 * sure.level:.0f} % interval", hint="of the headline")]
    if added is not None:
        return [added, *found]
    return [
        *found,
        *([Column("group", hint="Shared letter: no significant difference")] if sure.lettered else []),
    ]


def _bar_scale(one: Table) -> BarScale:
    ends = [
        end
        for line in one.lines
        if line.estimate is not None
        for end in (line.estimate.estimate.low, line.estimate.estimate.high)
    ]
    return BarScale.of([*ends, *(line.value for line in one.lines)])


def _label(line: Line, below: Mapping[str, str]) -> object:
    """The method; one that is worse than the best baseline of the table is marked."""
    if line.label not in below:
        hint = _settings(line)
        return Cell(line.label, hint=hint) if hint else line.label
    marked = joined([line.label, tag("span", f" {MARK}", class_="letters")])
    return Cell(marked, sort=line.label, hint=below[line.label])


def _value(line: Line, name: str, best: float | None) -> object:
    row = line.row
    if name not in row.means:
        return MISSING
    std = format_value(name, row.stds[name])
    spread = tag("span", f" ±{std}", class_="minor") if row.seeds > 1 else None
    return Cell(joined([format_value(name, row.means[name]), spread]), best=row.means[name] == best)


def _interval(line: Line, metric: str, shared: BarScale, sure: MethodComparison) -> list[object]:
    if line.estimate is None:
        return [MISSING, *([MISSING] if sure.lettered else [])]
    found, letters = line.estimate.estimate, "".join(line.estimate.letters)
    bar = interval_bar(shared, found.value, found.low, found.high)
    text = tag("span", span(metric, found.low, found.high), class_="ends")
    cells: list[object] = [Cell(joined([bar, text]), sort=found.value)]
    return [*cells, *([tag("span", letters, class_="letters")] if sure.lettered else [])]


def square(compared: MethodComparison) -> Figure:
    """Every pair of methods: by how much the first is better, where they differ significantly."""
    labels = [one.label for one in compared.methods[:MOST_IN_SQUARE]]
    gaps = {
        (pair.first, pair.second): scale(compared.metric) * abs(pair.difference.value)
        for pair in compared.pairs
        if pair.p_holm < 1 - compared.level
    }
    series = tuple(
        Series(row, tuple(labels), tuple(gaps.get((row, column), math.nan) for column in labels))
        for row in labels
    )
    kept = "" if len(labels) == len(compared.methods) else f" Only the {len(labels)} best methods."
    return Figure(
        f"pairs-{compared.dataset}-{compared.protocol}",
        f"Significant differences, {compared.dataset} · {compared.protocol}",
        "heat",
        "worse method",
        f"gap in {compared.metric}{points(compared.metric)}",
        series,
        note="How much better the method of the row is than that of the column. Empty: no significant"
        f" difference (paired t-test, Holm-corrected).{kept}",
    )


def _pairs(compared: MethodComparison, most: int) -> Markup:
    """The pairs, those among the best methods first."""
    places = {one.label: place for place, one in enumerate(compared.methods)}
    ordered = sorted(compared.pairs, key=lambda pair: (places[pair.second], places[pair.first]))
    unit = compared.unit
    columns: list[Column | str] = [
        "better",
        "worse",
        Column("difference", number=True, hint=f"better − worse{points(compared.metric)}"),
        Column(f"{100 * compared.level:.0f} % interval", number=True),
        Column("p (Holm)", number=True, hint="Holm-corrected for all pairs of the table"),
        Column(
            "d (effect)",
            number=True,
            hint=f"mean difference over the standard deviation of the differences per {unit}: 0.2 is small,"
            " 0.5 medium, 0.8 large",
        ),
        Column("better on", number=True, hint=f"share of the test {plural(unit)}"),
        Column("worse on", number=True, hint=f"share of the test {plural(unit)}"),
        Column(
            "smallest gap",
            number=True,
            hint=f"a true gap of this size is detected four times out of five{points(compared.metric)}",
        ),
    ]
    left = len(ordered) - most
    said = [f"{left:,} pairs of lower-ranked methods are omitted."] if left > 0 else []
    rows = [_pair(pair, compared.metric) for pair in ordered[:most]]
    caption = f"{compared.metric}, paired by test {unit}"
    return joined([table(columns, rows, caption=caption), notes(said)])


def _pair(pair: PairComparison, metric: str) -> list[object]:
    gap = pair.difference
    ends = [
        f"{'+' if end > 0 else ''}{end_text(metric, end)}".replace("-", "−") for end in (gap.low, gap.high)
    ]
    # The shares count larger values.
    shares = (gap.better, gap.worse) if higher_is_better(metric) else (gap.worse, gap.better)
    return [
        pair.first,
        pair.second,
        format_value(metric, gap.value),
        " to ".join(ends),
        Cell(p_text(pair.p_holm), sort=pair.p_holm),
        f"{gap.standardised:.2f}",
        *(f"{100 * share:.0f} %" for share in shares),
        format_value(metric, pair.smallest_gap) if math.isfinite(pair.smallest_gap) else MISSING,
    ]


def provenance(one: Table) -> Markup:
    """What the numbers are based on: the hashes of graph and parts, seed by seed."""
    found: dict[str, list[object]] = {}
    names = list(
        dict.fromkeys(name for record in one.records for name in record.provenance.get("hashes", {}))
    )
    for record in one.records:
        key = str(record.provenance.get("task", ""))
        found.setdefault(
            key, [record.task_seed, code(key[: 2 * HASHES] or MISSING), *_hashes(record.provenance, names)]
        )
    settings = dict(one.first.provenance.get("task_settings", {}))
    settings.pop("split", None)
    told = _option_help(one.first.protocol)
    words = [
        (str(name), joined([in_words(value), _minor(told.get(str(name), ""))]))
        for name, value in settings.items()
    ]
    columns: list[Column | str] = [Column("seed", number=True), "task", *names, "split"]
    rows = list(found.values())[:50]
    more = [f"{len(found) - 50:,} more tasks are not listed"] if len(found) > 50 else []
    return joined(
        [
            table(columns, rows, caption="SHA-256 of the data, shortened"),
            notes(more),
            definitions(words) if words else "",
        ]
    )


def _option_help(protocol: str) -> Mapping[str, str]:
    """The help of each option of a protocol; empty for a protocol that is not known here."""
    from trueedge.tasks.protocols import protocol as protocols

    return next((one.help for one in protocols.catalogue() if one.name == protocol), {})


def _minor(text: str) -> Markup:
    return tag("span", f" ({text})", class_="minor") if text else Markup("")


def _hashes(provenance: Mapping[str, Any], names: Sequence[str]) -> list[object]:
    hashes = provenance.get("hashes", {})
    cells: list[object] = [
        Cell(code(str(hashes[name])[: 2 * HASHES]), hint=str(hashes[name])) if name in hashes else MISSING
        for name in names
    ]
    return [*cells, str(provenance.get("task_settings", {}).get("split", MISSING))]
