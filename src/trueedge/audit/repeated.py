"""What is in two parts at once: how the findings of such checks are told."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from trueedge.audit.check import Finding, graded, percent


def repeated_finding(
    check: str, counts: Mapping[str, tuple[int, int]], noun: str, broken: float, looked: str
) -> Finding:
    """Return the finding of a check for things in several parts.

    Args:
        check: the check's name.
        counts: how many of how many, by what is counted: ``test links in training``.
        noun: what is counted, in the plural.
        broken: a larger share is broken; any is a look.
        looked: what was examined.
    """
    shares = {name: count / size for name, (count, size) in counts.items()}
    worst = max(shares.values())
    return Finding(
        check,
        graded(worst, 0.0, broken),
        percent(worst),
        ", ".join(
            f"{count:,} of {size:,} {name.replace(' in ', ' are in ', 1)}"
            for name, (count, size) in counts.items()
        ),
        {"share": worst, **shares},
        {"where": np.array(list(counts)), noun: np.array([count for count, _ in counts.values()])},
        looked,
    )
