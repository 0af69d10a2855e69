"""What scorers that learn nothing achieve on a benchmark, in one figure."""

from __future__ import annotations

from trueedge.analysis.figure import Figure, Series
from trueedge.audit.findings import Audit
from trueedge.audit.shortcuts import SHORTCUTS
from trueedge.audit.triples_shortcuts import TRIPLE_SHORTCUTS
from trueedge.audit.typed_link_likeness import TYPED_LINK_SHORTCUTS
from trueedge.audit.typed_shortcuts import NODE_SHORTCUTS
from trueedge.report.blocks import figure
from trueedge.report.markup import Markup


def overview(audit: Audit) -> Markup | None:
    """What scorers that learn nothing achieve beside chance; None where no such check could judge."""
    if audit.verdict == "too small":
        return None
    return _of_links(audit) or _of_triples(audit) or _of_nodes(audit)


def _of_nodes(audit: Audit) -> Markup | None:
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


def _of_triples(audit: Audit) -> Markup | None:
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


def _of_links(audit: Audit) -> Markup | None:
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
                tuple(max(0.5 - one, 0.0) for one in noise),
                tuple(min(0.5 + one, 1.0) for one in noise),
            ),
        ),
        note="The interval around chance holds random scores 999 times out of 1,000.",
    )
    return figure(shown)
