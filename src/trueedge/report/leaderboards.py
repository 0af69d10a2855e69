"""Leaderboards: a table for each data set under each protocol, with intervals, pairs and provenance."""

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
    figures,
    folded,
    in_words,
    notes,
    paragraph,
    table,
)
from trueedge.report.interval_bars import BarScale, interval_bar
from trueedge.report.marks import Looks
from trueedge.report.markup import Markup, joined, tag
from trueedge.report.naming import kind_title, method_looks
from trueedge.report.numbers import axis_label, end_text, in_percent, p_text, points, span
from trueedge.report.overview import few_splits
from trueedge.report.size_limit import fitting

# So many methods stay readable in a square of cells.
MOST_IN_SQUARE = 16
MOST_PAIRS = 120
MOST_WARNINGS = 3
HASHES = 8


def leaderboards(tables: Sequence[Table], room: int) -> Markup:
    """A table each, with its intervals, its pairs and its provenance."""
    pairs = max(10, min(MOST_PAIRS, 2_000 // len(tables)))
    looks = method_looks(tables)
    mixed = len({one.first.kind for one in tables}) > 1

    def build(one: Table) -> Markup:
        kind = f"{kind_title(one.first.kind)}. " if mixed else ""
        return _leaderboard(one, kind, pairs, looks[one.first.dataset])

    return joined(fitting(tables, build, room, "leaderboards"))


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


def _leaderboard(one: Table, kind: str, most_pairs: int, looks: Looks) -> Markup:
    remarks = _remarks(one)
    folds = [_provenance(one)]
    pictures = Markup("")
    if one.compared is not None:
        drawn = [intervals(one)]
        # Without a significant difference there is nothing to draw.
        if _differ(one.compared) and one.compared.lettered:
            drawn.append(square(one.compared))
        pictures = figures([figure(shown, listed=False, looks=looks) for shown in drawn])
        folds.insert(0, _pairs(one.compared, most_pairs))
    shown, more = remarks[: MOST_WARNINGS + 1], remarks[MOST_WARNINGS + 1 :]
    rest = folded(f"{len(more)} more remark{'s' if len(more) > 1 else ''}", notes(more)) if more else None
    count = f"{len(one.lines)} method{'s' if len(one.lines) > 1 else ''}"
    lower = "" if higher_is_better(one.headline) else f" Lower {one.headline} is better."
    facts = f"{kind}Test part{in_percent(one.metrics)}; {count}, {one.seeds}.{lower}"
    flags = notes([tag("strong", f"{MARK} {found.sentence}") for found in one.below])
    parts = [
        tag("h3", one.where),
        paragraph(facts, quiet=True),
        leaderboard_table(one),
        flags,
        notes(shown),
        rest,
    ]
    return joined([*parts, pictures, *folds])


def leaderboard_table(
    one: Table, *, own: str = "", names: Sequence[str] | None = None, certain: bool = True
) -> Markup:
    """The methods of a table, best first, with intervals as bars, letters and metrics.

    Args:
        one: the table.
        own: the label of the method whose row is marked.
        names: the metrics to show; all of them by default.
        certain: whether to show intervals and letters.
    """
    shown = one.metrics if names is None else names
    sure = one.compared if certain else None
    best = {name: one.best(name) for name in shown}
    several = len({line.row.seeds for line in one.lines}) > 1
    columns = [Column(name, number=True) for name in shown]
    columns[1:1] = _certain_columns(sure)
    head: list[Column | str] = ["method", *columns, *([Column("seeds", number=True)] if several else [])]
    below = {found.label: found.sentence for found in one.below}
    shared = _bar_scale(one)
    rows = []
    for line in one.lines:
        cells = [_value(line, name, best[name]) for name in shown]
        cells[1:1] = _interval(line, one.headline, shared, sure) if sure is not None else []
        rows.append([_label(line, below), *cells, *([line.row.seeds] if several else [])])
    marked = next((place for place, line in enumerate(one.lines) if line.label == own), None)
    in_order = 1 if one.headline in shown[:1] and higher_is_better(one.headline) else None
    return table(head, rows, label=one.where, sorted_by=in_order, marked=marked)


def _certain_columns(sure: MethodComparison | None) -> list[Column]:
    if sure is None:
        return []
    found = [Column(f"{100 * sure.level:.0f} % interval", hint="of the headline")]
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
        return line.label
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


def intervals(one: Table) -> Figure:
    """The headline of each method with its interval, best first."""
    lines = [line for line in one.lines if line.estimate is not None][: 2 * MOST_IN_SQUARE]
    found = [line.estimate.estimate for line in lines if line.estimate is not None]
    factor = scale(one.headline)
    values = [tuple(factor * getattr(e, end) for e in found) for end in ("value", "low", "high")]
    series = Series(one.headline, tuple(line.label for line in lines), *values)
    title = f"{one.headline} with its interval, {one.where}"
    return Figure(f"intervals-{one.where}", title, "points", "method", axis_label(one.headline), (series,))


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
    title = f"{len(compared.pairs):,} pair{'s' if len(compared.pairs) > 1 else ''} of methods compared"
    rows = [_pair(pair, compared.metric) for pair in ordered[:most]]
    return folded(
        title, table(columns, rows, caption=f"{compared.metric}, paired by test {unit}"), notes(said)
    )


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


def _provenance(one: Table) -> Markup:
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
    return folded(
        "provenance and hashes",
        table(columns, rows, caption="SHA-256 of the data, shortened"),
        notes(more),
        definitions(words) if words else None,
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
