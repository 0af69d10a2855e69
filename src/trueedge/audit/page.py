"""An audit as one page: what is broken first, each verdict with its number, its reason and its picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from trueedge.analysis.figure import Figure, Series
from trueedge.audit.check import Check, Finding, catalogue
from trueedge.audit.page_style import style
from trueedge.audit.shortcuts import SHORTCUTS
from trueedge.report.blocks import (
    Cell,
    Column,
    badge,
    code,
    definitions,
    facts,
    figure,
    folded,
    notes,
    paragraph,
    table,
)
from trueedge.report.markup import Markup, joined, tag
from trueedge.report.page import Section
from trueedge.report.page import page as whole_page

if TYPE_CHECKING:
    from trueedge.audit.audit import Audit

ORDER = ("broken", "look", "ok")
MEANING = {
    "broken": "measures something else than it says",
    "look": "deserves a look before it is believed",
    "ok": "no larger than chance, or than what is harmless",
}


def page(audit: Audit) -> str:
    """A self-contained HTML page of an audit.

    Args:
        audit: what :func:`trueedge.audit.audit` found.
    """
    checks = {check.name: check for check in catalogue()}
    cards = [_card(one, checks[one.check]) for one in audit.by_verdict()]
    sections = [
        Section("Verdicts", joined([tag("style", Markup(style())), _filter(audit), _verdicts(audit)])),
        Section("Findings", joined(cards)),
        Section("What was looked at", _looked_at(audit), short="Looked at"),
        Section("Where it comes from", _provenance(audit), short="Provenance"),
    ]
    overview = _overview(audit)
    if overview is not None:
        sections.insert(2, Section("What learns nothing", overview, short="Shortcuts"))
    if audit.skipped:
        sections.insert(-2, Section("Checks that do not apply", _skipped(audit, checks), short="Not applied"))
    return whole_page(f"Audit of {audit.dataset} · {audit.protocol}", sections, lead=_lead(audit))


def _lead(audit: Audit) -> Markup:
    worst = next((verdict for verdict in ORDER if audit.count(verdict)), "ok")
    told = {
        "broken": "Numbers reported on this benchmark would mean something else than they say.",
        "look": "Nothing is broken; some of it deserves a look before numbers on it are believed.",
        "ok": "None of the checks found anything wrong with this benchmark.",
    }
    sizes = [(f"{value:,}", name) for name, value in audit.sizes.items()]
    return joined([tag("p", told[worst], class_="lead"), facts(sizes)])


def _filter(audit: Audit) -> Markup:
    """Which verdicts are shown, by a choice that needs no script."""
    choices = [("all", f"all {len(audit)}", True)]
    choices += [(verdict, f"{verdict} {audit.count(verdict)}", False) for verdict in ORDER]
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
            Cell(badge(one.verdict), sort=ORDER.index(one.verdict)),
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


def _card(finding: Finding, check: Check) -> Markup:
    """A finding with its picture beside it."""
    shown = check.picture.figure(finding.check, finding.series) if check.picture is not None else None
    rows = [[name, float(value)] for name, value in finding.numbers.items()]
    told = [
        badge(finding.verdict),
        tag("h3", check.title[:1].upper() + check.title[1:]),
        tag("p", check.question, class_="asked"),
        tag("p", finding.shown, class_="number"),
        paragraph(_sentence(finding.sentence)),
    ]
    aside = [
        paragraph(f"Looked at {finding.looked}.", quiet=True) if finding.looked else None,
        folded(
            "its rule and all its numbers",
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
    """What scorers that learn nothing get, beside chance; None where no such check applied."""
    looks_at = {f"shortcut-{one.heuristic}": one.looks_at for one in SHORTCUTS}
    found = [one for one in audit if one.check in looks_at]
    if not found:
        return None
    names = tuple(looks_at[one.check] for one in found)
    noise = [one.numbers["chance"] for one in found]
    shown = Figure(
        name="shortcuts",
        title="The AUC of scorers that learn nothing",
        kind="bars",
        x_label="what they look at",
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
        note="The interval around chance is where random scores stay 999 times in a thousand.",
    )
    return figure(shown)


def _looked_at(audit: Audit) -> Markup:
    sampled = paragraph(
        f"A slow check looks at no more than {audit.sample:,} positives and as many negatives, drawn with the"
        f" seed {audit.seed}; every finding says how many it looked at. A number of a sample is an estimate."
    )
    times = [[name, float(seconds)] for name, seconds in audit.seconds.items()]
    took = folded(
        f"{sum(audit.seconds.values()):.1f} seconds for all checks",
        table(["check", Column("seconds", number=True)], times),
    )
    return joined([sampled, notes(audit.notes), took])


def _skipped(audit: Audit, checks: Mapping[str, Check]) -> Markup:
    rows = [[name, checks[name].question, reason] for name, reason in audit.skipped.items()]
    return table(
        ["check", Column("what it asks", wide=True), Column("why it does not apply", wide=True)], rows
    )


def _provenance(audit: Audit) -> Markup:
    found = audit.provenance
    told: dict[str, Any] = {"data set": audit.dataset, "protocol": audit.protocol, "seed": audit.seed}
    told |= {
        name: _plain(value) for name, value in found.get("task_settings", {}).items() if value is not None
    }
    hashes = {"task": found["task"], **found["hashes"]}
    told |= {f"SHA-256 of {name}": tag("span", value, class_="mono") for name, value in hashes.items()}
    told |= {"versions": ", ".join(f"{name} {value}" for name, value in found["versions"].items())}
    told |= {"machine": ", ".join(f"{name} {value}" for name, value in found["machine"].items() if value)}
    return definitions(told)


def _plain(value: Any) -> Any:
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else code(value)
