"""Numbers as a reader reads them: each value by its metric, intervals and p-values."""

from __future__ import annotations

import math
from collections.abc import Iterable

from trueedge.metrics import format_value, scale


def is_percent(metric: str) -> bool:
    """Whether a metric's values are shown in percent; those of unknown metrics are."""
    return scale(metric) == 100.0


def axis_label(metric: str) -> str:
    """Return what an axis of a metric says: ``mrr (%)``."""
    return f"{metric} (%)" if is_percent(metric) else metric


def points(metric: str) -> str:
    """Return what a difference of a metric is counted in, after a comma: ``, in points``; or nothing."""
    return ", in points" if is_percent(metric) else ""


def in_percent(metrics: Iterable[str]) -> str:
    """Return which of some metrics are shown in percent, after a comma: ``, in percent except mr``."""
    names = list(dict.fromkeys(metrics))
    others = [name for name in names if not is_percent(name)]
    if len(others) == len(names):
        return ""
    return f", in percent except {', '.join(others)}" if others else ", in percent"


def end_text(metric: str, value: float) -> str:
    """Return an end of an interval, a digit shorter than a value."""
    return format_value(metric, value, 1 if is_percent(metric) else 2) if math.isfinite(value) else "∞"


def span(metric: str, low: float, high: float) -> str:
    """Return an interval: ``23.1–27.9``."""
    return f"{end_text(metric, low)}–{end_text(metric, high)}"


def signed(metric: str, value: float) -> str:
    """Return a difference with its sign: ``+4.1``, ``−0.3``."""
    text = end_text(metric, value)
    # A true minus is as wide as a plus.
    return f"−{text[1:]}" if text.startswith("-") else f"+{text}"


def p_text(p: float) -> str:
    """Return a p-value as it is printed."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
