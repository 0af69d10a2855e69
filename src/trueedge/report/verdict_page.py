"""The verdict as one page: the answer and the doubts first, then what stands behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from trueedge.analysis.figure import Figure, Series
from trueedge.analysis.slices import Slicing
from trueedge.analysis.tables import Table, higher_is_better
from trueedge.errors import listed
from trueedge.metrics import scale
from trueedge.metrics.units import plural
from trueedge.report.blocks import (
    Cell,
    Column,
    badge,
    figure,
    figures,
    folded,
    notes,
    paragraph,
    table,
    with_code,
)
from trueedge.report.interval_bars import BarScale, interval_bar
from trueedge.report.leaderboards import leaderboard_table
from trueedge.report.markup import Markup, joined, tag
from trueedge.report.numbers import axis_label, in_percent, is_percent, signed
from trueedge.report.page import Section
from trueedge.report.page import page as whole_page
from trueedge.report.verdict_source import made
from trueedge.verdict.answers import Answer, Comparison, one_part
from trueedge.verdict.benchmark import what_to_do
from trueedge.verdict.rows import ahead, difference, remarks
from trueedge.verdict.verdict import FORMATS, Verdict

if TYPE_CHECKING:
    from trueedge.audit import Finding

BADGES = {
    "above": ("ok", "ahead"),
    "tied": ("plain", "not significant"),
    "below": ("broken", "behind"),
    "unknown": ("plain", "too few splits"),
}
COLOURS = {"above": "ok", "tied": "muted", "below": "broken", "unknown": "muted"}
LINE_WIDTH = 240.0
MOST_DOUBTS, MOST_FINDINGS = 2, 4


def page(verdict: Verdict) -> str:
    """Return a self-contained HTML page of a verdict.

    Args:
        verdict: what :func:`trueedge.judge` returned.
    """
    parts = [
        Section("Beside the baselines", _tables(verdict), name="tables", short="Tables"),
        Section("Where it wins and loses", _groups(verdict), name="groups", short="Groups"),
        Section("Checks of the scorer", _checks(verdict), name="checks", short="Checks"),
        Section("About the benchmark", _benchmark(verdict), name="benchmark", short="Benchmark"),
        Section("What to do next", _advice(verdict), name="next", short="Next"),
        Section("How this was made", made(verdict), name="made", short="How"),
    ]
    title = f"Verdict on {verdict.model} · {verdict.dataset}"
    return whole_page(title, [one for one in parts if one.content], lead=_lead(verdict))


def _lead(verdict: Verdict) -> Markup:
    """The first screen: the answer in words, a line for each protocol, and the doubts."""
    grave = [one.sentence for one in verdict.suspicions if one.grave]
    others = [one.sentence for one in verdict.suspicions if not one.grave]
    return joined(
        [
            tag("p", summary(verdict), class_="answer"),
            _doubts("Do not trust these scores", grave, "broken"),
            answer_lines(verdict),
            _doubts("Worth a look", others, "look"),
        ]
    )


def summary(verdict: Verdict) -> str:
    """Return the answer in words, without its numbers."""
    places: dict[str, list[str]] = {}
    for one in verdict.answers:
        places.setdefault(one.stem, []).append(one.protocol)
    said = [f"{stem} under {listed(protocols)}" for stem, protocols in places.items()]
    answer = f"{'; '.join(said[:-1])}; and {said[-1]}" if len(said) > 1 else "".join(said)
    alone = "was evaluated alone: there is no baseline to compare it with"
    paper = "" if verdict.ok else "On paper, "
    more = " ".join(filter(None, (verdict.chance_sentence, verdict.degree_sentence)))
    return f"{paper}{verdict.model} {answer or alone}. {more}".strip()


def answer_lines(verdict: Verdict) -> Markup:
    """A line for each protocol: model minus best baseline, with a bar around a zero line."""
    answers = verdict.answers
    if not answers:
        return Markup("")
    # To the right is better, whatever the metric.
    signs = {one.protocol: 1 if higher_is_better(one.metric) else -1 for one in answers}
    values: dict[bool, list[float]] = {True: [], False: []}
    for one in answers:
        ends = (one.difference, one.low, one.high)
        values[is_percent(one.metric)] += [signs[one.protocol] * end for end in ends if end is not None]
    scales = {kind: BarScale.of(found, zero=True, width=LINE_WIDTH) for kind, found in values.items()}
    single = {one.protocol: one_part(one) for one in verdict.tables if one.found.tasks == 1}
    items = []
    for one in answers:
        words = _told(one, single.get(one.protocol, ""))
        bar = _bar(one, scales[is_percent(one.metric)], signs[one.protocol], verdict.ok)
        kind, place = BADGES[one.place]
        shown = badge(kind if verdict.ok else "plain", place)
        items.append(tag("li", tag("b", one.protocol), shown, bar, tag("span", words, class_="told")))
    said = tag("p", "Model minus the best baseline, with its interval. Right of the line is better.")
    return tag("div", tag("ul", *items), said, class_="lines")


def _told(one: Answer, part: str) -> str:
    """Return the difference in words: ``+4.1 MRR [+2.0, +6.2] against ppr``."""
    gap = f"{signed(one.metric, one.difference)} {one.metric.upper()}"
    if one.low is None or one.high is None:
        return f"{gap} against {one.best}, no interval"
    ends = f"[{signed(one.metric, one.low)}, {signed(one.metric, one.high)}]"
    return f"{gap} {ends} against {one.best}{f', on this {part}' if part else ''}"


def _bar(one: Answer, shared: BarScale, sign: int, trusted: bool) -> Markup:
    ends = [None if end is None else sign * end for end in (one.low, one.high)]
    low, high = ends if sign > 0 else ends[::-1]
    # Nothing is shown as good or bad that cannot be trusted.
    colour = COLOURS[one.place] if trusted else "muted"
    return interval_bar(shared, sign * one.difference, low, high, colour=colour)


def _doubts(title: str, sentences: Sequence[str], kind: str) -> Markup:
    """A box of doubts; those that would push the answer off the first screen are folded."""
    if not sentences:
        return Markup("")
    listed = [tag("ul", *(tag("li", _sentence(one)) for one in sentences[:MOST_DOUBTS]))]
    if rest := sentences[MOST_DOUBTS:]:
        listed.append(folded(f"{len(rest)} more", tag("ul", *(tag("li", _sentence(one)) for one in rest))))
    return tag("div", tag("p", tag("strong", title)), *listed, class_=f"box {kind}", role="note")


def _tables(verdict: Verdict) -> Markup:
    """A table for each protocol, with the model's row marked."""
    drawn = [_table(one, verdict) for one in verdict.tables]
    said = " ".join(f"{one}." for one in remarks(verdict))
    return joined([paragraph(said, quiet=True), *drawn])


def _table(one: Table, verdict: Verdict) -> Markup:
    answer = verdict.answer_in(one)
    compared = () if answer is None else answer.comparisons
    leads: dict[str, Cell | str] = {found.baseline: _difference(one, found) for found in compared}
    added = (Column(ahead(verdict.label), number=True), leads)
    shown = leaderboard_table(one, own=verdict.label, names=(one.headline,), added=added if leads else None)
    rest = leaderboard_table(one, own=verdict.label, names=one.metrics[1:], certain=False)
    facts_ = f"{one.headline}{in_percent([one.headline])}; {one.seeds}."
    more = [folded("All metrics", rest)] if len(one.metrics) > 1 else []
    said = one.remarks()
    more += [folded("Remarks", notes(said))] if said else []
    return tag("div", tag("h3", one.protocol), paragraph(facts_, quiet=True), shown, *more, class_="cell")


def _difference(one: Table, found: Comparison) -> Cell:
    """The model minus a baseline; on a phone, its interval is on a line of its own."""
    value, _, interval = difference(one, found).partition(" ")
    return Cell(joined([value, tag("span", f" {interval}", class_="minor")]), sort=found.difference)


def _groups(verdict: Verdict) -> Markup:
    """Sentences on where the model wins and loses, and a picture of every group beside the best baseline."""
    best = {one.protocol: one.best for one in verdict.answers}
    folds = []
    for one, sliced in zip(verdict.tables, verdict.sliced, strict=True):
        labels = [verdict.label, *([best[one.protocol]] if one.protocol in best else [])]
        drawn = [figure(group_figure(one, sliced.metric, way, labels)) for way in sliced.slicings]
        if drawn:
            folds.append(folded(f"Every group under {one.protocol}", figures(drawn)))
    said = list(verdict.groups)
    if not said and folds:
        said = ["In no group is the model clearly above or below the best baseline."]
    return joined([notes(said), *folds])


def group_figure(where: Table, metric: str, way: Slicing, labels: Sequence[str]) -> Figure:
    """Return a figure of some methods in each group of test units, with intervals."""
    names = tuple(f"{group} ({count:,})" for group, count in zip(way.groups, way.counts, strict=True))
    series = []
    for label in labels:
        cells = way.values.get(label, (None,) * len(names))
        ends = [
            tuple(float("nan") if cell is None else scale(metric) * getattr(cell, end) for cell in cells)
            for end in ("value", "low", "high")
        ]
        series.append(Series(label, names, *ends))
    return Figure(
        f"groups-{way.name}-{where.where}",
        f"{metric} by {way.title}, {where.protocol}",
        "bars",
        f"{way.name} (number of test {plural(where.found.unit)})",
        axis_label(metric),
        tuple(series),
        note=way.note,
    )


def _checks(verdict: Verdict) -> Markup:
    """What checks of the scorer found; those that passed are folded."""
    if verdict.check is None:
        return Markup("")
    wrong = [one for one in verdict.check.findings if one.level != "ok"]
    passed = [one for one in verdict.check.findings if one.level == "ok"]
    rows = [[Cell(badge(one.level), sort=one.level), one.name, one.sentence] for one in (*wrong, *passed)]
    columns: list[Column | str] = ["result", "check", Column("what was found", wide=True)]
    parts = []
    if wrong:
        parts.append(table(columns, rows[: len(wrong)], label="checks that found something", sortable=False))
    if passed:
        title = f"{len(passed)} check{'s' if len(passed) > 1 else ''} passed"
        fold = table(columns, rows[len(wrong) :], label="checks that passed", sortable=False)
        parts.append(folded(title, fold))
    return joined(parts)


def _benchmark(verdict: Verdict) -> Markup:
    """What an audit found about the benchmarks, each finding once, with what to do about it."""
    where: dict[str, list[str]] = {}
    first: dict[str, Finding] = {}
    for protocol, one in verdict.warnings:
        if one.verdict not in ("broken", "look"):
            continue
        where.setdefault(one.check, []).append(protocol)
        if one.check not in first or (one.verdict == "broken" and first[one.check].verdict != "broken"):
            first[one.check] = one
    # Findings that ask for the same stand together.
    asked: dict[str, list[Finding]] = {}
    for one in sorted(first.values(), key=lambda found: found.verdict != "broken"):
        asked.setdefault(getattr(one, "advice", "") or one.check, []).append(one)
    judged = {one.first.protocol for one in verdict.tables}
    items = [_finding(group, where, judged) for group in asked.values()]
    if not items:
        return Markup("")
    shown = tag("ul", *items[:MOST_FINDINGS], class_="findings")
    rest = tag("ul", *items[MOST_FINDINGS:], class_="findings")
    more = len(items) - MOST_FINDINGS
    return joined([shown, folded(f"{more} more finding{'s' if more > 1 else ''}", rest) if more > 0 else ""])


def _finding(group: Sequence[Finding], where: Mapping[str, Sequence[str]], judged: set[str]) -> Markup:
    """Findings with the same remedy, and the remedy."""
    said = [f"{listed(where[one.check])}: {one.sentence.removesuffix('.')}." for one in group]
    todo = what_to_do(getattr(group[0], "advice", ""), judged)
    return tag(
        "li",
        badge(group[0].verdict),
        tag("span", f" {said[0]}"),
        *(tag("span", one, class_="also") for one in said[1:]),
        tag("span", with_code(_sentence(todo)), class_="todo") if todo else None,
    )


def _advice(verdict: Verdict) -> Markup:
    items = [tag("li", with_code(_sentence(one))) for one in verdict.advice]
    return tag("ol", *items, class_="steps") if items else Markup("")


def _sentence(text: str) -> str:
    """Return a sentence with a capital letter and a full stop."""
    whole = text if text.endswith((".", "!", "?")) else f"{text}."
    return whole[:1].upper() + whole[1:]


FORMATS.add(".html", page)
