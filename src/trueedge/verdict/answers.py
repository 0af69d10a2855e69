"""The answer in words: what the model beats, what it cannot be told from, and what beats it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from trueedge import metrics
from trueedge.analysis.comparison import PairComparison
from trueedge.analysis.tables import Line, Table, higher_is_better
from trueedge.statistics.tie_groups import holm

Place = Literal["above", "tied", "below", "unknown"]
# More names than these are counted.
MOST_NAMED = 3
LEVEL = 0.05


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
        low: the lower end of its interval; None if it is unknown.
        high: the upper end.
        beside: the baselines that are tied with the model, or above it.
        sentence: all that in words, without the model's name.
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
    sentence: str


def answer(table: Table, model: str) -> Answer | None:
    """Compare a model with the baselines of a table; None if the table has no other method."""
    own = next((line for line in table.lines if line.label == model), None)
    others = [line for line in table.lines if line.label != model]
    if own is None or not others:
        return None
    sign = 1 if higher_is_better(table.headline) else -1
    best = max(others, key=lambda line: sign * line.value)
    if table.compared is None:
        return _unknown(table, own, best)
    pairs = {}
    for line in others:
        found = _pair(table, model, line.label)
        if found is not None:
            pairs[line.label] = found
    if best.label not in pairs:
        return _unknown(table, own, best)
    # Only the model's own comparisons are corrected for: the others are not asked about.
    corrected = holm([pair.difference.p for pair in pairs.values()])
    clear = {label for label, p in zip(pairs, corrected, strict=True) if p <= LEVEL}
    lost = {label for label, pair in pairs.items() if sign * _gap(pair, model)[0] < 0}
    above = [label for label in pairs if label in clear & lost]
    tied = [label for label in pairs if label not in clear]
    gap, low, high = _gap(pairs[best.label], model)
    place: Place = "below" if above else "tied" if tied else "above"
    beside = tuple(above or tied)
    told = _told(table.headline, gap, low, high)
    where = f"under {table.protocol}"
    if place == "above":
        said = f"beats every baseline {where} ({told} over {best.label}, the best of {len(pairs)})"
    elif place == "tied":
        if best.label in tied:
            said = f"cannot be told from {_names(tied)} {where} ({told} against {best.label})"
        else:
            said = f"cannot be told from {_names(tied)} {where}, and is above {best.label} ({told})"
    else:
        said = f"is below {_names(above)} {where} ({told} against {best.label})"
    return Answer(table.protocol, table.headline, own.value, place, best.label, gap, low, high, beside, said)


def _unknown(table: Table, own: Line, best: Line) -> Answer:
    """Say both values where no interval can be given."""
    shown = [metrics.format_value(table.headline, line.value) for line in (own, best)]
    said = (
        f"has {shown[0]} {table.headline.upper()} under {table.protocol}, and the best baseline, {best.label}"
        f" {shown[1]}; one split is too few to compare them"
    )
    gap = own.value - best.value
    return Answer(table.protocol, table.headline, own.value, "unknown", best.label, gap, None, None, (), said)


def _pair(table: Table, one: str, other: str) -> PairComparison | None:
    assert table.compared is not None
    return next((pair for pair in table.compared.pairs if {pair.first, pair.second} == {one, other}), None)


def _gap(pair: PairComparison, model: str) -> tuple[float, float, float]:
    """Return the model's mean minus the other's, and the interval."""
    found = pair.difference
    if pair.first == model:
        return found.value, found.low, found.high
    return -found.value, -found.high, -found.low


def _told(metric: str, gap: float, low: float, high: float) -> str:
    ends = [_signed(metric, end) for end in (low, high)]
    return f"{_signed(metric, gap)} {metric.upper()} [{ends[0]}, {ends[1]}]"


def _signed(metric: str, value: float) -> str:
    text = metrics.format_value(metric, value, 1 if metrics.scale(metric) == 100 else None)
    return text if text.startswith("-") else f"+{text}"


def _names(labels: Sequence[str]) -> str:
    shown = list(labels[:MOST_NAMED])
    if len(labels) > MOST_NAMED:
        return f"{', '.join(shown)} and {len(labels) - MOST_NAMED} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]


def degree_share(easy: float, corrected: float) -> float | None:
    """Return the share of an AUC above chance that is gone if negatives have the degrees of positives.

    None if the AUC with easy negatives is at chance.
    """
    if easy <= 0.55:
        return None
    return min(1.0, max(0.0, 1 - (corrected - 0.5) / (easy - 0.5)))
