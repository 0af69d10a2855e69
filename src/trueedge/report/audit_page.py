"""An audit as one page: what is broken first, each verdict with its number, its reason and its picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.analysis.figure import Figure, Series
from trueedge.audit.check import CHECKS, VERDICTS, Finding
from trueedge.audit.findings import FORMATS, Audit
from trueedge.audit.shortcuts import SHORTCUTS
from trueedge.audit.triples_shortcuts import TRIPLE_SHORTCUTS
from trueedge.audit.typed_link_likeness import TYPED_LINK_SHORTCUTS
from trueedge.audit.typed_shortcuts import NODE_SHORTCUTS
from trueedge.report.blocks import (
    Cell,
    Column,
    badge,
    code,
    definitions,
    facts,
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
MEANING = {
    "broken": "makes scores misleading",
    "look": "deserves a closer look",
    "ok": "no larger than chance, or too small to matter",
}


def page(audit: Audit) -> str:
    """A self-contained HTML page of an audit.

    Args:
        audit: what :func:`trueedge.audit.audit` found.
    """
    cards = [_card(one) for one in audit.by_verdict()]
    style = tag("style", Markup(resource("audit.css")))
    sections = [
        Section("Verdicts", joined([style, _filter(audit), _verdicts(audit)])),
        Section("Findings", joined(cards)),
        Section("What was examined", _examined(audit), short="Examined"),
        Section("Provenance", _provenance(audit)),
    ]
    overview = _overview(audit)
    if overview is not None:
        of_nodes = "classes" in audit.sizes
        title = "Predictors that use one source alone" if of_nodes else "Scorers that learn nothing"
        sections.insert(2, Section(title, overview, short="Shortcuts"))
    if audit.skipped:
        sections.insert(-2, Section("Checks that do not apply", _skipped(audit), short="Not applied"))
    return whole_page(f"Audit of {audit.dataset} · {audit.protocol}", sections, lead=_lead(audit))


def _lead(audit: Audit) -> Markup:
    worst = next((verdict for verdict in VERDICTS if audit.count(verdict)), "ok")
    told = {
        "broken": "Scores on this benchmark are misleading.",
        "look": "Nothing is broken, but some findings deserve a closer look.",
        "ok": "No check found anything wrong with this benchmark.",
    }
    sizes = [(f"{value:,}", name) for name, value in audit.sizes.items()]
    return joined([tag("p", told[worst], class_="lead"), facts(sizes)])


def _filter(audit: Audit) -> Markup:
    """Which verdicts are shown, by a choice that needs no script."""
    choices = [("all", f"all {len(audit)}", True)]
    choices += [(verdict, f"{verdict} {audit.count(verdict)}", False) for verdict in VERDICTS]
    labels = [
        tag(
            "label",
            tag("input", type="radio", name="only", id=f"only-{name}", checked=chosen),
            text,
            title=MEANING.get(name),
        )
        for name, text, chosen in choices
    ]
    return tag("fieldset", tag("legend", "Show"), *labels, class_="filter")


def _verdicts(audit: Audit) -> Markup:
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
    lines = table(["verdict", "check", Column("number", number=True), found], rows)
    return tag("div", lines, class_="verdicts")


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


def _card(finding: Finding) -> Markup:
    """A finding with its picture beside it."""
    check, shown = CHECKS.get(finding.check), figure_of(finding)
    rows = [[name, float(value)] for name, value in finding.numbers.items()]
    told = [
        badge(finding.verdict),
        tag("h3", check.title[:1].upper() + check.title[1:]),
        tag("p", check.question, class_="asked"),
        tag("p", finding.shown, class_="number"),
        paragraph(_sentence(finding.sentence)),
    ]
    aside = [
        paragraph(f"Examined: {finding.looked}.", quiet=True) if finding.looked else None,
        folded(
            "rule and all numbers",
            paragraph(_sentence(check.rule), quiet=True),
            table(["number", Column("value", number=True)], rows),
        ),
    ]
    if shown is None:
        parts, kind = [tag("div", *told), tag("div", *aside)], f"{finding.verdict} bare"
    else:
        parts, kind = [tag("div", *told, *aside), figure(shown)], finding.verdict
    return tag("article", *parts, class_=kind, id=_name(finding))


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _overview(audit: Audit) -> Markup | None:
    """What scorers that learn nothing achieve beside chance; None where no such check applied."""
    return _overview_of_links(audit) or _overview_of_triples(audit) or _overview_of_nodes(audit)


def _overview_of_nodes(audit: Audit) -> Markup | None:
    looks_at = {f"shortcut-{name}": uses for name, (_, uses) in NODE_SHORTCUTS.items()}
    found = [one for one in audit if one.check in looks_at]
    if not found:
        return None
    names = tuple(looks_at[one.check] for one in found)
    metrics = {"micro-f1": "micro-F1", "macro-f1": "macro-F1"}
    shown = Figure(
        name="shortcuts",
        title="F1 without edges, without features, or without either",
        kind="bars",
        x_label="what they use",
        y_label="F1",
        series=tuple(
            Series(title, names, tuple(one.numbers[metric] for one in found))
            for metric, title in metrics.items()
        ),
    )
    return figure(shown)


def _overview_of_triples(audit: Audit) -> Markup | None:
    looks_at = {f"shortcut-{name}": uses for name, (_, uses) in TRIPLE_SHORTCUTS.items()}
    found = [one for one in audit if one.check in looks_at]
    if not found:
        return None
    names = tuple(looks_at[one.check] for one in found)
    shown = Figure(
        name="shortcuts",
        title="The MRR of scorers that learn nothing",
        kind="bars",
        x_label="what they use",
        y_label="MRR",
        series=(
            Series("test queries", names, tuple(one.number for one in found)),
            Series("random scores", names, tuple(one.numbers["chance"] for one in found)),
        ),
    )
    return figure(shown)


def _overview_of_links(audit: Audit) -> Markup | None:
    looks_at = {f"shortcut-{name}": uses for name, uses in SHORTCUTS.items()} | TYPED_LINK_SHORTCUTS
    found = [one for one in audit if one.check in looks_at]
    if not found:
        return None
    names = tuple(looks_at[one.check] for one in found)
    noise = [one.numbers["chance"] for one in found]
    shown = Figure(
        name="shortcuts",
        title="The AUC of scorers that learn nothing",
        kind="bars",
        x_label="what they use",
        y_label="AUC",
        series=(
            Series("against these negatives", names, tuple(one.number for one in found)),
            Series(
                "chance",
                names,
                (0.5,) * len(found),
                tuple(0.5 - one for one in noise),
                tuple(0.5 + one for one in noise),
            ),
        ),
        note="The interval around chance holds random scores 999 times out of 1,000.",
    )
    return figure(shown)


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
