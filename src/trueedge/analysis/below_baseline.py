"""Methods that are worse than a baseline that learns nothing about single users, nodes or queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trueedge import metrics
from trueedge.analysis.comparison import MethodComparison
from trueedge.errors import InputError
from trueedge.methods.method import METHODS

# Behind the name of such a method, in tables.
MARK = "▼"
# The families of baselines: they count or vote, and train nothing.
FAMILIES = ("counting", "voting")


@dataclass(frozen=True)
class BelowBaseline:
    """A method that is worse than the best baseline of its table.

    Attributes:
        label: the method with its non-default settings.
        baseline: the label of the baseline.
        metric: the headline.
        gap: the method minus the baseline.
        low: the lower end of the gap's interval, paired by unit or split; None if there are too few splits.
        high: its upper end.
        this_split: whether the interval is for a single split and too few seeds, so others may differ.
    """

    label: str
    baseline: str
    metric: str
    gap: float
    low: float | None = None
    high: float | None = None
    this_split: bool = False

    @property
    def significant(self) -> bool:
        """Return whether the interval excludes 0, and is not for this split only."""
        return not self.this_split and self._excludes_zero

    @property
    def _excludes_zero(self) -> bool:
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high

    @property
    def sentence(self) -> str:
        """Return it in words: ``kgcn is significantly below popularity: -1.2 [-1.6, -0.8]``."""
        below = "below" if _higher_is_better(self.metric) else "worse than"
        known = self.low is not None and self.high is not None
        if known and not self._excludes_zero:
            below = "not significantly different from"
        sure = "significantly " if self.significant else ""
        where = " on this split" if self.this_split else ""
        said = f"{self.label} is {sure}{below} {self.baseline}{where}: {self._text(self.gap)}"
        if self.low is None or self.high is None:
            return said
        return f"{said} [{self._text(self.low)}, {self._text(self.high)}]"

    def _text(self, value: float) -> str:
        digits = 1 if metrics.scale(self.metric) == 100 else None
        text = metrics.format_value(self.metric, value, digits)
        return text if value < 0 else f"+{text}"


def below_baseline(
    values: Mapping[str, float],
    names: Mapping[str, str],
    metric: str,
    compared: MethodComparison | None = None,
) -> tuple[BelowBaseline, ...]:
    """Return the methods of a table that are worse than its best baseline, the worst last.

    Args:
        values: the mean of the metric by the method's label.
        names: the method's name by its label.
        metric: the metric.
        compared: the same methods compared in pairs, for the intervals.
    """
    sign = 1 if _higher_is_better(metric) else -1
    baselines = [label for label in values if is_baseline(names[label])]
    if not baselines:
        return ()
    best = max(baselines, key=lambda label: sign * values[label])
    found = []
    for label in values:
        if label in baselines:
            continue
        one = _against(label, best, metric, values, compared)
        if sign * one.gap < 0:
            found.append(one)
    return tuple(sorted(found, key=lambda one: -sign * one.gap))


def is_baseline(method: str) -> bool:
    """Return whether a method is of a family that counts or votes."""
    found = METHODS.find(method)
    return found is not None and found.family in FAMILIES


def _against(
    label: str, baseline: str, metric: str, values: Mapping[str, float], compared: MethodComparison | None
) -> BelowBaseline:
    for pair in () if compared is None else compared.pairs:
        gap, here = pair.difference, not pair.enough
        # The interval of two splits says nothing.
        if here and gap.over == "tasks":
            continue
        if (pair.first, pair.second) == (label, baseline):
            return BelowBaseline(label, baseline, metric, gap.value, gap.low, gap.high, here)
        if (pair.first, pair.second) == (baseline, label):
            return BelowBaseline(label, baseline, metric, -gap.value, -gap.high, -gap.low, here)
    return BelowBaseline(label, baseline, metric, values[label] - values[baseline])


def _higher_is_better(metric: str) -> bool:
    try:
        return metrics.get(metric).higher_is_better
    except InputError:
        return True
