"""An audit as one page: the answer, then each problem with what to do about it; the rest is folded."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.analysis.figure import Figure, Series
from trueedge.audit.check import CHECKS, VERDICTS, Finding
from trueedge.audit.findings import FORMATS, LARGER, Audit, Problem
from trueedge.report.audit_overview import overview
from trueedge.report.blocks import (
    Cell,
    Column,
    badge,
    code,
    definitions,
    figure,
    folded,
    in_words,
    notes,
    paragraph,
    table,
)
from trueedge.report.markup import Markup, joined, tag
from trueedge.report.page import Section, resource
from trueedge.report.page import page as whole_page

LOW, HIGH = "low ", "high "
CODE = re.compile(r"`([^`]+)`")


def page(audit: Audit) -> str:
    """A self-contained HTML page of an audit: the answer, the problems with what to do, the rest folded.

    Args:
        audit: what :func:`trueedge.audit.audit` found.
    """
    style = tag("style", Markup(resource("audit.css")))
    sections = [Section("What to do", joined([style, *_problems(audit)]))]
    shortcuts = overview(audit)
    if shortcuts is not None:
        of_nodes = "classes" in audit.sizes
        title = "Predictors that use one source alone" if of_nodes else "Scorers that learn nothing"
        sections.append(Section(title, shortcuts, short="Shortcuts"))
    sections += [
        Section("All checks", _all_checks(audit)),
        Section("What was examined", _examined(audit), short="Examined"),
        Section("Provenance", _provenance(audit)),
    ]
    return whole_page(f"Audit of {audit.dataset} · {audit.protocol}", sections, lead=_lead(audit))


def _lead(audit: Audit) -> Markup:
    sizes = ", ".join(f"{value:,} {name}" for name, value in audit.sizes.items())
    return joined([tag("p", audit.answer, class_="answer"), tag("p", f"{sizes}.", class_="lead")])


def _problems(audit: Audit) -> list[Markup]:
    """What is wrong with what to do about it; then the names of the other checks."""
    shown = [_problem(one) for one in audit.problems]
    if not shown and audit.verdict == "ok":
        shown.append(paragraph("Nothing: the checks that could judge this benchmark found nothing wrong."))
    if audit.count("too small"):
        shown.append(_small(audit))
    fine = [one for one in audit if one.verdict == "ok"]
    if fine:
        shown.append(_list(f"{_checks(len(fine))} found nothing wrong", fine, "ok"))
    return shown


def _problem(problem: Problem) -> Markup:
    """A problem: what was found and what to do about it; pictures and numbers on demand."""
    told = [
        tag("p", *_coded(problem.advice), class_="advice"),
        tag("p", _sentence(problem.sentence), class_="found"),
    ]
    folds = [_finding(one, repeated=place == 0) for place, one in enumerate(problem.findings)]
    return tag("article", badge(problem.verdict), tag("div", *told, *folds), class_=problem.verdict)


def _small(audit: Audit) -> Markup:
    small = [one for one in audit if one.verdict == "too small"]
    need = "needs" if len(small) == 1 else "need"
    fold = _list(f"{_checks(len(small))} {need} a larger benchmark", small, "small")
    told = tag("p", LARGER, class_="advice")
    return tag("article", badge("too small"), tag("div", told, fold), class_="small")


def _list(title: str, findings: Sequence[Finding], kind: str) -> Markup:
    """Findings that need no attention, behind one fold."""
    return tag("div", folded(title, *map(_finding, findings)), class_=f"rest {kind}")


def _finding(finding: Finding, repeated: bool = False) -> Markup:
    """A finding behind a fold: its question, sentence, picture, rule and numbers.

    Args:
        finding: the finding.
        repeated: whether its sentence stands above it already.
    """
    check, shown = CHECKS.get(finding.check), figure_of(finding)
    rows = [[name, float(value)] for name, value in finding.numbers.items()]
    title = check.title[:1].upper() + check.title[1:]
    parts = [
        # A link to what is in a fold opens the fold.
        tag("p", check.question, class_="asked", id=_name(finding)),
        None if repeated else paragraph(_sentence(finding.sentence)),
        figure(shown) if shown is not None else None,
        paragraph(f"Examined: {finding.looked}.", quiet=True) if finding.looked else None,
        paragraph(f"Rule: {check.rule}.", quiet=True),
        table(["number", Column("value", number=True)], rows, label=f"numbers of {finding.check}"),
    ]
    number = tag("span", finding.shown, class_="number")
    name = tag("summary", tag("span", title, class_="title"), " ", number)
    return tag("details", name, *parts, class_="finding")


def _checks(count: int) -> str:
    return f"{count} check{'' if count == 1 else 's'}"


def _coded(text: str) -> list[Markup | str]:
    """A text with what stands between backquotes set as code."""
    return [code(part) if place % 2 else part for place, part in enumerate(CODE.split(text))]


def _all_checks(audit: Audit) -> Markup:
    """Every check in one table, and those that do not apply in another."""
    rows = [
        [
            Cell(badge(one.verdict), sort=VERDICTS.index(one.verdict)),
            Cell(tag("a", one.check, href=f"#{_name(one)}"), sort=one.check),
            Cell(one.shown, sort=one.number),
            _sentence(one.sentence),
        ]
        for one in audit.by_verdict()
    ]
    found = Column("what was found", wide=True)
    lines = table(["verdict", "check", Column("number", number=True), found], rows, label="all checks")
    parts = [folded(f"{_checks(len(rows))} as a table", tag("div", lines, class_="verdicts"))]
    if audit.skipped:
        do = "does" if len(audit.skipped) == 1 else "do"
        parts.append(folded(f"{_checks(len(audit.skipped))} {do} not apply", _skipped(audit)))
    return joined(parts)


def _name(finding: Finding) -> str:
    return f"check-{finding.check}"


def figure_of(finding: Finding) -> Figure | None:
    """Return the picture of a finding; None where there is nothing to see, no value being other than 0."""
    drawn, series = CHECKS.get(finding.check).picture, finding.series
    if drawn is None or not series:
        return None
    return filled(replace(drawn, name=finding.check), series)


def filled(drawn: Figure, series: Mapping[str, NDArray[Any]]) -> Figure | None:
    """Return a figure with the values of some series; None where no value is other than 0.

    Args:
        drawn: a figure without values.
        series: arrays of one length: the horizontal axis first, then a line, bars or a row each; ``low NAME``
            and ``high NAME`` are the interval of NAME.
    """
    (along, places), *others = series.items()
    found = []
    for name, values in others:
        if name.startswith((LOW, HIGH)):
            continue
        ends = [tuple(series[side + name].tolist()) for side in (LOW, HIGH) if side + name in series]
        found.append(Series(name, tuple(places.tolist()), tuple(map(float, values.tolist())), *ends))
    if not any(np.any(np.isfinite(one.y) & (np.array(one.y) != 0)) for one in found):
        return None
    return replace(drawn, x_label=drawn.x_label or along, series=tuple(found))


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _examined(audit: Audit) -> Markup:
    units = "positives and as many negatives" if "test positives" in audit.sizes else "test triples"
    sampled = (
        f"Slow checks examine at most {audit.sample:,} {units}, sampled with seed"
        f" {audit.seed}; every finding states how many it examined. Numbers from a sample are estimates."
    )
    if "node types" in audit.sizes:
        sampled = (
            "All test nodes and links were examined; features were compared on a sample of nodes, drawn with"
            f" seed {audit.seed}. Every finding states how many it examined."
        )
    if "items" in audit.sizes:
        sampled = (
            "All test interactions were examined; scorers are evaluated on as many test users as give"
            f" 100 million scores, and pairs of items are drawn with seed {audit.seed}. Every finding states"
            " how many it examined."
        )
    times = [[name, float(seconds)] for name, seconds in audit.seconds.items()]
    took = folded(
        f"all checks took {sum(audit.seconds.values()):.1f} seconds",
        table(["check", Column("seconds", number=True)], times),
    )
    return joined([paragraph(sampled), notes(audit.notes), took])


def _skipped(audit: Audit) -> Markup:
    rows = [[name, CHECKS.get(name).question, reason] for name, reason in audit.skipped.items()]
    return table(
        ["check", Column("what it asks", wide=True), Column("why it does not apply", wide=True)], rows
    )


def _provenance(audit: Audit) -> Markup:
    found = audit.provenance
    told: dict[str, Any] = {"data set": audit.dataset, "protocol": audit.protocol, "seed": audit.seed}
    told |= {
        name: code(in_words(value))
        for name, value in found.get("task_settings", {}).items()
        if value is not None
    }
    hashes = {"task": found["task"], **found["hashes"]}
    told |= {f"SHA-256 of {name}": tag("span", value, class_="mono") for name, value in hashes.items()}
    told |= {name: in_words(found[name]) for name in ("versions", "machine")}
    return definitions(told)


FORMATS.add(".html", page)
