"""What is wrong with the benchmarks that a model was judged on, and what to do about it, the worst first."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trueedge.audit import Finding

# More problems than these are counted: the audit shows them all.
MOST_SHOWN = 5
PROTOCOL = re.compile(r"Use `-p (\S+)`")


def sentences(warnings: Sequence[tuple[str, Finding]], most: int = MOST_SHOWN) -> list[str]:
    """Return a sentence for each of the worst problems, with the protocols that share it and what to do.

    Findings with the same advice are one problem, whatever their protocol: the worst stands for it.

    Args:
        warnings: protocols and findings.
        most: the number of problems to show.
    """
    groups: dict[str, list[tuple[str, Finding]]] = {}
    for protocol, finding in warnings:
        groups.setdefault(finding.advice or finding.check, []).append((protocol, finding))
    # Sorting is stable: the first of the worst findings comes first.
    problems = [sorted(one, key=_rank) for one in groups.values()]
    problems.sort(key=lambda one: _rank(one[0]))
    judged = {protocol for protocol, _ in warnings}
    said = [_said(one, judged) for one in problems[:most]]
    left = len(problems) - most
    if left > 0:
        said.append(f"{left} more problem{'s' if left > 1 else ''}: run 'trueedge audit' for each protocol")
    return said


def _rank(warning: tuple[str, Finding]) -> int:
    return int(warning[1].verdict != "broken")


def _said(problem: Sequence[tuple[str, Finding]], judged: Collection[str]) -> str:
    """Return the worst finding of a problem, the protocols that have it, and what to do."""
    worst = problem[0][1]
    first, *others = dict.fromkeys(protocol for protocol, _ in problem)
    where = f"{first} (and {', '.join(others)})" if others else first
    advice = what_to_do(worst.advice, judged)
    return f"{where}: {worst.sentence}" + (f". {advice}" if advice else "")


def what_to_do(advice: str, judged: Collection[str]) -> str:
    """Return the advice of a finding; a protocol that the verdict has already is to be compared with."""
    used = PROTOCOL.fullmatch(advice)
    return advice if used is None or used[1] not in judged else f"Compare with the results under {used[1]}"
