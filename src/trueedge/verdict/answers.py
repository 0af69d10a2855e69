"""The answer in words: what the model beats, what beats it, and where the difference is not significant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from trueedge import metrics
from trueedge.analysis.comparison import PairComparison
from trueedge.analysis.tables import Line, Table, higher_is_better
from trueedge.errors import listed
from trueedge.statistics.significance import ends_at
from trueedge.statistics.tie_groups import holm

Place = Literal["above", "tied", "below", "unknown"]
LEVEL = 0.05
# An AUC against easy negatives that is no higher than this is at chance: there is no share of it to speak of.
CHANCE_AUC = 0.6
# An interval that covers a larger share of all possible differences says nothing.
WIDEST = 0.25
# Two methods do equally well if the whole interval of their difference is within this share of the scale.
EQUAL = 0.02


@dataclass(frozen=True)
class Comparison:
    """A model against one baseline.

    Attributes:
        baseline: its label in the table.
        difference: model minus baseline.
        low: the lower end of its interval, corrected for all comparisons of the model with baselines.
        high: the upper end.
        clear: whether the difference is significant, after the same correction.
    """

    baseline: str
    difference: float
    low: float
    high: float
    clear: bool


@dataclass(frozen=True)
class Answer:
    """How a model does under one protocol.

    Attributes:
        protocol: the protocol with its options.
        metric: the headline metric.
        value: the model's mean.
        place: ``above`` all baselines, ``tied`` with the best, ``below`` some, or ``unknown``.
        best: the best baseline.
        difference: model minus the best baseline.
        low: the lower end of its interval, corrected for all comparisons with baselines; None if unknown.
        high: the upper end.
        beside: the baselines that are tied with the model, or above it.
        stem: the place in words: "is below ppr".
        detail: the protocol and the numbers in words.
        comparisons: the model against each baseline; empty if unknown.
    """

    protocol: str
    metric: str
    value: float
    place: Place
    best: str
    difference: float
    low: float | None
    high: float | None
    beside: tuple[str, ...]
    stem: str
    detail: str
    comparisons: tuple[Comparison, ...] = ()

    @property
    def sentence(self) -> str:
        """Return the answer in words, without the model's name."""
        return f"{self.stem} under {self.detail}"

    @property
    def equal(self) -> bool:
        """Return whether the model does as well as the best baseline, not only whether they may be equal."""
        if self.place != "tied" or self.low is None or self.high is None:
            return False
        margin = EQUAL * _most(self.metric)
        return -margin <= self.low and self.high <= margin


def answer(table: Table, model: str) -> Answer | None:
    """Compare a model with the baselines of a table; None if the table has no other method."""
    own = next((line for line in table.lines if line.label == model), None)
    others = [line for line in table.lines if line.label != model]
    if own is None or not others:
        return None
    sign = 1 if higher_is_better(table.headline) else -1
    best = max(others, key=lambda line: sign * line.value)
    found = {} if table.compared is None else {line.label: _pair(table, model, line.label) for line in others}
    pairs = {label: pair for label, pair in found.items() if pair is not None}
    # Two splits tell nothing about a third: their intervals are as wide as the scale.
    if best.label not in pairs or table.found.tasks == 2:
        return _unknown(table, own, best)
    # Only the model's own comparisons are corrected for: the others are not asked about.
    levels = step_levels({label: pair.difference.p for label, pair in pairs.items()})
    compared = {
        label: Comparison(
            label,
            _gap(pair, model),
            *_ends(pair, model, levels[label], table.headline),
            pair.difference.p <= levels[label],
        )
        for label, pair in pairs.items()
    }
    above = [one.baseline for one in compared.values() if one.clear and sign * one.difference < 0]
    tied = [one.baseline for one in compared.values() if not one.clear]
    place: Place = "below" if above else "tied" if tied else "above"
    gap = _gap(pairs[best.label], model)
    low, high = compared[best.label].low, compared[best.label].high
    stem, against = _words(place, best.label, above or tied, len(pairs))
    split = f", on this {one_part(table)}" if table.found.tasks == 1 else ""
    ends = f" [{signed(table.headline, low)}, {signed(table.headline, high)}]"
    if place == "tied" and high - low > WIDEST * 2 * _most(table.headline):
        stem, ends = f"cannot be distinguished from {best.label}, the best baseline, with so few splits", ""
    told = f"{signed(table.headline, gap)} {table.headline.upper()}{ends}{against}{split}"
    return Answer(
        protocol=table.protocol,
        metric=table.headline,
        value=own.value,
        place=place,
        best=best.label,
        difference=gap,
        low=low,
        high=high,
        beside=tuple(above or tied),
        stem=stem,
        detail=f"{table.protocol} ({told})",
        comparisons=tuple(compared.values()),
    )


def one_part(table: Table) -> str:
    """Return what all values of a table are of, in words: one split, or several with one test part."""
    return "test part" if table.found.one_test_part else "split"


def joined(answers: Sequence[Answer]) -> str:
    """Return several answers as one sentence; protocols with the same answer are named together."""
    details: dict[str, list[str]] = {}
    for one in answers:
        details.setdefault(one.stem, []).append(one.detail)
    said = [f"{stem} under {listed(found)}" for stem, found in details.items()]
    # Details have commas of their own.
    return "; ".join(said[:-1]) + ("; and " if len(said) > 1 else "") + said[-1] if said else ""


def step_levels(p_values: Mapping[str, float], level: float = LEVEL) -> dict[str, float]:
    """Return the error rate at which Holm's procedure decides each comparison.

    A comparison is significant exactly if its p-value is at most that rate. So an interval at that rate, and
    the words about it, never contradict each other.
    """
    order = sorted(p_values, key=p_values.__getitem__)
    corrected = dict(zip(p_values, holm(list(p_values.values())), strict=True))
    found: dict[str, float] = {}
    for place, label in enumerate(order):
        if place and corrected[order[place - 1]] > level:
            # The procedure has stopped before.
            found[label] = found[order[place - 1]]
        else:
            found[label] = level / (len(order) - place)
    return found


def degree_share(easy: float, corrected: float) -> float | None:
    """Return the share of an AUC above chance that is gone if negatives have the degrees of positives.

    None if the AUC with easy negatives is at chance.
    """
    if easy <= CHANCE_AUC:
        return None
    return min(1.0, max(0.0, 1 - (corrected - 0.5) / (easy - 0.5)))


def _words(place: Place, best: str, beside: Sequence[str], count: int) -> tuple[str, str]:
    """Return the place in words, and what the numbers are against if the words do not say it."""
    others = len(beside) - 1
    more = f" and {others} other{'s' if others > 1 else ''}" if others else ""
    if place == "above":
        all_of_them = "both" if count == 2 else f"all {count}"
        return (f"beats {all_of_them} baselines", f" over {best}") if count > 1 else (f"beats {best}", "")
    if place == "below":
        first = best if best in beside else beside[0]
        return f"is below {first}{more}", "" if first == best else f" against {best}"
    if best in beside:
        return f"is not significantly different from {best}, the best baseline,", ""
    return f"is above {best}, but not significantly above {beside[0]}{more},", f" over {best}"


def _unknown(table: Table, own: Line, best: Line) -> Answer:
    """Say both values where no useful interval can be given."""
    shown = [metrics.format_value(table.headline, line.value) for line in (own, best)]
    return Answer(
        protocol=table.protocol,
        metric=table.headline,
        value=own.value,
        place="unknown",
        best=best.label,
        difference=own.value - best.value,
        low=None,
        high=None,
        beside=(),
        stem=f"cannot be compared on one {one_part(table)}"
        if table.found.tasks == 1
        else "has too few splits to compare",
        detail=f"{table.protocol} ({table.headline.upper()} {shown[0]}; best baseline, {best.label}:"
        f" {shown[1]})",
    )


def _pair(table: Table, one: str, other: str) -> PairComparison | None:
    assert table.compared is not None
    return next((pair for pair in table.compared.pairs if {pair.first, pair.second} == {one, other}), None)


def _gap(pair: PairComparison, model: str) -> float:
    """Return the model's mean minus the other's."""
    return pair.difference.value if pair.first == model else -pair.difference.value


def _ends(pair: PairComparison, model: str, rate: float, metric: str) -> tuple[float, float]:
    """Return the interval of the gap at an error rate, no wider than the gaps that are possible."""
    low, high = ends_at(pair.difference, 1 - rate)
    if pair.first != model:
        low, high = -high, -low
    return max(low, -_most(metric)), min(high, _most(metric))


def _most(metric: str) -> float:
    """Return the largest possible difference."""
    known = metrics.get(metric)
    return known.high - known.low


def signed(metric: str, value: float) -> str:
    """Return a difference as tables show it: ``+1.2``, ``−0.4``."""
    text = metrics.format_value(metric, value, 1 if metrics.scale(metric) == 100 else None)
    # A true minus is as wide as a plus.
    return f"−{text[1:]}" if text.startswith("-") else f"+{text}"
