"""Methods across the data sets of a protocol: mean ranks, and which differ significantly."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trueedge.analysis.tables import Table, higher_is_better
from trueedge.report.blocks import Column, captioned, folded, notes, paragraph, table
from trueedge.report.critical_difference import critical_difference
from trueedge.report.frames import shortened
from trueedge.report.markup import Markup, joined
from trueedge.report.size_limit import fitting
from trueedge.statistics.rank_tests import RankTest, friedman

LEVEL = 0.95
# A plot of more methods is a wall of names.
MOST_DRAWN = 60
# Of sets of methods that are looked at; more differ only where hardly anything was run everywhere.
MOST_CHOICES = 1000
MOST_NAMED, LONGEST = 8, 60


@dataclass(frozen=True)
class OverDatasets:
    """The methods of one protocol over its data sets.

    Attributes:
        protocol: the protocol, with the options that were set.
        metric: what is ranked by.
        datasets: the data sets that all of the methods were run on.
        labels: the methods, in the order of the test's columns.
        test: what it came to; None where there are no two methods on two data sets.
        without: the data sets that lack some of the methods.
        left_out: the methods that some of the data sets lack.
    """

    protocol: str
    metric: str
    datasets: tuple[str, ...]
    labels: tuple[str, ...]
    test: RankTest | None
    without: tuple[str, ...]
    left_out: tuple[str, ...]

    @property
    def needed(self) -> int:
        """With how many data sets the largest difference of mean ranks there can be would be found."""
        if self.test is None:
            return 0
        # The critical difference falls with the root of the number of data sets.
        ratio = self.test.critical_difference / (len(self.labels) - 1)
        return math.floor(len(self.datasets) * ratio**2) + 1


def over_datasets(tables: Sequence[Table], called: Mapping[str, str] | None = None) -> list[OverDatasets]:
    """Friedman's test for each protocol whose records cover two data sets at least.

    Where not every method was run on every data set, the most methods on the most data sets are taken.

    Args:
        tables: from :func:`trueedge.analysis.tables.tables`.
        called: the data set that is known by a name, where that is not its own.
    """
    known = called or {}
    groups: dict[tuple[str, str], dict[str, Table]] = {}
    for one in tables:
        # Two graphs of one name are one graph that was changed: only one of them counts.
        name = known.get(one.first.dataset, one.first.dataset)
        groups.setdefault((one.protocol, one.headline), {})[name] = one
    return [_over(*key, found) for key, found in groups.items() if len(found) > 1]


def panel(found: Sequence[OverDatasets], room: int) -> Markup:
    """A plot for each protocol, and a line for each whose data sets are too few."""
    if not found:
        return Markup("")
    told = [one for one in found if one.test is not None and len(one.datasets) >= one.needed]
    said = paragraph(
        "The mean rank of each method over the data sets of a protocol; 1 is best. Methods joined by a bar do"
        " not differ significantly: their mean ranks lie within the critical difference (Nemenyi,"
        f" {100 * (1 - LEVEL):.0f} % level).",
        quiet=True,
    )
    few = notes([_too_few(one) for one in found if one not in told])
    return joined([said if told else "", *fitting(told, _shown, room, "protocols"), few])


def _over(protocol: str, metric: str, found: Mapping[str, Table]) -> OverDatasets:
    values = {
        name: {line.label: line.value for line in one.lines if math.isfinite(line.value)}
        for name, one in found.items()
    }
    everyone = dict.fromkeys(label for row in values.values() for label in row)
    common = _fullest([frozenset(row) for row in values.values()])
    labels = tuple(label for label in everyone if label in common)
    datasets = tuple(name for name, row in values.items() if common <= row.keys()) if common else ()
    test = None
    if labels:
        rows = [[values[name][label] for label in labels] for name in datasets]
        test = friedman(rows, LEVEL, higher_is_better(metric))
    without = tuple(name for name in found if name not in datasets)
    return OverDatasets(
        protocol, metric, datasets, labels, test, without, tuple(x for x in everyone if x not in labels)
    )


def _fullest(rows: Sequence[frozenset[str]]) -> frozenset[str]:
    """The methods that, on all data sets that have them, make the most comparisons; two of each at least."""
    shared: dict[frozenset[str], None] = {}
    for row in dict.fromkeys(rows):
        if len(shared) < MOST_CHOICES:
            shared |= dict.fromkeys([row, *(methods & row for methods in shared)])
    best: tuple[int, int, tuple[str, ...]] = (0, 0, ())
    for methods in (*shared, frozenset.intersection(*rows)):
        datasets = sum(methods <= row for row in rows)
        # Where two are as large, that of more data sets; the names make the choice the same every time.
        best = max(best, ((len(methods) - 1) * (datasets - 1), datasets, tuple(sorted(methods))))
    return frozenset(best[2]) if best[0] > 0 else frozenset()


def _too_few(one: OverDatasets) -> str:
    if one.test is None:
        return f"{one.protocol}: no two methods were run on the same two data sets"
    count = len(one.datasets)
    return (
        f"{one.protocol}: {count} data sets are too few to compare {len(one.labels)} methods; it takes at"
        f" least {one.needed}"
    )


def _shown(one: OverDatasets) -> Markup:
    """The plot of a protocol, lying where there is room and standing on a phone, with its numbers."""
    assert one.test is not None
    title = f"Mean rank by {one.metric}, {one.protocol}"
    drawn = {}
    if len(one.labels) <= MOST_DRAWN:
        shapes = {"picture lying": False, "picture standing": True}
        drawn = {name: critical_difference(one.labels, one.test, upright=up) for name, up in shapes.items()}
    name = f"figure-over-{one.protocol}-{one.metric}"
    note = paragraph(_note(one), quiet=True)
    return captioned(title, drawn, note, _numbers(one, not drawn), class_="ranks", id=name)


def _note(one: OverDatasets) -> str:
    assert one.test is not None
    parts = [f"{len(one.labels)} methods on {len(one.datasets)} data sets."]
    if one.test.p >= 1 - LEVEL:
        parts.append("Friedman’s test finds no significant difference between the methods.")
    if one.without:
        parts.append(f"Data sets left out because methods are missing: {_listed(one.without)}.")
    if one.left_out:
        parts.append(f"Methods left out because data sets are missing: {_listed(one.left_out)}.")
    return " ".join(parts)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(shortened(name, LONGEST) for name in names[:MOST_NAMED]) + (
        f" and {more:,} more" if more > 0 else ""
    )


def _numbers(one: OverDatasets, opened: bool) -> Markup:
    assert one.test is not None
    ranked = sorted(zip(one.test.mean_ranks.tolist(), one.labels, strict=True), key=lambda pair: pair[0])
    rows = [[label, f"{rank:.3f}"] for rank, label in ranked]
    columns: list[Column | str] = ["method", Column("mean rank", number=True)]
    p = f"Friedman’s p {one.test.p:.3g}, Iman and Davenport’s {one.test.p_f:.3g}"
    caption = f"{p}; critical difference {one.test.critical_difference:.3f}; {one.test.datasets} data sets"
    datasets = paragraph(f"Data sets: {', '.join(one.datasets)}.", quiet=True)
    return folded("the numbers", table(columns, rows, caption=caption), datasets, opened=opened)
