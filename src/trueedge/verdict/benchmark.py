"""What is wrong with the benchmarks that a model was judged on, the worst first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trueedge.audit import Finding

# More findings than these are counted: the audit shows them all.
MOST_SHOWN = 5


def sentences(warnings: Sequence[tuple[str, Finding]], most: int = MOST_SHOWN) -> list[str]:
    """Return a sentence for each of the worst findings, with the protocols that share it.

    Args:
        warnings: protocols and findings.
        most: the number of findings to show.
    """
    protocols: dict[str, list[str]] = {}
    first: dict[str, Finding] = {}
    for protocol, finding in warnings:
        protocols.setdefault(finding.check, []).append(protocol)
        kept = first.setdefault(finding.check, finding)
        if kept.verdict != "broken" and finding.verdict == "broken":
            first[finding.check] = finding
            protocols[finding.check] = [protocol, *protocols[finding.check][:-1]]
    ordered = sorted(first.values(), key=lambda one: one.verdict != "broken")
    said = [f"{_where(protocols[one.check])}: {one.sentence}" for one in ordered[:most]]
    left = len(ordered) - most
    if left > 0:
        said.append(f"{left} more finding{'s' if left > 1 else ''}: run 'trueedge audit' for each protocol")
    return said


def _where(protocols: Sequence[str]) -> str:
    """Return the protocol whose numbers are shown, and how many others have the same finding."""
    others = ", ".join(protocols[1:])
    return f"{protocols[0]} (and {others})" if others else protocols[0]
