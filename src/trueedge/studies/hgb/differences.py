"""Whether Simple-HGN is first: its difference to each other method, with paired intervals."""

from __future__ import annotations

from collections.abc import Sequence

from trueedge.analysis.comparison import MethodComparison, PairComparison, compare
from trueedge.results import Record
from trueedge.studies.study import Comparison

FIRST = "simple-hgn"
#: How a row of a difference is named, and the ends of its interval.
MINUS = " − "
ENDS = ("", ", lower end of 95 %", ", upper end of 95 %")


def difference_rows(records: Sequence[Record], metrics: Sequence[str]) -> tuple[list[Comparison], list[str]]:
    """Return Simple-HGN minus each other method, and a sentence for each data set and metric.

    The methods are paired by test node. Intervals are over nodes and seeds.

    Args:
        records: of all methods on some data sets.
        metrics: what is compared.
    """
    rows, said = [], []
    for metric in metrics:
        for found in compare(records, metric):
            pairs = {
                other_of(pair): pair
                for pair in found.pairs
                if FIRST in (name_of(pair.first), name_of(pair.second))
            }
            ends = {other: interval_of(pair) for other, pair in pairs.items()}
            counts = {name_of(one.label): one.seeds for one in found.methods}
            for other, values in ends.items():
                place = (found.dataset, found.protocol, FIRST + MINUS + other)
                for end, value in zip(ENDS, values, strict=True):
                    rows.append(Comparison(*place, metric + end, value, 0.0, counts[other], None))
            if ends:
                said.append(sentence(found, {other: values[1:] for other, values in ends.items()}))
    return rows, said


def other_of(pair: PairComparison) -> str:
    """Return the method that Simple-HGN is compared with."""
    return name_of(pair.second if name_of(pair.first) == FIRST else pair.first)


def name_of(label: str) -> str:
    """Return the method of a label, which may name settings after it."""
    return label.partition(" (")[0]


def interval_of(pair: PairComparison) -> tuple[float, float, float]:
    """Return Simple-HGN minus the other, and the ends of the interval, in percent."""
    found = pair.difference
    values = (100 * found.value, 100 * found.low, 100 * found.high)
    return values if name_of(pair.first) == FIRST else (-values[0], -values[2], -values[1])


def sentence(found: MethodComparison, ends: dict[str, tuple[float, float]]) -> str:
    """Return whether Simple-HGN is first, tied or behind on a data set, by the intervals."""
    behind = [other for other, (_, high) in ends.items() if high < 0]
    tied = [other for other, (low, high) in ends.items() if low <= 0 <= high]
    if behind:
        place = f"behind {', '.join(behind)}"
    elif tied:
        place = f"first or tied: the interval of its difference to {', '.join(tied)} holds 0"
    else:
        place = f"first: all {len(ends)} intervals are above 0"
    return f"{found.dataset}, {found.metric}: {FIRST} is {place}"
