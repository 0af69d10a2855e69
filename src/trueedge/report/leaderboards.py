"""Leaderboards: a table for each data set under each protocol, with how sure it is and where it is from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from trueedge.analysis.comparison import MethodComparison, PairComparison
from trueedge.analysis.figure import Figure, Series
from trueedge.analysis.tables import Line, Table, higher_is_better
from trueedge.report.blocks import (
    MISSING,
    Cell,
    Column,
    code,
    definitions,
    figure,
    figures,
    folded,
    notes,
    paragraph,
    table,
)
from trueedge.report.marks import Looks
from trueedge.report.markup import Markup, joined, tag
from trueedge.report.naming import method_looks
from trueedge.report.overview import few_splits
from trueedge.report.room import fitting

# So many methods stay readable in a square of cells.
MOST_IN_SQUARE = 16
MOST_PAIRS = 120
MOST_WARNINGS = 3
HASHES = 8


def leaderboards(tables: Sequence[Table], room: int) -> Markup:
    """A table each, with its intervals, its pairs and its provenance."""
    pairs = max(10, min(MOST_PAIRS, 2_000 // len(tables)))
    looks = method_looks(tables)
    return joined(
        fitting(tables, lambda one: _leaderboard(one, pairs, looks[one.first.dataset]), room, "leaderboards")
    )


def _remarks(one: Table) -> list[str]:
    """What the table says of itself, its splits told of once."""
    few = few_splits(one)
    said = [remark for remark in one.remarks() if not (few and "too few" in remark)]
    if one.compared is not None and not _told(one.compared) and not few:
        few = ["no two methods are told apart here: more seeds, or more test edges, would tell more"]
    return [*said[:1], *few, *said[1:]]


def _told(compared: MethodComparison) -> bool:
    """Whether any two methods are told apart."""
    return any(pair.p_holm < 1 - compared.level for pair in compared.pairs)


def _leaderboard(one: Table, most_pairs: int, looks: Looks) -> Markup:
    remarks = _remarks(one)
    folds = [_provenance(one)]
    pictures = Markup("")
    if one.compared is not None:
        drawn = [intervals(one)]
        # Where nobody is ahead of anybody there is nothing to draw.
        if _told(one.compared):
            drawn.append(square(one.compared))
        pictures = figures([figure(shown, listed=False, looks=looks) for shown in drawn])
        folds.insert(0, _pairs(one.compared, most_pairs))
    shown, more = remarks[: MOST_WARNINGS + 1], remarks[MOST_WARNINGS + 1 :]
    rest = folded(f"{len(more)} more remarks", notes(more)) if more else None
    facts = f"Test part, percent, {one.seeds}; {len(one.lines)} method{'s' if len(one.lines) > 1 else ''}."
    parts = [tag("h3", one.where), paragraph(facts, quiet=True), _table(one), notes(shown), rest]
    return joined([*parts, pictures, *folds])


def _table(one: Table) -> Markup:
    sure = one.compared
    best = {name: one.best(name) for name in one.metrics}
    several = len({line.row.seeds for line in one.lines}) > 1
    head: list[Column | str] = ["method", Column(one.headline, number=True)]
    if sure is not None:
        head.append(Column(f"{100 * sure.level:.0f} % interval", number=True, hint="of the headline"))
        head.append(Column("group", hint="methods with a common letter are not told apart"))
    head += [Column(name, number=True) for name in one.metrics[1:]]
    head += [Column("seeds", number=True)] if several else []
    rows = []
    for line in one.lines:
        cells: list[object] = [line.label, _value(line, one.headline, best[one.headline])]
        cells += _sureness(line) if sure is not None else []
        cells += [_value(line, name, best[name]) for name in one.metrics[1:]]
        rows.append([*cells, *([line.row.seeds] if several else [])])
    return table(head, rows, label=one.where, sorted_by=1 if higher_is_better(one.headline) else None)


def _value(line: Line, name: str, best: float | None) -> object:
    row = line.row
    if name not in row.means:
        return MISSING
    spread = tag("span", f" ±{100 * row.stds[name]:.2f}", class_="minor") if row.seeds > 1 else None
    return Cell(joined([f"{100 * row.means[name]:.2f}", spread]), best=row.means[name] == best)


def _sureness(line: Line) -> list[object]:
    if line.estimate is None:
        return [MISSING, MISSING]
    found, letters = line.estimate.estimate, "".join(line.estimate.letters)
    return [span(found.low, found.high), tag("span", letters, class_="letters")]


def span(low: float, high: float) -> str:
    """An interval in percent."""
    ends = [f"{100 * end:.1f}" if math.isfinite(end) else "∞" for end in (low, high)]
    return f"{ends[0]}–{ends[1]}"


def intervals(one: Table) -> Figure:
    """The headline of each method with its interval, best first."""
    lines = [line for line in one.lines if line.estimate is not None][: 2 * MOST_IN_SQUARE]
    found = [line.estimate for line in lines if line.estimate is not None]
    series = Series(
        one.headline,
        tuple(line.label for line in lines),
        tuple(100 * e.estimate.value for e in found),
        tuple(100 * e.estimate.low for e in found),
        tuple(100 * e.estimate.high for e in found),
    )
    title = f"{one.headline} with its interval, {one.where}"
    return Figure(f"intervals-{one.where}", title, "points", "method", f"{one.headline}, percent", (series,))


def square(compared: MethodComparison) -> Figure:
    """Every method beside every other: by how many points it is ahead, where the two are told apart."""
    labels = [one.label for one in compared.methods[:MOST_IN_SQUARE]]
    gaps = {
        (pair.first, pair.second): 100 * abs(pair.difference.value)
        for pair in compared.pairs
        if pair.p_holm < 1 - compared.level
    }
    series = tuple(
        Series(row, tuple(labels), tuple(gaps.get((row, column), math.nan) for column in labels))
        for row in labels
    )
    kept = "" if len(labels) == len(compared.methods) else f" The {len(labels)} best."
    return Figure(
        f"pairs-{compared.dataset}-{compared.protocol}",
        f"Who is ahead of whom, {compared.dataset} · {compared.protocol}",
        "heat",
        "method that is behind",
        f"points of {compared.metric}",
        series,
        note="By how many points the method of the row is ahead of that of the column; empty where the two"
        f" are not told apart (paired, Holm).{kept}",
    )


def _pairs(compared: MethodComparison, most: int) -> Markup:
    """The pairs, those among the best methods first."""
    places = {one.label: place for place, one in enumerate(compared.methods)}
    ordered = sorted(compared.pairs, key=lambda pair: (places[pair.second], places[pair.first]))
    columns: list[Column | str] = [
        "better",
        "worse",
        Column("difference", number=True, hint="in points"),
        Column(f"{100 * compared.level:.0f} % interval", number=True),
        Column("p (Holm)", number=True, hint="corrected for all pairs of the table"),
        Column(
            "d (effect)",
            number=True,
            hint="the mean difference in standard deviations of the differences on single edges: 0.2 is"
            " small, 0.5 medium, 0.8 large",
        ),
        Column("better on", number=True, hint="share of the test edges"),
        Column("worse on", number=True, hint="share of the test edges"),
        Column("smallest gap", number=True, hint="the true difference found four times out of five, points"),
    ]
    left = len(ordered) - most
    said = [f"The {left:,} pairs of the methods further down are left out."] if left > 0 else []
    title = f"{len(compared.pairs):,} pairs of methods compared"
    rows = [_pair(pair) for pair in ordered[:most]]
    return folded(
        title, table(columns, rows, caption=f"{compared.metric}, paired on the same edges"), notes(said)
    )


def _pair(pair: PairComparison) -> list[object]:
    gap = pair.difference
    ends = "–".join(f"{100 * end:+.1f}".replace("-", "−") for end in (gap.low, gap.high))
    return [
        pair.first,
        pair.second,
        f"{100 * gap.value:.2f}",
        ends.replace("–", " to "),
        Cell(p_text(pair.p_holm), sort=pair.p_holm),
        f"{gap.standardised:.2f}",
        f"{100 * gap.better:.0f} %",
        f"{100 * gap.worse:.0f} %",
        f"{100 * pair.smallest_gap:.2f}" if math.isfinite(pair.smallest_gap) else MISSING,
    ]


def p_text(p: float) -> str:
    """A p-value as it is printed."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _provenance(one: Table) -> Markup:
    """What the numbers stand on: the hashes of graph, positives and negatives, seed by seed."""
    found: dict[str, list[object]] = {}
    for record in one.records:
        key = str(record.provenance.get("task", ""))
        found.setdefault(
            key, [record.task_seed, code(key[: 2 * HASHES] or MISSING), *_hashes(record.provenance)]
        )
    settings = dict(one.first.provenance.get("task_settings", {}))
    settings.pop("split", None)
    told = _option_help(one.first.protocol)
    words = [
        (str(name), joined([_said(value), _minor(told.get(str(name), ""))]))
        for name, value in settings.items()
    ]
    columns: list[Column | str] = [Column("seed", number=True), "task", "graph", "valid", "test", "split"]
    rows = list(found.values())[:50]
    more = [f"{len(found) - 50:,} more tasks are not listed"] if len(found) > 50 else []
    return folded(
        "provenance and hashes",
        table(columns, rows, caption="SHA-256 of what was judged on, shortened"),
        notes(more),
        definitions(words) if words else None,
    )


def _option_help(protocol: str) -> Mapping[str, str]:
    """What each option of a protocol is; nothing of a protocol that is not known here."""
    from trueedge.tasks.protocols import protocol as protocols

    return next((one.help for one in protocols.catalogue() if one.name == protocol), {})


def _minor(text: str) -> Markup:
    return tag("span", f" ({text})", class_="minor") if text else Markup("")


def _said(value: object) -> str:
    """A setting as a reader reads it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _hashes(provenance: object) -> list[object]:
    kept = provenance if isinstance(provenance, dict) else {}
    hashes = kept.get("hashes", {})
    cells: list[object] = [
        Cell(code(str(hashes[name])[: 2 * HASHES]), hint=str(hashes[name])) if name in hashes else MISSING
        for name in ("graph", "valid", "test")
    ]
    return [*cells, str(kept.get("task_settings", {}).get("split", MISSING))]
